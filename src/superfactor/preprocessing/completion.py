"""Completion of a table by probabilistic PCA: fill, factorize, shrink, fill again.

With the missing entries of Z (n, p) filled, μ its column means and Z − 1μᵀ = UΣVᵀ, the next fill is

    Ẑ = 1μᵀ + U_q diag(σ_k − s²/σ_k) V_qᵀ        where entries are missing,

and only factors with σ_k > s are used. s² is the mean of the squared singular values beyond q, divided by the
share of observed entries, because filled entries lie on the factors and have no noise. Strong factors hardly
change, and factors near the noise are shrunk to almost 0, so q may be larger than necessary.

At the fixed point, each row satisfies, for its observed entries o,

    h = (V_oᵀV_o + diag(s²/(σ_k² − s²)))⁻¹ V_oᵀ(z_o − μ_o),        ẑ = μ + Vh.

The same formula fills new samples: the mean of the missing entries of a normal distribution, given the
observed ones. A model completes new samples in this way too, from its factors and the noise of each feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.preprocessing.columns import refuse_large

# Entries of a block of rows that is processed at a time.
_BLOCK = 200_000
# The same for new samples, which need several arrays of this size.
_NEW_BLOCK = 50_000
# Directions that Anderson acceleration keeps; more gain nothing on the microarrays.
_DEPTH = 3
# Acceleration starts when steps are below this (in standard deviations); earlier it may diverge.
_NEAR = 3e-2
# With at most this many samples or features, the eigenvectors of the Gram matrix are used.
_SMALL = 500
# Otherwise subspace iteration: additional vectors, and number of steps in the first factorization.
_MORE, _FIRST_STEPS = 10, 5
# A ridge that makes h unique if nothing else determines it.
_TINY = 1e-8
# The least noise of a feature in a model, as a share of its variance: factors fit training samples too well.
_LEAST_NOISE = 0.01


@dataclass(frozen=True)
class FillingFactors:
    """Factors that fill a table with standardised columns."""

    mean: Array  # μ (p,)
    components: Array  # Vᵀ (q, p), orthonormal rows
    ridge: Array  # s²/(σ_k² − s²) (q,)
    codes: Array  # (n, q), the shrunken U diag(σ_k − s²/σ_k) of the training table
    basis: Array | None = None  # (p, k), start of the subspace iteration for a similar table

    def blocks_of(self, rows: Array) -> Iterator[Array]:
        """Yield blocks of rows that `filled` can process with little memory."""
        q, p = self.components.shape
        step = max(_NEW_BLOCK // max(p, q * q), 1)
        return (rows[first : first + step] for first in range(0, len(rows), step))

    def complete(self, X: Array, columns: Array, mean: Array, scale: Array, names: Sequence[str]) -> None:
        """Replace the missing entries of X (n, m) in the p `columns` of the factors, in place.

        `mean` and `scale` (p,) standardise these columns; `names` are for messages.
        """
        whole = len(columns) == X.shape[1]
        for rows in self.blocks_of(np.flatnonzero(np.isnan(X).any(axis=1))):
            block = X[rows] if whole else X[np.ix_(rows, columns)]
            refuse_large(block, names)
            missing = np.isnan(block)
            fill = self.filled((block - mean) / scale, missing).reshape(-1)
            absent = np.flatnonzero(missing)
            i, j = np.divmod(absent, len(columns))
            X[rows[i], columns[j]] = mean[j] + fill[absent] * scale[j]

    def filled(self, rows: Array, missing: Array) -> Array:
        """Return ẑ of all entries of rows (b, p), given those that are not `missing` (b, p), bool."""
        V = self.components
        seen = rows - self.mean
        seen[missing] = 0.0
        grams = self._grams(missing) + np.diag(np.maximum(self.ridge, _TINY))
        codes = np.linalg.solve(grams, (seen @ V.T)[:, :, None])[:, :, 0]
        return self.mean + codes @ V

    def _grams(self, missing: Array) -> Array:
        """Return V_oᵀV_o of each row, (b, q, q)."""
        V, (b, p), q = self.components, missing.shape, len(self.components)
        if p * q * q <= _BLOCK:  # all products of components fit in memory
            products = (V[:, None, :] * V).reshape(q * q, p)
            return (~missing @ products.T).reshape(b, q, q)
        grams = np.empty((b, q, q))
        for gram, gone in zip(grams, missing, strict=True):
            few = 2 * np.count_nonzero(gone) <= p
            part = V[:, np.flatnonzero(gone if few else ~gone)]
            gram[:] = np.eye(q) - part @ part.T if few else part @ part.T
        return grams


def factors_of_model(patterns: Array, covariance: Array, scale: Array) -> tuple[FillingFactors, Array]:
    """Return the factors of a model for features in units of their noise, and that noise (p,).

    `patterns` (r, p) are the regression of the features on codes with this covariance (r, r), and `scale`
    (p,) are the standard deviations of the features.
    """
    values, U = np.linalg.eigh(_double(covariance))
    loadings = np.sqrt(np.maximum(values, 0.0))[:, None] * (
        U.T @ _double(patterns)
    )  # of factors of variance 1
    variance = _double(scale) ** 2
    own = np.maximum(variance - np.einsum("ij,ij->j", loadings, loadings), _LEAST_NOISE * variance)
    noise = np.sqrt(np.where(variance > 0, own, 1.0))
    loadings /= noise
    squares, turn = _eigen(loadings @ loadings.T, len(loadings), np.float64)
    components = (turn / np.sqrt(squares)).T @ loadings
    return FillingFactors(np.zeros(len(noise)), components, 1 / squares, np.empty((0, len(squares)))), noise


@dataclass
class Completion:
    """A table whose missing entries are filled by iteration."""

    table: Array  # (n, p), C-contiguous, standardised, missing entries filled; changed in place
    missing: Array  # (m,), positions in the flattened table, ascending
    n_iter: int = field(default=0, init=False)
    change: float = field(default=0.0, init=False)

    @property
    def fill(self) -> Array:
        """Return the values of the missing entries, (m,)."""
        return self.table.reshape(-1)[self.missing]

    @fill.setter
    def fill(self, values: Array) -> None:
        self.table.reshape(-1)[self.missing] = values

    def run(self, rank: int, tol: float, max_iter: int) -> FillingFactors:
        """Iterate from the current fill until it changes by less than `tol` (root mean square)."""
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
            del factors  # up to half the size of X
            self.fill = mixing.next(new, step, self.change)

    def _filled_by(self, factors: FillingFactors) -> Array:
        """Return Ẑ at the missing entries; blocks of rows avoid a second table of the size of X."""
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
    """Return the shrunken factors of a filled table (n, p); `observed` is the share of observed entries.

    `start` is the basis of a similar table; it speeds up the factorization of large tables.
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


