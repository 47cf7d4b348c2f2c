"""Samples: the rows of X with their targets, covariates and weights, and the products that solvers need.

A tilde means that sample weights w and a unit s are included: X̃ = diag(√w)X/s, with s a power of two near
‖X‖, so that nothing depends on the unit of X. X is an array of any library, SciPy-sparse, or an object that
yields blocks of rows, such as a file. All of them are sums over blocks: the same lines serve an array, a file
and a cluster.
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, cast, cores, device, eps, namespace, wide
from superfactor._new.tall import here, there
from superfactor.losses import Loss

#: Stored values of a sparse X from which threads pay.
THREADED = 200_000
#: Rows or columns of X that are copied to float64 at a time.
_STRETCH = 8192


class Rows:
    """X̃ (n, p) with what belongs to its rows.

    Parameters
    ----------
    X : array (n, p), sparse array, or an object with `shape`, `dtype`, `map(function)` and `take(index)`
        `map` yields function.of(start, stop)(block) for each block of rows, in order.
    Y : tall (n, κ)
        Targets.
    loss : Loss
    Z : tall (n, q)
        Covariates, the intercept among them.
    rho : array (q,), NumPy
        Their ridge; 0 is unpenalised.
    weight : tall (n, 1) in float64, optional
        w, which multiplies every term of a row.
    loss_weight : tall (n, 1) in float64
        ω, which multiplies its loss: w times the weight of its class, 0 without a label.
    scale : float
        s.
    """

    def __init__(
        self,
        X: Any,
        Y: Array,
        loss: Loss,
        Z: Array,
        rho: Any,
        *,
        weight: Array | None,
        loss_weight: Array,
        scale: float = 1.0,
    ) -> None:
        self.blocks = X if hasattr(X, "map") else InMemory(X)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self.Y, self.loss, self.Z, self.rho = Y, loss, Z, np.asarray(rho, dtype=float)
        self.loss_weight, self.scale = loss_weight, scale
        self.weight, self.root, self.unroot = weight, None, None
        if weight is not None:
            xp = namespace(weight)
            root = xp.sqrt(weight)
            # A row of weight 0 has no part in anything.
            some = root > 0
            unroot = xp.where(some, 1 / xp.where(some, root, xp.ones_like(weight)), 0 * weight)
            self.root, self.unroot = cast(root, Y), cast(unroot, Y)
        self.work = 0.0  # operations so far, by which searches compare costs
        self.curved: float = self.shape[0] // 8  # rows over which the curvature is summed, at least
        self.squares: Any = None  # the eigenvalues of X̃ᵀX̃, where X̃ is UΣ
        self.total = self._sum_of_squares()  # ‖X̃‖²

    @property
    def outputs(self) -> int:
        """κ."""
        return int(self.Y.shape[1])

    @property
    def eps(self) -> float:
        """Machine epsilon of tall arrays."""
        return eps(self.Y)

    @property
    def in_memory(self) -> bool:
        return isinstance(self.blocks, InMemory)

    # --- products with X̃ ---------------------------------------------------------------------------------

    def times(self, V: Any) -> Array:
        """Return X̃V (n, k), tall, for small V (p, k)."""
        parts = list(self.blocks.map(_Times(there(np.asarray(V) / self.scale, self.Y))))
        found = namespace(self.Y).concat(parts, axis=1) if len(parts) > 1 else parts[0]
        return self.rooted(found.T)

    def back(self, E: Array) -> Any:
        """Return X̃ᵀE (p, k), small, for tall E (n, k)."""
        return added(self.blocks.map(_Back(self.rooted(E)))) / self.scale

    def power(self, V: Any) -> tuple[Array, Any]:
        """Return X̃V (n, k) and X̃ᵀX̃V (p, k) in one pass."""
        powers, parts = [], []
        for part, power in self.blocks.map(_Power(there(np.asarray(V) / self.scale, self.Y), self.weight)):
            parts.append(part)
            powers.append(power)
        found = namespace(self.Y).concat(parts, axis=1) if len(parts) > 1 else parts[0]
        return self.rooted(found.T), added(powers) / self.scale

    def gram(self, weight: Array | None = None) -> Any:
        """Return X̃ᵀX̃ (p, p), small, with other weights (n, 1) than w if they are given."""
        return added(self.blocks.map(_Gram(self.weight if weight is None else weight))) / self.scale**2

    def sample_gram(self, weight: Array | None = None) -> Any:
        """Return X̃X̃ᵀ (n, n), small, of X in memory, with other weights (n, 1) than w if they are given."""
        weight = self.weight if weight is None else weight
        root = 1.0 if weight is None else np.sqrt(here(weight))
        return _sample_gram(self.blocks.X) / self.scale**2 * root * np.transpose(root)

    def rooted(self, T: Array) -> Array:
        """Return √w·T for tall T."""
        return T if self.root is None else self.root * T

    def unrooted(self, T: Array) -> Array:
        """Return T/√w for tall T."""
        return T if self.unroot is None else self.unroot * T

    def _sum_of_squares(self) -> float:
        return float(added(self.blocks.map(_Squares(self.weight)))) / self.scale**2

    # --- the loss -----------------------------------------------------------------------------------------

    def evaluate(self, a: Array) -> tuple[Any, Array]:
        """Return Σ_i ω_i ℓ(y_i, a_i) (…), NumPy, and its gradient E (…, n, κ) at activations a (…, n, κ)."""
        value, residual = self.loss.value_and_residual(a, self.Y)
        xp = namespace(a)
        total = xp.sum(wide(value) * self.loss_weight[:, 0], axis=-1)
        return here(total), residual * cast(self.loss_weight, residual)

    def curvature(self, a: Array) -> Any:
        """Return the curvature of Σ_i ω_i ℓ at activations a."""
        return self.loss.curvature(a, self.Y).weighted(cast(self.loss_weight, a))

    # --- some of the rows ---------------------------------------------------------------------------------

    def share(self, wanted: float) -> float:
        """Return a share of the rows with as many rows as wanted: less than half, or all."""
        n = self.shape[0]
        return wanted / n if 2 * wanted < n and not self.loss.couples_samples else 1.0

    def some(self, share: float) -> Any:
        """Return the positions of random rows, ascending: the same for the same share."""
        n = self.shape[0]
        chosen = np.sort(np.random.default_rng(0).permutation(n)[: round(share * n)])
        return (
            chosen if type(self.Y) is np.ndarray else namespace(self.Y).asarray(chosen, device=device(self.Y))
        )

    def sample(self, share: float) -> Rows:
        """Return some of the rows in memory, with the same unit."""
        i = self.some(share)
        rows = Rows(
            self.blocks.take(i),
            self.Y[i, :],
            self.loss,
            self.Z[i, :],
            self.rho * share,
            weight=None if self.weight is None else self.weight[i, :],
            loss_weight=self.loss_weight[i, :],
            scale=self.scale,
        )
        return rows

    def with_ridge(self, rho: Any) -> Rows:
        """Return the rows with another ridge of covariates."""
        other = copy.copy(self)
        other.rho = np.asarray(rho, dtype=float)
        return other

    def rescaled(self, scale: float) -> Rows:
        """Return the rows with another unit s."""
        other = copy.copy(self)
        other.total, other.scale = self.total * (self.scale / scale) ** 2, scale
        return other


class InMemory:
    """The blocks of an array: one, or as many as there are cores if X is sparse and large."""

    def __init__(self, X: Any) -> None:
        self.X = sp.csr_array(X) if sp.issparse(X) else X
        self.shape, self.dtype = X.shape, X.dtype
        self.cuts = [0, int(X.shape[0])]
        if sp.issparse(X) and X.nnz > THREADED and cores() > 1:
            inner = np.searchsorted(self.X.indptr, np.linspace(0, self.X.nnz, cores() + 1)[1:-1])
            self.cuts = sorted({0, *map(int, inner), int(X.shape[0])})
        whole = len(self.cuts) == 2
        self.parts = [(a, b, self.X if whole else self.X[a:b]) for a, b in pairwise(self.cuts)]

    def map(self, function: Any) -> Iterator[Any]:
        """Yield function.of(start, stop)(block) for each block."""
        if len(self.parts) == 1:
            return iter([function(self.X)])
        return _pool().map(lambda part: function.of(*part[:2])(part[2]), self.parts)

    def take(self, index: Any) -> Any:
        """Return some rows."""
        return self.X[index, :]

    @property
    def values(self) -> float:
        """Number of stored values."""
        return float(self.X.nnz if sp.issparse(self.X) else math.prod(self.shape))


class Source:
    """The blocks of a file: read ahead, by as many threads as there are cores.

    Parameters
    ----------
    source : RowSource
        It has `shape`, `dtype`, `cuts(rows)` and `read_finite(start, stop)`.
    rows : int
        Rows of a block.
    on_block : callable, optional
        Called as on_block(rows done, rows in all) during a pass.
    """

    def __init__(self, source: Any, rows: int, on_block: Callable[[int, int], None] | None = None) -> None:
        self.source, self.shape, self.dtype, self.on_block = source, source.shape, source.dtype, on_block
        self.parts = list(pairwise(source.cuts(rows)))

    def map(self, function: Any) -> Iterator[Any]:
        """Yield function.of(start, stop)(block) for each block.

        At most one block more than there are cores is in memory.
        """

        def read(start: int, stop: int) -> Any:
            return function.of(start, stop)(self.source.read_finite(start, stop))

        waiting: deque[Future[Any]] = deque()
        done, (n, _) = 0, self.shape
        try:
            for start, stop in [*self.parts, (0, 0)]:
                if stop:
                    waiting.append(_pool().submit(read, start, stop))
                while waiting and (len(waiting) > cores() or not stop):
                    yield waiting.popleft().result()
                    done += 1
                    if self.on_block is not None:
                        self.on_block(self.parts[done - 1][1], n)
        finally:  # after an error, wait for all blocks: their files may be deleted
            for future in waiting:
                future.cancel()
            wait(waiting)

    def take(self, index: Any) -> Any:
        """Return some rows, in ascending order, in memory."""
        found = []
        for start, stop in self.parts:
            here_ = index[(index >= start) & (index < stop)] - start
            if len(here_):
                found.append(self.source.read_finite(start, stop)[here_])
        return sp.vstack(found, format="csr") if sp.issparse(found[0]) else np.concatenate(found)


_POOL: list[ThreadPoolExecutor] = []


def _pool() -> ThreadPoolExecutor:
    if not _POOL:
        _POOL.append(ThreadPoolExecutor(cores(), "superfactor"))
    return _POOL[0]


def added(results: Iterable[Any]) -> Any:
    """Return the sum, in NumPy's float64."""
    total: Any = None
    for result in results:
        total = here(result) if total is None else total + here(result)
    return total


