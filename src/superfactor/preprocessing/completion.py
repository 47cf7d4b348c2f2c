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

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from superfactor._arrays import Array

# Entries of a block of rows that are worked on at a time.
_BLOCK = 200_000
# Directions that Anderson's mixing keeps; more gain nothing on the microarrays.
_DEPTH = 3
# It starts where steps are below this (in standard deviations): far from the end it may lead astray.
_NEAR = 3e-2
# A ridge that only matters where nothing else determines h.
_TINY = 1e-8


@dataclass(frozen=True)
class Factors:
    """What fills a table whose columns are standardised.

    Attributes
    ----------
    mean : (p,)
        μ.
    components : (q, p)
        Vᵀ, orthonormal rows.
    ridge : (q,)
        s²/(σ_k² − s²).
    codes : (n, q)
        The shrunken U diag(σ_k − s²/σ_k) of the table they were learned from.
    """

    mean: Array
    components: Array
    ridge: Array
    codes: Array

    def fill_row(self, row: Array, missing: Array) -> Array:
        """Values of the entries `missing` (positions) of a row (p,), from its others."""
        V, seen = self.components, row - self.mean
        seen[missing] = 0.0
        hidden = V[:, missing]
        if 2 * len(missing) <= len(row):
            gram = np.eye(len(V)) - hidden @ hidden.T
        else:
            known = np.delete(V, missing, axis=1)
            gram = known @ known.T
        ridge = np.maximum(self.ridge, _TINY)
        h = np.linalg.solve(gram + np.diag(ridge), V @ seen)
        return self.mean[missing] + h @ hidden


@dataclass
class Completion:
    """A table on its way to being complete.

    Attributes
    ----------
    table : (n, p), C-contiguous
        Standardised; where entries are missing their present fill, 0 to begin with. Changed in place.
    missing : (m,) of int
        Positions in the flattened table, ascending.
    """

    table: Array
    missing: Array
    n_iter: int = field(default=0, init=False)
    change: float = field(default=0.0, init=False)

    @property
    def fill(self) -> Array:
        """Values of the missing entries, (m,)."""
        return self.table.reshape(-1)[self.missing]

    @fill.setter
    def fill(self, values: Array) -> None:
        self.table.reshape(-1)[self.missing] = values

    def run(self, rank: int, tol: float, max_iter: int) -> Factors:
        """Iterate from the present fill until it moves by less than `tol` (root mean square)."""
        mixing = _Anderson()
        observed = 1 - len(self.missing) / self.table.size
        self.n_iter, self.change = 0, 0.0
        while True:
            factors = factorize(self.table, rank, observed)
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

    def _filled_by(self, factors: Factors) -> Array:
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


def factorize(table: Array, rank: int, observed: float) -> Factors:
    """The shrunken factors of a filled table (n, p), `observed` being the share of its known entries.

    By the eigenvectors of the smaller of ZZᵀ and ZᵀZ, both centred by columns.
    """
    n, p = table.shape
    mean = table.mean(axis=0, dtype=np.float64).astype(table.dtype)
    wide = n <= p
    if wide:
        gram = _double(table @ table.T)
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, None]
    else:
        gram = _double(table.T @ table) - n * np.outer(_double(mean), _double(mean))
    squares, vectors = np.linalg.eigh(gram)
    squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
    rest = squares[rank : min(n - 1, p)]
    noise = (rest.mean() if len(rest) else 0.0) / observed
    smallest = max(noise, squares[0] * np.finfo(table.dtype).eps * min(n, p))
    kept = int(np.sum(squares[:rank] > smallest))
    squares, vectors = squares[:kept], vectors[:, :kept].astype(table.dtype)
    shrink = (1 - noise / squares).astype(table.dtype)
    if wide:
        sigma = np.sqrt(squares).astype(table.dtype)
        codes = vectors * (shrink * sigma)
        components = (vectors / sigma).T @ table
    else:
        codes = (table @ vectors - mean @ vectors) * shrink
        components = np.ascontiguousarray(vectors.T)
    return Factors(mean, components, noise / (squares - noise), codes)


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
