"""What the first box of the page says, and its colour: only evidence from unseen samples counts.

The words of a nested cross-validation are its own. Held-out samples are compared with guessing by
their balanced accuracy; training samples show nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from superfactor.report.facts import Facts
from superfactor.report.formats import plural, share

GRADES = ("better", "not shown", "worse")
# Fewer held-out samples of a class than this carry no claim by themselves.
FEW_HELD_OUT = 15


@dataclass(frozen=True)
class Told:
    """grade: one of GRADES, or "unknown" without unseen samples; the rest are sentences."""

    grade: str
    headline: str
    sentences: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The grade as a word for the style sheet."""
        return self.grade.replace(" ", "-") if self.grade in GRADES else "unknown"


def verdict_of(facts: Facts) -> Told:
    """The verdict of the nested cross-validation, else of the held-out samples, else none."""
    if facts.nested is not None:
        given = facts.nested.verdict
        return Told(given.grade, given.headline, tuple(given.sentences), tuple(given.advice))
    return _of_training(facts) if facts.test is None else _of_held_out(facts)


def _of_held_out(facts: Facts) -> Told:
    found, classes = facts.evaluation, facts.classes
    low, high = found.balanced_interval
    present = found.confusion.sum(axis=1)
    if (present > 0).sum() == 1:
        return Told(
            "unknown",
            "How well the model predicts new samples is not known from this page.",
            (
                "The held-out samples are all of one class, so that nothing can be told apart in them.",
            ),
            ("Judge it by nested cross-validation, or hold out samples of every class.",),
        )
    guessing = 1 / int((present > 0).sum())
    grade = "better" if low > guessing else "worse" if high < guessing else "not shown"
    headline = {
        "better": "The model predicts unseen samples better than guessing.",
        "not shown": "The model is not shown to predict better than guessing.",
        "worse": "The model predicts unseen samples worse than guessing.",
    }[grade]
    sentences = [
        f"Balanced accuracy on {plural(found.n, 'held-out sample')}: {share(found.balanced_accuracy)} "
        f"(95 % interval {share(low)} to {share(high)}); guessing reaches {share(guessing)}."
    ]
    never = [
        name
        for name, own, predicted in zip(classes, present, found.confusion.sum(axis=0), strict=True)
        if own and not predicted
    ]
    if never:
        names = ", ".join(f"“{name}”" for name in never)
        sentences.append(f"Never predicted, though there are such samples: {names}.")
    advice = []
    if present[present > 0].min() < FEW_HELD_OUT:
        advice.append(
            "This is one small hold-out, and another one would give another number: repeated nested "
            "cross-validation uses all samples."
        )
    if never:
        advice.append("Weigh the classes equally (class_weight=“balanced”, --balance).")
    if grade != "better":
        advice.append(
            "Do not interpret the factors as differences between the classes before more samples, or "
            "other settings, show that they predict."
        )
    return Told(grade, headline, tuple(sentences), tuple(advice))


def _of_training(facts: Facts) -> Told:
    sentences = [
        "The training figures on this page are optimistic: the model has seen these samples."
    ]
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
