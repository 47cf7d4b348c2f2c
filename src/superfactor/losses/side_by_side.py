"""Several outcomes at once: the sum of one loss per outcome, each over its own activations.

Part ``k`` has some columns of the activations, a loss ``ℓ_k`` and a weight ``v_k``. With ``m_ik = 1`` if all
its targets of sample ``i`` are known, and 0 if one is NaN,

    ``ℓ(y_i, a_i) = Σ_k v_k m_ik ℓ_k(y_ik, a_ik)``.

Gradients are concatenated, the curvature is block-diagonal, and conjugates add up: ``(vℓ)*(g) = v·ℓ*(g/v)``.
If one part couples its samples, the sum does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace, zeros_like_of
from superfactor.losses.base import Loss
from superfactor.losses.curvature import AnyCurvature


@dataclass(frozen=True)
class Part:
    """One of the losses with its columns and weight.

    Attributes
    ----------
    loss : Loss
        If it couples samples, it was made for all of them; samples without a target have weight 0.
    start, stop : int
        Its columns.
    weight : float
        v > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Part, SquaredError
    >>> part = Part(SquaredError(), start=1, stop=2, weight=0.5)
    >>> part.of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[2.],
           [4.]])
    """

    loss: Loss
    start: int
    stop: int
    weight: float = 1.0

    def of(self, x: Array) -> Array:
        """Return its columns of x (…, κ)."""
        return x[..., self.start : self.stop]

    def known(self, Y: Array) -> tuple[Array, Array]:
        """Return its targets (n, κ_k), 0 if unknown, and their weights (n, 1): v_k if known, otherwise 0."""
        xp, own = namespace(Y), self.of(Y)
        there = xp.all(own == own, axis=-1, keepdims=True)
        return xp.where(there, own, xp.zeros_like(own)), self.weight * xp.astype(there, own.dtype)


class SideBySide(Loss):
    """The sum of several losses, each over its own columns; a part is 0 for samples with NaN in its ``Y``.

    Parameters
    ----------
    parts : sequence of Part
        Their columns are consecutive.

    Examples
    --------
    A label and a number; the number of the second sample is missing:

    >>> import numpy as np
    >>> from superfactor.losses import Part, SideBySide, SquaredError, resolve_link
    >>> loss = SideBySide([Part(resolve_link("logistic", 1), 0, 1), Part(SquaredError(), 1, 2, weight=0.5)])
    >>> loss.value(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 3.0], [0.0, np.nan]])).round(3)
    array([2.693, 0.693])
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        losses = [part.loss for part in self.parts]
        self.convex: bool = all(loss.convex for loss in losses)
        self.has_conjugate: bool = all(loss.has_conjugate for loss in losses)
        self.couples_samples: bool = any(loss.couples_samples for loss in losses)
        # All parts share ξ and λ of the feature model: the geometric mean of their own values.
        self.feature_xi: float = _between([loss.feature_xi for loss in losses])
        self.feature_ridge: float = _between([part.weight * part.loss.feature_ridge for part in self.parts])
        # Number of sums in the imbalance of each part.
        self._sums = [
            len(part.loss.imbalance(one, one, np.zeros(1))) if self.has_conjugate else 0
            for part in self.parts
            for one in [np.zeros((1, part.stop - part.start))]
        ]

    def __repr__(self) -> str:
        return f"SideBySide({', '.join(repr(part.loss) for part in self.parts)})"

    def dispersions(self, n_outputs: int) -> list[float | None]:
        found: list[float | None] = []
        for part in self.parts:
            own = part.loss.dispersions(part.stop - part.start)
            found += [None if one is None else part.weight * one for one in own]
        return found

    # ---------------------------------------------------------------- primal side

    def value(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[1]

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        value, residuals = 0.0 * a[..., 0], []
        for part in self.parts:
            own, weight = part.known(Y)
            found, residual = part.loss.value_and_residual(part.of(a), own)
            value = value + weight[:, 0] * found
            residuals.append(weight * residual)
        return value, namespace(a).concat(residuals, axis=-1)

    def curvature(self, a: Array, Y: Array) -> BlockCurvature:
        found = []
        for part in self.parts:
            own, weight = part.known(Y)
            found.append(part.loss.curvature(part.of(a), own).weighted(weight))
        return BlockCurvature(self.parts, tuple(found))

    def curvature_of(self, numbers: tuple[Array, Array]) -> BlockCurvature:
        first, second = numbers
        found = (part.loss.curvature_of((part.of(first), part.of(second))) for part in self.parts)
        return BlockCurvature(self.parts, tuple(found))

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """Bounds over all parts; ``α⁻`` is at most 0, since a missing target has no curvature."""
        bounds = [part.loss.curvature_bounds(part.stop - part.start, radius) for part in self.parts]
        lowest = min(part.weight * low for part, (low, _) in zip(self.parts, bounds, strict=True))
        highest = max(part.weight * high for part, (_, high) in zip(self.parts, bounds, strict=True))
        return min(lowest, 0.0), highest

    def steepest(self, G: Array, Y: Array) -> float:
        found = (part.loss.steepest(part.of(G) / part.weight, part.known(Y)[0]) for part in self.parts)
        return max(part.weight * bend for part, bend in zip(self.parts, found, strict=True))

    def informative(self, Y: Array) -> Array:
        """Return the share of its parts that is known."""
        known = [part.known(Y)[1] / part.weight for part in self.parts]
        return sum(known[1:], known[0]) / len(known)

    def digest(self, n_outputs: int) -> list[float]:
        found = (part.loss.digest(part.stop - part.start) for part in self.parts)
        return [x for part, values in zip(self.parts, found, strict=True) for x in (part.weight, *values)]

    # ---------------------------------------------------------------- dual side

    def conjugate(self, G: Array, Y: Array) -> Array:
        xp, total = namespace(G), 0.0 * G[:, 0]
        for part in self.parts:
            (own, weight), g = part.known(Y), part.of(G)
            there = weight[:, 0] > 0
            nothing = xp.all(g == 0, axis=1)
            found = part.weight * part.loss.conjugate(g / part.weight, own)
            outside = xp.where(nothing, xp.zeros_like(found), xp.full_like(found, math.inf))
            total = total + xp.where(there, found, outside)
        return total

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        sums: list[Array] = []
        for part in self.parts:
            own, weight = part.known(Y)
            sums += part.loss.imbalance(part.of(G) / part.weight, own, weights * weight[:, 0])
        return tuple(sums)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        found, first = [], 0
        for part, count in zip(self.parts, self._sums, strict=True):
            (own, weight), last = part.known(Y), first + count
            moved = part.loss.rebalanced(part.of(G) / part.weight, own, [step[first:last] for step in steps])
            found.append(weight * moved)
            first = last
        return namespace(G).concat(found, axis=1)


@dataclass(frozen=True)
class BlockCurvature:
    """The block-diagonal curvature of several parts, see `superfactor.losses.AnyCurvature`."""

    parts: tuple[Part, ...]
    blocks: tuple[AnyCurvature, ...]

    @property
    def numbers(self) -> tuple[Array, Array]:
        first, second = zip(*(block.numbers for block in self.blocks), strict=True)
        xp = namespace(first[0])
        return xp.concat(list(first), axis=-1), xp.concat(list(second), axis=-1)

    def weighted(self, weights: Array) -> BlockCurvature:
        return BlockCurvature(self.parts, tuple(block.weighted(weights) for block in self.blocks))

    def times(self, v: Array) -> Array:
        found = [block.times(part.of(v)) for part, block in zip(self.parts, self.blocks, strict=True)]
        return namespace(v).concat(found, axis=-1)

    def matrices(self) -> Array:
        return _diagonal([block.matrices() for block in self.blocks])

    def total(self) -> Array:
        return _diagonal([block.total() for block in self.blocks])

    def take(self, index: Array) -> BlockCurvature:
        return BlockCurvature(self.parts, tuple(block.take(index) for block in self.blocks))

    def by_row(self, directions: Array) -> Array:
        return self._sum_rows(lambda block, own: block.by_row(own), directions)

    def row_matrices(self, directions: Array) -> Array:
        return self._sum_rows(lambda block, own: block.row_matrices(own), directions)

    def row_solve(self, v: Array) -> Array:
        found = [block.row_solve(part.of(v)) for part, block in zip(self.parts, self.blocks, strict=True)]
        return namespace(v).concat(found, axis=-1)

    def _sum_rows(self, asked: Callable[[AnyCurvature, Array], Array], directions: Array) -> Array:
        """Return the sum of `asked(block, its rows of directions (κ, m))` over the blocks."""
        own = [directions[part.start : part.stop, :] for part in self.parts]
        found = [asked(block, some) for block, some in zip(self.blocks, own, strict=True)]
        return sum(found[1:], found[0])

    def gram(self, J: Array, convex: bool) -> Array:
        return _diagonal([block.gram(J, convex) for block in self.blocks])

    def forms(self, J: Array, directions: Array) -> Array:
        return self._sum(lambda block, own: block.forms(J, own), directions)

    def along(self, Z: Array, directions: Array) -> Array:
        return self._sum(lambda block, own: block.along(Z, own), directions)

    def _sum(self, asked: Callable[[AnyCurvature, Array], Array], directions: Array) -> Array:
        """Return the sum of `asked(block, its columns of directions (r, κ))` over the blocks."""
        found = [
            asked(block, part.of(directions)) for part, block in zip(self.parts, self.blocks, strict=True)
        ]
        return sum(found[1:], found[0])


def _between(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.prod(values) ** (1 / len(values))


def _diagonal(blocks: Sequence[Any]) -> Array:
    """Return the block-diagonal matrix of square blocks (…, k, k)."""
    xp, sizes = namespace(blocks[0]), [int(block.shape[-1]) for block in blocks]
    shape, rows = blocks[0].shape[:-2], []
    for i, block in enumerate(blocks):
        parts = [
            block if j == i else zeros_like_of(block, *shape, sizes[i], sizes[j]) for j in range(len(blocks))
        ]
        rows.append(xp.concat(parts, axis=-1))
    return xp.concat(rows, axis=-2)
