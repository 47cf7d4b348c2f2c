"""Survival times: when an event happened, or until when there was none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm

from superfactor._words import counted
from superfactor.estimators import SMFSurvival
from superfactor.estimators.targets import Given, check_survival, concordance
from superfactor.losses import CoxPartialLikelihood, Loss
from superfactor.outcomes.base import FEWEST, Outcome, Steps, Target
from superfactor.outcomes.metric import Metric
from superfactor.outcomes.reading import ShownSamples, Statistics, by_columns, with_times
from superfactor.outcomes.ridge import ridge_activations


def _concordance(truth: Any, rows: Any) -> float:
    """Harrell's; NaN where no two samples can be compared."""
    event, time = truth.T
    first = np.min(time[event > 0], initial=np.inf)
    if not np.any((time > first) | ((time == first) & (event == 0))):
        return float("nan")
    return concordance(event, time, rows[:, 0])


class Times(Outcome):
    """Rows are risks (n, 1); the truth are events and times (n, 2)."""

    name = "times"
    estimator = SMFSurvival
    steps = Steps(
        xi={"filter": (0.1, 1.0), "feature": (0.1, 1.0, 10.0)},
        lam={"filter": (1e-4, 1e-3, 1e-2, 1e-1), "feature": (1e-4, 1e-3, 1e-2, 1e-1)},
    )
    metrics = (Metric("concordance", "concordance", _concordance, high=1.0),)
    guess_name = "no order"
    guessing = "no order"
    pca_name = "tuned PCA + Cox regression"
    ridge_name = "ridge Cox regression"
    pca_short = "PCA+Cox"
    rivals_words = "tuned Cox regressions"
    strengths = (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)
    few_strengths = (1e-3, 0.01, 0.1, 1.0)

    # --- y ------------------------------------------------------------------------------------------

    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Given:
        return check_survival(y, X, name)

    def coded(self, given: Given) -> tuple[Any, Any]:
        return np.array(["risk"]), given.labelled

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        found = super().target(y, X, name, unlabeled)
        if not np.any(found.truth[:, 0]):
            raise ValueError(f"y: none of the {len(found.truth)} samples has an event; some are required")
        return found

    def informative(self, truth: Any) -> Any:
        """Those with an event: others are only in the risk sets."""
        return truth[:, 0] > 0

    def counts(self, target: Target) -> Any:
        """Samples without and with an event."""
        return np.bincount(target.truth[:, 0].astype(int), minlength=2)

    # --- search -------------------------------------------------------------------------------------

    def n_outputs(self, target: Target) -> int:
        return 1

    def search_strata(self, values: Any) -> Any:
        return values[:, 0].astype(int)

    def check_training(self, target: Target, k: int, train: Any) -> None:
        super().check_training(target, k, train)
        if np.isnan(_concordance(target.given.among(train).labelled, np.zeros((len(train), 1)))):
            raise ValueError(
                f"cv: in the training part of split {k} no two samples can be compared: an event while "
                "another sample is still under observation is required (fewer splits, or stratified by event)"
            )

    def choose_by(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Concordance; NaN where no two samples of a test part can be compared."""
        return self.measure(y, model.predict(X), sample_weight)

    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        truth = np.asarray(y, dtype=float)
        if np.isnan(_concordance(truth, np.zeros((len(truth), 1)))):
            return float("nan")
        event, time = truth.T
        return concordance(event, time, np.asarray(predicted), sample_weight)

    # --- folds --------------------------------------------------------------------------------------

    def strata(self, truth: Any) -> Any:
        return truth[:, 0].astype(int)

    def sizes(self, truth: Any, groups: Any) -> list[int]:
        """Of events: folds need no others."""
        events = truth[:, 0] > 0
        return [int(events.sum()) if groups is None else len(np.unique(groups[events]))]

    def stratum(self, target: Target, k: int) -> str:
        return "the event"

    def scarce(self, target: Target, k: int, what: str) -> str:
        return f"too few {what} with an event"

    def check_fold(self, truth: Any) -> None:
        if np.isnan(_concordance(truth, np.zeros((len(truth), 1)))):
            raise ValueError(
                "groups: without the groups of one fold no two samples can be compared; more groups with "
                "events are required"
            )

    # --- judging ------------------------------------------------------------------------------------

    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        return np.asarray(model.predict(X, **beside), dtype=float).reshape(-1, 1)

    def guess(self, truth: Any, n: int, k: int) -> Any:
        return np.zeros((n, 1))

    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """The score test of Cox regression on the risks, one-sided: are those with events riskier?"""
        event, time = truth.T
        score = variance = 0.0
        for i in np.flatnonzero(event > 0):
            at_risk = rows[time >= time[i], 0]
            score += rows[i, 0] - at_risk.mean()
            variance += at_risk.var()
        return float(norm.sf(score / np.sqrt(variance))) if variance > 0 else 1.0

    # --- rivals -------------------------------------------------------------------------------------

    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Sequence[Any]:
        event, time = truth.T
        loss = CoxPartialLikelihood(time, event, weight)
        return ridge_activations(loss, event[:, None], A, B, penalties, weight)

    def likelihood(self, truth: Any, rows: Any) -> float:
        event, time = truth.T
        if not np.any(event):
            return 0.0
        return -float(np.sum(CoxPartialLikelihood(time, event).value(rows, event[:, None])))

    # --- verdict ------------------------------------------------------------------------------------

    def caveats(self, names: Any, truth: Any, predicted: Any, units: str) -> list[str]:
        if self.enough(names, truth):
            return []
        events = int(np.sum(truth[:, 0]))
        return [f"Only {counted(events, 'events')}: too few for a claim, which needs about {FEWEST}."]

    # --- reading ------------------------------------------------------------------------------------

    output_column = None
    alone_name = "concordance"

    def shown_samples(self, y: Any, classes: Any, outputs: Sequence[str]) -> ShownSamples:
        """Times and events; a single number of each sample stays one."""
        if np.ndim(y) != 2 and not np.asarray(y).dtype.names:
            return super().shown_samples(y, classes, outputs)
        given = check_survival(y, np.empty((len(y), 0)), "y")
        events = given.spread(given.labelled[:, 0] == 1, False)
        return ShownSamples(given.spread(given.labelled[:, 1], np.nan), None, events, "time")

    def not_predicted(self, outputs: Sequence[str]) -> str:
        return "the risk"

    def half_strata(self, values: Any) -> Any:
        return values[:, 0].astype(int)

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        event, time = values.T
        return event[:, None], CoxPartialLikelihood(time, event, weight)

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        event, time = values.T
        own = [concordance(event, time, t, weight) for t in scores.T]
        return np.array(own), view.outputs * len(own)

    def univariate(self, estimator: Any, outputs: Sequence[str], X: Any, values: Any) -> Statistics:
        event, time = values.T
        return by_columns(X, partial(with_times, event=event, time=time))

    def effect_kind(self, estimator: Any) -> str:
        return "hazard ratio"
