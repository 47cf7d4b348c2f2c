"""Parts of `SMFMixed`: targets, loss, predictions and metric of each outcome."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import accuracy_score, d2_tweedie_score, r2_score

from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import CheckedY, check_passed
from superfactor.estimators.targets.events import survival_y
from superfactor.estimators.targets.labels import check_labels, classes_of
from superfactor.estimators.targets.numbers import check_real_targets
from superfactor.estimators.targets.times import (
    check_survival,
    check_tells_something,
    concordance,
    is_comparable,
)
from superfactor.losses import Anchored, CoxPartialLikelihood, Loss, PoissonLoss, SquaredError, resolve_link

Key = Hashable


@dataclass(frozen=True)
class MixedPart(ABC):
    """One of the outcomes, with what was learned from the training samples.

    Attributes
    ----------
    key : column of y, or tuple of columns
    """

    key: Key
    #: Names of the kind for users, and the metric of `score`.
    kinds: ClassVar[tuple[str, ...]]
    figure: ClassVar[str]
    #: Whether the loss is used unscaled; otherwise it is divided by its value without a model.
    as_it_is: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Return the key as text."""
        return ", ".join(map(str, self.key)) if isinstance(self.key, tuple) else str(self.key)

    @classmethod
    @abstractmethod
    def read(cls, key: Key, column: Any, X: Any) -> CheckedY:
        """Check its column(s) of y, which must be as long as X."""

    @classmethod
    @abstractmethod
    def learned(cls, key: Key, given: CheckedY, weight: Any) -> MixedPart:
        """Return the part learned from training samples with weights (n,)."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """Return names of its activations."""

    @abstractmethod
    def targets(self, given: CheckedY) -> Any:
        """Return targets (n, κ_k) in units in which the null model has activation 0; NaN if not known."""

    @abstractmethod
    def loss(self, given: CheckedY, weight: Any) -> Loss:
        """Return the loss of samples with weights (n,)."""

    @abstractmethod
    def predicted(self, a: Any) -> Any:
        """Return labels, values, expected counts or risks (n,) from activations (n, κ_k)."""

    @abstractmethod
    def measure(self, values: Any, a: Any, weight: Any) -> float:
        """Return the metric `figure` of samples that have this outcome."""


@dataclass(frozen=True)
class ClassesPart(MixedPart):
    """Labels: multinomial logistic regression relative to the first class."""

    classes: Any = None
    kinds = ("classes",)
    figure = "accuracy"

    @classmethod
    def read(cls, key: Key, column: Any, X: Any) -> CheckedY:
        return check_labels(column, X, "SMFMixed")

    @classmethod
    def learned(cls, key: Key, given: CheckedY, weight: Any) -> ClassesPart:
        classes, _ = classes_of(given.labelled)
        if len(classes) < 2:
            raise ValueError(
                f"y[{shown(key)}]: two classes are required, and all samples are of {shown(classes[0])}"
            )
        return cls(key, classes)

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={c}" for c in self.classes[1:])

    def targets(self, given: CheckedY) -> Any:
        one_hot = (given.labelled[:, None] == self.classes[1:]).astype(float)
        return given.spread(one_hot, np.nan)

    def loss(self, given: CheckedY, weight: Any) -> Loss:
        return resolve_link("logistic", len(self.classes) - 1)

    def predicted(self, a: Any) -> Any:
        return self.classes[np.concatenate([0 * a[:, :1], a], axis=1).argmax(axis=1)]

    def probabilities(self, a: Any) -> Any:
        """Return class probabilities (n, c)."""
        scores = np.concatenate([0 * a[:, :1], a], axis=1)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def measure(self, values: Any, a: Any, weight: Any) -> float:
        return float(accuracy_score(values, self.predicted(a), sample_weight=weight))


@dataclass(frozen=True)
class NumberPart(MixedPart):
    """A measurement, fitted with mean 0 and standard deviation 1."""

    mean: float = 0.0
    size: float = 1.0
    kinds = ("number", "numbers")
    figure = "R²"

    @classmethod
    def read(cls, key: Key, column: Any, X: Any) -> CheckedY:
        given = check_real_targets(column, X, "SMFMixed", called=f"y[{shown(key)}]")
        if given.values.ndim != 1:
            raise ValueError(f"y[{shown(key)}]: one column is required, got {given.values.shape[1]}")
        return given

    @classmethod
    def learned(cls, key: Key, given: CheckedY, weight: Any) -> NumberPart:
        y, w = given.labelled, given.of_labelled(weight)
        mean = float(np.average(y, weights=w))
        size = math.sqrt(float(np.average((y - mean) ** 2, weights=w)))
        if not size > 1e-12 * abs(mean):
            raise ValueError(f"y[{shown(key)}]: numbers that differ are required, and all are the same")
        return cls(key, mean, size)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.name,)

    def targets(self, given: CheckedY) -> Any:
        return given.spread((given.labelled[:, None] - self.mean) / self.size, np.nan)

    def loss(self, given: CheckedY, weight: Any) -> Loss:
        return SquaredError()

    def predicted(self, a: Any) -> Any:
        return self.mean + self.size * a[:, 0]

    def measure(self, values: Any, a: Any, weight: Any) -> float:
        return float(r2_score(values, self.predicted(a), sample_weight=weight))


@dataclass(frozen=True)
class CountPart(NumberPart):
    """A count, fitted as a multiple of its mean; the activation is the logarithm of this multiple."""

    kinds = ("counts", "count")
    figure = "deviance explained"

    @classmethod
    def learned(cls, key: Key, given: CheckedY, weight: Any) -> CountPart:
        y = given.labelled
        if np.any(y < 0) or not np.any(y > 0):
            raise ValueError(f"y[{shown(key)}]: counts >= 0, some of them above 0, are required")
        return cls(key, float(np.average(y, weights=given.of_labelled(weight))))

    def targets(self, given: CheckedY) -> Any:
        return given.spread(given.labelled[:, None] / self.mean, np.nan)

    def loss(self, given: CheckedY, weight: Any) -> Loss:
        return PoissonLoss()

    def predicted(self, a: Any) -> Any:
        return self.mean * np.exp(np.minimum(a[:, 0], 700.0))

    def measure(self, values: Any, a: Any, weight: Any) -> float:
        predicted = np.maximum(self.predicted(a), 1e-300)
        return float(d2_tweedie_score(values, predicted, sample_weight=weight, power=1))


@dataclass(frozen=True)
class TimesPart(MixedPart):
    """Survival times: Cox's partial likelihood with Breslow's ties."""

    kinds = ("times",)
    figure = "concordance"
    # An event among n samples at risk costs log(n), most of which no model explains. Scaled by this loss,
    # times would have almost no weight.
    as_it_is = True

    @classmethod
    def read(cls, key: Key, column: Any, X: Any) -> CheckedY:
        return check_survival(column, X, "SMFMixed")

    @classmethod
    def learned(cls, key: Key, given: CheckedY, weight: Any) -> TimesPart:
        check_tells_something(given, weight if given.known is None else weight * given.known)
        return cls(key)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (f"risk ({self.name})",)

    def targets(self, given: CheckedY) -> Any:
        return given.spread(given.labelled[:, :1], np.nan)

    def loss(self, given: CheckedY, weight: Any) -> Loss:
        event, time = given.values[:, 0], given.values[:, 1]
        counted = weight if given.known is None else weight * given.known
        return Anchored(CoxPartialLikelihood(time, event, counted), counted)

    def predicted(self, a: Any) -> Any:
        return a[:, 0]

    def measure(self, values: Any, a: Any, weight: Any) -> float:
        if not is_comparable(values if weight is None else values[weight > 0]):
            return math.nan
        return concordance(values[:, 0], values[:, 1], a[:, 0], weight)


PARTS: tuple[type[MixedPart], ...] = (ClassesPart, NumberPart, CountPart, TimesPart)


def part_types(outcomes: Any) -> dict[Key, type[MixedPart]]:
    """Return the kind of each outcome; raise a ValueError for unknown kinds."""
    if not isinstance(outcomes, Mapping) or not outcomes:
        raise ValueError(
            f"outcomes={shown(outcomes)}: a dict from columns of y to kinds is required, as in "
            '{"subtype": "classes", "grade": "number", ("time", "event"): "times"}'
        )
    found = {}
    for key, kind in outcomes.items():
        fitting = [part for part in PARTS if kind in part.kinds]
        if not fitting:
            known = ", ".join(repr(name) for part in PARTS for name in part.kinds[:1])
            raise ValueError(f"outcomes[{shown(key)}]={shown(kind)}: one of {known} is required")
        two = isinstance(key, tuple)
        if two != (fitting[0] is TimesPart) or (two and len(key) != 2):
            raise ValueError(
                f"outcomes[{shown(key)}]={shown(kind)}: one column is required, or two for times: "
                '("time", "event")'
            )
        found[key] = fitting[0]
    return found


def columns_of(y: Any, keys: Sequence[Key]) -> dict[Key, Any]:
    """Return the columns of y, a DataFrame or mapping from names to arrays, by key; times as one table."""
    y = y if isinstance(y, Mapping) else check_passed(y, "SMFMixed") if not hasattr(y, "columns") else y
    names = list(y) if isinstance(y, Mapping) else list(getattr(y, "columns", []))
    wanted = [name for key in keys for name in (key if isinstance(key, tuple) else (key,))]
    absent = [name for name in wanted if name not in names]
    if absent:
        have = f"its columns are {shown(names)}" if names else "a DataFrame or a dict of columns is required"
        raise ValueError(f"y: no column {shown(absent[0])}; {have}")
    return {key: y[key] if not isinstance(key, tuple) else _event_and_time(y, key) for key in keys}


def _event_and_time(y: Any, key: tuple[Any, ...]) -> Any:
    """Return two columns in any order as scikit-survival's structured array; notes become warnings."""
    time, event = (y[name] for name in key)
    found, notes = survival_y(event, time)
    for note in notes:
        warnings.warn(f"y[{shown(key)}]: {note}", UserWarning, stacklevel=2)
    return found
