"""The page for numbers and counts: predicted against true values, and a colour scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm, pearsonr, t

from superfactor.estimators.targets import beyond_exposure, deviance_explained
from superfactor.outcomes.pages.base import MOST_POINTS, Page, mean_and_deviation, spread

# The colour scale leaves out this share of the values at each end, so that outliers do not determine it.
_OUTSIDE = 0.02
_THIRDS = ("lowest third", "middle third", "highest third")
# Fewest samples that are divided into thirds.
_FEWEST = 9


class NumberPage(Page):
    """Colours show the first target; predictions are plotted against the truth, one panel per target."""

    folder = "numbers"
    own_term = "own correlation"
    own_is_signed = True
    scorer = "R²"
    effect_column = ("outcome_correlation", 0.0)
    #: Whether axes and colours use square roots.
    root: bool = False

    def sorts(self, truth: Any) -> Any:
        """Return the third of the first target to which each sample belongs."""
        first = _first(truth)
        if len(first) < _FEWEST:
            return np.zeros(len(first), dtype=int)
        return np.searchsorted(np.quantile(first, [1 / 3, 2 / 3]), first, side="left")

    def colours(self, truth: Any) -> list[Any]:
        low, high = self._ends(_first(truth))
        placed = (self._placed(_first(truth)) - low) / (high - low or 1.0)
        return [round(float(v), 3) for v in np.clip(placed, 0, 1)]

    def scale(self, truth: Any, names: Sequence[str]) -> dict[str, Any] | None:
        low, high = self._ends(_first(truth))
        ends = [low**2, high**2] if self.root else [low, high]
        return {"name": names[0], "low": ends[0], "high": ends[1], "root": self.root}

    def _placed(self, values: Any) -> Any:
        return np.sqrt(np.maximum(values, 0.0)) if self.root else values

    def _ends(self, values: Any) -> tuple[float, float]:
        low, high = np.quantile(self._placed(values), [_OUTSIDE, 1 - _OUTSIDE])
        return float(low), float(high)

    def said(self, truth: Any, row: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        own: list[tuple[str, Any]] = []
        for k, value in enumerate(row):
            if truth is not None:
                own.append((names[k], float(_columns(np.asarray(truth)[None])[0, k])))
            own.append((f"predicted {names[k]}", float(value)))
        return own

    def parts(self, truth: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        sort = self.sorts(truth)
        if len(np.unique(sort)) < len(_THIRDS):
            return []
        return [(f"{third} of {names[0]}", sort == k) for k, third in enumerate(_THIRDS)]

    def summary(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        rows: list[tuple[str, float]] = [("Samples", len(truth))]
        for name, values in zip(names, _columns(truth).T, strict=True):
            mean, deviation = mean_and_deviation(values)
            called = f", {name}" if len(names) > 1 else ""
            rows += [(f"Mean{called}", mean), (f"Standard deviation{called}", deviation)]
            rows += [(f"Smallest{called}", float(values.min())), (f"Largest{called}", float(values.max()))]
        return rows

    def describe(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        for name, values in zip(names, _columns(truth).T, strict=True):
            mean, deviation = mean_and_deviation(values)
            found += [(f"mean of {name}" if len(names) > 1 else "mean", mean), ("s.d.", deviation)]
        return found

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = [np.corrcoef(values, score)[0, 1] for values in self._compared(truth).T]
        k = int(np.argmax(np.abs(effect) if effect.any() else np.abs(np.nan_to_num(found))))
        return float(found[k]), k

    def by_factor(self, truth: Any, scores: Any, names: Sequence[str]) -> list[list[float]]:
        """Return slopes per standard deviation of a score, one column of y at a time."""
        return [_slope(values, score) for score in scores.T for values in _columns(truth).T]

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """Return panels of true and predicted values, and their metrics."""
        panels, exposures = [], _exposures(truth)
        for name, values, predicted in zip(names, _columns(truth).T, rows.T, strict=True):
            always = exposures * (np.sum(values) / np.sum(exposures))
            kept = spread(len(values), MOST_POINTS // len(names))
            panels.append(
                {
                    "name": name,
                    "kept": kept,
                    "true": values[kept],
                    "predicted": predicted[kept],
                    "explained": self._explained(values, predicted, exposures),
                    "error": float(np.mean(np.abs(values - predicted))),
                    "guess": float(np.mean(np.abs(values - always))),
                    "correlation": self._correlation(values, predicted, exposures),
                }
            )
        return {"panels": panels, "root": self.root, "scorer": self.scorer}

    def _compared(self, truth: Any) -> Any:
        """Return the values (n, κ) with which scores are correlated."""
        return _columns(truth)

    def _correlation(self, values: Any, predicted: Any, exposures: Any) -> float:
        return _correlation(values, predicted)

    def _explained(self, values: Any, predicted: Any, exposures: Any) -> float:
        """Return R² of values (n,)."""
        total = float(np.sum((values - values.mean()) ** 2))
        return 1 - float(np.sum((values - predicted) ** 2)) / total if total > 0 else math.nan


class CountPage(NumberPage):
    """Counts: axes use square roots. The truth may contain exposures, (n, κ, 2)."""

    scorer = "deviance explained"
    predictor = "Poisson regression"
    root = True

    def rows_of(self, activations: Any) -> Any:
        return np.exp(activations)

    def _explained(self, values: Any, predicted: Any, exposures: Any) -> float:
        """Return D²; with exposures, that of rates."""
        return deviance_explained(values, predicted, exposures=exposures[:, None])

    def _compared(self, truth: Any) -> Any:
        if np.ndim(truth) == 3:
            return beyond_exposure(_columns(truth), _exposures(truth)[:, None])
        return np.log1p(_columns(truth))

    def _correlation(self, values: Any, predicted: Any, exposures: Any) -> float:
        """Return the correlation of counts; if exposures differ, of the residuals given exposures."""
        if np.ptp(exposures) > 0:
            both = (beyond_exposure(x[:, None], exposures[:, None]) for x in (values, predicted))
            values, predicted = (x[:, 0] for x in both)
        return _correlation(values, predicted)

    def by_factor(self, truth: Any, scores: Any, names: Sequence[str]) -> list[list[float]]:
        """Return ratios of expected counts per standard deviation of a score, by Poisson regression.

        Intervals allow for overdispersion, which is estimated from Pearson's χ².
        """
        exposures = _exposures(truth)
        return [_rate(values, exposures, score) for score in scores.T for values in _columns(truth).T]


def _columns(truth: Any) -> Any:
    """Return y as (n, κ), without exposures."""
    return truth[:, :, 0] if np.ndim(truth) == 3 else np.reshape(truth, (len(truth), -1))


def _exposures(truth: Any) -> Any:
    """Return exposures (n,); ones if there are none."""
    return truth[:, 0, 1] if np.ndim(truth) == 3 else np.ones(len(truth))


def _first(truth: Any) -> Any:
    return _columns(truth)[:, 0]


def _correlation(a: Any, b: Any) -> float:
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(pearsonr(a, b).statistic)


def _slope(values: Any, score: Any) -> list[float]:
    """Return the slope per standard deviation, ends of its 95 % interval, and p; NaN if not defined."""
    n, size = len(values), float(np.std(score))
    if n < 3 or not size > 0:
        return [math.nan] * 4
    x, y = (score - score.mean()) / size, values - values.mean()
    slope = float(x @ y) / n
    error = math.sqrt(float(np.sum((y - slope * x) ** 2)) / (n - 2) / n)
    reach = float(t.ppf(0.975, n - 2)) * error
    p = 2 * float(t.sf(abs(slope) / error, n - 2)) if error > 0 else 0.0
    return [slope, slope - reach, slope + reach, p]


def _rate(values: Any, exposures: Any, score: Any) -> list[float]:
    """Return the rate ratio per standard deviation, ends of its 95 % interval, and p; NaN if not defined."""
    n, size = len(values), float(np.std(score))
    if n < 3 or not size > 0 or not np.sum(values) > 0:
        return [math.nan] * 4
    D = np.column_stack([np.ones(n), (score - score.mean()) / size])
    b = np.array([math.log(float(np.sum(values) / np.sum(exposures))), 0.0])
    for _ in range(50):
        mean = exposures * np.exp(D @ b)
        step = np.linalg.solve((D.T * mean) @ D, D.T @ (values - mean))
        b = b + step / max(1.0, float(np.max(np.abs(step))))
        if np.max(np.abs(step)) < 1e-9:
            break
    mean = exposures * np.exp(D @ b)
    more = max(1.0, float(np.sum((values - mean) ** 2 / mean)) / (n - 2))
    error = math.sqrt(more * float(np.linalg.inv((D.T * mean) @ D)[1, 1]))
    reach = 1.959963984540054 * error
    ends = [math.exp(float(b[1]) + way * reach) for way in (0, -1, 1)]
    return [*ends, 2 * float(norm.sf(abs(float(b[1])) / error))]
