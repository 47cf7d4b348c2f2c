"""The outcome of samples as pictures show it: classes, numbers, or times and events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.estimators import SMFSurvival
from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.targets import check_survival
from superfactor.interpretation import FactorView


@dataclass(frozen=True)
class Shown:
    """The outcome of n samples.

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


def shown_outcome(y: Any, view: FactorView) -> Shown:
    """y in the form the model of the view takes it; numbers stay numbers where it takes events and times."""
    several = np.ndim(y) == 2 or np.asarray(y).dtype.names
    if view.classes is None and view.outputs == (SMFSurvival._predicted,) and several:
        given = check_survival(y, np.empty((len(y), 0)), "y")
        times = given.spread(given.labelled[:, 1], np.nan)
        return Shown(times, None, given.spread(given.labelled[:, 0] == 1, False), "time")
    y, classes = np.asarray(as_numpy(y)), view.classes
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if classes is None:
        return Shown(y.astype(float), name=view.outputs[0])
    labels = np.array([str(label) for label in y], dtype=object)
    return Shown(labels, [*classes, *sorted(set(labels) - set(classes))])
