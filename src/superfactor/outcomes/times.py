"""Survival times: when an event happened, or how long a sample was observed without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from superfactor._words import counted
from superfactor.estimators import SMFSurvival
from superfactor.estimators.targets import CheckedY, check_survival, concordance, is_comparable, strata_of
from superfactor.losses import CoxPartialLikelihood, Loss
from superfactor.outcomes.base import FEWEST, Outcome, Steps, Target
from superfactor.outcomes.metrics.kaplan_meier import SurvivalCurve, kaplan_meier
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.metrics.survival_metrics import (
    calibration_slope,
    curve_times,
    integrated_brier,
    uno_concordance,
)
from superfactor.outcomes.pages import TimePage
from superfactor.outcomes.reading import ShownSamples, Statistics, by_columns, with_times
from superfactor.outcomes.ridge import ridge_activations, tuned

# Folds that tune a ridge regression, and the most directions that it uses.
_FOLDS, _DIRECTIONS = 5, 300
# Largest log hazard; its exponential is still a finite number.
_LARGEST = 700.0


def _curves(model: Any, X: Any, beside: dict[str, Any], times: Any) -> Any:
    """Return survival probabilities (n, m) at the times, by an SMFSurvival or a scikit-survival model."""
    if isinstance(model, Pipeline):  # it has the methods of scikit-learn only
        return _curves(model[-1], model[:-1].transform(X), beside, times)
    if not hasattr(model, "predict_survival_function"):
        return np.full((np.shape(X)[0], len(times)), np.nan)
    if hasattr(model, "_outcome") or isinstance(model, SMFSurvival):
        return model.predict_survival_function(X, times=times, **beside)
    steps = model.predict_survival_function(X, **beside)
    return np.array([step(np.clip(times, *step.domain)) for step in steps])


def _concordance(truth: Any, rows: Any) -> float:
    """Return Harrell's concordance; NaN if no two samples can be compared."""
    if not is_comparable(truth):
        return float("nan")
    return concordance(truth[:, 0], truth[:, 1], rows[:, 0], strata=strata_of(truth))


@dataclass(frozen=True)
class FollowUp:
    """The evaluation times of survival curves, and the censoring distribution.

    The censoring is estimated from all evaluated samples of all folds. It is then the same for all methods
    and folds, does not depend on X, and is more precise than an estimate from one training part. Strata have
    baseline hazards of their own, which rows do not contain; with strata no curves are evaluated.
    """

    times: Any  # (m,)
    censoring: SurvivalCurve

    @classmethod
    def of(cls, truth: Any) -> FollowUp:
        times = np.zeros(0) if truth.shape[1] > 2 else curve_times(truth)
        return cls(times, kaplan_meier(truth[:, 0], truth[:, 1], censoring=True))

    @property
    def names(self) -> Any:
        """Return the names of the columns of rows."""
        return np.array(["risk", *(f"S({t:.6g})" for t in self.times)])

    def rows(self, risk: Any, curves: Any) -> Any:
        """Return rows of the risks (n,) and of the curves at the times (n, m)."""
        return np.column_stack([risk, curves(self.times)]) if len(self.times) else np.reshape(risk, (-1, 1))

    @property
    def middle(self) -> int:
        """Return the index of the time closest to the median of event times."""
        return len(self.times) // 2

    def uno(self, truth: Any, rows: Any) -> float:
        """Return Uno's concordance up to the last of the times; with strata, up to the last event."""
        until = self.times[-1] if len(self.times) else np.inf
        return uno_concordance(truth, rows[:, 0], self.censoring, until)

    def brier(self, truth: Any, rows: Any) -> float:
        """Return the integrated Brier score; NaN if rows have no curves."""
        if rows.shape[1] != 1 + len(self.times):
            return float("nan")
        return integrated_brier(truth, rows[:, 1:], self.times, self.censoring)


def _uno(truth: Any, rows: Any) -> float:
    return FollowUp.of(truth).uno(truth, rows)


