"""Array helpers used by all packages. Numerical code is written once, against the array API.

An `Array` is an array of the caller's library (NumPy, PyTorch, CuPy, array-api-strict). Docstrings give
shapes; matrices always have two dimensions.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of
from numpy.typing import NDArray

Array = Any

# The type that type checkers see for results, which is correct for NumPy, SciPy and pandas. Users of other
# libraries get arrays of their library and use `typing.cast`.
NumpyArray = NDArray[Any]

# Matrices with a side up to this size do not gain from threads.
_SMALL_SIDE = 1000


def namespace(*arrays: Array) -> Any:
    """Return the array-API namespace that the arrays share."""
    # Solvers call this thousands of times, mostly with NumPy, which is an array-API namespace itself. The
    # general function takes ten times as long, and each wrapped function some microseconds more.
    for x in arrays:
        if type(x) is not np.ndarray:
            return array_namespace(*arrays)
    return np


def device(x: Array) -> Any:
    """Return the device of the array."""
    return "cpu" if type(x) is np.ndarray else device_of(x)


def to_numpy(x: Array) -> Any:
    """Return `x` as a NumPy array, from any library and device."""
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x)
    if hasattr(x, "detach"):  # PyTorch
        return x.detach().cpu().numpy()
    if hasattr(x, "get"):  # CuPy
        return x.get()
    if hasattr(x, "__array__"):
        try:
            return np.asarray(x)  # through its buffer (Python 3.12)
        except RuntimeError:  # on a device NumPy cannot see
            pass
    return np.from_dlpack(x, device="cpu", copy=True)


def moved(x: Array, like: Array) -> Array:
    """Return `x` as an array of the library and device of `like`, with its own type."""
    if type(like) is np.ndarray:
        return to_numpy(x)
    if type(x) is not np.ndarray:
        return x
    # PyTorch does not accept reversed views, such as eigenvectors in descending order.
    return namespace(like).asarray(np.asarray(x, order="C"), device=device(like))


def cast(x: Array, like: Array) -> Array:
    """Return `x` in the floating type of `like`."""
    return x if x.dtype == like.dtype else namespace(x).astype(x, like.dtype)


def wide(x: Array) -> Array:
    """Return `x` in float64."""
    xp = namespace(x)
    return x if x.dtype == xp.float64 else xp.astype(x, xp.float64)


def eps(x: Array) -> float:
    """Return the machine epsilon of the floating type of `x`."""
    return float(namespace(x).finfo(x.dtype).eps)


def eye_like(x: Array, rows: int, columns: int | None = None) -> Array:
    """Return the first `columns` columns of the identity with `rows` rows, in the type and device of `x`."""
    return namespace(x).eye(rows, columns, dtype=x.dtype, device=device(x))


def zeros_like_of(x: Array, *shape: int) -> Array:
    """Return zeros of the given shape, with the type and device of `x`."""
    return namespace(x).zeros(shape, dtype=x.dtype, device=device(x))


def full_like_of(x: Array, size: int, value: float) -> Array:
    """Return `value` repeated `size` times, with the type and device of `x`."""
    return namespace(x).full((size,), value, dtype=x.dtype, device=device(x))


def indices(x: Array, where: Any) -> Array:
    """Return a NumPy array, such as indices, in the library and on the device of `x`."""
    return namespace(x).asarray(where, device=device(x))


def random_like(x: Array, rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Return standard normal numbers (rows, columns), with the type and device of `x`."""
    block = rng.standard_normal((rows, columns))
    return namespace(x).asarray(block, dtype=x.dtype, device=device(x))


def diagonal(values: Array) -> Array:
    """Return the square matrix with `values` (m,) on its diagonal."""
    return eye_like(values, values.shape[0]) * values[None, :]


def inner(a: Array, b: Array) -> float:
    """Return ⟨a, b⟩ = Σ a_ij b_ij."""
    if type(a) is np.ndarray and type(b) is np.ndarray:  # without a temporary of the size of a
        return float(np.vdot(a, b))
    return float(namespace(a, b).sum(a * b))


def frobenius2(a: Array) -> float:
    """Return ‖a‖² in the Frobenius norm."""
    return inner(a, a)


def inners(a: Array, b: Array) -> Array:
    """Return ⟨a, b⟩ = Σ a_ij b_ij of each pair of matrices (…, i, j): (…)."""
    return namespace(a, b).sum(a * b, axis=(-2, -1))


def column_norms(a: Array) -> Array:
    """Return the Euclidean norm of each column of `a` (N, k): (k,)."""
    xp = namespace(a)
    return xp.sqrt(xp.sum(a * a, axis=0))


def eigh_descending(matrix: Array) -> tuple[Array, Array]:
    """Return eigenvalues (…, m) in descending order, and their eigenvectors as columns (…, m, m)."""
    xp = namespace(matrix)
    values, vectors = xp.linalg.eigh((matrix + xp.matrix_transpose(matrix)) / 2)
    return xp.flip(values, axis=-1), xp.flip(vectors, axis=-1)


def eigh_pair(A: Array, B: Array) -> tuple[Array, Array]:
    """Return s (…, m) and U (…, m, m) with UᵀAU = I and UᵀBU = diag(s), A (…, m, m) positive semidefinite."""
    xp, identity = namespace(A), eye_like(A, int(A.shape[-1]))
    # A is singular if two columns are nearly equal.
    size = xp.max(xp.linalg.diagonal(A), axis=-1)[..., None, None]
    shift = 1e-10 * size + float(xp.finfo(A.dtype).smallest_normal) ** 0.5
    try:
        L = xp.linalg.cholesky(A + shift * identity)
    except (np.linalg.LinAlgError, RuntimeError):  # PyTorch's LinAlgError is a RuntimeError
        # Products in single precision give a singular A negative eigenvalues.
        lowest = xp.linalg.eigvalsh(A)[..., :1, None]
        L = xp.linalg.cholesky(A + (shift + 2 * xp.clip(-lowest, 0.0, None)) * identity)
    root = xp.linalg.inv(L)
    back = xp.matrix_transpose(root)
    values, V = xp.linalg.eigh(root @ B @ back)
    return values, back @ V


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


class _OneThread:
    """Limit BLAS to one thread while any thread of this process is inside the context.

    The limit applies to the process: the first user sets it and the last one removes it, in any order of
    overlapping threads.
    """

    def __init__(self) -> None:
        self._lock, self._users, self._limit = Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = _controller().limit(limits=1, user_api="blas")

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


#: A context: tall thin products are memory bound, and spinning threads slow them down.
one_blas_thread = _OneThread()


def few_threads(shape: tuple[int, ...]) -> Any:
    """Return a context with one BLAS thread if a side of X (n, p) is small, and with all of them otherwise.

    With small matrices two threads mostly wait for each other; on a busy machine that doubles the time.
    """
    return one_blas_thread if min(shape) <= _SMALL_SIDE else nullcontext()
