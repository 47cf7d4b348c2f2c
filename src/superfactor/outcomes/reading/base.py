"""Methods of a kind of y for tables of factors and for plots, with defaults for several kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.targets import CheckedY
from superfactor.losses import Loss
from superfactor.outcomes.reading.shown import ShownOutputs, ShownSamples
from superfactor.outcomes.reading.univariate import Statistics


class Reading(ABC):
    """How factors and features are related to the outcome, and how this is described."""

    #: Column of feature tables that names the output of a row; None if there is only one output.
    output_column: ClassVar[str | None] = "target"
    #: Name of the measure that `alone` returns.
    alone_name: ClassVar[str]
    #: Smallest dispersion φ. φ is estimated, and standard errors grow with √φ. None if the likelihood of the
    #: kind has no dispersion.
    least_dispersion: ClassVar[float | None] = None

    # --- what is shown --------------------------------------------------------------------------------

    def class_names(self, estimator: Any) -> tuple[str, ...] | None:
        """Return the classes of a fitted estimator; None if it has none."""
        return None

    def shown_outputs(self, estimator: Any, positive: Any = None) -> ShownOutputs:
        """Return which outputs of a fitted estimator are shown.

        `positive` is the class or label whose coefficients are made positive, or None.
        """
        name, kappa = estimator._predicted, len(estimator.factor_coef_)
        outputs = (name,) if kappa == 1 else tuple(f"{name}{k}" for k in range(kappa))
        given = tuple(estimator._names.get("targets", ()))
        if len(given) == kappa:
            outputs = given
        return ShownOutputs(None, outputs).towards(positive)

    def shown_samples(self, y: Any, classes: Any, outputs: Sequence[str]) -> ShownSamples:
        """Return a user's y in the form that plots of a model with these classes or outputs show."""
        return ShownSamples(one_column(y).astype(float), name=outputs[0])

    def is_own(self, estimator: Any, given: CheckedY) -> bool:
        """Return whether the estimator may have been fitted to this y; a plot may show another one."""
        return True

    def direction(self, coef: Any, outputs: Sequence[str]) -> str:
        """Describe what high values of a factor with these coefficients (outputs,) predict."""
        leading = int(np.argmax(np.abs(coef)))
        if not coef[leading]:
            return "no effect"
        return f"higher → {'larger' if coef[leading] > 0 else 'smaller'} {outputs[leading]}"

    def change_words(self, outputs: Sequence[str]) -> str:
        """Describe what a coefficient changes."""
        return "change of the prediction"

    @abstractmethod
    def not_predicted(self, outputs: Sequence[str]) -> str:
        """Return the end of the sentence "it is not shown that the model predicts …"."""

    # --- parts of the samples -------------------------------------------------------------------------

    def resample_strata(self, values: Any) -> Any:
        """Return strata as integers (m,): every resample has an equal share of each."""
        return np.zeros(len(values), dtype=int)

    def half_strata(self, values: Any) -> Any:
        """Return strata as integers (m,): both halves of a split need samples of each."""
        return self.resample_strata(values)

    def stratum_named(self, classes: Any, code: int) -> str:
        """Return the name of such a stratum in messages."""
        return "the outcome"

    def exchangeable(self, values: Any) -> Any:
        """Return blocks as integers (m,): shuffled values stay within their block."""
        return np.zeros(len(values), dtype=int)

    # --- the loss -------------------------------------------------------------------------------------

    @abstractmethod
    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        """Return targets (n, κ) of samples with these values, and the loss of a fitted estimator on them."""

    def class_weights(self, estimator: Any, values: Any, weight: Any) -> Any:
        """Return the factors (n,) by which the estimator multiplies the loss of each sample."""
        return np.ones(len(values))

    def deviance(self, estimator: Any, values: Any, weight: Any) -> Callable[[Any], float]:
        """Return the weighted loss as a function of ``decision_function`` or ``predict`` (n, c)."""
        targets, loss = self.loss_of(estimator, values, weight)
        return lambda a: float(weight @ loss.value(a, targets))

    def likelihood_ratio(self, none: float, best: float, n: int) -> float:
        """Return twice the log-likelihood ratio of n samples, given their losses `none` and `best`."""
        return 2 * (none - best)

    def with_all_outputs(self, a: Any, known: Any, estimator: Any, missing: float) -> Any:
        """Return activations (…, c) of the refit `known`, with `missing` for outputs that it lacks."""
        return a

    # --- how things go with the outcome ---------------------------------------------------------------

    @abstractmethod
    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        """Return the association of each factor alone with the outcome (r,), and the output it refers to.

        `scores` (n, r) are those of the factors.
        """

    def alone_called(self, values: Any) -> str:
        """Return the name of the measure of `alone` for these values."""
        return self.alone_name

    @abstractmethod
    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        """Return the association of each feature of X (n, p) alone: name → array (outputs, p).

        `weight` (n,) > 0 are sample weights, or None.
        """

    @abstractmethod
    def effect_kind(self, estimator: Any) -> str:
        """Return the name of a covariate's effect; a ratio is the exponential of the coefficient."""

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        """Return weights (m, c) of a tuned ridge regression on Z (n, m); None if the kind has none.

        `weight` (n,) > 0 are the weights of the samples in the loss.
        """
        return None


def one_column(y: Any) -> Any:
    """Return y as a NumPy array; a single column (n, 1) becomes (n,)."""
    y = np.asarray(as_numpy(y))
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def of_leading(effect: Any, table: Any, size: Any, names: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Return one value per factor from a table (outputs, r), and its output.

    The output is the one with the largest `effect` (outputs, r) of the factor. If the factor has no effect,
    it is the one with the largest `size` (outputs, r).
    """
    leading = np.where(effect.any(axis=0), effect.argmax(axis=0), size.argmax(axis=0))
    return table[leading, np.arange(len(leading))], tuple(names[k] for k in leading)
