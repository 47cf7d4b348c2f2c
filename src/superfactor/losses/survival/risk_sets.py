"""Risk sets: sums over the samples whose time is not before another sample's, by one sort.

Samples are sorted by decreasing time. The risk set of a sample, ``t_j ≥ t_i``, ties included, then comes
first in this order, and sums over risk sets are cumulative sums. If activations differ by hundreds, their
exponentials leave the range of floats; the order is then divided into segments, each with its own unit.
Strata follow each other, and no sum crosses their boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from superfactor._arrays import Array, indices, moved, namespace, to_numpy, wide

# Within a segment, the largest activation so far grows by at most this. Its exponential and the reciprocal
# are then well inside the range of float64.
_RISE = 300.0


@dataclass(frozen=True)
class RiskSets:
    """The order of samples by decreasing time, stratum by stratum, in NumPy."""

    order: Any  # (m,), the samples that have a time, latest first
    first: Any  # (n,), position of the first sample with the time of sample i
    last: Any  # (n,), position of the last one
    begin: Any  # (n,), position where the stratum of sample i begins
    end: Any  # (n,), position where the next stratum begins
    begins: tuple[int, ...] = (0,)  # positions where strata begin

    @classmethod
    def of(cls, times: Any, known: Any, strata: Any = None) -> RiskSets:
        """Return the order from times (n,), whether they are known (n,) and strata (n,) or None, all NumPy.

        At least one time must be known.
        """
        strata = np.zeros(len(times)) if strata is None else np.asarray(strata)
        pairs = np.column_stack([np.unique(strata, return_inverse=True)[1], -times])
        place = np.zeros(len(times), dtype=np.int64)  # samples without a time get the first place
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
        """Return the sum of x (n,) over the samples with the same time as each (n,).

        x is NumPy, and 0 for samples without a time.
        """
        return np.bincount(self.last, weights=x)[self.last]

    def tails(self, x: Array) -> Array:
        """Return ``Σ_{t_j≥t_i} x_j`` for x (n,): (n,)."""
        return self._sum_until(x, "last")

    def totals(self, x: Array) -> Array:
        """Return the sum of x (n,) over the stratum of each sample: (n,)."""
        return self._sum_until(x, "end")

    def _sum_until(self, x: Array, where: str) -> Array:
        xp, by = namespace(x), self._there(x)
        sums = xp.cumulative_sum(xp.take(x, by.order), include_initial=True)
        stop = by.last + 1 if where == "last" else by.end
        return xp.take(sums, stop) - xp.take(sums, by.begin)

    def at(self, activations: Array, weights: Any, ties: Ties | None = None) -> AtRisk:
        """Return the samples at risk, sample j with weight ``ω_j e^{a_j}``: a (…, n), ω (n,) NumPy."""
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
        # A sample outside the order may have any activation; it contributes nothing.
        counted = xp.where(weights > 0, xp.exp(xp.minimum(a - unit, zero)), zero)
        return AtRisk(by, cuts, units, unit, counted, weights, None if ties is None else ties.there(a))

    def _there(self, like: Array) -> RiskSets:
        """Return the same positions as index arrays for `like`."""
        if type(like) is np.ndarray:
            return self
        names = ("order", "first", "last", "begin", "end")
        return replace(self, **{name: indices(like, getattr(self, name)) for name in names})

    def _cuts(self, queue: Array) -> list[int]:
        """Return where the order (…, m) is divided: at strata, and between if activations differ widely."""
        xp, n = namespace(queue), int(queue.shape[-1])
        if not float(xp.max(queue) - xp.min(queue)) > _RISE:  # also if one is NaN: all sums are then NaN
            return [*self.begins, n]
        # The largest activation of each risk set decides; risk sets end after the last of tied samples.
        values, ends = to_numpy(queue), self.last[self.order]
        cuts = [0]
        for start, stop in pairwise([*self.begins, n]):
            top = np.maximum.accumulate(values[..., start:stop], axis=-1)[..., ends[start:stop] - start]
            done, size = 0, stop - start
            while done < size:
                rise = (top[..., done:] - top[..., done : done + 1]).reshape(-1, size - done).max(axis=0)
                done += max(int(np.searchsorted(rise, _RISE, side="right")), 1)  # NaN counts as no growth
                cuts.append(start + done)
        return cuts


@dataclass(frozen=True)
class TiedTimes:
    """The events at each of g times, padded to the largest number m, which is below twice the smallest."""

    events: Any  # (g, m), their samples
    filled: Any  # (g, m), 1.0 for an event, 0.0 for padding

    def of(self, x: Array) -> Array:
        """Return their x (…, n): (…, g, m), 0 for padding."""
        xp = namespace(x)
        flat = xp.take(x, xp.reshape(self.events, (-1,)), axis=-1)
        return xp.reshape(flat, (*x.shape[:-1], *self.events.shape)) * self.filled

    def there(self, like: Array) -> TiedTimes:
        """The same for arrays of the kind of `like`, float64."""
        events = namespace(like).reshape(indices(like, self.events.ravel()), self.events.shape)
        return TiedTimes(events, moved(self.filled, like))


@dataclass(frozen=True)
class Ties:
    """Efron's ties: for the l-th of d events at one time, l = 0, …, d − 1, the risk set lacks l/d of each.

    The order of these events does not matter to sums over all of them. Times with similar numbers of events
    are stored together, so that memory is proportional to the number of samples.
    """

    fraction: Any  # (n,), l/d of each event; 0 for a single event at its time, and without an event
    times: tuple[TiedTimes, ...]  # g times in all
    group: Any  # (n,), index of the time among the g; g for all other samples

    @classmethod
    def of(cls, sets: RiskSets, happened: Any) -> Ties | None:
        """Return the ties of events (n,), bool; None if no two are at one time."""
        events = np.flatnonzero(happened)
        _, which, sizes = np.unique(sets.last[events], return_inverse=True, return_counts=True)
        if not (sizes > 1).any():
            return None
        events = events[np.argsort(which, kind="stable")]  # time by time
        begin, alike = np.cumsum(sizes) - sizes, np.frexp(sizes)[1]  # 2 or 3 events, 4 to 7, 8 to 15, …
        n = len(happened)
        fraction, group, times, count = np.zeros(n), np.full(n, -1), [], 0
        for much in np.unique(alike[sizes > 1]):
            own = np.flatnonzero(alike == much)
            place = np.arange(sizes[own].max())
            filled = place < sizes[own, None]
            there = np.where(filled, events[np.where(filled, begin[own, None] + place, 0)], 0)
            fraction[there[filled]] = (place / sizes[own, None])[filled]
            group[there[filled]] = np.broadcast_to(count + np.arange(len(own))[:, None], filled.shape)[filled]
            times.append(TiedTimes(there, filled * 1.0))
            count += len(own)
        return cls(fraction, tuple(times), np.where(group < 0, count, group))

    @property
    def count(self) -> int:
        """Number of times with ties, g."""
        return sum(int(some.events.shape[0]) for some in self.times)

    def there(self, like: Array) -> Ties:
        """The same for arrays of the kind of `like`, float64."""
        if type(like) is np.ndarray:
            return self
        times = tuple(some.there(like) for some in self.times)
        return Ties(moved(self.fraction, like), times, indices(like, self.group))

    def of_each(self, x: Array) -> Array:
        """Return the value x (…, g) of each of the g times at its events: (…, n), 0 for other samples."""
        xp = namespace(x)
        return xp.take(xp.concat([x, 0.0 * x[..., :1]], axis=-1), self.group, axis=-1)

    def sums(self, x: Array) -> Array:
        """Return the sum of x (…, n) over the events tied with each: (…, n), 0 for other samples."""
        xp = namespace(x)
        return self.of_each(xp.concat([xp.sum(some.of(x), axis=-1) for some in self.times], axis=-1))

    def means(self, x: Array) -> Array:
        """Return the mean of x (…, n) over the events tied with each; x itself for other samples."""
        xp = namespace(x)
        together = self.group < self.count
        size = xp.where(together, self.sums(xp.ones_like(x)), xp.ones_like(x))
        return xp.where(together, self.sums(x) / size, x)


@dataclass(frozen=True)
class AtRisk:
    """Risk sets with weights ``ω_j e^{a_j}`` of the samples: with ``S_i = Σ_{t_j≥t_i} ω_j e^{a_j}``

        means(x)_i  = Σ_{t_j≥t_i} ω_j e^{a_j} x_j / S_i        the mean of x over the risk set of i
        spread(x)_j = e^{a_j} Σ_{t_i≤t_j} x_i / S_i            its adjoint, except for ω_j

    for x (…, n). With Efron's ties, all sums over risk sets omit the share l/d of the events at that time.
    """

    sets: RiskSets
    cuts: list[int]  # k + 1 positions in the order: where segments begin, and the end
    # k arrays (…, 1), the largest activation up to the end of each segment; its exponential is the unit of
    # the sums in the segment
    units: list[Array]
    # (…, n), the unit of the segment in which the risk set of each sample ends; (…, 1) for one segment
    unit: Array
    counted: Array  # (…, n), ``e^{a_j}`` in this unit, 0 where ``ω_j`` is
    weights: Array  # (n,), ``ω``
    ties: Ties | None = None  # for several events at one time; None: all of them are at risk (Breslow)

    @property
    def log_sums(self) -> Array:
        """``log S_i``, shape (…, n)."""
        return namespace(self.unit).log(self._sums) + self.unit

    @cached_property
    def _sums(self) -> Array:
        return self._over_sets(self.weights * self.counted)

    def means(self, x: Array) -> Array:
        """Return the mean over the risk set of each sample."""
        return self._over_sets(self.weights * self.counted * x) / self._sums

    def spread(self, x: Array) -> Array:
        """Return the sum, for each sample, of its shares of x of those in whose risk sets it is."""
        shares = x / self._sums
        found = self._from_earliest(shares)
        if self.ties is not None:
            found = found - self.ties.sums(self.ties.fraction * shares)
        return self.counted * found

    def _over_sets(self, x: Array) -> Array:
        """Return sums over the risk set of each sample."""
        found = self._from_latest(x)
        return found if self.ties is None else found - self.ties.fraction * self.ties.sums(x)

    def _from_latest(self, x: Array) -> Array:
        """Return sums over t_j ≥ t_i."""
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
        """Return sums over t_j ≤ t_i."""
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
