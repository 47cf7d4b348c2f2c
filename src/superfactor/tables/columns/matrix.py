"""The values of a table as X: features, then covariates, then confounders; dense or sparse."""

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
from superfactor.tables.columns.gaps import MANY, Missing, gaps_in
from superfactor.tables.columns.numbers import as_dense, check_range, numbers
from superfactor.tables.joining.source import Combined, Ranges, ranges_of_kept
from superfactor.tables.notes import Note, TableError

if TYPE_CHECKING:
    import pandas as pd


def features_of(study: Combined, features: Sequence[str], named: Any, *, gaps: bool) -> tuple[Any, list[int]]:
    """Values (n, p) of these features, dense or CSR, and their positions among all that were read."""
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
    """Values (n, p) without the columns that hold nothing, and what else is missing."""
    if sp.issparse(values):
        if not np.isnan(values.data.sum()):
            return values, features, blocks, None
        values = as_dense(path, values, "filled in")
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
    """The columns of X (n, p + q + k), the names of the q of covariates, and notes on those.

    `exposure` (n, 1), where there is one, stands behind the covariates.
    """
    block = _log2(values) if log2 else values
    covariates, notes = covariates_of.encode(path, table, encoding, ids)
    parts = [covariates, exposure, confounders_of.encode(path, table, levels, ids)]
    beside = [part for part in parts if part is not None and part.shape[1]]
    names = tuple(covariates_of.column_names(encoding))
    every = [*features, *names]
    if len(set(every)) < len(every):
        twice = next(name for name in every if every.count(name) > 1)
        line = f"{path}: a covariate would become a second column {twice!r}; rename one"
        raise TableError(line, kind="covariates", column=twice)
    if not beside:
        return block, names, notes
    if sp.issparse(block):
        return sp.hstack([block, *map(sp.csr_matrix, beside)], format="csr"), names, notes
    return np.hstack([block, *beside]), names, notes


def _log2(values: Any) -> Any:
    """Background-corrected intensities may be negative; below 1 there is no signal to speak of."""
    if not sp.issparse(values):
        return np.log2(np.maximum(values, 1.0))
    found = values.astype(np.float64)
    found.data = np.log2(np.maximum(found.data, 1.0))
    found.eliminate_zeros()
    return found


def among(features: Sequence[str], own: Sequence[str], values: Any) -> Any:
    """Values (n, p) of all features, NaN for all but its `own`."""
    at = {name: j for j, name in enumerate(features)}
    out = np.full((len(values), len(features)), np.nan)
    out[:, [at[name] for name in own]] = values
    return out


def as_model_takes(path: Path, values: Any, about: Mapping[str, Any]) -> Any:
    """Values (n, p) as the model takes them."""
    if about.get("sparse", False) and not sp.issparse(values):
        return sp.csr_matrix(values)
    if not about.get("sparse", False):
        return as_dense(path, values, "centred")
    return values