# The largest σ_k² (k,), descending and not 0, UΣ (n, k), V (p, k), and the sum of all σ².
_Leading = tuple[Array, Array, Array, float]


def _by_rows(table: Array, mean: Array, rank: int) -> _Leading:
    """Use the eigenvectors of the centred ZZᵀ (n, n)."""
    gram = _double(table @ table.T)
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    squares, vectors = _eigen(gram, rank, table.dtype)
    sigma = np.sqrt(squares).astype(table.dtype)
    right = ((vectors / sigma).T @ table).T  # so that its transpose needs no copy
    return squares, vectors * sigma, right, float(np.trace(gram))


def _by_columns(table: Array, mean: Array, rank: int) -> _Leading:
    """Use the eigenvectors of the centred ZᵀZ (p, p)."""
    gram = _double(table.T @ table) - len(table) * np.outer(_double(mean), _double(mean))
    squares, vectors = _eigen(gram, rank, table.dtype)
    return squares, table @ vectors - mean @ vectors, vectors, float(np.trace(gram))


def _iterated(table: Array, mean: Array, rank: int, start: Array | None) -> _Leading:
    """Use subspace iteration, which forms neither ZZᵀ nor ZᵀZ.

    The table changes little from one fill to the next, so one step from the previous basis is enough.
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
    """Return the largest eigenvalues of a Gram matrix that are not 0 up to rounding, and eigenvectors."""
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = squares[::-1][:most], vectors[:, ::-1][:, :most]
    kept = squares > max(squares[0], 0.0) * np.finfo(dtype).eps * len(gram)
    return squares[kept], vectors[:, kept].astype(dtype)


def _double(values: Array) -> Array:
    return values.astype(np.float64, copy=False)


class _Anderson:
    """Anderson acceleration: extrapolate from the last few steps as if the map were linear.

    If steps grow, the map is not linear enough, and the history is cleared. Directions are stored in single
    precision to save memory; the point itself is not.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.last: tuple[Array, Array] | None = None
        self.steps: list[Array] = []
        self.points: list[Array] = []
        self.length = np.inf

    def next(self, new: Array, step: Array, length: float) -> Array:
        """Return the next point, after a step of this length to `new`."""
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
