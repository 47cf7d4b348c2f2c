"""What is shown of an outcome: which outputs and which way is up, and the samples of a picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ShownOutputs:
    """The rows of coefficients that are shown: here every target, or the risk.

    Attributes
    ----------
    classes : tuple of str, in the order of ``classes_``; None where there are none
    outputs : tuple of str, names of the rows
    up : the row whose coefficients are made positive; None makes the largest of each factor so
    """

    classes: tuple[str, ...] | None
    outputs: tuple[str, ...]
    up: int | None = None

    def towards(self, positive: Any) -> ShownOutputs:
        """The same with another class up; None is the usual one."""
        if positive is not None:
            raise ValueError(f"positive={positive!r}: a regression has no classes; None is required")
        return self

    @property
    def positive(self) -> str | None:
        """Of two classes the one that is up; None of everything else."""
        return None

    def effects(self, effect: Any) -> Any:
        """Effects (outputs, r), as ``factor_coef_`` has them, on the rows that are shown."""
        return effect

    def compared(self) -> tuple[float, tuple[str, ...], str | None]:
        """Of coefficients against the first class: their sign, the names of the rows, and against what."""
        return 1.0, self.outputs, None


class ShownClasses(ShownOutputs):
    """Two classes have one row, the log-odds of the one that is up. Several have a row each.

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
    """Every one of several yes/no labels has a row."""

    def towards(self, positive: Any) -> ShownOutputs:
        if positive is None:
            return replace(self, up=None)
        if str(positive) not in self.outputs:
            known = ", ".join(map(repr, self.outputs))
            raise ValueError(f"positive={positive!r}: one of the labels {known} is required")
        return replace(self, up=self.outputs.index(str(positive)))


@dataclass(frozen=True)
class ShownSamples:
    """The outcome of n samples as pictures show it.

    Attributes
    ----------
    values : (n,) labels as strings, numbers, or times, NaN where not known; None where there is no outcome
    classes : all labels, those of the model first; None for numbers and times
    events : (n,) bool, which times are those of an event; None where there are no times
    name : what numbers and times are called
    """

    values: Any
    classes: list[str] | None = None
    events: Any = None
    name: str = "y"

    def check_length(self, n: int) -> None:
        """One value for each of n samples."""
        if self.values is not None and self.values.shape != (n,):
            raise ValueError(f"y of shape {self.values.shape}: one value for each of {n} samples is required")

    @property
    def as_classes(self) -> tuple[Any, list[str] | None]:
        """Labels and classes; of times, who had an event. Numbers and None where they are numbers."""
        if self.events is None:
            return self.values, self.classes
        labels = np.where(self.events, "event", "censored").astype(object)
        labels[np.isnan(self.values)] = "not known"
        return labels, ["censored", "event", *["not known"] * bool(np.isnan(self.values).any())]
