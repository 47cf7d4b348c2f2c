"""What tables of factors and pictures ask of a kind of y; answers that hold for several kinds stand here."""

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
    """Factors and features beside the outcome: what is shown, in which words, and how both go together."""

    #: The column of tables of features that says of which output a row is; None where there is one only.
    output_column: ClassVar[str | None] = "target"
    #: What `alone` gives.
    alone_name: ClassVar[str]
    #: The least dispersion φ of the outcome, which is then estimated: standard errors grow with √φ. None
    #: where the loss is minus a log-likelihood without such a number.
    least_dispersion: ClassVar[float | None] = None

    # --- what is shown --------------------------------------------------------------------------------

    def class_names(self, estimator: Any) -> tuple[str, ...] | None:
        """The classes of a fitted estimator; None where it has none."""
        return None

    def shown_outputs(self, estimator: Any, positive: Any = None) -> ShownOutputs:
        """Which outputs of a fitted estimator are shown; `positive` is the class that is up, or None."""
        name, kappa = estimator._predicted, len(estimator.factor_coef_)
        outputs = (name,) if kappa == 1 else tuple(f"{name}{k}" for k in range(kappa))
        given = tuple(estimator._names.get("targets", ()))
        if len(given) == kappa:
            outputs = given
        return ShownOutputs(None, outputs).towards(positive)

    def shown_samples(self, y: Any, classes: Any, outputs: Sequence[str]) -> ShownSamples:
        """A user's y of any samples, for a picture of a model of these classes or outputs."""
        return ShownSamples(one_column(y).astype(float), name=outputs[0])

    def is_own(self, estimator: Any, given: CheckedY) -> bool:
        """Whether y can be what the estimator was fitted to: a picture may show something else."""
        return True

    def direction(self, coef: Any, outputs: Sequence[str]) -> str:
        """What goes with high values of a factor that has these coefficients (outputs,), in words."""
        leading = int(np.argmax(np.abs(coef)))
        if not coef[leading]:
            return "no effect"
        return f"higher → {'larger' if coef[leading] > 0 else 'smaller'} {outputs[leading]}"

    def change_words(self, outputs: Sequence[str]) -> str:
        """What a coefficient is a change of."""
        return "change of the prediction"

    @abstractmethod
    def not_predicted(self, outputs: Sequence[str]) -> str:
        """What a model is not shown to predict, as a sentence ends, and what follows for a picture."""

    # --- parts of the samples -------------------------------------------------------------------------

    def resample_strata(self, values: Any) -> Any:
        """Integers (m,): every resample has an equal share of each."""
        return np.zeros(len(values), dtype=int)

    def half_strata(self, values: Any) -> Any:
        """Integers (m,): both of two halves need some of each."""
        return self.resample_strata(values)

    def stratum_named(self, classes: Any, code: int) -> str:
        """Such a stratum in a message."""
        return "the outcome"

    # --- the loss -------------------------------------------------------------------------------------

    @abstractmethod
    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        """Targets (n, κ) of samples with these values, and the loss of a fitted estimator on them."""

    def class_weights(self, estimator: Any, values: Any, weight: Any) -> Any:
        """Factors (n,) that the estimator puts on the loss of each sample."""
        return np.ones(len(values))

    def deviance(self, estimator: Any, values: Any, weight: Any) -> Callable[[Any], float]:
        """The weighted loss of such samples as a function of ``decision_function`` or ``predict`` (n, c)."""
        targets, loss = self.loss_of(estimator, values, weight)
        return lambda a: float(weight @ loss.value(a, targets))

    def likelihood_ratio(self, none: float, best: float, n: int) -> float:
        """Twice the logarithm of a ratio of likelihoods of n samples, given two of their deviances."""
        return 2 * (none - best)

    def with_all_outputs(self, a: Any, known: Any, estimator: Any, missing: float) -> Any:
        """Activations (…, c) of the refit `known`, with `missing` for outputs that it does not have."""
        return a

    # --- how things go with the outcome ---------------------------------------------------------------

    @abstractmethod
    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        """How the scores (n, r) of each factor go with the outcome (r,), and of which output that is."""

    def alone_called(self, values: Any) -> str:
        """What `alone` says of such values, in words."""
        return self.alone_name

    @abstractmethod
    def univariate(self, estimator: Any, outputs: Sequence[str], X: Any, values: Any) -> Statistics:
        """How each feature of X (n, p) goes with the outcome by itself: arrays (outputs, p) by name."""

    @abstractmethod
    def effect_kind(self, estimator: Any) -> str:
        """What the coefficient of a covariate is: a ratio is its exponential."""

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float]) -> Any:
        """Weights (m, c) of ridge regression on Z (n, m), tuned; None where there is none."""
        return None


def one_column(y: Any) -> Any:
    """y as NumPy; a single column (n, 1) as (n,)."""
    y = np.asarray(as_numpy(y))
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def of_leading(effect: Any, table: Any, size: Any, names: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """A figure of each factor out of a table (outputs, r), and its output.

    A factor speaks for the output that it raises or moves most, by `effect` (outputs, r); one that moves none
    for that with which it goes most, by `size` (outputs, r).
    """
    leading = np.where(effect.any(axis=0), effect.argmax(axis=0), size.argmax(axis=0))
    return table[leading, np.arange(len(leading))], tuple(names[k] for k in leading)
