"""Who was at risk when: sums over the samples whose time is not before another's, by one sort.

Samples stand in the order of falling times, so that the risk set of a sample, ``t_j ≥ t_i``, is a beginning
of it, ties included, and sums over risk sets are cumulative sums. Where activations differ by hundreds their
exponentials leave the range of floats: the order is then cut into stretches with a unit of their own each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from superfactor._arrays import Array, indices, moved, namespace, to_numpy, wide

# Within a stretch the largest activation so far grows by at most this: its exponential is far from the ends
# of float64, also as a divisor.
_RISE = 300.0


@dataclass(frozen=True)
class RiskSets:
    """The order of samples by falling time, in NumPy."""

    order: Any  # (m,), the samples that have a time, latest first
    first: Any  # (n,), where in this order those begin whose time is that of sample i
    last: Any  # (n,), and where they end

    @classmethod
    def of(cls, times: Any, known: Any) -> RiskSets:
        """From times (n,) and whether they are known (n,), NumPy; some are."""
        falling = -np.where(known, times, np.max(times[known]))
        order = np.argsort(falling, kind="stable")
        order = order[known[order]]
        queue = falling[order]
        first = np.searchsorted(queue, falling, side="left")
        last = np.searchsorted(queue, falling, side="right") - 1
        return cls(order, first, last)

    def tied(self, x: Any) -> Any:
        """The sum of x (n,), NumPy, 0 where no time is known, over those of the same time as each (n,)."""
        return np.bincount(self.last, weights=x)[self.last]

    def tails(self, x: Array) -> Array:
        """``Σ_{t_j≥t_i} x_j`` for x (n,): (n,)."""
        xp, by = namespace(x), self._there(x)
        return xp.take(xp.cumulative_sum(xp.take(x, by.order)), by.last)

    def at(self, activations: Array, weights: Any) -> AtRisk:
        """The samples at risk, each counted ``ω_j e^{a_j}`` times: a (…, n), ω (n,) NumPy."""
        a = wide(activations)
        xp, by = namespace(a), self._there(a)
        queue = xp.take(a, by.order, axis=-1)
        cuts = self._cuts(queue)
        units = [xp.max(queue[..., :stop], axis=-1, keepdims=True) for stop in cuts[1:]]
        unit = units[0]
        if len(units) > 1:
            parts = [u + 0.0 * queue[..., i:j] for u, (i, j) in zip(units, pairwise(cuts), strict=True)]
            unit = xp.take(xp.concat(parts, axis=-1), by.last, axis=-1)
        weights, zero = moved(weights, a), xp.zeros_like(a)
        # Whoever is not in the order may have any activation, and counts nothing.
        counted = xp.where(weights > 0, xp.exp(xp.minimum(a - unit, zero)), zero)
        return AtRisk(by, cuts, units, unit, counted, weights)

    def _there(self, like: Array) -> RiskSets:
        """The same as index arrays for `like`."""
        if type(like) is np.ndarray:
            return self
        return RiskSets(*(indices(like, x) for x in (self.order, self.first, self.last)))

    def _cuts(self, queue: Array) -> list[int]:
        """Where the order (…, n) is cut: nowhere but at its ends, unless activations differ widely."""
        xp, n = namespace(queue), int(queue.shape[-1])
        if not float(xp.max(queue) - xp.min(queue)) > _RISE:  # nor where one is NaN: then all sums are
            return [0, n]
        # What matters is the largest activation of each risk set, and these end where ties do.
        top = np.maximum.accumulate(to_numpy(queue), axis=-1)[..., self.last[self.order]]
        cuts, start = [0], 0
        while start < n:
            rise = (top[..., start:] - top[..., start : start + 1]).reshape(-1, n - start).max(axis=0)
            start += max(int(np.searchsorted(rise, _RISE, side="right")), 1)  # NaN rises by nothing
            cuts.append(start)
        return cuts


@dataclass(frozen=True)
class AtRisk:
    """Risk sets whose samples count ``ω_j e^{a_j}`` times: with ``S_i = Σ_{t_j≥t_i} ω_j e^{a_j}``

        means(x)_i  = Σ_{t_j≥t_i} ω_j e^{a_j} x_j / S_i        the mean of x over the risk set of i
        spread(x)_j = e^{a_j} Σ_{t_i≤t_j} x_i / S_i            its adjoint, but for ω_j

    for x (…, n).
    """

    sets: RiskSets  # who was at risk when
    cuts: list[int]  # k + 1 positions in the order: where stretches begin, and its end
    # k arrays (…, 1), the largest activation up to the end of each stretch, in units of whose exponential
    # the sums inside it are
    units: list[Array]
    # (…, n), or (…, 1) where there is one stretch: that in which the risk set of each sample ends
    unit: Array
    counted: Array  # (…, n), ``e^{a_j}`` in this unit, 0 where ``ω_j`` is
    weights: Array  # (n,), ``ω``

    @property
    def log_sums(self) -> Array:
        """``log S_i``, shape (…, n)."""
        return namespace(self.unit).log(self._sums) + self.unit

    @cached_property
    def _sums(self) -> Array:
        return self._from_latest(self.weights * self.counted)

    def means(self, x: Array) -> Array:
        """The mean over the risk set of each sample."""
        return self._from_latest(self.weights * self.counted * x) / self._sums

    def spread(self, x: Array) -> Array:
        """What each sample has of the values of those in whose risk sets it is."""
        return self.counted * self._from_earliest(x / self._sums)

    def _from_latest(self, x: Array) -> Array:
        """Sums over t_j ≥ t_i."""
        xp = namespace(x)
        queue = xp.take(x, self.sets.order, axis=-1)
        parts: list[Array] = []
        for k, (i, j) in enumerate(pairwise(self.cuts)):
            part = xp.cumulative_sum(queue[..., i:j], axis=-1)
            if parts:
                part = part + parts[-1][..., -1:] * xp.exp(self.units[k - 1] - self.units[k])
            parts.append(part)
        return xp.take(_joined(parts), self.sets.last, axis=-1)

    def _from_earliest(self, x: Array) -> Array:
        """Sums over t_j ≤ t_i."""
        xp = namespace(x)
        queue = xp.take(x, self.sets.order, axis=-1)
        parts: list[Array] = []
        for k, (i, j) in reversed(list(enumerate(pairwise(self.cuts)))):
            part = xp.flip(xp.cumulative_sum(xp.flip(queue[..., i:j], axis=-1), axis=-1), axis=-1)
            if parts:
                part = part + parts[-1][..., :1] * xp.exp(self.units[k] - self.units[k + 1])
            parts.append(part)
        return xp.take(_joined(parts[::-1]), self.sets.first, axis=-1)


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else namespace(*parts).concat(parts, axis=-1)