def _brier(truth: Any, rows: Any) -> float:
    return FollowUp.of(truth).brier(truth, rows)


def _metrics(uno: Any, brier: Any) -> tuple[Metric, ...]:
    return (
        Metric("concordance", "concordance", _concordance, high=1.0),
        Metric("uno_concordance", "Uno's concordance", uno, high=1.0),
        Metric("brier", "integrated Brier score", brier, higher_is_better=False, high=1.0),
    )


class Times(Outcome):
    """Survival times. Rows are risks and survival probabilities (n, 1 + m).

    The truth holds events, times and optionally strata. Probabilities are those at the m times of `FollowUp`,
    with the baseline hazard of the model of each fold. Until `settled` has set the evaluated samples, rows
    are the risks alone, (n, 1), and metrics use the samples that they are called with.

    Risks of different folds have different zeros. Concordances are computed in each fold and averaged. The
    test against chance and the calibration use all samples together; there the mean risk of the fold is
    subtracted (`within_folds`).
    """

    name = "times"
    estimator = SMFSurvival
    steps = Steps(
        xi={"filter": (0.01, 1.0), "feature": (0.03, 0.1, 1.0, 10.0)},
        lam={"filter": (1e-4, 1e-3, 1e-2, 1e-1), "feature": (0.01, 0.1, 0.3, 1.0)},
    )
    metrics = _metrics(_uno, _brier)
    guess_name = "no order"
    guessing = "no order"
    pca_name = "tuned PCA + Cox regression"
    ridge_name = "ridge Cox regression"
    pca_short = "PCA+Cox"
    baselines_words = "tuned Cox regressions"
    strengths = (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)
    few_strengths = (1e-3, 0.01, 0.1, 1.0)
    page = TimePage()

    def __init__(self, follow_up: FollowUp | None = None):
        self.follow_up = follow_up
        if follow_up is not None:
            metrics = _metrics(follow_up.uno, follow_up.brier)
            self.metrics = metrics if len(follow_up.times) else metrics[:-1]  # type: ignore[misc]

    def settled(self, truth: Any) -> Times:
        return Times(FollowUp.of(truth))

    # --- y ------------------------------------------------------------------------------------------

    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        return check_survival(y, X, name)

    def read_as(self, model: Any, y: Any, X: Any, name: str) -> CheckedY:
        model = getattr(model, "best_estimator_", model)
        fitted = model[-1] if isinstance(model, Pipeline) else model
        learned = getattr(fitted, "_coded_as_r", False), getattr(fitted, "_event_column", None)
        return check_survival(y, X, name, *learned)

    def as_given(self, values: Any) -> Any:
        """Return the columns under their names, since the order of columns can differ between models."""
        names = ("event", "time", "stratum")[: values.shape[1]]
        found = np.empty(len(values), dtype=[(name, float) for name in names])
        for name, column in zip(names, values.T, strict=True):
            found[name] = column
        return found

    def coded(self, given: CheckedY) -> tuple[Any, Any]:
        return FollowUp.of(given.labelled).names, given.labelled

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        found = super().target(y, X, name, unlabeled)
        if not np.any(found.truth[:, 0]):
            raise ValueError(f"y: none of the {len(found.truth)} samples has an event; some are required")
        return found

    def informative(self, truth: Any) -> Any:
        """Return which samples have an event (m,); the others only enter the risk sets."""
        return truth[:, 0] > 0

    def counts(self, target: Target) -> Any:
        """Return the number of samples without and with an event."""
        return np.bincount(target.truth[:, 0].astype(int), minlength=2)

    # --- search -------------------------------------------------------------------------------------

    def n_outputs(self, target: Target) -> int:
        return 1

    def search_strata(self, values: Any) -> Any:
        return values[:, 0].astype(int)

    def check_training(self, target: Target, k: int, train: Any) -> None:
        super().check_training(target, k, train)
        if not is_comparable(target.given.among(train).labelled):
            raise ValueError(
                f"cv: in the training part of split {k} no two samples can be compared: an event while "
                "another sample is still under observation is required (fewer splits, or stratified by event)"
            )

    def choose_by(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the log partial likelihood per event; NaN if no two samples can be compared.

        With few events, concordances are too coarse to choose by: they ignore the size of risks.
        """
        truth = np.asarray(y, dtype=float)
        if not is_comparable(truth):
            return float("nan")
        event, time = truth[:, :2].T
        loss = CoxPartialLikelihood(time, event, sample_weight, strata=strata_of(truth))
        risk = np.asarray(model.predict(X), dtype=float).reshape(-1, 1)
        return -float(loss.weights @ loss.value(risk, event[:, None]) / loss.deaths.sum())

    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        truth = np.asarray(y, dtype=float)
        if not is_comparable(truth):
            return float("nan")
        event, time = truth[:, :2].T
        return concordance(event, time, np.asarray(predicted), sample_weight, strata_of(truth))

    # --- folds --------------------------------------------------------------------------------------

    def strata(self, truth: Any) -> Any:
        return truth[:, 0].astype(int)

    def sizes(self, truth: Any, groups: Any) -> list[int]:
        """Return the number of events; folds do not need samples without an event."""
        events = truth[:, 0] > 0
        return [int(events.sum()) if groups is None else len(np.unique(groups[events]))]

    def stratum(self, target: Target, k: int) -> str:
        return "the event"

    def scarce(self, target: Target, k: int, what: str) -> str:
        return f"too few {what} with an event"

    def check_fold(self, truth: Any) -> None:
        if not is_comparable(truth):
            raise ValueError(
                "groups: without the groups of one fold no two samples can be compared; more groups with "
                "events are required"
            )

    # --- evaluation ---------------------------------------------------------------------------------

    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        risk = np.asarray(model.predict(X, **beside), dtype=float)
        if self.follow_up is None:
            return risk.reshape(-1, 1)
        return self.follow_up.rows(risk, partial(_curves, model, X, beside))

    def guess(self, truth: Any, n: int, k: int) -> Any:
        """Predict the same risk for all samples, and the Kaplan–Meier curve of this truth."""
        if self.follow_up is None or k == 1:
            return np.zeros((n, k))
        curve = kaplan_meier(*truth[:, :2].T)
        return self.follow_up.rows(np.zeros(n), lambda times: np.tile(curve.at(times), (n, 1)))

    def decided(self, rows: Any) -> Any:
        return rows[:, 0]

    def within_folds(self, rows: Any, folds: Any) -> Any:
        """Return rows whose risks have mean 0 in each fold."""
        rows = rows.copy()
        for k in np.unique(folds):
            rows[folds == k, 0] -= rows[folds == k, 0].mean()
        return rows

    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """Return the p-value of the one-sided score test of Cox regression on the risks."""
        event, time = truth[:, :2].T
        strata = np.zeros(len(truth)) if strata_of(truth) is None else strata_of(truth)
        score = variance = 0.0
        for i in np.flatnonzero(event > 0):
            at_risk = rows[(time >= time[i]) & (strata == strata[i]), 0]
            score += rows[i, 0] - at_risk.mean()
            variance += at_risk.var()
        return float(norm.sf(score / np.sqrt(variance))) if variance > 0 else 1.0

    def calibrations(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        """Return the calibration slope, and the error of predicted survival at the median event time.

        The slope is 1 if risks have the right size. The error is the Kaplan–Meier survival at that time minus
        the mean predicted probability.
        """
        found = {"calibration_slope": calibration_slope(truth, rows[:, 0], strata_of(truth))}
        if self.follow_up is not None and len(self.follow_up.times) == rows.shape[1] - 1 > 0:
            k = self.follow_up.middle
            curve, when = kaplan_meier(*truth[:, :2].T), self.follow_up.times[k]
            far = float(curve.at(when)) - float(rows[:, 1 + k].mean())
            found["calibration_at_median"] = far, float(curve.error_at(when))
        return found

    # --- baselines ----------------------------------------------------------------------------------

    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Sequence[Any]:
        event, time = truth[:, :2].T
        loss = CoxPartialLikelihood(time, event, weight, strata=strata_of(truth))
        both = sp.vstack([A, B], "csr") if sp.issparse(A) else np.vstack([A, B])
        found = ridge_activations(loss, event[:, None], A, both, penalties, weight)
        n = len(truth)
        if self.follow_up is None or k == 1:
            return [a[n:] for a in found]

        def curves(a: Any, times: Any) -> Any:
            """Use Breslow's baseline hazard of the training samples."""
            when, hazard = loss.log_cumulative_hazard(a[:n])
            hazard = np.insert(hazard, 0, -np.inf)[np.searchsorted(when, times, side="right")]
            return np.exp(-np.exp(np.minimum(a[n:] + hazard, _LARGEST)))

        return [self.follow_up.rows(a[n:, 0], partial(curves, a)) for a in found]

    def likelihood(self, truth: Any, rows: Any) -> float:
        event, time = truth[:, :2].T
        if not np.any(event):
            return 0.0
        loss = CoxPartialLikelihood(time, event, strata=strata_of(truth))
        return -float(np.sum(loss.value(rows[:, :1], event[:, None])))

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
        """Return times and events; a y of one number per sample is shown as numbers."""
        if np.ndim(y) != 2 and not np.asarray(y).dtype.names:
            return super().shown_samples(y, classes, outputs)
        given = check_survival(y, np.empty((len(y), 0)), "y")
        events = given.spread(given.labelled[:, 0] == 1, False)
        return ShownSamples(given.spread(given.labelled[:, 1], np.nan), None, events, "time")

    def not_predicted(self, outputs: Sequence[str]) -> str:
        return "the risk"

    def resample_strata(self, values: Any) -> Any:
        return values[:, 0].astype(int)

    def exchangeable(self, values: Any) -> Any:
        strata = strata_of(values)
        return super().exchangeable(values) if strata is None else strata.astype(int)

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        event, time = values[:, :2].T
        ties = getattr(estimator, "ties", "breslow")
        return event[:, None], CoxPartialLikelihood(time, event, weight, ties, strata_of(values))

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        event, time = values[:, :2].T
        own = [concordance(event, time, t, weight, strata_of(values)) for t in scores.T]
        return np.array(own), view.outputs * len(own)

    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        event, time = values[:, :2].T
        given = {"event": event, "time": time, "strata": strata_of(values), "weight": weight}
        return by_columns(X, partial(with_times, **given))

    def effect_kind(self, estimator: Any) -> str:
        return "hazard ratio"

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        """Fit Cox's model to the leading directions of Z, if there are many."""
        axes: Any = np.eye(Z.shape[1])
        if sp.issparse(Z) or Z.shape[1] > _DIRECTIONS:
            k = min(_DIRECTIONS, *(side - 1 for side in Z.shape))
            axes = TruncatedSVD(k, random_state=0).fit(Z).components_.T
        A, (event, time), strata = np.asarray(Z @ axes), values[:, :2].T, strata_of(values)
        count = min(_FOLDS, *np.bincount(event.astype(int), minlength=2))
        splitter = StratifiedKFold(count, shuffle=True, random_state=0) if count > 1 else KFold(2)
        folds = list(splitter.split(A, event)) if event.sum() > 1 else []

        def loss_at(rows: Any) -> Loss:
            own = None if strata is None else strata[rows]
            return CoxPartialLikelihood(time[rows], event[rows], weight[rows], strata=own)

        def fit(strength: float, rows: Any) -> Any:
            penalty, unit = np.full((1, A.shape[1]), 1 / strength), np.eye(A.shape[1])
            return ridge_activations(loss_at(rows), event[rows, None], A[rows], unit, penalty, weight[rows])[
                0
            ]

        def loss(coef: Any, rows: Any) -> float:
            return float(weight[rows] @ loss_at(rows).value(A[rows] @ coef, event[rows, None]))

        return axes @ tuned(self.strengths, folds, fit, loss)
