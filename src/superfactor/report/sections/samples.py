"""The samples in the space of the factors: scatter plots, biplot, means and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.interpretation.roles import AFTER_NAME
from superfactor.interpretation.tables import extremes
from superfactor.plotting.samples import ellipse_radius
from superfactor.report.facts import Facts, SampleResults
from superfactor.report.formats import compact, correlation, label, number, probability
from superfactor.report.section import Section

# More points overlap and make the page large.
MOST_TRAINING = 1200
MOST_HELD_OUT = 800
# Scores stored on the page, over all points and factors.
MOST_SCORES = 60_000
# Samples without a label that are listed.
MOST_UNLABELED = 50
# A rare class keeps at least this many points.
FEWEST_OF_CLASS = 10
# Features at each end of a factor for arrows; fewer with many factors.
ARROWS_PER_END = 6
MOST_ARROWS = 60
# Ellipses extend the axes by at most this share of the range of the points, and are clipped beyond.
ROOM_FOR_ELLIPSES = 0.35
# The smallest number of samples for an ellipse.
FEWEST_SAMPLES = 4


def section(facts: Facts) -> Section:
    """Return scatter plots, biplot, class means and predictions of unlabelled samples."""
    parts = [
        (s, thinned(facts.page.sorts(s.truth), min(most, MOST_SCORES // (2 * facts.rank))), held_out)
        for s, most, held_out in [(facts.train, MOST_TRAINING, 0), (facts.test, MOST_HELD_OUT, 1)]
        if s is not None
    ]
    outlines = _outlines(facts)
    shown, training = (
        np.vstack([positions(s, out_of_fold) for s, _, _ in parts]) for out_of_fold in (True, False)
    )
    content = {
        "factors": factor_names(facts),
        "picture": picture(facts),
        "total": sum(len(s) for s, _, _ in parts),
        "drawn": sum(len(kept) for _, kept, _ in parts),
        "means": _means(facts),
        "unlabeled": _unlabeled(facts),
    }
    payload = {
        "points": [p for part in parts for p in _points(facts, *part)],
        "names": factor_names(facts),
        "outOfFold": facts.train.out_of_fold is not None,
        "ranges": [[compact(ends) for ends in ranges(scores, outlines)] for scores in (shown, training)],
        "ellipses": [None if e is None else _ellipse(e) for e in outlines],
        "arrows": _arrows(facts),
    }
    scale = facts.page.scale(np.concatenate([s.truth for s, _, _ in parts]), facts.names)
    if scale is not None:
        payload["scale"] = scale
    return Section("samples", "Samples", "The samples in the space of the factors", content, payload)


def picture(facts: Facts) -> dict[str, Any]:
    """Return the values for the captions of plots of samples."""
    fold = None if facts.held_out is None else facts.held_out.fold
    return {
        "out_of_fold": facts.train.out_of_fold is not None,
        "folds": 0 if fold is None else len(np.unique(fold[fold >= 0])),
        "why_not": facts.not_held_out,
        "outlines": any(own is not None for own in _outlines(facts)),
        "separates": facts.separates,
    }


def positions(samples: SampleResults, out_of_fold: bool = True) -> Any:
    """Return scores (n, r), out of fold if requested and available."""
    return samples.out_of_fold if out_of_fold and samples.out_of_fold is not None else samples.scores


def _outlines(facts: Facts) -> list[Ellipse | None]:
    """Return the region of new samples of each class; None if held-out samples show no difference."""
    parts = [s for s in (facts.train, facts.test) if s is not None and s.out_of_fold is not None]
    if not parts or not facts.separates or not facts.page.outlined:
        return [None] * len(facts.groups)
    scores = np.vstack([s.out_of_fold for s in parts])
    sorts = np.concatenate([facts.page.sorts(s.truth) for s in parts])
    return [ellipse(scores[sorts == c]) for c in range(len(facts.groups))]


def _unlabeled(facts: Facts) -> list[dict[str, Any]]:
    """Return the predictions of the first samples without a label; empty if all have one."""
    if facts.unlabeled is None:
        return []
    return [
        {"name": name, "cells": _cells(facts, own)}
        for name, own in zip(facts.unlabeled.ids, facts.unlabeled.rows[:MOST_UNLABELED], strict=False)
    ]


def _cells(facts: Facts, row: Any) -> list[tuple[str, str]]:
    """Return heads and texts of the prediction of a sample without a label."""
    if facts.page.right_or_wrong:
        return [("Predicted", facts.names[row.argmax()]), ("Probability", probability(row.max()))]
    return [
        (words[:1].upper() + words[1:], number(value))
        for words, value in facts.page.said(None, row, facts.names)
    ]


def factor_names(facts: Facts) -> list[str]:
    """Return the names Factor 1, …, with the role of those that are not predictive."""
    roles = [AFTER_NAME[role] for role in facts.roles]
    return [f"Factor {j}{f' ({role})' if role else ''}" for j, role in enumerate(roles, start=1)]


def thinned(sorts: Any, most: int) -> Any:
    """Return positions of about `most` samples, evenly spaced within each group of `sorts` (n,)."""
    n = len(sorts)
    if n <= most:
        return np.arange(n)
    kept = []
    for c in np.unique(sorts):
        members = np.flatnonzero(sorts == c)
        count = min(len(members), max(FEWEST_OF_CLASS, most * len(members) // n))
        kept.append(members[np.linspace(0, len(members) - 1, count).astype(int)])
    return np.sort(np.concatenate(kept))


def ranges(scores: Any, ellipses: list[Ellipse | None]) -> Any:
    """Return the range of the axis of each factor (r, 2), the same in all plots."""
    low, high = scores.min(axis=0), scores.max(axis=0)
    margin = (high - low) * 0.04 + (high == low)
    extension = (high - low) * ROOM_FOR_ELLIPSES
    ends = [e.extent() for e in ellipses if e is not None]
    least = np.min([low, *(a for a, _ in ends)], axis=0)
    most = np.max([high, *(b for _, b in ends)], axis=0)
    low, high = np.maximum(least, low - extension), np.minimum(most, high + extension)
    return np.column_stack([low - margin, high + margin])


def _points(facts: Facts, samples: SampleResults, kept: Any, held_out: int) -> list[list[Any]]:
    """Return name, held out?, colour, prediction (three entries), positions, and origin of the prediction.

    Training samples have two positions: out of fold, and from the fit.
    """
    how, rows = "held out" if held_out else "training", samples.rows
    if not held_out and (facts.out_of_fold is not None or facts.refitted is not None):
        how, rows = "out of fold", facts.out_of_fold if facts.out_of_fold is not None else facts.refitted
    colours, places = facts.page.colours(samples.truth), [positions(samples)]
    if samples.out_of_fold is not None and not held_out:
        places.append(samples.scores)
    return [
        [
            samples.ids[i],
            held_out,
            colours[i],
            *_prediction(facts, samples.truth[i], rows[i]),
            [compact(place[i]) for place in places],
            how,
        ]
        for i in kept
    ]


def _prediction(facts: Facts, truth: Any, row: Any) -> list[Any]:
    """Return the predicted class and the probabilities of it and the true class; or lines of a tooltip."""
    if facts.page.right_or_wrong:
        best = int(np.argmax(row))
        return [best, probability(row[best]), probability(row[truth])]
    said = facts.page.said(truth, row, facts.names)
    return [[f"{words} {number(value)}" for words, value in said], None, None]


def _ellipse(own: Ellipse) -> dict[str, Any]:
    lower = own.covariance[np.tril_indices(len(own.mean))]
    return {"mean": compact(own.mean), "covariance": compact(lower), "radius": round(own.radius, 4)}


def _arrows(facts: Facts) -> list[list[Any]]:
    """Return factor, name, and correlations with all factors, for the top features of each factor."""
    view, most, chosen = facts.view, min(ARROWS_PER_END, max(MOST_ARROWS // facts.rank, 2)), []
    for j, row in enumerate(view.correlations):
        both = np.concatenate(extremes(row, most))
        chosen += [(j, int(i)) for i in both[np.argsort(-np.abs(row[both]), kind="stable")]]
    return [
        [j, label(view.features[i]), [correlation(c) for c in view.correlations[:, i]]] for j, i in chosen
    ]


def _means(facts: Facts) -> list[dict[str, Any]]:
    """Return mean and standard deviation of each factor by class, or by group of the outcome."""
    scores, rows = positions(facts.train), []
    for name, inside in facts.page.parts(facts.train.truth, facts.names):
        own = scores[inside]
        rows.append(
            {"name": name, "cells": list(zip(own.mean(0).tolist(), own.std(0).tolist(), strict=True))}
        )
    return rows


@dataclass(frozen=True, eq=False)
class Ellipse:
    """A class on r factors; any two factors give an ellipse {x: (x−m)ᵀS⁻¹(x−m) = radius²}.

    Attributes
    ----------
    mean : m (r,)
    covariance : S (r, r), with denominator n − 1
    radius : see `superfactor.plotting.samples.ellipse_radius`
    """

    mean: Any
    covariance: Any
    radius: float

    def extent(self) -> tuple[Any, Any]:
        """Return the smallest and largest value of the ellipses on each factor: (r,), (r,)."""
        reach = self.radius * np.sqrt(np.diag(self.covariance))
        return self.mean - reach, self.mean + reach


def ellipse(scores: Any) -> Ellipse | None:
    """Return the ellipse of a class with these scores (n, r); None with too few samples."""
    n = len(scores)
    if n < FEWEST_SAMPLES:
        return None
    return Ellipse(scores.mean(axis=0), np.atleast_2d(np.cov(scores, rowvar=False)), ellipse_radius(n))
