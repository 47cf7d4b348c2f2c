"""X, covariates and weights as the user brings them, as the solvers want them.

X is looked at once (is it finite?) and never copied, unless some of its columns are covariates or
some of its rows have weight zero. Everything else is small and follows the type and place of X.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import is_array_api_obj, is_dask_namespace, is_numpy_array
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from superfactor._arrays import Array, device, namespace, to_numpy
from superfactor.estimators.blockwise import block_cuts, by_blocks
from superfactor.estimators.parameters import shown
from superfactor.spectrum import RowSource, as_rows
from superfactor.spectrum.rows import column_positions

# scikit-learn's own advice runs over six lines and knows nothing of ours.
_GAPS = (
    "Input X contains NaN; put superfactor.preprocessing.LowRankImputer() before the model in a Pipeline. "
    "SMFClassifierCV and SMFRegressorCV do so by themselves, inside the folds, where the X they are fitted "
    "to has gaps"
)


def is_foreign(X: Any) -> bool:
    """Is X an array of another library than NumPy, to be computed with as it is?"""
    if is_numpy_array(X) or sp.issparse(X) or not is_array_api_obj(X):
        return False
    return not is_dask_namespace(namespace(X))


def as_numpy(x: Any) -> Any:
    """Arrays of any library as NumPy; whatever is no array stays as it is."""
    return to_numpy(x) if is_foreign(x) else x


def check_data(estimator: Any, X: Any, *, reset: bool, method: str = "fit", gaps: bool = False) -> Array:
    """X (n, p) as a finite floating array: NumPy, another array library, CSR or CSC.

    With `gaps`, NaN may stand in a dense one of NumPy. Sets (`reset`) or checks ``n_features_in_`` and
    ``feature_names_in_`` of the estimator.
    """
    refuse_annotated(X)
    if not reset:
        _check_same_library(estimator, X, method)
    if is_foreign(X):
        return _check_foreign(estimator, X, reset)
    source = None if hasattr(X, "__array__") else as_rows(X)
    if source is not None:
        raise ValueError(
            f"X: {source!r} is read in passes, as only fit with solver='lifted-newton' and "
            "certify='residual' or None does, and prediction; an array or a memmap is required here"
        )
    with _named("X"):
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if gaps and not sp.issparse(X) else True,
        )


def check_rows(estimator: Any, X: Any, *, reset: bool, method: str = "fit") -> RowSource | None:
    """X (n, p) as a source of rows to be read in blocks; None where it is an array to be taken whole.

    A memmap of a single block is such an array: joblib hands them out unasked. Sets (`reset`) or
    checks what `check_data` does; whether the numbers are finite is seen when they are read.
    """
    refuse_annotated(X)
    source = as_rows(X)
    if source is None or (isinstance(X, np.memmap) and len(block_cuts(source)) <= 2):
        return None
    if min(source.shape) == 0:
        raise ValueError(f"X: at least 1 sample and 1 feature are required, got {source.shape}")
    if not reset:
        _check_same_library(estimator, X, method)
    validate_data(estimator, _with_names(source), reset=reset, skip_check_array=True)
    return source


def refuse_annotated(X: Any) -> None:
    """AnnData is a matrix with tables beside it; which of them holds the labels only the user knows."""
    if hasattr(X, "obs") and hasattr(X, "X") and not hasattr(X, "columns"):
        raise TypeError(
            f"X: {type(X).__name__} holds a matrix and annotations; superfactor.anndata.tl.smf(adata, "
            "label=…) fits it, or pass adata.X as X and adata.obs['…'] as y"
        )


def _with_names(source: RowSource) -> Any:
    """Something with the source's columns that scikit-learn asks for their names."""
    if source.names is None:
        return source
    import pyarrow as pa

    return pa.table({name: pa.nulls(0) for name in source.names})


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Say which argument it was that would not become numbers."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error)
        if "could not convert" in text or "number, not" in text or "'numeric'" in text:
            raise type(error)(f"{name}: numbers are required; {text}") from error
        if name == "X" and "contains NaN" in text:
            raise ValueError(_GAPS) from error
        raise


def check_numbers(name: str, values: Any, **options: Any) -> Any:
    """A small array beside X as finite NumPy float64."""
    with _named(name):
        return check_array(as_numpy(values), dtype=np.float64, input_name=name, **options)


