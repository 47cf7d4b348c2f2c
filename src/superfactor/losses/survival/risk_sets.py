"""Who was at risk when: sums over the samples whose time is not before another's, by one sort.

Samples stand in the order of falling times, so that the risk set of a sample, ``t_j ≥ t_i``, is a beginning
of it, ties included, and sums over risk sets are cumulative sums. Where activations differ by hundreds their
exponentials leave the range of floats: the order is then cut into stretches with a unit of their own each.
Strata stand one after the other, and no sum goes from one to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """The order of samples by falling time, stratum by stratum, in NumPy."""

    order: Any  # (m,), the samples that have a time, latest first
    first: Any  # (n,), where in this order those begin whose time is that of sample i
    last: Any  # (n,), and where they end
    begin: Any  # (n,), where the stratum of sample i begins
    end: Any  # (n,), and where the next one does
    begins: tuple[int, ...] = (0,)  # where strata begin

    @classmethod
    def of(cls, times: Any, known: Any, strata: Any = None) -> RiskSets:
        """From times (n,), whether they are known (n,) and strata (n,) or None, NumPy; some are known."""
        strata = np.zeros(len(times)) if strata is None else np.asarray(strata)
        pairs = np.column_stack([np.unique(strata, return_inverse=True)[1], -times])
        place = np.zeros(len(times), dtype=np.int64)  # whoever has no time stands with the first
        place[known] = np.unique(pairs[known], axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(place, kind="stable")
        order = order[known[order]]
        queue, stratum = place[order], pairs[order, 0]
        first = np.searchsorted(queue, place, side="left")
        last = np.searchsorted(queue, place, side="right") - 1
        edges = np.concatenate([[0], np.flatnonzero(np.diff(stratum)) + 1, [len(order)]])
        own = np.searchsorted(edges, last, side="right")
        return cls(order, first, last, edges[own - 1], edges[own], tuple(edges[:-1].tolist()))

    def tied(self, x: Any) -> Any:
        """The sum of x (n,), NumPy, 0 where no time is known, over those of the same time as each (n,)."""
        return np.bincount(self.last, weights=x)[self.last]

    def tails(self, x: Array) -> Array:
        """``Σ_{t_j≥t_i} x_j`` for x (n,): (n,)."""
        return self._sum_until(x, "last")

    def totals(self, x: Array) -> Array:
        """The sum of x (n,) over the stratum of each sample: (n,)."""
        return self._sum_until(x, "end")

    def _sum_until(self, x: Array, where: str) -> Array:
        xp, by = namespace(x), self._there(x)
        sums = xp.cumulative_sum(xp.take(x, by.order), include_initial=True)
        stop = by.last + 1 if where == "last" else by.end
        return xp.take(sums, stop) - xp.take(sums, by.begin)

    def at(self, activations: Array, weights: Any, ties: Ties | None = None) -> AtRisk:
        """The samples at risk, each counted ``ω_j e^{a_j}`` times: a (…, n), ω (n,) NumPy."""
        a = wide(activations)
        xp, by = namespace(a), self._there(a)
        queue = xp.take(a, by.order, axis=-1)
        cuts = self._cuts(queue)
        begin = [max(b for b in self.begins if b <= start) for start in cuts[:-1]]
        units = [
            xp.max(queue[..., b:stop], axis=-1, keepdims=True)
            for b, stop in zip(begin, cuts[1:], strict=True)
        ]
        unit = units[0]
        if len(units) > 1:
            parts = [u + 0.0 * queue[..., i:j] for u, (i, j) in zip(units, pairwise(cuts), strict=True)]
            unit = xp.take(xp.concat(parts, axis=-1), by.last, axis=-1)
        weights, zero = moved(weights, a), xp.zeros_like(a)
        # Whoever is not in the order may have any activation, and counts nothing.
        counted = xp.where(weights > 0, xp.exp(xp.minimum(a - unit, zero)), zero)
        return AtRisk(by, cuts, units, unit, counted, weights, None if ties is None else ties.there(a))

    def _there(self, like: Array) -> RiskSets:
        """The same as index arrays for `like`."""
        if type(like) is np.ndarray:
            return self
        names = ("order", "first", "last", "begin", "end")
        return replace(self, **{name: indices(like, getattr(self, name)) for name in names})

    def _cuts(self, queue: Array) -> list[int]:
        """Where the order (…, m) is cut: where strata begin, unless activations differ widely."""
        xp, n = namespace(queue), int(queue.shape[-1])
        if not float(xp.max(queue) - xp.min(queue)) > _RISE:  # nor where one is NaN: then all sums are
            return [*self.begins, n]
        # What matters is the largest activation of each risk set, and these end where ties do.
        values, ends = to_numpy(queue), self.last[self.order]
        cuts = [0]
        for start, stop in pairwise([*self.begins, n]):
            top = np.maximum.accumulate(values[..., start:stop], axis=-1)[..., ends[start:stop] - start]
            done, size = 0, stop - start
            while done < size:
                rise = (top[..., done:] - top[..., done : done + 1]).reshape(-1, size - done).max(axis=0)
                done += max(int(np.searchsorted(rise, _RISE, side="right")), 1)  # NaN rises by nothing
                cuts.append(start + done)
        return cuts


@dataclass(frozen=True)
class Ties:
    """Efron's ties: of d events at one time the l-th, l = 0, …, d − 1, has l/d of each of them behind it.

    Which of them is the l-th does not matter to sums over all of them.
    """

    fraction: Any  # (n,), l/d of each event, 0 of those alone at their time, and of those without an event
    groups: Any  # (g, m), the events at each of g times that have several, filled up
    filled: Any  # (g, m), 1.0 for an event and 0.0 for what fills up
    group: Any  # (n,), which of the g, and g for those in none

    @classmethod
    def of(cls, sets: RiskSets, happened: Any) -> Ties | None:
        """From who has an event (n,), bool; None where no two are at one time."""
        events = np.flatnonzero(happened)
        _, which, sizes = np.unique(sets.last[events], return_inverse=True, return_counts=True)
        several = sizes > 1
        if not several.any():
            return None
        number = np.where(several, np.cumsum(several) - 1, several.sum())[which.ravel()]
        group = np.full(len(happened), several.sum())
        group[events] = number
        fraction = np.zeros(len(happened))
        groups = np.zeros((several.sum(), sizes.max()), dtype=np.int64)
        filled = np.zeros(groups.shape)
        for k in range(len(groups)):
            own = events[number == k]
            fraction[own] = np.arange(len(own)) / len(own)
            groups[k, : len(own)], filled[k, : len(own)] = own, 1.0
        return cls(fraction, groups, filled, group)

    def there(self, like: Array) -> Ties:
        """The same for arrays of the kind of `like`, float64."""
        if type(like) is np.ndarray:
            return self
        groups, group = (indices(like, x) for x in (self.groups.ravel(), self.group))
        groups = namespace(like).reshape(groups, self.groups.shape)
        return Ties(moved(self.fraction, like), groups, moved(self.filled, like), group)

    def of_groups(self, x: Array) -> Array:
        """The x (…, n) of each time with several events: (…, g, m), 0 where it is filled up."""
        xp = namespace(x)
        flat = xp.take(x, xp.reshape(self.groups, (-1,)), axis=-1)
        return xp.reshape(flat, (*x.shape[:-1], *self.groups.shape)) * self.filled

    def sums(self, x: Array) -> Array:
        """The sum of x (…, n) over the events at the time of each of several: (…, n), 0 for all others."""
        xp = namespace(x)
        sums = xp.sum(self.of_groups(x), axis=-1)
        return xp.take(xp.concat([sums, 0.0 * x[..., :1]], axis=-1), self.group, axis=-1)

    def means(self, x: Array) -> Array:
        """The mean of x (…, n) over the events at the time of each event; x itself for all others."""
        xp = namespace(x)
        together = self.group < self.groups.shape[0]
        size = xp.where(together, self.sums(xp.ones_like(x)), xp.ones_like(x))
        return xp.where(together, self.sums(x) / size, x)


@dataclass(frozen=True)
class AtRisk:
    """Risk sets whose samples count ``ω_j e^{a_j}`` times: with ``S_i = Σ_{t_j≥t_i} ω_j e^{a_j}``

        means(x)_i  = Σ_{t_j≥t_i} ω_j e^{a_j} x_j / S_i        the mean of x over the risk set of i
        spread(x)_j = e^{a_j} Σ_{t_i≤t_j} x_i / S_i            its adjoint, but for ω_j

    for x (…, n). With Efron's ties all sums over risk sets lack l/d of the events at that time.
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
    ties: Ties | None = None  # of several events at one time; None: all of them are at risk (Breslow)

    @property
    def log_sums(self) -> Array:
        """``log S_i``, shape (…, n)."""
        return namespace(self.unit).log(self._sums) + self.unit

    @cached_property
    def _sums(self) -> Array:
        return self._over_sets(self.weights * self.counted)

    def means(self, x: Array) -> Array:
        """The mean over the risk set of each sample."""
        return self._over_sets(self.weights * self.counted * x) / self._sums

    def spread(self, x: Array) -> Array:
        """What each sample has of the values of those in whose risk sets it is."""
        shares = x / self._sums
        found = self._from_earliest(shares)
        if self.ties is not None:
            found = found - self.ties.sums(self.ties.fraction * shares)
        return self.counted * found

    def _over_sets(self, x: Array) -> Array:
        """Sums over the risk set of each sample."""
        found = self._from_latest(x)
        return found if self.ties is None else found - self.ties.fraction * self.ties.sums(x)

    def _from_latest(self, x: Array) -> Array:
        """Sums over t_j ≥ t_i."""
        xp = namespace(x)
        queue = xp.take(x, self.sets.order, axis=-1)
        parts: list[Array] = []
        for k, (i, j) in enumerate(pairwise(self.cuts)):
            part = xp.cumulative_sum(queue[..., i:j], axis=-1)
            if i not in self.sets.begins:
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
            if parts and j not in self.sets.begins:
                part = part + parts[-1][..., :1] * xp.exp(self.units[k] - self.units[k + 1])
            parts.append(part)
        return xp.take(_joined(parts[::-1]), self.sets.first, axis=-1)


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else namespace(*parts).concat(parts, axis=-1)
