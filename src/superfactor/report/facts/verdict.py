"""What the first box of the page says, and its colour: only evidence from unseen samples counts.

The words are those of the terminal, for nested cross-validation as for held-out samples; training samples
show nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from superfactor.outcomes import outcome_named
from superfactor.selection.judging.external import external_verdict
from superfactor.selection.judging.verdict import BETTER, NOT_SHOWN, WORSE

if TYPE_CHECKING:
    from superfactor.report.facts.gathering import Facts

GRADES = (BETTER, NOT_SHOWN, WORSE)


@dataclass(frozen=True)
class Told:
    """grade: one of GRADES, or "unknown" without unseen samples; the rest are sentences."""

    grade: str
    headline: str
    sentences: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def predicts(self) -> bool | None:
        """Whether samples not seen show that the model predicts; None without any."""
        return self.grade == BETTER if self.grade in GRADES else None

    @property
    def kind(self) -> str:
        """The grade as a word for the style sheet."""
        return self.grade.replace(" ", "-") if self.grade in GRADES else "unknown"


def verdict_of(facts: Facts) -> Told:
    """The verdict of the nested cross-validation, else of the held-out samples, else none."""
    if facts.nested is not None:
        given = facts.nested.verdict
    elif facts.test is not None:
        # The model's own names of the classes: as the page shows them, two may be cut to the same.
        names = facts.estimator.classes_
        outcome = outcome_named("classes")
        given = external_verdict(outcome, names, facts.test.truth, facts.test.probabilities)
    else:
        return _of_training(facts)
    return Told(given.grade, given.headline, tuple(given.sentences), tuple(given.advice))


def _of_training(facts: Facts) -> Told:
    sentences = ["The training figures on this page are optimistic: the model has seen these samples."]
    if facts.search is not None:
        sentences.append(
            "The cross-validated score is the honest one, though slightly high as the best of the "
            "settings tried."
        )
    return Told(
        "unknown",
        "How well the model predicts new samples is not known from this page.",
        tuple(sentences),
        ("Judge it by nested cross-validation, or by samples it has not seen.",),
    )
