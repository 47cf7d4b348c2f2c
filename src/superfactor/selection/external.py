"""How good a fitted model is on samples from elsewhere: figures, intervals and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.selection.measures import METRICS, calibration, chance_of, headline_metric, measures
from superfactor.selection.proportions import NORMAL_975, balanced_interval, wilson
from superfactor.selection.rivals import FREQUENT
from superfactor.selection.verdict import NOT_SHOWN, Verdict, judge, percent

DRAWS = 2000


@dataclass(frozen=True)
class ExternalScores:
    """Figures of one set of samples.

    Attributes
    ----------
    classes : (c,) that the model knows
    headline : the metric that counts
    summary : metric → mean, low, high; 95 % intervals by Wilson's method for shares of right answers, else by
        the bootstrap within classes
    confusion : (c, c), row the true class, column the predicted one
    chance : p-value of the predictions against labels that know nothing of them
    verdict : all of it in words
    """

    classes: Any
    headline: str
    summary: dict[str, dict[str, float]]
    confusion: Any
    chance: float
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as scripts get them; the verdict too."""
        return {
            "headline": self.headline,
            "summary": self.summary,
            "confusion": self.confusion.tolist(),
            "chance": self.chance,
            "verdict": self.verdict.as_dict(),
        }


def external_scores(codes: Any, probabilities: Any, classes: Any) -> ExternalScores:
    """Figures of class numbers `codes` (n,) and `probabilities` (n, c) of the `classes` (c,).

    Classes without samples take no part. Guessing is always the class that is most frequent here.
    """
    classes = np.asarray(classes)
    told = _Shares(codes, probabilities.argmax(axis=1), len(classes))
    found = measures(codes, probabilities)
    drawn = _bootstrap(codes, probabilities)
    summary = {metric: {"mean": found[metric], **_middle(drawn[metric])} for metric in METRICS}
    # Draws of samples that are all right are all right.
    summary |= told.summary
    if len(classes) == 2:
        fit = calibration(codes == 1, probabilities[:, 1])
        for name in ("slope", "intercept"):
            half = NORMAL_975 * fit[f"{name}_error"]
            ends = {"low": fit[name] - half, "high": fit[name] + half}
            summary[f"calibration_{name}"] = {"mean": fit[name], **ends}
    verdict = told.verdict(classes)
    return ExternalScores(classes, told.headline, summary, told.confusion, told.chance, verdict)


def external_verdict(codes: Any, probabilities: Any, classes: Any) -> Verdict:
    """The verdict of `external_scores` alone, which takes no bootstrap."""
    classes = np.asarray(classes)
    return _Shares(codes, probabilities.argmax(axis=1), len(classes)).verdict(classes)


class _Shares:
    """Shares of right answers, for class numbers `codes` (n,) and `predicted` (n,) of c classes."""

    def __init__(self, codes: Any, predicted: Any, c: int):
        self.confusion = np.zeros((c, c), dtype=int)
        np.add.at(self.confusion, (codes, predicted), 1)
        self.counts = self.confusion.sum(axis=1)
        right, n = np.diag(self.confusion), len(codes)
        present = self.counts > 0
        recall = float(np.mean(right[present] / self.counts[present]))
        self.headline = headline_metric(self.counts[present])
        self.chance = chance_of(self.headline, codes, predicted, c)
        (low, high), (lower, higher) = (wilson(int(right.sum()), n), balanced_interval(self.confusion))
        self.summary = {
            "accuracy": {"mean": float(right.sum() / n), "low": low, "high": high},
            "balanced_accuracy": {"mean": recall, "low": lower, "high": higher},
        }

    def verdict(self, classes: Any) -> Verdict:
        """In words, `classes` (c,) being their names."""
        names = classes.tolist()
        counts = zip(names, self.counts.tolist(), strict=True)
        present = {name: count for name, count in counts if count}
        if len(present) < 2:
            return _one_class(next(iter(present)), self.summary["accuracy"])
        score = self.summary[self.headline]
        guess = float(self.counts.max() / self.counts.sum())
        if self.headline == "balanced_accuracy":
            guess = 1 / len(present)
        difference = {name: value - guess for name, value in score.items()}
        predicted = dict(zip(names, self.confusion.sum(axis=0).tolist(), strict=True))
        beaten = {FREQUENT: {"metric": self.headline, **difference}}
        return judge(
            self.headline, score, guess, beaten, self.chance, counts=present, predicted=predicted, final=True
        )


def _bootstrap(codes: Any, probabilities: Any) -> dict[str, Any]:
    """Figures of samples drawn with replacement from every class: metric → (DRAWS,)."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(codes == k) for k in np.unique(codes)]
    # The more samples, the more alike the draws, and the longer they take.
    draws = DRAWS if len(codes) <= 2000 else DRAWS // 4
    found = []
    for _ in range(draws):
        at = np.concatenate([rng.choice(own, len(own)) for own in members])
        found.append(measures(codes[at], probabilities[at]))
    return {metric: np.array([f[metric] for f in found]) for metric in METRICS}


def _middle(values: Any) -> dict[str, float]:
    if np.isnan(values).all():
        return {"low": float("nan"), "high": float("nan")}
    low, high = np.nanquantile(values, [0.025, 0.975])
    return {"low": float(low), "high": float(high)}


def _one_class(name: Any, accuracy: dict[str, float]) -> Verdict:
    return Verdict(
        NOT_SHOWN,
        f"One class only, {str(name)!r}: {percent(accuracy['mean'])} of its samples are recognised, which "
        "says nothing about the others.",
        advice=("Samples of another class, from the same source, make a verdict possible.",),
    )
