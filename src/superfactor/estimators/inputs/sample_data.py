"""Check arrays that accompany the samples: covariates, weights, codes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array

from superfactor._arrays import Array
from superfactor.estimators.inputs.arrays import as_numpy, like
from superfactor.estimators.inputs.columns import column_names
from superfactor.estimators.inputs.data import check_numbers
from superfactor.estimators.parameters import shown


def check_covariates(covariates: Any, X: Array, n_expected: int | None, where: str) -> Array | None:
    """Return X' (n, q) as a finite dense array like X; `n_expected` is q of the fit, None during the fit."""
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
            f"covariates: {values.shape[1]} column(s), but the model was fitted with {n_expected}; the same "
            "columns are required"
        )
    return like(values, X)


def check_same_names(covariates: Any, fitted: list[str] | None) -> None:
    """Raise a ValueError unless a DataFrame of covariates has the columns of the fit, in their order."""
    names = column_names(covariates)
    if names is not None and fitted is not None and names != fitted:
        raise ValueError(
            f"covariates: columns {shown(names)}, but the model was fitted with {shown(fitted)}; "
            "the names and their order must agree"
        )


def check_length(name: str, values: Any, X: Array) -> None:
    """Raise a ValueError unless there are as many entries as X has samples."""
    if len(values) != X.shape[0]:
        raise ValueError(f"{name}: {len(values)} samples, but X has {X.shape[0]}; the numbers must agree")


def check_weights(sample_weight: Any, X: Array) -> Any:
    """Return w (n,) as NumPy, finite, ≥ 0 and not all zero; None if every weight is one."""
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
            "sample_weight: Sample weights must contain at least one non-zero number; None: equal weights"
        )
    return None if np.all(weight == 1) else weight


def check_codes(codes: Any, components: Array) -> Array:
    """Return codes (n, r) in the library, type and device of the components (r, p)."""
    values = check_array(as_numpy(codes), dtype=[np.float64, np.float32], input_name="codes")
    if values.shape[1] != components.shape[0]:
        raise ValueError(
            f"codes: {values.shape[1]} column(s), but the model has {components.shape[0]} "
            "components; codes as returned by transform are required"
        )
    return like(values, components)
