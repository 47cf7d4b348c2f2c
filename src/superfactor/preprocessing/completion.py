"""Completion of a table by probabilistic PCA: fill, factorize, shrink, fill again.

With the missing entries of Z (n, p) filled, μ its column means and Z − 1μᵀ = UΣVᵀ, the next fill is

    Ẑ = 1μᵀ + U_q diag(σ_k − s²/σ_k) V_qᵀ        where entries are missing,

and only σ_k > s count. s² is the mean of the squared singular values beyond q, divided by the share of
entries that are observed: a filled entry lies on the factors and shows no noise. Factors that explain much
are taken as they are, those near the noise hardly count, so that q may be generous.

Where the iteration stands still each row solves, for its observed entries o,

    h = (V_oᵀV_o + diag(s²/(σ_k² − s²)))⁻¹ V_oᵀ(z_o − μ_o),        ẑ = μ + Vh,

which is the way to fill new samples. One fixed point serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from superfactor._arrays import Array

# Entries of a block of rows that are worked on at a time.
_BLOCK = 200_000
# And of new samples, which need several arrays of this size.
_NEW_BLOCK = 50_000
# Directions that Anderson's mixing keeps; more gain nothing on the microarrays.
_DEPTH = 3
# It starts where steps are below this (in standard deviations): far from the end it may lead astray.
_NEAR = 3e-2
# Up to so many samples or features, a table is factorized by the eigenvectors of its Gram matrix.
_SMALL = 500
# And else by subspace iteration with so many more vectors than are wanted, and first with so many steps.
_MORE, _FIRST_STEPS = 10, 5
# A ridge that only matters where nothing else determines h.
_TINY = 1e-8


@dataclass(frozen=True)
class FillingFactors:
    """What fills a table whose columns are standardised."""

    mean: Array  # μ (p,)
    components: Array  # Vᵀ (q, p), orthonormal rows
    ridge: Array  # s²/(σ_k² − s²) (q,)
    codes: Array  # (n, q), the shrunken U diag(σ_k − s²/σ_k) of the table they were learned from
    basis: Array | None = None  # (p, k), from which those of a table that differs little are found

    def blocks_of(self, rows: Array) -> Iterator[Array]:
        """The rows, as many at a time as `filled` takes without a table of its own."""
        q, p = self.components.shape
        step = max(_NEW_BLOCK // max(p, q * q), 1)
        return (rows[first : first + step] for first in range(0, len(rows), step))

    def filled(self, rows: Array, missing: Array) -> Array:
        """ẑ of all entries of rows (b, p) by those that are not `missing`, (b, p) of bool."""
        V = self.components
        seen = rows - self.mean
        seen[missing] = 0.0
        grams = self._grams(missing) + np.diag(np.maximum(self.ridge, _TINY))
        codes = np.linalg.solve(grams, (seen @ V.T)[:, :, None])[:, :, 0]
        return self.mean + codes @ V

    def _grams(self, missing: Array) -> Array:
        """V_oᵀV_o of each row, (b, q, q)."""
        V, (b, p), q = self.components, missing.shape, len(self.components)
        if p * q * q <= _BLOCK:  # few enough products of components to have them all at once
            products = (V[:, None, :] * V).reshape(q * q, p)
            return (~missing @ products.T).reshape(b, q, q)
        grams = np.empty((b, q, q))
        for gram, gone in zip(grams, missing, strict=True):
            few = 2 * np.count_nonzero(gone) <= p
            part = V[:, np.flatnonzero(gone if few else ~gone)]
            gram[:] = np.eye(q) - part @ part.T if few else part @ part.T
        return grams


@dataclass
class Completion:
    """A table on its way to being complete."""

    table: Array  # (n, p), C-contiguous, standardised, missing entries filled; changed in place
    missing: Array  # (m,), positions in the flattened table, ascending
    n_iter: int = field(default=0, init=False)
    change: float = field(default=0.0, init=False)

    @property
    def fill(self) -> Array:
        """Values of the missing entries, (m,)."""
        return self.table.reshape(-1)[self.missing]

    @fill.setter
    def fill(self, values: Array) -> None:
        self.table.reshape(-1)[self.missing] = values

    def run(self, rank: int, tol: float, max_iter: int) -> FillingFactors:
        """Iterate from the present fill until it moves by less than `tol` (root mean square)."""
        mixing = _Anderson()
        observed = 1 - len(self.missing) / self.table.size
        self.n_iter, self.change = 0, 0.0
        basis = None
        while True:
            factors = factorize(self.table, rank, observed, basis)
            basis = factors.basis
            self.n_iter += 1
            if not len(self.missing):
                return factors
            new = self._filled_by(factors)
            step = new - self.fill
            self.change = float(np.sqrt(_dot(step, step) / len(step)))
            if self.change <= tol or self.n_iter == max_iter:
                self.fill = new
                return factors
            del factors  # half of X where they are many
            self.fill = mixing.next(new, step, self.change)

    def _filled_by(self, factors: FillingFactors) -> Array:
        """Ẑ at the missing entries, by blocks of rows: a second table would be a second X."""
        n, p = self.table.shape
        found = np.empty(len(self.missing), dtype=self.table.dtype)
        step = max(_BLOCK // p, 1)
        for first in range(0, n, step):
            last = min(first + step, n)
            a, b = np.searchsorted(self.missing, (first * p, last * p))
            if a < b:
                block = factors.codes[first:last] @ factors.components
                block += factors.mean
                found[a:b] = block.reshape(-1)[self.missing[a:b] - first * p]
        return found


def factorize(table: Array, rank: int, observed: float, start: Array | None = None) -> FillingFactors:
    """The shrunken factors of a filled table (n, p), `observed` being the share of its known entries.

    `start` is the basis of a table that differs little, from which a large one is factorized sooner.
    """
    n, p = table.shape
    mean = table.mean(axis=0, dtype=np.float64).astype(table.dtype)
    if rank == 0:
        return FillingFactors(mean, np.empty((0, p), table.dtype), np.empty(0), np.empty((n, 0), table.dtype))
    small = min(n, p) <= _SMALL
    if not small:
        squares, codes, right, total = _iterated(table, mean, rank, start)
    else:
        squares, codes, right, total = (_by_rows if n <= p else _by_columns)(table, mean, rank)
    rest = max(total - float(squares[:rank].sum()), 0.0) / (min(n - 1, p) - rank)
    noise = rest / observed
    kept = int(np.sum(squares[:rank] > noise))
    squares = squares[:kept]
    shrink = (1 - noise / squares).astype(table.dtype)
    return FillingFactors(
        mean,
        np.ascontiguousarray(right[:, :kept].T),
        noise / (squares - noise),
        codes[:, :kept] * shrink,
        None if small else right,
    )


# Each gives the largest σ_k² (k,), descending and not 0, UΣ (n, k), V (p, k), and the sum of all σ².
_Leading = tuple[Array, Array, Array, float]


def _by_rows(table: Array, mean: Array, rank: int) -> _Leading:
    """From the eigenvectors of ZZᵀ (n, n), centred."""
    gram = _double(table @ table.T)
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    squares, vectors = _eigen(gram, rank, table.dtype)
    sigma = np.sqrt(squares).astype(table.dtype)
    right = ((vectors / sigma).T @ table).T  # so that its transpose needs no copy
    return squares, vectors * sigma, right, float(np.trace(gram))


def _by_columns(table: Array, mean: Array, rank: int) -> _Leading:
    """From the eigenvectors of ZᵀZ (p, p), centred."""
    gram = _double(table.T @ table) - len(table) * np.outer(_double(mean), _double(mean))
    squares, vectors = _eigen(gram, rank, table.dtype)
    return squares, table @ vectors - mean @ vectors, vectors, float(np.trace(gram))


def _iterated(table: Array, mean: Array, rank: int, start: Array | None) -> _Leading:
    """By subspace iteration: neither ZZᵀ nor ZᵀZ is formed where both are large.

    The table changes little from one fill to the next, so that one step from the basis before is enough.
    """
    n, p = table.shape
    if start is None:
        size = min(rank + _MORE, n - 1, p)
        right = np.random.default_rng(0).standard_normal((p, size)).astype(table.dtype)
    else:
        right = start
    for _ in range(_FIRST_STEPS if start is None else 1):
        left, _ = np.linalg.qr(table @ right - mean @ right)
        right = table.T @ left - np.outer(mean, left.sum(axis=0))
    squares, turn = _eigen(_double(right.T @ right), right.shape[1], table.dtype)
    sigma = np.sqrt(squares).astype(table.dtype)
    total = np.einsum("ij,ij->", table, table, dtype=np.float64) - n * np.sum(_double(mean) ** 2)
    return squares, (left @ turn) * sigma, right @ (turn / sigma), float(total)


def _eigen(gram: Array, most: int, dtype: Any) -> tuple[Array, Array]:
    """The largest eigenvalues of a Gram matrix, those that are 0 but for rounding left out, and vectors."""
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = squares[::-1][:most], vectors[:, ::-1][:, :most]
    kept = squares > max(squares[0], 0.0) * np.finfo(dtype).eps * len(gram)
    return squares[kept], vectors[:, kept].astype(dtype)


def _double(values: Array) -> Array:
    return values.astype(np.float64, copy=False)


class _Anderson:
    """Anderson's mixing: the next point from the last few steps, as if the map were linear.

    Steps that grow are taken as a sign that it is not: then it forgets and begins again. Directions are kept
    in single precision, half the memory; the point itself is not.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.last: tuple[Array, Array] | None = None
        self.steps: list[Array] = []
        self.points: list[Array] = []
        self.length = np.inf

    def next(self, new: Array, step: Array, length: float) -> Array:
        """The point to go on from, the map having led to `new` by a `step` of this length."""
        if length > self.length:
            self.forget()
        self.length = length
        if length > _NEAR:
            return new
        if self.last is not None:
            self.points.append((new - self.last[0]).astype(np.float32))
            self.steps.append((step - self.last[1]).astype(np.float32))
            del self.steps[:-_DEPTH], self.points[:-_DEPTH]
        self.last = new, step
        if not self.steps:
            return new
        products = np.array([[_dot(a, b) for b in self.steps] for a in self.steps])
        against = np.array([_dot(a, step) for a in self.steps])
        ridge = 1e-8 * np.trace(products)
        if not ridge > 0:
            return new
        weights = np.linalg.solve(products + ridge * np.eye(len(products)), against)
        mixed = new.copy()
        for weight, direction in zip(weights, self.points, strict=True):
            mixed -= (weight * direction).astype(mixed.dtype)
        return mixed


def _dot(a: Any, b: Any) -> float:
    return float(np.einsum("i,i->", a, b, dtype=np.float64))
