"""Markers of each type of cells in the form of scanpy's ``rank_genes_groups``.

A marker of a type has higher expression in it than in all other cells, and supports its prediction: its
correlation with the log-odds of the type and its weight in them are positive. Its score is d·r, with d the
difference of the means in standard deviations and r the correlation with the log-odds. A gene with higher
expression that does not support the prediction has the score 0; a gene with lower expression has d·|r| < 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.anndata import record
from superfactor.anndata.fitting import known_data, model_of, request_of
from superfactor.anndata.reading import cells
from superfactor.interpretation import feature_effects
from superfactor.interpretation.features.class_features import of_every_class, predicts_class
from superfactor.interpretation.tables import check_count

if TYPE_CHECKING:
    from pandas import DataFrame

# scanpy's types of columns, and its smallest expression in a ratio.
_TYPES = {
    "names": "O",
    "scores": "float32",
    "logfoldchanges": "float32",
    "pvals": "float64",
    "pvals_adj": "float64",
}
_LEAST = 1e-9


def rank_genes_smf(
    adata: Any,
    *,
    groups: str | Sequence[str] = "all",
    n_genes: int | None = None,
    mod: str | None = None,
    key: str = "smf",
    key_added: str = "rank_genes_groups",
    copy: bool = False,
) -> Any:
    """Rank genes as markers of each class of a fit, where ``sc.pl.rank_genes_groups`` looks for them.

    The first genes have higher expression in the class than in all other cells *and* support its prediction:
    they are correlated with the log-odds of the class, and higher expression makes the class more likely.
    Their score is d·r > 0, with d the difference of the means in standard deviations and r the correlation
    with the log-odds. Genes with higher expression that do not support the prediction have the score 0, and
    genes with lower expression have a negative score.

    Parameters
    ----------
    adata : AnnData or MuData
        With results of `tl.smf`. Cells without a label are left out; X on disk is read into memory.
    groups : "all" or list of classes, default="all"
        Classes whose markers are ranked; each is compared with all other cells.
    n_genes : int, optional
        Number of genes to keep for each class. None keeps all genes of the fit.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `tl.smf`.
    key_added : str, default="rank_genes_groups"
        Name of the results, by default that of scanpy; pass another one as ``key=`` to scanpy's functions.
    copy : bool, default=False
        Leave `adata` unchanged and return a copy with the results; requires X in memory.

    Returns
    -------
    copy : AnnData (MuData) or None
        None if `adata` itself was changed: ``.uns["rank_genes_groups"]`` in scanpy's form. ``names``,
        ``scores``, ``logfoldchanges``, ``pvals`` and ``pvals_adj`` are record arrays with a field for each
        class, the best genes first; ``params`` has the parameters. ``sc.pl.rank_genes_groups`` and related
        functions plot it, and ``sc.get.rank_genes_groups_df`` returns it as a table.

    Notes
    -----
    ``pvals`` are those of the Mann–Whitney test of the class against the rest, ``pvals_adj`` the q-values of
    Benjamini and Hochberg. They refer to single genes and do not depend on the fit. If labels were derived
    from the expression of the same genes, for example by clustering, they are too small, as in scanpy.
    ``logfoldchanges`` assume that X is log(1 + expression). All values are computed from those of
    `superfactor.interpretation.feature_effects`.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> adata.var_names = images.feature_names
    >>> sfa.tl.smf(adata, "digit", n_components=9)
    >>> sfa.tl.rank_genes_smf(adata, groups=["0", "1"])
    >>> [str(name) for name in adata.uns["rank_genes_groups"]["names"]["1"][:2]]
    ['pixel_2_3', 'pixel_5_4']
    """
    cells.check_key(key_added)
    found = model_of(adata, mod, key, "adata")
    if "categories" not in found:
        columns = ", ".join(map(repr, request_of(found).columns))
        raise ValueError(
            f"key={key!r}: the model predicts {columns}, but classes are required to rank markers; "
            "pl.factors shows the genes of its factors"
        )
    given, adata = cells.to_write_to(adata, mod, copy)
    known = [str(label) for label in found["categories"]]
    chosen = known if isinstance(groups, str) and groups == "all" else list(map(str, groups))
    strange = sorted(set(chosen) - set(known))
    if strange or not chosen or (isinstance(groups, str) and groups != "all"):
        raise ValueError(f"groups={groups!r}: 'all' or a list of some of {known} is required")
    if n_genes is not None:
        check_count("n_genes", n_genes)
    X, outcome = known_data(given, adata, found)
    tables = statistics(record.read_model(found), X, outcome.y, chosen)
    base = adata.uns.get("log1p", {}).get("base")
    adata.uns[key_added] = {
        "params": {
            "groupby": outcome.columns[0],
            "reference": "rest",
            "method": "superfactor",
            "use_raw": False,
            "layer": found["params"].get("layer"),
            "corr_method": "benjamini-hochberg",
        },
        **as_records(tables, found["model"]["scales"], base, n_genes),
    }
    return given if copy else None


def statistics(estimator: Any, X: Any, y: Any, groups: Sequence[str]) -> dict[str, DataFrame]:
    """Return `feature_effects` of each group against the rest, with genes in the order of the model."""
    classes = [str(label) for label in estimator.classes_]
    table = of_every_class(feature_effects(estimator, X, y), classes)
    return {name: table[table["class"] == name] for name in groups}


def marker_scores(table: DataFrame) -> np.ndarray:
    """Return the score of every gene for one group (genes,): positive for markers, negative if lower."""
    difference = table["difference_in_sd"]
    # A gene without variance in the classes is the best one, with a score that can be drawn.
    finite = np.abs(difference.to_numpy()[~table["perfect"].to_numpy()])
    most = max(1.0, 2 * float(finite.max(initial=0.0)))
    difference = difference.clip(-most, most)
    found = difference * table["correlation"].abs()
    return np.asarray(found.where((difference <= 0) | predicts_class(table), 0.0), dtype=float)


def fold_changes(table: DataFrame, scales: Any, base: float | None) -> np.ndarray:
    """Return log2 ratios of mean expressions (genes,) as in scanpy, for X = log(1 + expression)."""
    inside, rest = (
        np.expm1(np.asarray(table[name]) * scales * (1.0 if base is None else np.log(base)))
        for name in ("mean", "mean_rest")
    )
    with np.errstate(divide="ignore", invalid="ignore"):  # not defined for negative X
        return np.asarray(np.log2((inside + _LEAST) / (rest + _LEAST)))


def as_records(
    tables: dict[str, DataFrame], scales: Any, base: float | None, n_genes: int | None
) -> dict[str, Any]:
    """Return record arrays with a field for each group, the best genes first."""
    import pandas as pd

    columns: dict[str, dict[str, Any]] = {name: {} for name in _TYPES}
    for group, table in tables.items():
        scores = marker_scores(table)
        # Ties of scores are ordered by the difference.
        order = np.lexsort((-np.asarray(table["difference_in_sd"]), -scores))[:n_genes]
        found = {
            "names": np.asarray(table["feature"], dtype=object),
            "scores": scores,
            "logfoldchanges": fold_changes(table, scales, base),
            "pvals": np.asarray(table["p"]),
            "pvals_adj": np.asarray(table["q"]),
        }
        for name, values in found.items():
            columns[name][group] = values[order]
    return {
        name: pd.DataFrame(by_group).to_records(index=False, column_dtypes=_TYPES[name])
        for name, by_group in columns.items()
    }
