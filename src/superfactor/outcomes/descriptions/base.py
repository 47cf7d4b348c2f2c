"""`Description`: text and plain values about a kind of y, with defaults for several kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from superfactor.outcomes.base import Outcome


@dataclass(frozen=True)
class Predicted:
    """Predictions of n samples.

    Attributes
    ----------
    columns : columns of the table of predictions: name → values (n,)
    shown : columns of the terminal: heading → texts (n,)
    words : summary of all samples in one line
    facts : the same summary as plain values
    each : values of each sample for JSON, if not all of the `columns`
    """

    columns: dict[str, list[Any]]
    shown: dict[str, list[str]]
    words: str
    facts: dict[str, Any]
    each: dict[str, list[Any]] | None = None

    def facts_of(self, first: int) -> dict[str, list[Any]]:
        """Return the values of the first samples for JSON."""
        every = self.columns if self.each is None else self.each
        return {name: values[:first] for name, values in every.items()}


class Description(ABC):
    """Text and plain values about y, predictions and factors. `y` holds values of samples that have one."""

    #: What a sample without a value lacks.
    lacking: ClassVar[str] = "value"
    #: The score that compares settings: name in a sentence, column heading, key.
    score: ClassVar[tuple[str, str, str]]
    #: Whether class weights and a positive class can be chosen.
    has_classes: ClassVar[bool] = False
    #: Explanation of the association of a single factor: its value without association.
    alone_of_nothing: ClassVar[str] = "0.50 means no association"
    #: How factors must not be interpreted if the model is not shown to predict.
    not_to_be_read: ClassVar[str] = "related to it"

    @abstractmethod
    def samples(self, y: Any, names: Sequence[str]) -> list[str]:
        """Describe the samples in words; `names` are those of the target columns."""

    @abstractmethod
    def sample_facts(self, y: Any, names: Sequence[str]) -> dict[str, Any]:
        """Return the same as plain values."""

    @abstractmethod
    def predictions(self, outcome: Outcome, model: Any, X: Any, names: Sequence[str]) -> Predicted:
        """Return the predictions of a fitted pipeline for X (n, p)."""

    @abstractmethod
    def coefficient(self, outputs: Sequence[str]) -> str:
        """Describe what the coefficient of a factor changes, if there is one output."""

    #: Meaning of the direction of a factor, if there are several outputs.
    direction: ClassVar[str] = "the target that changes most with a higher score"

    def restored(self, rows: Any) -> Any:
        """Convert predicted rows (n, k) that were stored in single precision."""
        return rows

    def score_facts(
        self, outcome: Outcome, names: Any, truth: Any, rows: Any, everyone: Any
    ) -> dict[str, Any]:
        """Return metrics of samples with this truth, and those of a guess from the truth of `everyone`."""
        blind = outcome.guessed(everyone, truth, rows.shape[1])
        guess = outcome.guess_metric_values(truth, blind, everyone)
        return {"samples": len(truth), **outcome.metric_values(truth, rows), "guess": guess}

    def score_sentence(self, outcome: Outcome, facts: dict[str, Any]) -> str:
        """Return the result of `score_facts` as part of a sentence."""
        found = [metric for metric in outcome.metrics if np.isfinite(facts[metric.name])]
        words = ", ".join(f"{metric.words} {metric.text(facts[metric.name])}" for metric in found)
        first = outcome.metrics[0]
        return f"{words}; {outcome.guess_name}: {first.words} {first.text(facts['guess'][first.name])}"


def spread(values: Any) -> dict[str, float]:
    """Return smallest, mean and largest of numbers (n,)."""
    return {"least": float(values.min()), "mean": float(values.mean()), "largest": float(values.max())}


def spread_words(values: Any) -> str:
    """Return the same in words."""
    found = spread(values)
    return f"{found['least']:.4g} to {found['largest']:.4g}, mean {found['mean']:.4g}"
