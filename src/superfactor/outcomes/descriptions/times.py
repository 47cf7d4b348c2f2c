"""Survival times: counts of events, range of times, risks and survival at a few times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor._words import counted
from superfactor.outcomes.descriptions.base import Description, Predicted, spread, spread_words

# Predicted survival is shown at these quantiles of the event times.
_SHARES = (0.25, 0.5, 0.75)


class TimeDescription(Description):
    """Description of survival times; y is scikit-survival's structured array."""

    lacking = "time"
    score = ("log partial likelihood per event", "log-lik.", "log_partial_likelihood")

    def samples(self, y: Any, names: Sequence[str]) -> list[str]:
        events = int(y["event"].sum())
        times = y["time"]
        return [
            counted(events, "events"),
            f"{len(y) - events:,} censored",
            f"times {times.min():.4g} to {times.max():.4g}",
        ]

    def sample_facts(self, y: Any, names: Sequence[str]) -> dict[str, Any]:
        events = int(y["event"].sum())
        return {"events": events, "censored": len(y) - events, "times": spread(y["time"])}

    def predictions(self, outcome: Any, model: Any, X: Any, names: Sequence[str]) -> Predicted:
        risk = np.asarray(model.predict(X), dtype=float)
        estimator, Z = model, X
        for _, step in getattr(model, "steps", [])[:-1]:
            Z = step.transform(Z)
        estimator = model[-1] if hasattr(model, "steps") else model
        when = _few_times(estimator.event_times_)
        survival = estimator.predict_survival_function(Z, times=when)
        columns = {"risk": risk.tolist()}
        columns |= {f"survival[{t:g}]": own.tolist() for t, own in zip(when, survival.T, strict=True)}
        shown = {"risk": [f"{value:+z.2f}" for value in risk]}
        shown |= {
            f"survival[{t:g}]": [f"{share:.0%}" for share in own]
            for t, own in zip(when, survival.T, strict=True)
        }
        return Predicted(columns, shown, f"risk {spread_words(risk)}", {"risk": spread(risk)})

    def coefficient(self, outputs: Sequence[str]) -> str:
        return "log hazard"


def _few_times(times: Any) -> list[float]:
    """Return quantiles of event times, rounded to two digits; the last time if rounding leaves none."""
    found = [float(f"{t:.2g}") for t in np.quantile(times, _SHARES)]
    return sorted({t for t in found if t <= times[-1]} or {float(times[-1])})
