"""Label types of a classifier: one label of several classes, or several yes/no labels.

`LabelType` converts y to targets and a loss, and activations to scores, probabilities and predictions. The
classifier uses it and does not distinguish the two types itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score

from superfactor._arrays import Array, device, namespace
from superfactor.estimators import inputs
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import UNLABELLED, CheckedY
from superfactor.estimators.targets.flags import (
    check_both_values,
    check_flags,
    flags_in_order,
    has_several_columns,
)
from superfactor.estimators.targets.labels import check_class_weight, check_labels, classes_of
from superfactor.losses import FlagsLoss, Loss, resolve_link
from superfactor.models import Coding


class Posed(NamedTuple):
    """y in the form that a problem requires."""

    classes: Any  # (κ + 1,) classes, or the names of κ labels
    counts: Any  # sum of weights of the samples of each class, or with each label
    targets: Any  # class numbers (n,), or (n, κ) of 0, 1 and NaN
    loss: Loss
    factor: Any  # factor of the loss of each sample (n,), or None


class LabelType(ABC):
    """Methods that differ between one label of several classes and several yes/no labels."""

    @abstractmethod
    def check(self, y: Any, X: Any, name: str, unlabeled: Any, classes: Any = None) -> CheckedY:
        """Check a user's y; `classes` are those of a fitted model."""

    @abstractmethod
    def posed(self, given: CheckedY, weight: Any, link: Any, class_weight: Any, name: str) -> Posed:
        """Return targets and loss of samples with weights (n,) or None; at least one has a label."""

    def by_output(self, coef: Array) -> Array:
        """Convert coefficients (κ, m) to those of the outputs of ``decision_function``."""
        return coef

    def by_activation(self, coef: Array) -> Array:
        """Invert `by_output`."""
        return coef

    def symmetric(self, effect: Any) -> Any:
        """Convert effects (κ, m) to all outputs, without a reference class."""
        return effect

    @abstractmethod
    def scores(self, coding: Coding, signal: Array, offset: Array, loss: Any, prediction: str) -> Array:
        """Return scores from the activations of factors and covariates (n, κ)."""

    @abstractmethod
    def decisions(self, scores: Array) -> Array:
        """Return ``decision_function`` from scores."""

    @abstractmethod
    def log_proba(self, scores: Array) -> Array:
        """Return log-probabilities from scores."""

    @abstractmethod
    def predicted(self, scores: Array, classes: Any) -> Any:
        """Return ``predict`` from scores."""

    def scorable(self, given: CheckedY) -> CheckedY:
        """Return the samples whose predictions can be scored."""
        return given

    def accuracy(self, given: CheckedY, predicted: Any, sample_weight: Any) -> float:
        """Return the share of right predictions."""
        scorable = self.scorable(given)
        own = (scorable.of_labelled(inputs.as_numpy(x)) for x in (given.values, predicted, sample_weight))
        true, found, weight = own
        return float(accuracy_score(true, found, sample_weight=weight))


class Multiclass(LabelType):
    """One label of two classes or more. Scores are logarithms of unnormalised probabilities (n, κ + 1)."""

    def check(self, y: Any, X: Any, name: str, unlabeled: Any, classes: Any = None) -> CheckedY:
        return check_labels(y, X, name, unlabeled)

    def posed(self, given: CheckedY, weight: Any, link: Any, class_weight: Any, name: str) -> Posed:
        weight = given.of_labelled(weight)
        classes, codes = classes_of(given.labelled)
        if len(classes) < 2:
            raise ValueError(
                f"y: {name} needs samples of at least 2 classes in the data, but "
                f"the data (with positive weight) contains one class only: {shown(classes[0])}"
            )
        loss = resolve_link(link, len(classes) - 1)
        factor = check_class_weight(class_weight, classes, codes, weight)
        counts = np.bincount(codes, weights=weight, minlength=len(classes))
        factor = given.loss_factor if factor is None else given.spread(factor, 0.0)
        return Posed(classes, counts, given.spread(codes, UNLABELLED), loss, factor)

    # The first class has the activation 0.

    def by_output(self, coef: Array) -> Array:
        if coef.shape[0] == 1:
            return coef
        xp = namespace(coef)
        return xp.concat([xp.zeros_like(coef[:1, :]), coef], axis=0)

    def by_activation(self, coef: Array) -> Array:
        return coef if coef.shape[0] == 1 else coef[1:, ...]

    def symmetric(self, effect: Any) -> Any:
        every = self.by_output(effect)
        return every if len(every) == 1 else every - every.mean(axis=0)

    def scores(self, coding: Coding, signal: Array, offset: Array, loss: Any, prediction: str) -> Array:
        return coding.scores(signal, offset, loss, prediction)

    def decisions(self, scores: Array) -> Array:
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def log_proba(self, scores: Array) -> Array:
        xp = namespace(scores)
        scores = scores - xp.max(scores, axis=1, keepdims=True)
        return scores - xp.log(xp.sum(xp.exp(scores), axis=1, keepdims=True))

    def predicted(self, scores: Array, classes: Any) -> Any:
        xp = namespace(scores)
        index = xp.argmax(scores, axis=1)
        if inputs.is_foreign(scores) and classes.dtype.kind in "biuf":
            return xp.take(xp.asarray(classes, device=device(scores)), index)
        return classes[inputs.as_numpy(index)]


class Multilabel(LabelType):
    """Several yes/no labels. Scores are their log-odds (n, κ)."""

    def check(self, y: Any, X: Any, name: str, unlabeled: Any, classes: Any = None) -> CheckedY:
        found = check_flags(y, X, name, unlabeled)
        return found if classes is None else flags_in_order(found, classes)

    def posed(self, given: CheckedY, weight: Any, link: Any, class_weight: Any, name: str) -> Posed:
        if link != "logistic":
            raise ValueError(f"link={shown(link)}: several yes/no labels take 'logistic' only")
        if class_weight is not None:
            raise ValueError(f"class_weight={shown(class_weight)}: several yes/no labels take None only")
        values = given.labelled
        check_both_values(values, given.names)
        weight = np.ones(len(values)) if weight is None else given.of_labelled(weight)
        counts = weight @ np.nan_to_num(values)
        return Posed(given.names, counts, given.values, FlagsLoss(), given.loss_factor)

    def scores(self, coding: Coding, signal: Array, offset: Array, loss: Any, prediction: str) -> Array:
        return coding.log_odds(signal, offset, prediction)

    def decisions(self, scores: Array) -> Array:
        return scores

    def log_proba(self, scores: Array) -> Array:
        xp = namespace(scores)
        return xp.minimum(scores, xp.zeros_like(scores)) - xp.log1p(xp.exp(-xp.abs(scores)))

    def predicted(self, scores: Array, classes: Any) -> Any:
        xp = namespace(scores)
        return xp.astype(scores > 0, xp.int64)

    def scorable(self, given: CheckedY) -> CheckedY:
        """Return the samples with all labels known."""
        known = ~np.isnan(given.values).any(axis=1)
        if not known.any():
            raise ValueError(
                "y: no sample has all of its labels, which score requires; metrics of single labels do not "
                "require such samples"
            )
        return CheckedY(given.values, known, given.names)


_CLASSES, _FLAGS = Multiclass(), Multilabel()


def label_type_of(y: Any) -> LabelType:
    """Return the label type of a user's y: several columns are several labels."""
    return _FLAGS if has_several_columns(y) else _CLASSES


def label_type_for_loss(loss: Any) -> LabelType:
    """Return the label type of a classifier that was fitted with this loss."""
    return _FLAGS if isinstance(loss, FlagsLoss) else _CLASSES
