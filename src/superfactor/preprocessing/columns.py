"""Select columns of a table by name or position: pandas and polars DataFrames, and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from superfactor.preprocessing.cells import holds_unreadable
from superfactor.spectrum.rows import column_positions


def is_frame(X: Any) -> bool:
    """Return whether X has columns with types of their own, like pandas and polars DataFrames."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def checked_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return a DataFrame X unchanged and other X as a 2-D array; text and NaN are allowed.

    Sets (`reset`) or checks ``n_features_in_`` and ``feature_names_in_`` of the estimator.
    """
    if not is_frame(X):
        X = check_array(X, dtype=None, ensure_all_finite=False, input_name="X", estimator=estimator)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if X.shape[0] == 0:
        raise ValueError("X: 0 samples; at least 1 sample is required")
    return X


@contextmanager
def advising_reindex(estimator: Any, X: Any, *, advise: bool = True) -> Iterator[None]:
    """Add to the error about absent columns how to add them as missing values, which are completed."""
    try:
        yield
    except ValueError as error:
        fitted = getattr(estimator, "feature_names_in_", ())
        if not advise or not is_frame(X) or set(fitted) <= set(X.columns):
            raise
        raise ValueError(
            f"{error}X.reindex(columns=model.feature_names_in_) adds absent features as missing values, "
            "which are completed"
        ) from error


def column(X: Any, position: int) -> Any:
    """Return one column, a Series or (n,)."""
    if not is_frame(X):
        return X[:, position]
    return X.iloc[:, position] if hasattr(X, "iloc") else X.get_column(X.columns[position])


def numbers(X: Any, positions: Sequence[int], said: str) -> Any:
    """Return columns as floats (n, k), float32 if they are float32; NaN is allowed."""
    part: Any
    if not is_frame(X):
        part = cut(X, positions)
    elif hasattr(X, "iloc"):
        part = X.iloc[:, list(positions)]
    else:
        part = X[:, list(positions)]
    try:
        return check_array(
            part, dtype=[np.float64, np.float32], ensure_all_finite=False, ensure_min_features=0
        )
    except ValueError as error:
        if not holds_unreadable(part):
            raise
        raise ValueError(f"X: {said} must be numbers{_first_words(X, positions)}; {error}") from error


def _first_words(X: Any, positions: Sequence[int]) -> str:
    """Return text that names the first column of a DataFrame without numbers, for a message."""
    if not is_frame(X):
        return ""
    kinds = [np.asarray(column(X, j)).dtype.kind for j in positions]
    words = [j for j, kind in zip(positions, kinds, strict=True) if kind not in "iufb"]
    return f", and column {str(X.columns[words[0]])!r} is not" if words else ""


def cut(X: Any, positions: Sequence[int]) -> Any:
    """Return columns of an array or sparse matrix, as a view if they are adjacent."""
    first, last = (positions[0], positions[-1]) if len(positions) else (0, -1)
    if list(positions) == list(range(first, last + 1)):
        return X[:, first : last + 1]
    return X[:, list(positions)]


def refuse_missing(values: Any, names: Sequence[str], said: str | None) -> None:
    """Raise a ValueError that names the first of k columns with NaN, infinity or a number out of range.

    `said` states which columns must not contain NaN; None allows it.
    """
    stored = values.data if sp.issparse(values) else values
    # The sum is finite if all numbers are, except for overflow: one pass, no array of flags.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.sum(stored, dtype=np.float64))
    if said is None:
        finite = finite or not np.isinf(stored).any()
    for name, own in () if finite else _each(values, names):
        if said is not None and np.isnan(own).any():
            raise ValueError(
                f"X: column {name!r} contains NaN; {said}: fill it in before, as with "
                "superfactor.preprocessing.LowRankImputer"
            )
        if np.isinf(own).any():
            raise ValueError(f"X: column {name!r} contains infinity; finite numbers are required")
    refuse_large(values, names)


def refuse_large(values: Any, names: Sequence[str]) -> None:
    """Raise a ValueError that names the first of k columns with a number whose square is out of range."""
    most = float(np.finfo(values.dtype).max) ** 0.45  # so that sums of many squares are in range, too
    if _size(values.data if sp.issparse(values) else values) < most:
        return
    for name, own in _each(values, names):
        if _size(own) >= most:
            raise ValueError(
                f"X: column {name!r} holds values of size {_size(own):.0e}; less than {most:.0e} is "
                f"required, beyond which squares leave the range of {own.dtype}. Rescale X"
            )


def _size(values: Any) -> float:
    """Return the largest absolute value, ignoring NaN, without an array of absolute values."""
    return float(
        max(np.fmax.reduce(values, axis=None, initial=0), -np.fmin.reduce(values, axis=None, initial=0))
    )


def _each(values: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield names and columns; for a sparse matrix, the stored entries of each column."""
    if sp.issparse(values):
        values = values.tocsc()
        return ((name, values[:, [j]].data) for j, name in enumerate(names))
    return ((name, values[:, j]) for j, name in enumerate(names))


def positions_of(columns: Any, estimator: Any, said: str) -> list[int]:
    """Return positions of columns in the X of an estimator; None selects no column.

    `columns` are names, positions, a mask or a slice.
    """
    if columns is None:
        return []
    n_features = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(columns, slice):
        if not all(isinstance(end, int | np.integer | None) for end in (columns.start, columns.stop)):
            raise TypeError(f"{said}: a slice of positions is required, as slice(0, 10)")
        if columns.stop is not None and columns.stop > n_features:
            raise ValueError(f"{said}: X has {n_features} columns only")
        return list(range(n_features))[columns]
    if names is None and _are_names(columns):
        raise ValueError(
            f"{said}: X has no column names here; use positions, or call set_output(transform='pandas') on "
            "the previous step, which keeps them"
        )
    return column_positions(columns, n_features, None if names is None else list(names), said)


def _are_names(columns: Any) -> bool:
    if isinstance(columns, str):
        return True
    return np.ndim(columns) == 1 and len(columns) > 0 and isinstance(next(iter(columns)), str)


def names_of(estimator: Any) -> list[str]:
    """Return the names of the columns that an estimator was fitted to; x0, x1, … if they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(estimator.n_features_in_)]
    return [str(name) for name in names]
