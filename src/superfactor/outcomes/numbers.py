"""Measurements: one number per sample, or several."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from superfactor.estimators import SMFRegressor, targets
from superfactor.estimators.targets import CheckedY
from superfactor.losses import Loss, SquaredError
from superfactor.outcomes.base import Outcome, Steps, Target
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.pages import NumberPage, Page
from superfactor.outcomes.reading import Statistics, by_columns, of_leading, with_numbers
from superfactor.outcomes.ridge import ridge_activations

# Number of quantile groups that stratify folds; fewer if there are few samples.
_PARTS = 5
# Permutations of the test against chance, and the most numbers that they may read in total.
_DRAWS, _MOST_NUMBERS = 9999, 20_000_000


def _r2(truth: Any, rows: Any) -> float:
    """Return R², averaged over the targets; NaN for a single sample."""
    return float(r2_score(_columns(truth), rows)) if len(truth) > 1 else float("nan")


def _mean_absolute_error(truth: Any, rows: Any) -> float:
    return float(np.mean(np.abs(_columns(truth) - rows)))


class Numbers(Outcome):
    """Measurements. Rows are predicted values (n, κ); the truth has the same shape, or (n,)."""

    name = "numbers"
    estimator: ClassVar[type[Any]] = SMFRegressor
    # λ of the filter model is estimated from the data; the grid has 0.1 to 10 times this value.
    steps = Steps(
        xi={"filter": (0.1, 1.0), "feature": (1.0, 10.0, 100.0)},
        lam={"filter": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2), "feature": (1e-2, 1e-1, 1.0)},
    )
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("r2", "R²", _r2, low=float("-inf"), high=1.0),
        Metric("mean_absolute_error", "mean absolute error", _mean_absolute_error, higher_is_better=False),
    )
    guess_name = "always the mean"
    guessing = "the mean"
    pca_name = "tuned PCA + regression"
    ridge_name = "ridge regression"
    pca_short = "PCA+reg."
    baselines_words = "tuned regressions"
    strengths = (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    few_strengths = (1e-3, 0.1, 10.0, 1000.0)
    page: ClassVar[Page | None] = NumberPage()
    fewest_test_samples = 2
    fewest_units = 6

    # --- y ------------------------------------------------------------------------------------------

    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        return targets.check_real_targets(y, X, name, unlabeled)

    def coded(self, given: CheckedY) -> tuple[Any, Any]:
        truth = given.labelled
        if given.names is not None:
            return np.array(given.names), truth
        k = 1 if truth.ndim == 1 else truth.shape[1]
        return np.array(["y"] if k == 1 else [f"y{j}" for j in range(k)]), truth

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        found = super().target(y, X, name, unlabeled)
        if len(found.truth) > 1 and np.all(_columns(found.truth) == _columns(found.truth)[0]):
            raise ValueError(f"y: {name} needs numbers that differ, but all of them are the same")
        return found

    # --- search -------------------------------------------------------------------------------------

    def n_outputs(self, target: Target) -> int:
        return len(target.names)

    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    # --- folds --------------------------------------------------------------------------------------

    def strata(self, truth: Any) -> Any:
        """Return the quantile group of each sample (m,); several targets are ordered by their mean rank."""
        rank = rankdata(rankdata(_columns(truth), axis=0).mean(axis=1), method="ordinal") - 1
        parts = max(1, min(_PARTS, len(truth) // _PARTS))
        return (rank * parts // len(truth)).astype(int)

    def sizes(self, truth: Any, groups: Any) -> list[int]:
        return [len(truth) if groups is None else len(np.unique(groups))]

    def stratum(self, target: Target, k: int) -> str:
        return "the outcome"

    def scarce(self, target: Target, k: int, what: str) -> str:
        return f"too few {what}"

    # --- evaluation ---------------------------------------------------------------------------------

    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        return _columns(np.asarray(model.predict(X, **beside)))

    def guess(self, truth: Any, n: int, k: int) -> Any:
        return np.tile(_columns(truth).mean(axis=0), (n, 1))

    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """Permute the values. For permutations, R² depends only on Σ y·ŷ/Σ(y − ȳ)², and increases with it."""
        y = _columns(truth) - _columns(truth).mean(axis=0)
        size = (y**2).sum(axis=0)
        return shuffled_as_well(y / np.where(size > 0, size, 1.0), rows)

    # --- baselines ----------------------------------------------------------------------------------

    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Sequence[Any]:
        Y = _columns(truth)
        size = Y.std(axis=0)
        size = np.where(size > 0, size, 1.0)
        mean = Y.mean(axis=0)
        found = ridge_activations(SquaredError(), (Y - mean) / size, A, B, penalties, weight)
        return [mean + rows * size for rows in found]

    def likelihood(self, truth: Any, rows: Any) -> float:
        Y = _columns(truth)
        return -float(np.mean(((Y - rows) / np.maximum(Y.std(axis=0), 1e-300)) ** 2))

    # --- reading ------------------------------------------------------------------------------------

    alone_name = "correlation"
    least_dispersion = 0.0

    def is_own(self, estimator: Any, given: CheckedY) -> bool:
        return bool(given.values[0].size == len(estimator.factor_coef_))

    def not_predicted(self, outputs: Sequence[str]) -> str:
        return " and ".join(outputs)

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        return _columns(values), SquaredError()

    def likelihood_ratio(self, none: float, best: float, n: int) -> float:
        """Return the likelihood ratio with estimated variance."""
        return n * math.log(none / max(best, sys.float_info.min))

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        table = np.array([[correlation(v, t, weight) for t in scores.T] for v in _columns(values).T])
        return of_leading(np.abs(view.coef), table, np.abs(table), view.outputs)

    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        return by_columns(X, partial(with_numbers, Y=_columns(values), weight=weight))

    def effect_kind(self, estimator: Any) -> str:
        return "slope"

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        alphas = [weight.sum() / strength for strength in strengths]
        return np.atleast_2d(RidgeCV(alphas).fit(Z, values, weight).coef_).T


def shuffled_as_well(y: Any, rows: Any) -> float:
    """Return the permutation p-value of Σ y·rows, both (n, κ); samples of y are permuted."""
    rng, reached = np.random.default_rng(0), 0
    draws = int(min(_DRAWS, max(99, _MOST_NUMBERS // y.size)))
    own = np.sum(y * rows)
    for _ in range(draws):
        reached += bool(np.sum(rng.permutation(y) * rows) >= own - 1e-12)
    return (1 + reached) / (1 + draws)


def correlation(a: Any, b: Any, weight: Any) -> float:
    """Return the weighted correlation of a and b (n,); 0 if one of them is constant."""
    centred = [x - np.average(x, weights=weight) for x in (a, b)]
    size = np.sqrt(np.prod([weight @ x**2 for x in centred]))
    return float(weight @ (centred[0] * centred[1]) / size) if size > 0 else 0.0


def _columns(y: Any) -> Any:
    """Return y (n, κ) or (n,) as (n, κ)."""
    return y.reshape(len(y), -1)
