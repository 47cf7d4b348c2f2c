"""What a classifier answers: which one of several classes, or yes and no to several labels.

`LabelType` turns y into targets and a loss, and activations into scores, probabilities and predictions. All
that a classifier has to know of the difference is which of the two it holds.
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
    """y as a problem has it."""

    classes: Any  # (κ + 1,) classes, or the names of κ labels
    counts: Any  # samples of each class, or with each label, counted with their weights
    targets: Any  # class numbers (n,), or (n, κ) of 0, 1 and NaN
    loss: Loss
    factor: Any  # of the loss of each sample (n,), or None


class LabelType(ABC):
    """What differs between one label of several classes and several labels of two."""

    @abstractmethod
    def given(self, y: Any, X: Any, name: str, unlabeled: Any, classes: Any = None) -> CheckedY:
        """A user's y, checked; `classes` are those of a fitted model."""

    @abstractmethod
    def posed(self, given: CheckedY, weight: Any, link: Any, class_weight: Any, name: str) -> Posed:
        """y of samples with these weights (n,), or None, some of which have a label."""

    def by_output(self, coef: Array) -> Array:
        """Coefficients (κ, m) as those of the outputs of ``decision_function``."""
        return coef

    def by_activation(self, coef: Array) -> Array:
        """The same back."""
        return coef

    def symmetric(self, effect: Any) -> Any:
        """Effects (κ, m) on all outputs, none of which is the one that others are compared with."""
        return effect

    @abstractmethod
    def scores(self, coding: Coding, signal: Array, offset: Array, loss: Any, prediction: str) -> Array:
        """What all else is made of, from the activations of factors and covariates (n, κ)."""

    @abstractmethod
    def decisions(self, scores: Array) -> Array:
        """``decision_function``."""

    @abstractmethod
    def log_proba(self, scores: Array) -> Array:
        """Logarithms of the probabilities."""

    @abstractmethod
    def predicted(self, scores: Array, classes: Any) -> Any:
        """``predict``."""

    def judged(self, given: CheckedY) -> CheckedY:
        """Those samples whose predictions can be right or wrong."""
        return given

    def accuracy(self, given: CheckedY, predicted: Any, sample_weight: Any) -> float:
        """The share of right predictions."""
        judged = self.judged(given)
        own = (judged.of_labelled(inputs.as_numpy(x)) for x in (given.values, predicted, sample_weight))
        true, said, weight = own
        return float(accuracy_score(true, said, sample_weight=weight))


class Multiclass(LabelType):
    """One label of two classes or more. Scores are logarithms of unnormalised probabilities (n, κ + 1)."""

    def given(self, y: Any, X: Any, name: str, unlabeled: Any, classes: Any = None) -> CheckedY:
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

    # Of several classes the first has the activation 0.

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

    def given(self, y: Any, X: Any, name: str, unlabeled: Any, classes: Any = None) -> CheckedY:
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

    def judged(self, given: CheckedY) -> CheckedY:
        """Those of which every label is known."""
        known = ~np.isnan(given.values).any(axis=1)
        if not known.any():
            raise ValueError(
                "y: no sample has all of its labels, and score counts samples of which all are right; "
                "metrics of each label by itself need no such sample"
            )
        return CheckedY(given.values, known, given.names)


_CLASSES, _FLAGS = Multiclass(), Multilabel()


def label_type_of(y: Any) -> LabelType:
    """Those that a user's y asks for: several columns are several labels."""
    return _FLAGS if has_several_columns(y) else _CLASSES


def label_type_for_loss(loss: Any) -> LabelType:
    """Those of a classifier that was fitted with this loss."""
    return _FLAGS if isinstance(loss, FlagsLoss) else _CLASSES
