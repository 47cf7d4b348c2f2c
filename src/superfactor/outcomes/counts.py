"""Counts of events, cells or visits: one number per sample, or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from superfactor._words import counted
from superfactor.estimators import SMFRegressor, inputs
from superfactor.estimators.targets import (
    CheckedY,
    beyond_exposure,
    check_counts,
    deviance_explained,
    expected_counts,
    half_deviances,
)
from superfactor.losses import Loss, PoissonLoss
from superfactor.outcomes.base import FEWEST, Outcome, Steps
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.numbers import Numbers, shuffled_as_well
from superfactor.outcomes.pages import CountPage
from superfactor.outcomes.reading import Statistics, by_columns, with_numbers
from superfactor.outcomes.ridge import ridge_activations, tuned

# Folds that tune a ridge regression.
_FOLDS = 5


def _columns(truth: Any) -> Any:
    """Return counts (n, κ) from truth (n,), (n, κ), or (n, κ, 2) with exposures."""
    return truth[:, :, 0] if truth.ndim == 3 else truth.reshape(len(truth), -1)


def _exposures(truth: Any) -> Any:
    """Return exposures (n, 1); all 1 if the truth has none."""
    return truth[:, :1, 1] if truth.ndim == 3 else np.ones((len(truth), 1))


def _compared(truth: Any, weight: Any = None) -> Any:
    """Return what is correlated with features (n, κ): log(1 + count), or residuals given exposures."""
    if truth.ndim == 3:
        return beyond_exposure(_columns(truth), _exposures(truth), weight)
    return np.log1p(_columns(truth))


def _rate(truth: Any) -> Any:
    """Return the counts per unit of exposure (κ,)."""
    return _columns(truth).sum(axis=0) / _exposures(truth).sum()


def _d2(truth: Any, rows: Any) -> float:
    return deviance_explained(_columns(truth), rows, exposures=_exposures(truth))


def _mean_deviance(truth: Any, rows: Any) -> float:
    """Return the same as scikit-learn's ``mean_poisson_deviance``."""
    return float(2 * np.mean(half_deviances(_columns(truth), rows)))


def _mean_absolute_error(truth: Any, rows: Any) -> float:
    return float(np.mean(np.abs(_columns(truth) - rows)))


