"""What y is to a search: classes or real targets. All that differs between them is asked of an `Outcome`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score

from superfactor.estimators import SMFClassifier, SMFRegressor, targets
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets import Given
from superfactor.selection.absent import log_likelihood, score_with_all_classes
from superfactor.selection.grid import CLASS_STEPS, TARGET_STEPS, Steps


class Outcome(ABC):
    """y of all samples, checked, and the answers that depend on its kind.

    Parameters
    ----------
    given : the values, and who has one
    """

    #: Whose parameters are searched.
    estimator: ClassVar[type[Any]]
    #: Parameters of the search that are for this estimator alone.
    own_parameters: ClassVar[tuple[str, ...]] = ()
    #: t of "auto" grids.
    steps: ClassVar[Steps]
    #: Whether folds, where their number is all that is given, have equal shares of everything in y.
    stratified: ClassVar[bool] = False
    #: Without so many samples `measure` says nothing.
    fewest_judged: ClassVar[int] = 1

    def __init__(self, given: Given):
        self.given = given

    @classmethod
    def of(cls, y: Any, X: Any, name: str, unlabeled: Any) -> Self:
        """Of a user's y, as long as X; `name` is for messages."""
        return cls(cls.read(y, X, name, unlabeled).of_some())

    @staticmethod
    @abstractmethod
    def read(y: Any, X: Any, name: str, unlabeled: Any) -> Given:
        """A user's y, of the samples of a search or of new ones."""

    @staticmethod
    @abstractmethod
    def measure(y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """The figure that the estimator's own ``score`` gives, the larger the better."""

    @staticmethod
    def choose_by(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """What compares candidates where the user has no score of their own; ``score`` of the model."""
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(model.score(X, y, **weight))

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """κ, how many activations there are."""

    @property
    def fitted_attributes(self) -> dict[str, Any]:
        """What a fitted search says of y."""
        return {}

    def check_training(self, k: int, train: Any) -> None:
        """Raise a ValueError where no estimator could learn from the training part of split k."""
        if not len(self.given.among(train).labelled):
            raise ValueError(f"cv: no sample in the training part of split {k} has a label")

    def for_training(self, base: Any, train: Any) -> Any:
        """The estimator `base`, or a changed clone, for the training part of a fold."""
        return base

    def score(self, scorer: Callable[..., float], fitted: Any, X: Any, test: Any, **extra: Any) -> float:
        """Of a model fitted to a part of the samples, on those at `test`, X being their rows."""
        return scorer(fitted, X, self.given.values[test], **extra)


class Classes(Outcome):
    """Labels, two classes or more: chosen by their likelihood, in folds with equal shares of all of them.

    Attributes
    ----------
    classes : (c,) sorted
    """

    estimator = SMFClassifier
    own_parameters = ("link", "class_weight")
    steps = CLASS_STEPS
    stratified = True
    read = staticmethod(targets.check_labels)
    choose_by = staticmethod(log_likelihood)

    def __init__(self, given: Given):
        super().__init__(given)
        self.classes = np.unique(given.labelled)

    @classmethod
    def of(cls, y: Any, X: Any, name: str, unlabeled: Any) -> Self:
        found = super().of(y, X, name, unlabeled)
        if len(found.classes) < 2:
            raise ValueError(
                f"y: {name} needs samples of at least 2 classes in the data, but the "
                f"data contains one class only: {shown(found.classes[0])}"
            )
        return found

    @staticmethod
    def measure(y: Any, predicted: Any, sample_weight: Any = None) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    @property
    def n_outputs(self) -> int:
        return len(self.classes) - 1

    @property
    def fitted_attributes(self) -> dict[str, Any]:
        return {"classes_": self.classes}

    def check_training(self, k: int, train: Any) -> None:
        super().check_training(k, train)
        present = np.unique(self.given.among(train).labelled)
        if len(present) < 2:
            raise ValueError(
                f"cv: the training part of split {k} has one class only: {shown(present[0])}; two or more "
                "are required (fewer splits, or stratified ones)"
            )

    def for_training(self, base: Any, train: Any) -> Any:
        if not isinstance(base.class_weight, dict):
            return base
        present = set(self.given.among(train).labelled.tolist())
        weights = {c: weight for c, weight in base.class_weight.items() if c in present}
        return clone(base).set_params(class_weight=weights)

    def score(self, scorer: Callable[..., float], fitted: Any, X: Any, test: Any, **extra: Any) -> float:
        truth = self.given.values[test]
        return score_with_all_classes(scorer, fitted, X, truth, self.classes, **extra)


class RealTargets(Outcome):
    """Numbers, one or several a sample: R², the mean over targets, and folds as samples come."""

    estimator = SMFRegressor
    steps = TARGET_STEPS
    fewest_judged = 2
    read = staticmethod(targets.check_real_targets)

    @staticmethod
    def measure(y: Any, predicted: Any, sample_weight: Any = None) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    @property
    def n_outputs(self) -> int:
        values = self.given.values
        return 1 if values.ndim == 1 else int(values.shape[1])
