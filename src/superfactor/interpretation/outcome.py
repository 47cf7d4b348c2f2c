"""Which rows of coefficients are shown, and which way is up.

The estimators compare several classes with ``classes_[0]``. Shown are:

two classes      one row, the log-odds of the positive class: the one the user names, or else the rarer
                 one, or else the second.
several classes  one row for every class, the first one too: the mean over all classes is taken off,
                 so that no class is the one the others are compared with.
regression       one row for every target.
survival times   one row, the risk: a log hazard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Names of what is predicted.

    Attributes
    ----------
    classes : tuple of str, in the order of ``classes_``; None in regression
    outputs : tuple of str, the rows that are shown
    up : the row whose coefficients are made positive; None makes the largest of each factor so
    """

    classes: tuple[str, ...] | None
    outputs: tuple[str, ...]
    up: int | None = None

    @classmethod
    def of(cls, estimator: Any, positive: Any = None) -> Outcome:
        """That of a fitted estimator; `positive` is a label, or None for the usual one."""
        if not hasattr(estimator, "classes_"):
            return cls(None, targets_of(estimator)).towards(positive)
        classes = tuple(str(label) for label in estimator.classes_)
        if len(classes) > 2:
            return cls(classes, classes).towards(positive)
        first, second = getattr(estimator, "class_count_", (0, 0))
        return cls(classes, (classes[int(second <= first)],), 0).towards(positive)

    def towards(self, positive: Any) -> Outcome:
        """The same with another positive class; None leaves it."""
        if positive is None:
            return self
        if self.classes is None:
            raise ValueError(f"positive={positive!r}: a regression has no classes; None is required")
        name = str(positive)
        if name not in self.classes:
            known = ", ".join(map(repr, self.classes))
            raise ValueError(f"positive={positive!r}: one of the classes {known} is required")
        if len(self.classes) == 2:
            return Outcome(self.classes, (name,), 0)
        return Outcome(self.classes, self.outputs, self.outputs.index(name))

    def shown(self, effect: Any) -> Any:
        """Effects (outputs, r), as ``factor_coef_`` has them, on `outputs`."""
        if self.classes is None:
            return effect
        if len(self.classes) == 2:
            return effect if self.outputs[0] == self.classes[1] else -effect
        return effect - effect.mean(axis=0)


def targets_of(estimator: Any) -> tuple[str, ...]:
    """The names of what an estimator without classes predicts."""
    name, kappa = estimator._predicted, len(estimator.factor_coef_)
    return (name,) if kappa == 1 else tuple(f"{name}{k}" for k in range(kappa))
