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

from superfactor.interpretation import feature_effects
from superfactor.interpretation.features.class_features import of_every_class, speaks_for

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


def statistics(estimator: Any, X: Any, y: Any, groups: Sequence[str]) -> dict[str, DataFrame]:
    """`feature_effects` of each of these groups against the rest, genes in the order of the model."""
    classes = [str(label) for label in estimator.classes_]
    table = of_every_class(feature_effects(estimator, X, y), classes)
    return {name: table[table["class"] == name] for name in groups}


def marker_scores(table: DataFrame) -> np.ndarray:
    """Of every gene for one group (genes,): above 0 for markers of it, below 0 for what it has less of."""
    difference = table["difference_in_sd"]
    found = difference * table["correlation"].abs()
    return np.asarray(found.where((difference <= 0) | speaks_for(table), 0.0), dtype=float)


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
