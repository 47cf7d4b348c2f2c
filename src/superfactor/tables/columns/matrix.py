"""The columns of X from a table: features, covariates, confounders; dense or sparse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from superfactor.tables.columns import confounders as confounders_of
from superfactor.tables.columns import covariates as covariates_of
from superfactor.tables.columns.confounders import ConfounderLevels
from superfactor.tables.columns.covariates import Encoding
from superfactor.tables.columns.missing import MANY, Missing, gaps_in
from superfactor.tables.columns.numbers import as_dense, check_range, numbers
from superfactor.tables.joining.source import Combined, Ranges, ranges_of_kept
from superfactor.tables.notes import Note, TableError

if TYPE_CHECKING:
    import pandas as pd


def features_of(study: Combined, features: Sequence[str], named: Any, *, gaps: bool) -> tuple[Any, list[int]]:
    """Values (n, p) of these features, dense or CSR, and their positions among all features read."""
    if study.matrix is None:
        return numbers(study.path, study.frame, features, named, gaps=gaps), []
    assert study.features is not None
    X = study.matrix
    if list(features) == list(study.features):
        positions = list(range(len(features)))
    else:
        at = {name: j for j, name in enumerate(study.features)}
        positions = [at[name] for name in features]
        X = X[:, positions]
    if sp.issparse(X):
        X = X.tocsr()
        where = X.tocoo
        check_range(
            study.path,
            X.data,
            lambda k, _: f"sample {_name(named, where().row[k])}, feature {features[where().col[k]]!r}",
            gaps=gaps,
        )
    else:
        check_range(
            study.path,
            X,
            lambda row, column: f"sample {_name(named, row)}, feature {features[column]!r}",
            gaps=gaps,
        )
    return X, positions


def _name(named: Any, row: int) -> str:
    return str(row + 1) if named is None else str(named[row])


def without_empty(
    path: Path, values: Any, features: list[str], blocks: Ranges, impute: str, ids: Any
) -> tuple[Any, list[str], Ranges, Missing | None]:
    """Values (n, p) without empty columns, and a description of the other missing values."""
    if sp.issparse(values):
        if not np.isnan(values.data.sum()):
            return values, features, blocks, None
        values = as_dense(path, values, "imputed")
    found = gaps_in(values, features, ids)
    if found is None:
        return values, features, blocks, None
    if found.empty_columns:
        positions = np.flatnonzero(found.keep).tolist()
        if not positions:
            raise TableError(f"{path}: no feature has any value; numbers are required", kind="cells")
        values, features = values[:, positions], [features[j] for j in positions]
        blocks = ranges_of_kept(blocks, positions) if blocks else blocks
    poor = tuple(map(str, found.rows_above(MANY)))
    return values, features, blocks, Missing(found.share, impute, tuple(found.empty_columns), poor)


def assembled(
    path: Any,
    table: pd.DataFrame,
    values: Any,
    features: Sequence[str],
    encoding: Encoding,
    levels: ConfounderLevels,
    log2: bool,
    ids: Any,
    exposure: Any = None,
) -> tuple[Any, tuple[str, ...], list[Note]]:
    """Return X (n, p + q + k), the names of the q covariate columns, and notes on covariates.

    `exposure` (n, 1), if given, follows the covariates.
    """
    block = _log2(values) if log2 else values
    covariates, notes = covariates_of.encode(path, table, encoding, ids)
    parts = [covariates, exposure, confounders_of.encode(path, table, levels, ids)]
    others = [part for part in parts if part is not None and part.shape[1]]
    names = tuple(covariates_of.column_names(encoding))
    every = [*features, *names]
    if len(set(every)) < len(every):
        twice = next(name for name in every if every.count(name) > 1)
        line = f"{path}: a covariate would be a second column {twice!r}; rename one"
        raise TableError(line, kind="covariates", column=twice)
    if not others:
        return block, names, notes
    if sp.issparse(block):
        return sp.hstack([block, *map(sp.csr_matrix, others)], format="csr"), names, notes
    return np.hstack([block, *others]), names, notes


def _log2(values: Any) -> Any:
    """log2 of values, which are raised to at least 1: background-corrected intensities may be negative."""
    if not sp.issparse(values):
        return np.log2(np.maximum(values, 1.0))
    found = values.astype(np.float64)
    found.data = np.log2(np.maximum(found.data, 1.0))
    found.eliminate_zeros()
    return found


def among(features: Sequence[str], own: Sequence[str], values: Any) -> Any:
    """Values (n, p) of all features, NaN for those not in `own`."""
    at = {name: j for j, name in enumerate(features)}
    out = np.full((len(values), len(features)), np.nan)
    out[:, [at[name] for name in own]] = values
    return out


def as_model_takes(path: Path, values: Any, about: Mapping[str, Any]) -> Any:
    """Values (n, p) sparse or dense, as the model requires."""
    if about.get("sparse", False) and not sp.issparse(values):
        return sp.csr_matrix(values)
    if not about.get("sparse", False):
        return as_dense(path, values, "centered")
    return values
