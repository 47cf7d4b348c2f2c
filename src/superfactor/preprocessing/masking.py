"""Choice of the number of factors by hiding entries, and the error of filled values.

Some observed entries are hidden, and the table is completed with 0, 1, 2, 3, 5, … factors. Each completion
starts from the fill of the previous one. This matters if there is little noise: the iteration stops at any
fill that lies on its factors, and with too many factors there are many such fills. The final completion
starts from the fills with hidden entries, so that their error is also the error of the final fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array
from superfactor.preprocessing.completion import Completion, FillingFactors

# Share of the observed entries that is hidden.
_HIDDEN = 0.05
# Total number of hidden entries to reach by repeated draws, and the most draws.
_ENOUGH, _MOST_DRAWS = 5000, 10
# Tolerance when ranks are compared, in standard deviations and as a share of the error.
_PATH_TOL, _STEP = 1e-3, 0.01
# The search of the rank ends if the error exceeds the smallest one by this share: factors then fit noise.
_OVERFIT = 0.02
# All ranks between two are tried if the error falls below this share from one to the other.
_SHARP = 0.8
# Fewer components are preferred if their error is larger by at most this share,
_AS_GOOD = 0.002
# or if it is below this (in standard deviations), or ten times the tolerance: the fill is then exact.
_EXACT = 1e-3
# An estimate is doubtful if the relative standard error of its square is larger than this,
_DOUBTFUL = 0.2
# or if the relative standard deviation of squared errors is larger than this; it is 1.4 for normal errors.
_WIDE = 3.0


@dataclass(frozen=True)
class Found:
    """Result of the hidden entries for one rank."""

    error: float  # root mean square; columns are weighted by their number of missing entries
    doubt: bool  # whether the error of the missing entries may be different
    fill: Array  # (m,), mean fill of the missing entries over all draws: the start of the final completion


class MaskedFits:
    """Completions of a table Z (n, p) with hidden entries, for several draws of these.

    Only fills of Z change: the values of hidden entries are restored.
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
        """Return whether there are enough entries to hide any."""
        return bool(self._fits)

    def choose(self, path: list[int], fewest: bool) -> tuple[int, dict[int, float]]:
        """Return a rank, and errors (root mean square) by rank.

        The rank is the last of the path, or, with `fewest`, the smallest rank that is as good as any.
        """
        errors: dict[int, float] = {}
        last = 0
        for rank in path:
            begin = [one.fill for one in self._fits]
            errors[rank] = self._error(rank)
            if rank - last > 1 and errors[rank] < _SHARP * errors[last]:
                # The best rank is in between; without noise, additional factors increase the error.
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
        """Return the result for the chosen rank."""
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
        """Return weights of hidden entries, in proportion to the missing entries of their columns."""
        columns, absent = hidden % self._width, self._missing % self._width
        weights = np.bincount(absent, minlength=self._width) / np.maximum(
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
        self.fills: dict[int, tuple[Array, float]] = {}  # by rank: fill and its tolerance

    def errors(self, rank: int) -> Array:
        """Return errors of the hidden entries at this rank, starting from the fill of the previous one."""
        tol = _PATH_TOL
        errors = self._path_errors(rank, tol)
        needed = max(_STEP * float(np.sqrt(np.mean(errors**2))), self.tol)
        if needed < tol / 2:
            tol = needed
            errors = self._path_errors(rank, tol)
        self.fills[rank] = self.fill, tol
        return errors

    def keep(self, ranks: list[int]) -> None:
        """Delete the fills of other ranks, since each may have a third of the size of X."""
        self.fills = {rank: known for rank, known in self.fills.items() if rank in ranks}

    def settled(self, rank: int) -> tuple[Array, Array]:
        """Return errors of the hidden entries, filled as in new samples, and the fill of the missing ones."""
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
        """Return the hidden entries (k,), filled from the observed ones of their rows."""
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
        """Return the errors of the filled values `found`, and restore the hidden values."""
        self.Z.reshape(-1)[self.hidden] = self.truth
        return found - self.truth


def _draw(size: int, missing: Array, rng: Any) -> Array:
    """Draw positions of about 5 % of the observed entries of a flattened table, ascending, at least one."""
    # Positions are drawn among all entries; a permutation of the observed ones would be as large as X.
    kind = missing.dtype
    drawn = np.unique(rng.randint(size, size=max(int(_HIDDEN * size), 1), dtype=kind))
    hidden = np.setdiff1d(drawn, missing, assume_unique=True)
    return hidden if len(hidden) else _draw(size, missing, rng)


def _doubt(squares: list[Array], missing: int) -> bool:
    """Return whether the mean squared error of hidden entries may differ from that of missing entries.

    `squares` has squared errors (k,) of each draw. The result is True if draws differ much, or if a few
    entries dominate the mean.
    """
    draws = np.array([np.mean(some) for some in squares])
    if len(draws) > 1 and _spread(draws) > _DOUBTFUL * np.sqrt(len(draws) - 1):
        return True
    values = np.concatenate(squares)
    few = min(missing, len(values) // 4)
    return bool(_spread(values) > max(2 * _DOUBTFUL * np.sqrt(few), _WIDE))


def _spread(values: Array) -> float:
    """Return the standard deviation divided by the mean."""
    return float(np.std(values) / np.mean(values))
