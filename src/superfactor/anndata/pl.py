"""Plots of the results of `tl`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._deprecated import renamed_parameters
from superfactor.anndata import colors, record
from superfactor.anndata.fitting import request_of
from superfactor.anndata.reading import cells
from superfactor.interpretation import FactorView
from superfactor.plotting import FactorsDisplay, SamplesDisplay
from superfactor.plotting.samples import axis_names, check_factors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Name and colour of cells without a label.
_UNLABELLED, _GREY = "unlabelled", "#D3D3D3"
_TRAINING = "Cells of the fit: the model has seen their labels."
_PREDICTED = "Cells outside the fit: colours are predictions, not labels."


def factors(
    adata: Any,
    *,
    n: int = 5,
    by: str = "correlation",
    max_factors: int | None = None,
    gene_symbols: str | None = None,
    markers: Any = None,
    mod: str | None = None,
    key: str = "smf",
    ax: Any = None,
    **kwargs: Any,
) -> FactorsDisplay:
    """Plot the genes at both ends of each factor, and its coefficients.

    Bars are correlations with the scores of the cells. A gene at the low end has lower expression in cells
    with high scores. It is not necessarily a marker of the types with low scores; `tl.rank_genes_smf` ranks
    markers.

    Parameters
    ----------
    adata : AnnData or MuData
        With results of ``tl.smf``.
    n : int, default=5
        Number of genes at each end.
    by : {"correlation", "weight"}, default="correlation"
        Values that select genes and are plotted: correlations with the factor, or weights of its score.
    max_factors : int, optional
        Plot only the first factors, which contribute most to the prediction.
    gene_symbols : str, optional
        A column of ``adata.var`` with names of genes.
    markers : dict, DataFrame or path of a CSV, optional
        Known genes and a note on each.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of ``tl.smf``.
    ax, **kwargs
        As in `superfactor.plotting.FactorsDisplay.plot`.

    Returns
    -------
    display : FactorsDisplay

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> sfa.tl.smf(adata, "digit", n_components=3)
    >>> sfa.pl.factors(adata, n=3).axes_.shape
    (1, 3)
    """
    view = factor_view(adata, gene_symbols=gene_symbols, mod=mod, key=key)
    display = FactorsDisplay(view, n=n, by=by, markers=markers)
    return display.plot(ax, max_factors=max_factors, **kwargs)


@renamed_parameters(ellipse="ellipses")
def samples(
    adata: Any,
    *,
    color: str | None = None,
    layer: str | None = None,
    use_raw: bool | None = None,
    factors: int | Sequence[int] = (1, 2),
    ellipses: str | bool = "auto",
    mod: str | None = None,
    key: str = "smf",
    ax: Axes | None = None,
    **kwargs: Any,
) -> SamplesDisplay:
    """Plot cells by their scores on two factors, or along one factor.

    Colours are those of ``adata.uns[f"{color}_colors"]`` if scanpy has set them. (scanpy's
    ``sc.pl.embedding(adata, basis="smf")`` plots the same scores.)

    Parameters
    ----------
    adata : AnnData or MuData
        With results of ``tl.smf`` or ``tl.project``.
    color : column of ``adata.obs``, or gene, optional
        Categories and text are classes; numbers and the expression of a gene of ``adata.var_names`` have a
        colour bar. The default is the outcome of the fit (the first of several columns; for survival the
        time, with open symbols for censored cells), or the prediction for projected cells. Cells without a
        value, or with the value of ``unlabeled=``, are grey.
    layer : str, optional
        The layer of a gene's expression.
    use_raw : bool, optional
        Use the expression of ``adata.raw``; None uses it if it exists and no layer is given.
    factors : int or one or two of them, default=(1, 2)
        Numbers of the factors, from 1: columns of ``adata.obsm["X_smf"]``.
    ellipses : "auto" or bool, default="auto"
        Draw the 95 % normal ellipse of each class. "auto" draws it for projected cells only: a fit to many
        genes separates the classes of its training cells even if labels are random.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of ``tl.smf``.
    ax, **kwargs
        As in `superfactor.plotting.SamplesDisplay.plot`.

    Returns
    -------
    display : SamplesDisplay

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> sfa.tl.smf(adata, "digit", n_components=3)
    >>> len(sfa.pl.samples(adata).points_)
    10
    """
    given, adata = adata, cells.one_modality(adata, mod)
    if f"X_{key}" not in adata.obsm:
        raise ValueError(_nothing_there(f"obsm['X_{key}']"))
    scores = np.asarray(adata.obsm[f"X_{key}"])
    chosen = check_factors(factors, scores.shape[1])
    fitted = key in adata.uns
    names = [f"factor {j}" for j in chosen]
    if fitted:
        names = axis_names(factor_view(given, mod=mod, key=key), chosen)
    fit = adata.uns[key] if fitted else None
    own = [] if fit is None else request_of(fit).columns
    color = colors.default(adata, key, own) if color is None else color
    column = colors.column(given, adata, color, layer, use_raw)
    fit = fit if color in own else None
    values = column.astype(object).to_numpy()
    known = colors.known(column, fit)
    classes, labels = colors.classes(column, values, known, fit)
    events = None if fit is None else colors.events(given, adata, request_of(fit))
    points = scores[:, [j - 1 for j in chosen]]
    shown, palette = known, colors.palette(adata, color, column) if classes else None
    if classes and len(chosen) == 1 and not known.all():  # unlabelled cells get a separate row
        classes, palette = [*classes, _UNLABELLED], {**(palette or {}), _UNLABELLED: _GREY}
        labels = np.where(known, labels, _UNLABELLED)
        shown = np.ones_like(known)
    order = np.flatnonzero(shown)
    if not classes:  # largest values on top; otherwise the many cells without expression would hide them
        order = order[np.argsort(labels[order].astype(float), kind="stable")]
    display = SamplesDisplay(
        points[order],
        labels[order],
        events=None if events is None else events[order],
        factors=names,
        classes=classes,
        target=color,
        colors=palette,
        said=_TRAINING if fitted else _PREDICTED if color.startswith(f"{key}_") else "",
        outlined=not fitted,
    )
    display.plot(ax, ellipses=ellipses, **kwargs)
    if not shown.all():
        there = points[~shown]
        if len(chosen) == 1:  # cells without a value are plotted below the others
            low, high = (np.min(values[known]), np.max(values[known])) if known.any() else (0, 1)
            there = np.column_stack([there, np.full(len(there), low - 0.1 * (high - low))])
        look: dict[str, Any] = {"color": _GREY, "s": 12, "zorder": 0.4}
        display.points_[_UNLABELLED] = display.ax_.scatter(*there.T, **look)
    return display


def factor_view(
    adata: Any, *, gene_symbols: str | None = None, mod: str | None = None, key: str = "smf"
) -> FactorView:
    """Return the factors of ``tl.smf`` for the tables and plots of `superfactor.interpretation`.

    Parameters are those of `factors`.

    Parameters
    ----------
    adata : AnnData or MuData
        With results of ``tl.smf``.
    gene_symbols : str, optional
        A column of ``adata.var`` with names of genes.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of ``tl.smf``.

    Returns
    -------
    view : superfactor.interpretation.FactorView

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> from superfactor.interpretation import top_features
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> sfa.tl.smf(adata, "digit", n_components=3)
    >>> len(top_features(sfa.pl.factor_view(adata), 2))
    12
    """
    adata = cells.one_modality(adata, mod)
    found, place = adata.uns.get(key), f"uns[{key!r}]"
    if found is None or f"X_{key}" not in adata.obsm:
        raise ValueError(_nothing_there(place))
    record.check_record(found, f"adata.{place}")
    names = [str(gene) for gene in found["model"]["genes"]]
    if gene_symbols is not None:
        symbols = dict(zip(adata.var_names.astype(str), adata.var[gene_symbols], strict=True))
        names = [symbols.get(name, name) for name in names]
    return record.read_view(found, names, np.asarray(adata.obsm[f"X_{key}"], dtype=float))


def _nothing_there(place: str) -> str:
    return f"adata: there is no {place}; superfactor.anndata.tl.smf writes it, and key= is its name"