def _sample_gram(X: Any) -> Any:
    """Return XXᵀ (n, n) in NumPy's float64, without a float64 copy of all of X."""
    if sp.issparse(X):
        X = X.astype(np.float64)
        return (X @ X.T).toarray()
    if X.dtype == namespace(X).float64:
        return here(X @ X.T)
    p = int(X.shape[1])
    parts = (wide(X[:, a : min(a + _STRETCH, p)]) for a in range(0, p, _STRETCH))
    return sum(here(part @ part.T) for part in parts)


# --- what is computed for each block: objects that can be restricted to some rows and sent elsewhere --------


_TALL = {"tall": True}


@dataclass(frozen=True)
class _OfRows:
    """A function of a block of rows of X; tall arrays in it have the rows of the block."""

    def of(self, start: int, stop: int) -> _OfRows:
        """Return the function for some of the rows."""
        tall = {f.name: getattr(self, f.name) for f in fields(self) if f.metadata.get("tall")}
        return replace(self, **{name: x if x is None else x[start:stop, :] for name, x in tall.items()})


@dataclass(frozen=True)
class _Times(_OfRows):
    """XV, by columns: (k, rows)."""

    V: Array

    def __call__(self, X: Any) -> Array:
        if sp.issparse(X) or X.shape[0] >= X.shape[1]:
            return (X @ self.V).T
        return self.V.T @ X.T  # for long rows, BLAS needs half the time


