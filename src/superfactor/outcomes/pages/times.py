"""The page for survival times: survival curves by risk group, hazard ratios, events and censoring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from superfactor.estimators.targets import concordance, strata_of, time_name
from superfactor.outcomes.metrics.kaplan_meier import kaplan_meier, log_rank, median_follow_up
from superfactor.outcomes.metrics.survival_metrics import hazard_ratio
from superfactor.outcomes.pages.base import Page, spread

# Events from which on samples are divided into thirds of the risk instead of halves.
THIRDS_FROM = 45
# Approximate number of times for which numbers at risk are shown.
TICKS = 6
# Most points of a curve, and most marks of censored samples.
MOST_STEPS = 300


class TimePage(Page):
    """Colours show event or censored; predictions are evaluated by risk group."""

    folder = "times"
    own_term = "own concordance"
    scorer = "log partial likelihood per event"
    target = "survival times"
    predictor = "Cox model"
    influence = "the survival times influence"
    prediction_heading = "How good the predictions are, as survival by risk group"
    features_heading = "Which features go with the risk and the factors"
    effect_column = ("z", 0.0)

    def names(self, estimator: Any, outputs: Sequence[str], y: Any, target: str) -> list[str]:
        return list(outputs)

    def axis(self, y: Any) -> str:
        return time_name(y)

    def groups(self, names: Sequence[str]) -> list[str]:
        return ["censored", "event"]

    def sorts(self, truth: Any) -> Any:
        return (truth[:, 0] > 0).astype(int)

    def said(self, truth: Any, row: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        own: list[tuple[str, Any]] = [("predicted risk", float(row[0]))]
        if truth is None:
            return own
        return [("event at" if truth[0] else "no event until", float(truth[1])), *own]

    def summary(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        event, time = truth[:, 0], truth[:, 1]
        return [
            ("Events", int(np.sum(event > 0))),
            ("Without an event (censored)", int(np.sum(event == 0))),
            ("Median follow-up", median_follow_up(event, time)),
            ("Median survival", kaplan_meier(event, time).median()),
            ("Longest time", float(np.max(time))),
        ]

    def describe(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        table = dict(self.summary(truth, names))
        return [
            ("events", table["Events"]),
            ("median follow-up (reverse Kaplan–Meier)", table["Median follow-up"]),
        ]

    def towards(self, effect: Any, up: int, names: Sequence[str]) -> tuple[str, str]:
        if not effect[0]:
            return "", ""
        return ("higher risk" if effect[0] > 0 else "lower risk"), ""

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        try:
            return float(concordance(truth[:, 0], truth[:, 1], score, strata=strata_of(truth))), 0
        except ValueError:  # no two samples can be compared
            return math.nan, 0

    def by_factor(self, truth: Any, scores: Any, names: Sequence[str]) -> list[list[float]]:
        found = [hazard_ratio(truth, score) for score in scores.T]
        return [[own.estimate, own.low, own.high, own.p] for own in found]

    def rows_of(self, activations: Any) -> Any:
        return activations[:, :1]

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """Return curves and numbers at risk by risk group, the log-rank test and the risk's hazard ratio."""
        event, time, risk = truth[:, 0], truth[:, 1], rows[:, 0]
        called, group = risk_groups(event, risk)
        ticks = _round_times(float(np.max(time)))
        curves = []
        for k, name in enumerate(called):
            own = group == k
            found = kaplan_meier(event[own], time[own])
            low, high = found.limits()
            kept = spread(len(found.time), MOST_STEPS)
            ended = np.unique(time[own & (event == 0)])
            ended = ended[spread(len(ended), MOST_STEPS)] if len(ended) else ended
            curves.append(
                {
                    "name": name,
                    "samples": int(own.sum()),
                    "events": int(event[own].sum()),
                    "median": found.median(),
                    "left": int(np.sum(time[own] >= found.median())),
                    "time": found.time[kept],
                    "survival": found.survival[kept],
                    "low": low[kept],
                    "high": high[kept],
                    "ended": ended,
                    "ended_at": found.at(ended),
                    "at_risk": [int(np.sum(time[own] >= t)) for t in ticks],
                }
            )
        return {
            "curves": curves,
            "ticks": ticks,
            "p": log_rank(event, time, group, strata_of(truth)),
            "ratio": asdict(hazard_ratio(truth, risk)),
        }


def risk_groups(event: Any, risk: Any) -> tuple[list[str], Any]:
    """Return the names of risk groups, and the group (n,) of each sample.

    Groups are thirds of the risk, or halves if there are few events. Samples of equal risk are in one group,
    so there may be only one.
    """
    parts = 3 if np.sum(event > 0) >= THIRDS_FROM else 2
    cuts = np.unique(np.quantile(risk, np.arange(1, parts) / parts))
    group = np.searchsorted(cuts, risk, side="left")
    present, group = np.unique(group, return_inverse=True)
    names = {
        1: ["all samples"],
        2: ["lower risk", "higher risk"],
        3: ["low risk", "middle risk", "high risk"],
    }
    return names[len(present)], group


def _round_times(last: float) -> list[float]:
    """Return about `TICKS` multiples of 1, 2 or 5 times a power of ten, from 0 to the last time."""
    rough = last / TICKS if last > 0 else 1.0
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= 0.9 * rough)
    return [float(k * step) for k in range(int(last / step + 1e-9) + 1)]
