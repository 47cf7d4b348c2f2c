"""Hidden entries: how many factors a table has, and how well they fill its gaps.

Some observed entries are hidden, and the table is completed with 0, 1, 2, 3, 5, … factors in turn, each
number starting from the fill of the one before. Where there is little noise this matters: the iteration stays
at any fill that lies on its factors, and too many factors have many such fills. The completion of the whole
table starts where those with hidden entries ended, so that their error is that of the fit which is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.preprocessing.completion import Completion, FillingFactors

# The share of the observed entries that is hidden,
_HIDDEN = 0.05
# drawn again where that is too few entries to go by, but not more often than this.
_ENOUGH, _MOST_DRAWS = 5000, 10
# Ranks are compared with steps this small (in standard deviations), smaller than this share of the error.
_PATH_TOL, _STEP = 1e-3, 0.01
# The path ends where the error exceeds the least so far by this share: the factors begin to fit noise.
_OVERFIT = 0.02
# All ranks between two are tried where the error falls below this share from one to the other.
_SHARP = 0.8
# Fewer components are preferred where the error is larger by this share at most,
_AS_GOOD = 0.002
# or where it is below this (in standard deviations), or ten steps: then the fill is called exact.
_EXACT = 1e-3
# An estimate is doubtful where its square has a larger standard error than this share of it,
_DOUBTFUL = 0.2
# or where squared errors differ by this many times their mean; those of normal errors do by 1.4.
_WIDE = 3.0


@dataclass(frozen=True)
class Found:
    """What hidden entries tell of a rank."""

    error: float  # root mean square, each column counting by its missing entries
    doubt: bool  # whether this may not be the error of the missing entries
    fill: Array  # (m,), of the missing entries, the mean of all draws: where to start with nothing hidden


class MaskedFits:
    """Completions of a table Z (n, p), as `Completion` has it, with hidden entries, several draws of them.

    Only fills of it change: hidden entries are given back.
    """

    def __init__(self, Z: Array, missing: Array, rng: Any, tol: float, max_iter: int):
        self._missing, self._width = missing, Z.shape[1]
        self._exact = max(_EXACT, 10 * tol)
        count = int(_HIDDEN * (Z.size - len(missing)))
        draws = min(-(-_ENOUGH // count), _MOST_DRAWS) if count else 0
        self._fits = [
            _MaskedFit(Z, missing, _draw(Z.size, missing, rng), tol, max_iter) for _ in range(draws)
        ]

    def __bool__(self) -> bool:
        """Whether there are entries enough to hide any."""
        return bool(self._fits)

    def choose(self, path: list[int], fewest: bool) -> tuple[int, dict[int, float]]:
        """A rank, and errors (root mean square) by rank.

        The rank is the last of the path, or the `fewest` factors that are as good as any number.
        """
        errors: dict[int, float] = {}
        last = 0
        for rank in path:
            begin = [one.fill for one in self._fits]
            errors[rank] = self._error(rank)
            if rank - last > 1 and errors[rank] < _SHARP * errors[last]:
                # The factors end in between, and without noise any that are too many do harm.
                for one, fill in zip(self._fits, begin, strict=True):
                    one.fill = fill
                errors |= {between: self._error(between) for between in range(last + 1, rank + 1)}
            last = rank
            least = min(errors.values())
            good = [rank]
            if fewest:
                enough = max((1 + _AS_GOOD) * least, self._exact)
                good = [r for r, error in errors.items() if error <= enough]
            for one in self._fits:
                one.keep(good)
            if fewest and errors[rank] > (1 + _OVERFIT) * least:
                break
        return min(good), dict(sorted(errors.items()))

    def settle(self, rank: int) -> Found:
        """Of this rank, which was chosen."""
        found = [one.settled(rank) for one in self._fits]
        squares = [errors**2 for errors, _ in found]
        hidden = np.concatenate([one.hidden for one in self._fits])
        everything = np.concatenate(squares)
        error = float(np.sqrt(np.average(everything, weights=self._weights(hidden))))
        known = error <= self._exact or not len(self._missing)
        doubt = not known and _doubt(squares, len(self._missing))
        return Found(error, doubt, np.mean([fill for _, fill in found], axis=0))

    def _error(self, rank: int) -> float:
        return float(np.sqrt(np.mean([np.mean(t.errors(rank) ** 2) for t in self._fits])))

    def _weights(self, hidden: Array) -> Array:
        """By which hidden entries stand for the missing ones of their columns."""
        columns, gaps = hidden % self._width, self._missing % self._width
        weights = np.bincount(gaps, minlength=self._width) / np.maximum(
            np.bincount(columns, minlength=self._width), 1
        )
        weights = weights[columns]
        return weights if weights.any() else np.ones(len(hidden))


class _MaskedFit:
    """The table with some entries hidden, and its fills by rank."""

    def __init__(self, Z: Array, missing: Array, hidden: Array, tol: float, max_iter: int):
        self.Z, self.tol, self.max_iter = Z, tol, max_iter
        self.hidden, self.truth = hidden, Z.reshape(-1)[hidden]
        self.missing, self.gone = missing, np.sort(np.concatenate([missing, hidden]))
        self.fill: Any = 0.0
        self.fills: dict[int, tuple[Array, float]] = {}  # and to which step they have settled

    def errors(self, rank: int) -> Array:
        """Errors of the hidden entries at this rank, from the fill of the last one."""
        tol = _PATH_TOL
        errors = self._path_errors(rank, tol)
        needed = max(_STEP * float(np.sqrt(np.mean(errors**2))), self.tol)
        if needed < tol / 2:
            tol = needed
            errors = self._path_errors(rank, tol)
        self.fills[rank] = self.fill, tol
        return errors

    def keep(self, ranks: list[int]) -> None:
        """Forget the fills of other ranks: each may be a third of X."""
        self.fills = {rank: known for rank, known in self.fills.items() if rank in ranks}

    def settled(self, rank: int) -> tuple[Array, Array]:
        """Errors of the hidden entries as new samples would have them, and the fill of the missing ones."""
        factors = self._run(rank, *self.fills[rank])
        fill = self.fill[np.searchsorted(self.gone, self.missing)]
        return self._give_back(self._as_new(factors)), fill

    def _path_errors(self, rank: int, tol: float) -> Array:
        self._run(rank, self.fill, tol)
        return self._give_back(self.Z.reshape(-1)[self.hidden])

    def _run(self, rank: int, fill: Any, tol: float) -> FillingFactors:
        completion = Completion(self.Z, self.gone)
        completion.fill = fill
        factors = completion.run(rank, tol, self.max_iter)
        self.fill = completion.fill
        return factors

    def _as_new(self, factors: FillingFactors) -> Array:
        """The hidden entries (k,) filled from the observed ones of their rows."""
        p = self.Z.shape[1]
        found = np.empty_like(self.truth)
        for rows in factors.blocks_of(np.unique(self.hidden // p)):
            first, last = rows[0] * p, (rows[-1] + 1) * p
            missing = np.zeros((rows[-1] + 1 - rows[0], p), dtype=bool)
            a, b = np.searchsorted(self.gone, (first, last))
            missing.reshape(-1)[self.gone[a:b] - first] = True
            filled = factors.filled(self.Z[rows], missing[rows - rows[0]])
            a, b = np.searchsorted(self.hidden, (first, last))
            i, j = np.divmod(self.hidden[a:b], p)
            found[a:b] = filled[np.searchsorted(rows, i), j]
        return found

    def _give_back(self, found: Array) -> Array:
        """The errors of what was found, with the hidden values back in their places."""
        self.Z.reshape(-1)[self.hidden] = self.truth
        return found - self.truth


def _draw(size: int, missing: Array, rng: Any) -> Array:
    """Positions of about 5 % of the observed entries of a flattened table, ascending, at least one."""
    # Positions drawn among all, not a permutation of the observed ones, which would be as large as X.
    kind = missing.dtype
    drawn = np.unique(rng.randint(size, size=max(int(_HIDDEN * size), 1), dtype=kind))
    hidden = np.setdiff1d(drawn, missing, assume_unique=True)
    return hidden if len(hidden) else _draw(size, missing, rng)


def _doubt(squares: list[Array], missing: int) -> bool:
    """Whether the mean of squared errors, some (k,) of each draw, may be far from that of missing entries.

    Either they depend on which entries are hidden, or a few of these have most of them.
    """
    draws = np.array([np.mean(some) for some in squares])
    if len(draws) > 1 and _spread(draws) > _DOUBTFUL * np.sqrt(len(draws) - 1):
        return True
    values = np.concatenate(squares)
    few = min(missing, len(values) // 4)
    return bool(_spread(values) > max(2 * _DOUBTFUL * np.sqrt(few), _WIDE))


def _spread(values: Array) -> float:
    """The standard deviation in units of the mean."""
    return float(np.std(values) / np.mean(values))
