"""The few array helpers every room shares. Everything numerical is written once against the array API.

An `Array` is whatever the caller brought (NumPy, PyTorch, CuPy, array-api-strict); shapes are given
in docstrings, and matrices are always two-dimensional.
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

# What type checkers are told that users get back, which is so for NumPy, SciPy and pandas. Whoever brings
# arrays of another library gets such arrays, and says so to the checker (`typing.cast`).
NumpyArray = NDArray[Any]

# Up to here, matrices are too small for threads to pay.
_SMALL_SIDE = 1000


def namespace(*arrays: Array) -> Any:
    """The array-API namespace the arrays share."""
    # Solvers ask thousands of times, and mostly about NumPy, which is an array-API namespace itself. The
    # general answer takes ten times as long, and each wrapped function some microseconds more.
    for x in arrays:
        if type(x) is not np.ndarray:
            return array_namespace(*arrays)
    return np


def device(x: Array) -> Any:
    """Where the array lives."""
    return "cpu" if type(x) is np.ndarray else device_of(x)


def to_numpy(x: Array) -> Any:
    """`x` as a NumPy array, whichever library and device it lives on."""
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x)
    if hasattr(x, "detach"):  # PyTorch
        return x.detach().cpu().numpy()
    if hasattr(x, "get"):  # CuPy
        return x.get()
    if hasattr(x, "__array__"):
        try:
            return np.asarray(x)  # by its buffer, where Python has that (3.12)
        except RuntimeError:  # on a device NumPy cannot see
            pass
    return np.from_dlpack(x, device="cpu", copy=True)


def moved(x: Array, like: Array) -> Array:
    """`x` as an array of the library of `like`, where that lives, in its own type."""
    if type(like) is np.ndarray:
        return to_numpy(x)
    if type(x) is not np.ndarray:
        return x
    # PyTorch takes no reversed views, as eigenvectors in descending order are.
    return namespace(like).asarray(np.asarray(x, order="C"), device=device(like))


def cast(x: Array, like: Array) -> Array:
    """`x` in the floating type of `like`."""
    return x if x.dtype == like.dtype else namespace(x).astype(x, like.dtype)


def wide(x: Array) -> Array:
    """`x` in float64."""
    xp = namespace(x)
    return x if x.dtype == xp.float64 else xp.astype(x, xp.float64)


def eps(x: Array) -> float:
    """Machine epsilon of the floating type of `x`."""
    return float(namespace(x).finfo(x.dtype).eps)


def eye_like(x: Array, rows: int, columns: int | None = None) -> Array:
    """The first `columns` columns of the identity with `rows` rows, in the type and place of `x`."""
    return namespace(x).eye(rows, columns, dtype=x.dtype, device=device(x))


def zeros_like_of(x: Array, *shape: int) -> Array:
    """Zeros of another shape, in the type and place of `x`."""
    return namespace(x).zeros(shape, dtype=x.dtype, device=device(x))


def full_like_of(x: Array, size: int, value: float) -> Array:
    """`value` repeated `size` times, in the type and place of `x`."""
    return namespace(x).full((size,), value, dtype=x.dtype, device=device(x))


def indices(x: Array, where: Any) -> Array:
    """A NumPy array of indices as an index array for `x`."""
    return namespace(x).asarray(where, device=device(x))


def random_like(x: Array, rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Standard normal numbers (rows, columns), in the type and place of `x`."""
    block = rng.standard_normal((rows, columns))
    return namespace(x).asarray(block, dtype=x.dtype, device=device(x))


def diagonal(values: Array) -> Array:
    """The square matrix with `values` (m,) on its diagonal."""
    return eye_like(values, values.shape[0]) * values[None, :]


def inner(a: Array, b: Array) -> float:
    """⟨a, b⟩ = Σ a_ij b_ij."""
    if type(a) is np.ndarray and type(b) is np.ndarray:  # no temporary of the size of a
        return float(np.vdot(a, b))
    return float(namespace(a, b).sum(a * b))


def frobenius2(a: Array) -> float:
    """‖a‖² in the Frobenius norm."""
    return inner(a, a)


def inners(a: Array, b: Array) -> Array:
    """⟨a, b⟩ = Σ a_ij b_ij of each pair of matrices (…, i, j): (…)."""
    return namespace(a, b).sum(a * b, axis=(-2, -1))


def column_norms(a: Array) -> Array:
    """Euclidean norm of each column of `a` (N, k) -> (k,)."""
    xp = namespace(a)
    return xp.sqrt(xp.sum(a * a, axis=0))


def eigh_descending(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues (…, m) from the largest down, and their eigenvectors as columns (…, m, m)."""
    xp = namespace(matrix)
    values, vectors = xp.linalg.eigh((matrix + xp.matrix_transpose(matrix)) / 2)
    return xp.flip(values, axis=-1), xp.flip(vectors, axis=-1)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


class _OneThread:
    """BLAS on one thread while anybody in this process wants it.

    The limit is the process's: whoever comes first sets it and the last one takes it back, in whichever order
    threads that overlap leave.
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
    """A context with one BLAS thread where a side of X (n, p) is small, and all of them otherwise.

    Of small matrices two threads mostly wait for each other; on a busy machine that doubles the time.
    """
    return one_blas_thread if min(shape) <= _SMALL_SIDE else nullcontext()