class Counts(Numbers):
    """Counts. Rows are expected counts (n, κ); the truth has the same shape, or (n,).

    With exposures the truth is (n, κ, 2): counts and their exposures. Permutations keep both together, and
    the guess is one rate for all samples.
    """

    name = "counts"
    estimator = SMFRegressor
    steps = Steps(
        xi={"filter": (0.1, 1.0), "feature": (0.1, 1.0, 10.0)},
        lam={"filter": (1e-4, 1e-3, 1e-2, 1e-1), "feature": (1e-3, 1e-2, 1e-1, 1.0)},
    )
    metrics = (
        Metric("d2", "deviance explained", _d2, low=float("-inf"), high=1.0),
        Metric("mean_deviance", "mean Poisson deviance", _mean_deviance, higher_is_better=False),
        replace(Numbers().metric("mean_absolute_error"), function=_mean_absolute_error),
    )
    page = CountPage()
    guess_name = "always the mean rate"
    guessing = "the mean rate"
    pca_name = "tuned PCA + Poisson regression"
    ridge_name = "ridge Poisson regression"
    pca_short = "PCA+Poi."
    baselines_words = "tuned Poisson regressions"

    def is_of(self, model: Any, y: Any) -> bool:
        return getattr(model, "loss", None) == "poisson"

    # --- y ------------------------------------------------------------------------------------------

    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        return check_counts(super().read(y, X, name, unlabeled))

    def out_of(self, truth: Any, exposures: Any) -> Any:
        if exposures is None:
            return truth
        counts = _columns(np.asarray(truth))
        return np.stack([counts, np.broadcast_to(exposures, counts.shape)], axis=2)

    def observed(self, truth: Any, model: Any, X: Any) -> Any:
        if isinstance(model, Pipeline) and model[-1].exposure_column is not None:
            model, X = model[-1], model[:-1].transform(X)
        return self.out_of(truth, inputs.exposures_in(X, getattr(model, "exposure_column", None)))

    def exposures(self, truth: Any) -> Any:
        return _exposures(truth) if truth.ndim == 3 else None

    def values(self, truth: Any) -> Any:
        if truth.ndim < 3:
            return truth
        counts = _columns(truth)
        return counts[:, 0] if counts.shape[1] == 1 else counts

    def informative(self, truth: Any) -> Any:
        """Return which samples have a count above 0 (m,)."""
        return _columns(truth).max(axis=1) > 0

    # --- search -------------------------------------------------------------------------------------

    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        truth = np.asarray(y)
        return deviance_explained(_columns(truth), predicted, sample_weight, _exposures(truth))

    def check_training(self, target: Any, k: int, train: Any) -> None:
        super().check_training(target, k, train)
        if not np.all(_columns(target.given.among(train).labelled).max(axis=0) > 0):
            raise ValueError(
                f"cv: all counts in the training part of split {k} are 0; fewer splits, or shuffled ones, "
                "are required"
            )

    # --- evaluation ---------------------------------------------------------------------------------

    def strata(self, truth: Any) -> Any:
        return super().strata(_columns(truth))

    def check_evaluable(self, model: Any) -> None:
        if isinstance(model, Pipeline) and model[-1].exposure_column is not None:
            raise TypeError(
                "search=Pipeline: with exposure_column, SMFRegressorCV(loss='poisson', exposure_column=…, "
                "preprocess=…) is required, which evaluates the same steps"
            )

    def guess(self, truth: Any, n: int, k: int) -> Any:
        return np.tile(_rate(truth), (n, 1))

    def guessed(self, truth: Any, others: Any, k: int) -> Any:
        return _exposures(others) * _rate(truth)

    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """Permute counts together with their exposures.

        Half the deviance is Σ (e·r − y·log r) plus a constant, with exposures e and predicted rates r.
        Without exposures, Σ e·r is the same for all permutations.
        """
        exposures, counts = _exposures(truth), _columns(truth)
        rates = np.maximum(rows / exposures, np.finfo(float).tiny)
        size = half_deviances(counts, exposures * _rate(truth)).sum(axis=0)
        both = np.hstack([counts, exposures * np.ones(counts.shape)]) / np.tile(
            np.where(size > 0, size, 1.0), 2
        )
        return shuffled_as_well(both, np.hstack([np.log(rates), -rates]))

    # --- baselines ----------------------------------------------------------------------------------

    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Sequence[Any]:
        """Fit rates in units of their mean, column by column, so that activation 0 is the best constant."""
        exposures = _exposures(truth)
        Y, weight = _columns(truth) / exposures, weight * exposures[:, 0] / exposures.mean()
        mean = np.maximum(_rate(truth), 0.5 / exposures.sum())
        loss = PoissonLoss()
        each = [
            ridge_activations(loss, Y[:, [c]] / mean[c], A, B, penalties, weight) for c in range(Y.shape[1])
        ]
        return [mean * expected_counts(np.hstack(columns)) for columns in zip(*each, strict=True)]

    def likelihood(self, truth: Any, rows: Any) -> float:
        return -float(np.mean(half_deviances(_columns(truth), rows)))

    # --- verdict ------------------------------------------------------------------------------------

    def caveats(self, names: Any, truth: Any, predicted: Any, units: str) -> list[str]:
        if self.enough(names, truth):
            return []
        some = int(np.count_nonzero(self.informative(truth)))
        return [
            f"Only {counted(some, units)} with a count above 0: too few for a claim, which needs {FEWEST}."
        ]

    # --- reading ------------------------------------------------------------------------------------

    alone_name = "correlation with log(1 + count)"
    beyond_name = "correlation with count beyond exposure"
    least_dispersion = 1.0  # counts may be overdispersed

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        return _columns(values), PoissonLoss()

    def likelihood_ratio(self, none: float, best: float, n: int) -> float:
        return Outcome.likelihood_ratio(self, none, best, n)

    def change_words(self, outputs: Sequence[str]) -> str:
        return "change of the logarithm of the expected count"

    def alone_called(self, values: Any) -> str:
        return self.alone_name if values.ndim < 3 else self.beyond_name

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        return super().alone(view, _compared(values, weight), scores, weight)

    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        """Return correlations with log(1 + count), or with residuals of the counts given exposures."""
        return by_columns(X, partial(with_numbers, Y=_compared(values, weight), weight=weight))

    def effect_kind(self, estimator: Any) -> str:
        return "rate ratio"

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        """Fit rates, weighted by exposure; column by column."""
        exposures = _exposures(values)
        rates, own = _columns(values) / exposures, weight * exposures[:, 0]
        folds = list(KFold(min(_FOLDS, len(values)), shuffle=True, random_state=0).split(values))

        def direction(rate: Any) -> Any:
            def fit(strength: float, rows: Any) -> Any:
                alpha = 1 / (strength * weight[rows].sum())
                return PoissonRegressor(alpha=alpha, max_iter=1000).fit(Z[rows], rate[rows], own[rows])

            def loss(model: Any, rows: Any) -> float:
                return float(own[rows] @ half_deviances(rate[rows], model.predict(Z[rows])))

            return tuned(strengths, folds, fit, loss).coef_

        return np.column_stack([direction(rate) for rate in rates.T])
