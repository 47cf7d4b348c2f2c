"""Markers of each type of cells in the form of scanpy's ``rank_genes_groups``.

A marker of a type is higher there than in all other cells, and carries its prediction: it goes with the
log-odds of the type, and has a weight of that sign in them. Its score is d·r: d the difference of the means
in standard deviations, r the correlation with the log-odds. A gene that is higher but does not carry the
prediction has the score 0; one that is lower has d·|r|, below 0.
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

    First come genes that are higher in the class than in all other cells *and* carry its prediction: they go
    with the log-odds of the class, and more of them makes the class more likely. Their score is d·r, above 0:
    d the difference of the means in standard deviations, r the correlation with the log-odds. Genes that are
    higher but do not carry the prediction have the score 0, genes that are lower one below 0.

    Parameters
    ----------
    adata : AnnData or MuData
        What `tl.smf` has written to. Cells without a label are left out; X on disk is taken into memory.
    groups : "all" or list of classes, default="all"
        Whose markers to rank; each is compared with all other cells.
    n_genes : int, optional
        How many to keep for each class. None keeps all genes of the fit.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `tl.smf`.
    key_added : str, default="rank_genes_groups"
        The name of what is written, scanpy's by default; another one is ``key=`` of its functions.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results; needs X in memory.

    Returns
    -------
    copy : AnnData (MuData) or None
        None where `adata` itself was written to: ``.uns["rank_genes_groups"]`` in scanpy's form. ``names``,
        ``scores``, ``logfoldchanges``, ``pvals`` and ``pvals_adj`` are record arrays with a field for each
        class, the best genes first; ``params`` says how they came about. ``sc.pl.rank_genes_groups`` and its
        relatives draw it, and ``sc.get.rank_genes_groups_df`` makes a table of it.

    Notes
    -----
    ``pvals`` are of Mann and Whitney's test of the class against the rest, ``pvals_adj`` Benjamini and
    Hochberg's q. They are of each gene by itself, and do not depend on the fit. Where labels were made of the
    expression of the same genes, as by clustering, they are too small, here as in scanpy.
    ``logfoldchanges`` are right where X are logarithms of 1 + expression. All figures are made of those of
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
            f"key={key!r}: the model predicts {columns}, which are no classes to rank markers of; pl.factors "
            "shows the genes of its factors"
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
    """`feature_effects` of each of these groups against the rest, genes in the order of the model."""
    classes = [str(label) for label in estimator.classes_]
    table = of_every_class(feature_effects(estimator, X, y), classes)
    return {name: table[table["class"] == name] for name in groups}


def marker_scores(table: DataFrame) -> np.ndarray:
    """Of every gene for one group (genes,): above 0 for markers of it, below 0 for what it has less of."""
    difference = table["difference_in_sd"]
    found = difference * table["correlation"].abs()
    return np.asarray(found.where((difference <= 0) | predicts_class(table), 0.0), dtype=float)


def fold_changes(table: DataFrame, scales: Any, base: float | None) -> np.ndarray:
    """log2 of the ratio of mean expressions, as scanpy has it (genes,), where X is log(1 + expression)."""
    inside, rest = (
        np.expm1(np.asarray(table[name]) * scales * (1.0 if base is None else np.log(base)))
        for name in ("mean", "mean_rest")
    )
    with np.errstate(divide="ignore", invalid="ignore"):  # of X below 0 there is none
        return np.asarray(np.log2((inside + _LEAST) / (rest + _LEAST)))


def as_records(
    tables: dict[str, DataFrame], scales: Any, base: float | None, n_genes: int | None
) -> dict[str, Any]:
    """Record arrays with a field for each group, the best genes first."""
    import pandas as pd

    columns: dict[str, dict[str, Any]] = {name: {} for name in _TYPES}
    for group, table in tables.items():
        scores = marker_scores(table)
        # Equal scores: the gene that differs more comes first.
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
