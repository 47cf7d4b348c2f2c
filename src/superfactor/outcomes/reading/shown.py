"""What tables and plots show of an outcome: outputs, their sign, and the values of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ShownOutputs:
    """The rows of coefficients that are shown: here every target, or the risk.

    Attributes
    ----------
    classes : tuple of str, in the order of ``classes_``; None if there are none
    outputs : tuple of str, names of the rows
    up : the row whose coefficients are made positive; None: the largest coefficient of each factor
    """

    classes: tuple[str, ...] | None
    outputs: tuple[str, ...]
    up: int | None = None

    def towards(self, positive: Any) -> ShownOutputs:
        """Return the same with the coefficients of class `positive` made positive; None is the default."""
        if positive is not None:
            raise ValueError(f"positive={positive!r}: a regression has no classes; None is required")
        return self

    @property
    def positive(self) -> str | None:
        """Return the class whose coefficients are shown, if there are two classes; otherwise None."""
        return None

    def effects(self, effect: Any) -> Any:
        """Convert effects in the form of ``factor_coef_`` to the rows that are shown, (outputs, r)."""
        return effect

    def compared(self) -> tuple[float, tuple[str, ...], str | None]:
        """Return the sign of coefficients relative to the first class, row names, and the reference class."""
        return 1.0, self.outputs, None


class ShownClasses(ShownOutputs):
    """Classes. Two classes have one row, the log-odds of one of them; several have one row each.

    The estimators compare several classes with ``classes_[0]``; here each is compared with the mean of all.
    """

    def towards(self, positive: Any) -> ShownOutputs:
        classes, two = self.classes or (), self.positive is not None
        if positive is None:
            return self if two else replace(self, up=None)
        name = str(positive)
        if name not in classes:
            known = ", ".join(map(repr, classes))
            raise ValueError(f"positive={positive!r}: one of the classes {known} is required")
        return replace(self, outputs=(name,), up=0) if two else replace(self, up=self.outputs.index(name))

    @property
    def positive(self) -> str | None:
        return self.outputs[0] if len(self.classes or ()) == 2 else None

    def effects(self, effect: Any) -> Any:
        if self.positive is None:
            return effect - effect.mean(axis=0)
        return effect if self.positive == self.classes[1] else -effect  # type: ignore[index]

    def compared(self) -> tuple[float, tuple[str, ...], str | None]:
        first, *others = self.classes or ()
        if self.positive == first:
            return -1.0, (first,), others[0]
        return 1.0, tuple(others), first


class ShownFlags(ShownOutputs):
    """Several yes/no labels, with one row each."""

    def towards(self, positive: Any) -> ShownOutputs:
        if positive is None:
            return replace(self, up=None)
        if str(positive) not in self.outputs:
            known = ", ".join(map(repr, self.outputs))
            raise ValueError(f"positive={positive!r}: one of the labels {known} is required")
        return replace(self, up=self.outputs.index(str(positive)))


@dataclass(frozen=True)
class ShownSamples:
    """The outcome of n samples in the form that plots show.

    Attributes
    ----------
    values : (n,) labels as strings, numbers, or times; NaN if not known. None if there is no outcome
    classes : all labels, those of the model first; None for numbers and times
    events : (n,) bool, which times are those of an event; None for other kinds
    name : name of the numbers or times
    """

    values: Any
    classes: list[str] | None = None
    events: Any = None
    name: str = "y"

    def check_length(self, n: int) -> None:
        """Raise a ValueError unless there is one value for each of n samples."""
        if self.values is not None and self.values.shape != (n,):
            raise ValueError(f"y of shape {self.values.shape}: one value for each of {n} samples is required")

    @property
    def as_classes(self) -> tuple[Any, list[str] | None]:
        """Return labels and classes; for times, "event" or "censored"; for numbers, numbers and None."""
        if self.events is None:
            return self.values, self.classes
        labels = np.where(self.events, "event", "censored").astype(object)
        labels[np.isnan(self.values)] = "not known"
        return labels, ["censored", "event", *["not known"] * bool(np.isnan(self.values).any())]
