"""Check X and convert it to the form that the solvers need.

X is read once, to check that it is finite. It is copied only if some of its columns are covariates or some of
its rows have weight zero. Other arrays are small and are converted to the type and device of X.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import validate_data

from superfactor._arrays import Array, NumpyArray, device, namespace
from superfactor.estimators.inputs.arrays import as_numpy, block_cuts, is_foreign
from superfactor.preprocessing.cells import holds_unreadable
from superfactor.preprocessing.columns import advising_reindex
from superfactor.spectrum import RowSource, as_rows

# Replaces scikit-learn's advice, which has six lines and does not mention LowRankImputer.
_MISSING_ADVICE = (
    "Input X contains NaN; put superfactor.preprocessing.LowRankImputer() before the model in a Pipeline. "
    "SMFClassifierCV, SMFRegressorCV and SMFSurvivalCV complete missing values themselves unless impute=None"
)


def check_data(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    method: str = "fit",
    gaps: bool = False,
    complete: Callable[[NumpyArray], NumpyArray] | None = None,
) -> Array:
    """Return X (n, p) as a finite floating array: NumPy, another array library, CSR or CSC.

    With `gaps`, a dense NumPy array may contain NaN; `complete` returns the array to use in its place. Sets
    (`reset`) or checks ``n_features_in_`` and ``feature_names_in_`` of the estimator.
    """
    refuse_other_objects(X)
    if not reset:
        _check_same_library(estimator, X, method)
    if is_foreign(X):
        return _check_foreign(estimator, X, reset)
    source = None if hasattr(X, "__array__") else as_rows(X)
    if source is not None:
        raise ValueError(
            f"X: {source!r} is read in passes, which only prediction and fit with solver='lifted-newton' "
            "and certify='residual' or None support; an array or a memmap is required here"
        )
    with _named("X", X), advising_reindex(estimator, X, advise=complete is not None):
        data = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
    missing = _check_finite(data, allow_nan=(gaps or complete is not None) and not sp.issparse(data))
    return data if complete is None or not missing else complete(data)


def counted_missing(gone: NumpyArray) -> str:
    """Return the number of missing values of a mask (n, p) in words."""
    samples = int(gone.any(axis=1).sum())
    return f"{gone.sum()} of {gone.size} values are missing, in {samples} of {len(gone)} samples"


def check_rows(estimator: Any, X: Any, *, reset: bool, method: str = "fit") -> RowSource | None:
    """Return X (n, p) as a source of rows that is read in blocks; None if it is an array in memory.

    A memmap of a single block counts as an array, because joblib creates such memmaps. Sets (`reset`) or
    checks the same attributes as `check_data`. Values are checked when they are read.
    """
    refuse_other_objects(X)
    source = as_rows(X)
    if source is None or (isinstance(X, np.memmap) and len(block_cuts(source)) <= 2):
        return None
    if min(source.shape) == 0:
        raise ValueError(f"X: at least 1 sample and 1 feature are required, got {source.shape}")
    if not reset:
        _check_same_library(estimator, X, method)
    validate_data(estimator, _with_names(source), reset=reset, skip_check_array=True)
    return source


def refuse_other_objects(X: Any) -> None:
    """Raise a TypeError for paths, and for AnnData, because only the user knows which column holds labels."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X: numbers are required, got a path; superfactor.row_blocks({os.fspath(X)!r}) opens it"
        )
    if hasattr(X, "obs") and hasattr(X, "X") and not hasattr(X, "columns"):
        raise TypeError(
            f"X: {type(X).__name__} holds a matrix and annotations; superfactor.anndata.tl.smf(adata, "
            "label=…) fits it, or pass adata.X as X and adata.obs['…'] as y"
        )


def _with_names(source: RowSource) -> Any:
    """Return an object with the source's column names that scikit-learn can read."""
    if source.names is None:
        return source
    import pyarrow as pa

    return pa.table({name: pa.nulls(0) for name in source.names})


@contextmanager
def _named(name: str, values: Any) -> Iterator[None]:
    """Add the name of the argument to errors about values that are not numbers."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if holds_unreadable(values):
            raise type(error)(f"{name}: numbers are required; {error}") from error
        raise


def check_numbers(name: str, values: Any, **options: Any) -> Any:
    """Return a small array as finite NumPy float64."""
    with _named(name, values):
        return check_array(as_numpy(values), dtype=np.float64, input_name=name, **options)


def _check_finite(X: Any, allow_nan: bool) -> bool:
    """Check in one pass that X is finite; NaN raises an error with advice, or the result is True."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.sum(values))
    if finite:
        return False
    missing = bool(np.isnan(values).any())
    if missing and not allow_nan:
        raise ValueError(_MISSING_ADVICE)
    assert_all_finite(values, allow_nan=True, input_name="X")
    return missing


def _check_foreign(estimator: Any, X: Array, reset: bool) -> Array:
    xp = namespace(X)
    if hasattr(X, "detach"):  # PyTorch: no gradients through a fit
        X = X.detach()
    if X.ndim != 2:
        raise ValueError(
            f"X: Expected 2D array, got {X.ndim}D array instead (shape {tuple(X.shape)}). Reshape "
            "your data to n_samples x n_features"
        )
    if min(X.shape) == 0:
        raise ValueError(f"X: at least 1 sample and 1 feature are required, got {tuple(X.shape)}")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"X: Complex data not supported (dtype {X.dtype}); real numbers are required")
    if X.dtype not in (xp.float64, xp.float32):
        half = xp.isdtype(X.dtype, "real floating")
        X = xp.astype(X, xp.float32 if half else xp.float64)
    # The sum is finite if all entries are, except for overflow: one pass, no array of flags.
    if not bool(xp.isfinite(xp.sum(X))) and not bool(xp.all(xp.isfinite(X))):
        raise ValueError(
            "X: Input X contains NaN or infinity; finite numbers are required: impute or remove others"
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def _check_same_library(estimator: Any, X: Any, method: str) -> None:
    """Raise a ValueError if X is in another library or on another device than at fit."""
    fitted = estimator.components_
    foreign = is_foreign(X)
    if foreign != is_foreign(fitted) or (
        foreign and (namespace(X) is not namespace(fitted) or device(X) != device(fitted))
    ):
        raise ValueError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace "
            f"and the same device as those passed to fit(): got {type(X).__module__}."
            f"{type(X).__name__}, fitted on {type(fitted).__module__}.{type(fitted).__name__}; convert X"
        )