@dataclass(frozen=True)
class _Back(_OfRows):
    """XᵀE."""

    E: Array = field(metadata=_TALL)

    def __call__(self, X: Any) -> Array:
        if sp.issparse(X):
            return X.T @ np.ascontiguousarray(self.E)
        return (self.E.T @ X).T  # X is stored by rows: BLAS needs half the time of Xᵀ @ E


@dataclass(frozen=True)
class _Power(_OfRows):
    """XV by columns, and Xᵀdiag(w)XV."""

    V: Array
    weight: Array | None = field(metadata=_TALL)

    def __call__(self, X: Any) -> tuple[Array, Array]:
        found = _Times(self.V)(X)
        return found, _Back((found if self.weight is None else found * cast(self.weight, found)[:, 0]).T)(X)


@dataclass(frozen=True)
class _Gram(_OfRows):
    """Xᵀdiag(w)X in float64."""

    weight: Array | None = field(metadata=_TALL)

    def __call__(self, X: Any) -> Any:
        total = np.zeros((X.shape[1],) * 2)
        for part, weight in _stretches(X, self.weight):
            if sp.issparse(part):
                total += (part.T @ (part if weight is None else part.multiply(weight).tocsr())).toarray()
            else:
                total += here(part.T @ (part if weight is None else part * cast(weight, part)))
        return total


@dataclass(frozen=True)
class _Squares(_OfRows):
    """Σ_i w_i‖x_i‖² in float64."""

    weight: Array | None = field(metadata=_TALL)

    def __call__(self, X: Any) -> float:
        total = 0.0
        with np.errstate(over="ignore", under="ignore"):  # an overflow gives infinity, which callers check
            for part, weight in _stretches(X, self.weight):
                if sp.issparse(part):
                    squares = np.asarray(part.astype(np.float64).power(2).sum(axis=1)).ravel()
                else:
                    part = wide(part)
                    squares = namespace(part).vecdot(part, part)
                total += float(here(squares if weight is None else squares * weight[:, 0]).sum())
        return total


def _stretches(X: Any, weight: Array | None) -> Iterator[tuple[Any, Any]]:
    """Yield some rows at a time, so that few are copied to float64."""
    for start in range(0, X.shape[0], _STRETCH):
        stop = min(start + _STRETCH, X.shape[0])
        yield X[start:stop, :], None if weight is None else weight[start:stop, :]
