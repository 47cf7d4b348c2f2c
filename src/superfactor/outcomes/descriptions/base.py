"""What is said of a kind of y; answers that hold for several kinds stand here."""

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
    columns : names of the columns of a table → values (n,)
    shown : a few of them as a screen shows them: headings → texts (n,)
    words : all samples in one line
    facts : the same for scripts
    each : what scripts are told of each sample, where it is not all of the `columns`
    """

    columns: dict[str, list[Any]]
    shown: dict[str, list[str]]
    words: str
    facts: dict[str, Any]
    each: dict[str, list[Any]] | None = None

    def facts_of(self, first: int) -> dict[str, list[Any]]:
        """What scripts are told of the first few samples."""
        every = self.columns if self.each is None else self.each
        return {name: values[:first] for name, values in every.items()}


class Description(ABC):
    """Words and plain values about y, predictions and factors. `y` are values of samples that have one."""

    #: What a sample without a value has none of.
    lacking: ClassVar[str] = "value"
    #: What settings are compared by: in a sentence, above a column, as a key.
    score: ClassVar[tuple[str, str, str]]
    #: Whether classes can weigh the same, and one of them be up in factors.
    has_classes: ClassVar[bool] = False
    #: What a factor that is alone is compared with.
    alone_of_nothing: ClassVar[str] = "0.50 tells nothing apart"
    #: What no factor is to be read as, where nothing is shown to predict.
    not_to_be_read: ClassVar[str] = "what goes with it"

    @abstractmethod
    def samples(self, y: Any, names: Sequence[str]) -> list[str]:
        """Whom there is, in words; `names` are those of the target columns."""

    @abstractmethod
    def sample_facts(self, y: Any, names: Sequence[str]) -> dict[str, Any]:
        """The same for scripts."""

    @abstractmethod
    def predictions(self, outcome: Outcome, model: Any, X: Any, names: Sequence[str]) -> Predicted:
        """What a fitted pipeline says of X (n, p)."""

    @abstractmethod
    def coefficient(self, outputs: Sequence[str]) -> str:
        """What the coefficient of a factor is a change of, where there is one output."""

    #: What the direction of a factor says, where there are several outputs.
    direction: ClassVar[str] = "the target that moves most as the factor goes up"

    def restored(self, rows: Any) -> Any:
        """Predicted rows (n, k) that were stored in single precision."""
        return rows

    def score_facts(
        self, outcome: Outcome, names: Any, truth: Any, rows: Any, everyone: Any
    ) -> dict[str, Any]:
        """Figures of samples with this truth, beside those of a guess from the truth of `everyone`."""
        blind = outcome.guessed(everyone, truth, rows.shape[1])
        guess = outcome.guess_metric_values(truth, blind, everyone)
        return {"samples": len(truth), **outcome.metric_values(truth, rows), "guess": guess}

    def score_sentence(self, outcome: Outcome, facts: dict[str, Any]) -> str:
        """What `score_facts` found, as a sentence goes on."""
        found = [metric for metric in outcome.metrics if np.isfinite(facts[metric.name])]
        words = ", ".join(f"{metric.words} {metric.text(facts[metric.name])}" for metric in found)
        first = outcome.metrics[0]
        return f"{words}; {outcome.guess_name}: {first.words} {first.text(facts['guess'][first.name])}"


def spread(values: Any) -> dict[str, float]:
    """From where to where numbers (n,) go, and their mean."""
    return {"least": float(values.min()), "mean": float(values.mean()), "largest": float(values.max())}


def spread_words(values: Any) -> str:
    """The same in words."""
    found = spread(values)
    return f"{found['least']:.4g} to {found['largest']:.4g}, mean {found['mean']:.4g}"
