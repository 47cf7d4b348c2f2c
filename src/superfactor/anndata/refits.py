"""Tools that fit the model again: the HTML page, and genes that are selected repeatedly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from superfactor import interpretation
from superfactor.anndata.fitting import model_of, refitted
from superfactor.anndata.reading import cells
from superfactor.report import write_report


def report(
    adata: Any,
    path: str | os.PathLike[str],
    *,
    groups: str | None = None,
    mod: str | None = None,
    key: str = "smf",
    **parameters: Any,
) -> Path:
    """Write an HTML page about a model: its factors, genes and predictions.

    The model of `smf` is fitted again with the same ξ and λ, and five more times to parts of the cells, so
    that the page shows scores of cells that the fit has not seen. X is read into memory. The page is that of
    `superfactor.report.write_report`, with the names of genes and cells, the outcome and the covariates of
    the fit.

    Parameters
    ----------
    adata : AnnData or MuData
        With results of `smf`.
    path : path of the HTML file
    groups : column of ``adata.obs``, optional
        Cells of one group (a donor, a batch) are held out together.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `smf`.
    **parameters
        Other parameters of `superfactor.report.write_report`: ``title``, ``markers``, ``nested``,
        ``held_out=False`` and so on.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import anndata, numpy as np, pathlib, tempfile
    >>> from sklearn.datasets import load_wine
    >>> import superfactor.anndata as sfa
    >>> wine = load_wine()
    >>> adata = anndata.AnnData(np.log1p(wine.data), obs={"kind": wine.target.astype(str)})
    >>> adata.var_names = wine.feature_names
    >>> sfa.tl.smf(adata, "kind", n_components=2)
    >>> sfa.tl.report(adata, pathlib.Path(tempfile.mkdtemp(), "wine.html")).name
    'wine.html'
    """
    path = Path(path)
    if not path.parent.is_dir():  # checked before the fit
        raise FileNotFoundError(f"path={str(path)!r}: the folder {str(path.parent)!r} does not exist")
    found = model_of(adata, mod, key, "adata")
    given, adata = adata, cells.one_modality(adata, mod)
    estimator, X, outcome, table = refitted(given, adata, found)
    rotation = found["params"].get("rotation")
    said: dict[str, Any] = {
        "target": ", ".join(outcome.columns),
        "ids": [str(name) for name in adata.obs_names],
        "groups": _groups(given, adata, groups),
        "rotation": None if rotation is None else str(rotation),
    }
    return write_report(path, estimator, X, outcome.y, covariates=table, **said | parameters)


def stable_features(
    adata: Any,
    *,
    groups: str | None = None,
    mod: str | None = None,
    key: str = "smf",
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Select genes that are found repeatedly in fits to disjoint halves of the cells.

    The expected number of false selections is bounded; see `superfactor.interpretation.stable_features`. X is
    read into memory, and the model is fitted three times for each of 50 pairs of halves (``n_pairs=``).

    Parameters
    ----------
    adata : AnnData or MuData
        With results of `smf`.
    groups : column of ``adata.obs``, optional
        Cells of one group (a donor, a batch) are in the same half.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `smf`.
    key_added : str, optional
        Name of the results; `key` by default.
    copy : bool, default=False
        Leave `adata` unchanged and return a copy with the results; requires X in memory.
    **parameters
        Other parameters of `superfactor.interpretation.stable_features`: ``expected_false``, ``n_pairs``,
        ``threshold``, ``n_jobs`` and so on.

    Returns
    -------
    copy : AnnData (MuData) or None
        None if `adata` itself was changed:

        ========================== ===================================================================
        ``.var["smf_share"]``      share of the halves that had the gene among their top genes; NaN for a
                                   gene that was not used
        ``.var["smf_stable"]``     whether the gene is selected
        ``.uns["smf_stable"]``     ``statement``, ``selected`` genes, the most stable first, ``n_top``,
                                   ``n_pairs``, ``threshold``, ``expected_false``, and ``table`` with all
                                   values for each gene
        ========================== ===================================================================

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_wine
    >>> import superfactor.anndata as sfa
    >>> wine = load_wine()
    >>> adata = anndata.AnnData(np.log1p(wine.data), obs={"kind": wine.target.astype(str)})
    >>> adata.var_names = wine.feature_names
    >>> sfa.tl.smf(adata, "kind", n_components=3, scale=True)
    >>> sfa.tl.stable_features(adata, n_pairs=10)
    >>> int(adata.var["smf_stable"].sum()) == len(adata.uns["smf_stable"]["selected"])
    True
    """
    key_added = key if key_added is None else key_added
    cells.check_key(key_added)
    found = model_of(adata, mod, key, "adata")
    given, adata = cells.to_write_to(adata, mod, copy)
    estimator, X, outcome, table = refitted(given, adata, found)
    stable = interpretation.stable_features(
        estimator, X, outcome.y, covariates=table, groups=_groups(given, adata, groups), **parameters
    )
    by_gene = stable.table.set_index("feature").reindex(adata.var_names.astype(str))
    adata.var[f"{key_added}_share"] = by_gene["share"].to_numpy(dtype=float)
    adata.var[f"{key_added}_stable"] = (by_gene["selected"] == True).to_numpy(dtype=bool)  # noqa: E712
    kept = ("statement", "n_top", "n_pairs", "threshold", "expected_false")
    adata.uns[f"{key_added}_stable"] = {
        **{name: getattr(stable, name) for name in kept},
        "selected": np.asarray(stable.selected, dtype=object),
        "table": stable.table.set_index("feature"),
    }
    return given if copy else None


def _groups(given: Any, adata: Any, name: str | None) -> Any:
    """Return a column of groups as text (n,), or None."""
    if name is None:
        return None
    column = cells.column(given, adata, name, "groups")
    if column.isna().any():
        raise ValueError(f"groups={name!r}: a group of every cell is required, but some have none")
    return column.astype(str).to_numpy(dtype=object)