def _check_foreign(estimator: Any, X: Array, reset: bool) -> Array:
    xp = namespace(X)
    if hasattr(X, "detach"):  # PyTorch: no graph through a fit
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
    # The sum is finite whenever all entries are, save for overflow: one pass, no array of flags.
    if not bool(xp.isfinite(xp.sum(X))) and not bool(xp.all(xp.isfinite(X))):
        raise ValueError(
            "X: Input X contains NaN or infinity; finite numbers are required: fill in or leave out"
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def _check_same_library(estimator: Any, X: Any, method: str) -> None:
    """Predicting happens where the fit happened: nothing moves between devices unasked."""
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


# --- columns of X that are covariates ------------------------------------------------------------


def covariate_indices(columns: Any, n_features: int, names: Any) -> list[int]:
    """`covariate_columns` as positions 0..n_features−1, in the order given; None is none."""
    if columns is None:
        return []
    said = f"covariate_columns={shown(columns)}"
    indices = column_positions(columns, n_features, names, said)
    if len(indices) == n_features:
        raise ValueError(f"{said}: at least one column of X must be left to factorize")
    return indices


def names_without(indices: list[int], n_features: int, names: list[str] | None) -> Any:
    """Names (p,) of the columns that are factorized: x0, x1, … where X has none."""
    chosen = set(indices)
    all_names = names or [f"x{j}" for j in range(n_features)]
    return np.asarray([name for j, name in enumerate(all_names) if j not in chosen], dtype=object)


def split_columns(X: Array, indices: list[int]) -> tuple[Array, Array | None]:
    """The columns to factorize, and the dense covariates among the columns (None without any).

    Of a source the covariates are read, all of them, and what is left is a source again.
    """
    if not indices:
        return X, None
    chosen = set(indices)
    kept = [j for j in range(X.shape[1]) if j not in chosen]
    if isinstance(X, RowSource):
        (part,) = by_blocks(lambda block: (_dense(block),), X.select(indices))
        return X.select(kept), part
    part = take(X, indices, axis=1)
    part = _dense(part)
    if kept[-1] - kept[0] + 1 == len(kept):
        return X[:, kept[0] : kept[-1] + 1], part  # a view
    return take(X, kept, axis=1), part


def _dense(X: Array) -> Array:
    return X.toarray() if sp.issparse(X) else X


def take(X: Array, indices: Any, *, axis: int) -> Array:
    """Rows or columns of X by position, for any kind of array."""
    if sp.issparse(X):
        return X[indices, :] if axis == 0 else X[:, indices]
    xp = namespace(X)
    return xp.take(X, xp.asarray(np.asarray(indices), device=device(X)), axis=axis)


# --- what accompanies the samples ----------------------------------------------------------------


def check_covariates(covariates: Any, X: Array, n_expected: int | None, where: str) -> Array | None:
    """X' (n, q) as a finite dense array in the type and place of X.

    Parameters
    ----------
    n_expected : int or None
        q at fit time; None while fitting.
    """
    if covariates is None:
        if n_expected:
            raise ValueError(
                f"covariates=None: the model was fitted with {n_expected} covariate(s), so {where} "
                f"needs an array of shape (n_samples, {n_expected})"
            )
        return None
    covariates = as_numpy(covariates)
    if np.ndim(covariates) == 1:
        covariates = np.asarray(covariates)[:, None]
    values = check_numbers("covariates", covariates)
    check_length("covariates", values, X)
    if n_expected is not None and values.shape[1] != n_expected:
        raise ValueError(
            f"covariates: {values.shape[1]} column(s), but the model was fitted with {n_expected}; the "
            "same are required"
        )
    return like(values, X)


def column_names(table: Any) -> list[str] | None:
    """The names of a table's columns where all are strings; None otherwise."""
    if isinstance(table, RowSource):
        return table.names
    columns = getattr(table, "columns", None)
    names = [] if columns is None else list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def check_same_names(covariates: Any, fitted: list[str] | None) -> None:
    """A DataFrame of covariates has the columns of the one at fit, in their order."""
    names = column_names(covariates)
    if names is not None and fitted is not None and names != fitted:
        raise ValueError(
            f"covariates: columns {shown(names)}, but the model was fitted with {shown(fitted)}; "
            "the names and their order must agree"
        )


def like(values: Any, X: Array) -> Array:
    """`values` (NumPy) in the library, type and place of X; sparse X and sources stand for NumPy."""
    if isinstance(X, RowSource):
        return np.asarray(values, dtype=X.dtype)
    sample = X.data if sp.issparse(X) else X
    return namespace(sample).asarray(values, dtype=sample.dtype, device=device(sample))


def among(values: Any, kept: Any, n: int) -> Any:
    """Values of the samples `kept` among n, ones for all others."""
    if values is None:
        return None
    out = np.ones((n, *values.shape[1:]), dtype=values.dtype)
    out[kept] = values
    return out


def check_length(name: str, values: Any, X: Array) -> None:
    """As many entries as X has samples."""
    if len(values) != X.shape[0]:
        raise ValueError(f"{name}: {len(values)} samples, but X has {X.shape[0]}; the numbers must agree")


def check_weights(sample_weight: Any, X: Array) -> Any:
    """w (n,) as NumPy, finite, ≥ 0 and not all zero; None where every weight is one."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(X.shape[0], float(sample_weight))
    weight = check_numbers("sample_weight", sample_weight, ensure_2d=False, allow_nd=True)
    if weight.ndim != 1:
        raise ValueError(
            f"sample_weight: Sample weights must be 1D array or scalar, got {weight.ndim}D array"
        )
    check_length("sample_weight", weight, X)
    if np.any(weight < 0):
        raise ValueError(
            f"sample_weight: Negative values in data passed to `sample_weight` "
            f"(smallest {shown(weight.min())}); numbers >= 0 are required"
        )
    if not np.any(weight > 0):
        raise ValueError(
            "sample_weight: Sample weights must contain at least one non-zero number; None weighs all alike"
        )
    return None if np.all(weight == 1) else weight


def check_codes(codes: Any, components: Array) -> Array:
    """Codes (n, r) in the library, type and place of the components (r, p)."""
    values = check_array(as_numpy(codes), dtype=[np.float64, np.float32], input_name="codes")
    if values.shape[1] != components.shape[0]:
        raise ValueError(
            f"codes: {values.shape[1]} column(s), but the model has {components.shape[0]} "
            "components; codes as transform gives them are required"
        )
    return like(values, components)
