"""The parameter `device`: move X there before a fit, and convert results of a NumPy X back after it.

Arrays on a device are PyTorch tensors. Other inputs of a fit are converted to the device of X.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from superfactor._arrays import Array
from superfactor.estimators.inputs.arrays import as_numpy, is_foreign


def moved(X: Any, device: Any) -> Any:
    """Return X (n, p) on the device; unchanged without a device, or for NumPy on the CPU."""
    if device is None or _stays_numpy(X, device):
        return X
    if is_torch_array(X):
        return X.to(torch_device(device))
    if type(X) is np.ndarray:
        return _to_torch(X, torch_device(device))
    kind = type(X)
    raise ValueError(
        f"device={str(device)!r}: dense NumPy and PyTorch arrays can be moved, but not {kind.__module__}."
        f"{kind.__name__}; device=None is required"
    )


def torch_device(device: Any) -> Any:
    """Return the `torch.device` of this name, after checking that it exists and supports float64."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f'device={str(device)!r}: PyTorch is required: pip install "superfactor[torch]"'
        ) from error
    try:
        found = torch.device(device)
        # Gram matrices and sums are accumulated in float64 for any type of X.
        torch.zeros(1, dtype=torch.float64, device=found).cpu()
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"device={str(device)!r}: None, 'cpu' or a device that PyTorch can compute on in float64, "
            f"such as 'cuda', is required ({reason})"
        ) from error
    return found


def return_to(X: Any, estimator: Any) -> None:
    """Convert the fitted attributes of an estimator to NumPy, unless X is an array of another library."""
    if is_foreign(X) or not is_foreign(estimator.components_):
        return
    for name, value in vars(estimator).items():
        if name.endswith("_"):
            setattr(estimator, name, as_numpy(value))
    estimator._coding = estimator._coding.moved(as_numpy)


def leaves_cpu(device: Any) -> bool:
    """Return whether a NumPy X must be moved from the CPU."""
    return device is not None and str(device) != "cpu"


def _stays_numpy(X: Any, device: Any) -> bool:
    return not leaves_cpu(device) and not is_foreign(X)


def _to_torch(X: np.ndarray, device: Any) -> Array:
    import torch

    if min(X.strides) < 0:  # not supported by PyTorch
        X = X.copy()
    with warnings.catch_warnings():  # read-only arrays are safe, since X is never written to
        warnings.filterwarnings("ignore", message=".*not writable")
        return torch.from_numpy(X).to(device)
