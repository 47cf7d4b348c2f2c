"""The samples in the space of the factors, with the features that point the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.interpretation.tables import extremes
from superfactor.report.ellipses import Ellipse, ellipse
from superfactor.report.facts import Facts, Samples
from superfactor.report.formats import compact, correlation, label, probability
from superfactor.report.section import Section

# More points than this hide each other, and make the page heavy.
MOST_TRAINING = 1200
MOST_HELD_OUT = 800
# Numbers kept, over all points and factors.
MOST_CODES = 60_000
# Samples without a label that are listed.
MOST_UNLABELED = 50
# A rare class keeps at least this many of its points.
FEWEST_OF_CLASS = 10
# Features of each end of a factor that may become arrows, fewer where there are many factors.
ARROWS_PER_END = 6
MOST_ARROWS = 60
# An ellipse may widen the picture by this share of the range of the points, and is cut beyond.
ROOM_FOR_ELLIPSES = 0.35


def section(facts: Facts) -> Section:
    """Scatter of two factors at a time, biplot, and the class means."""
    parts = [
        (s, thinned(s.truth, min(most, MOST_CODES // facts.rank)), held_out)
        for s, most, held_out in [
            (facts.train, MOST_TRAINING, 0),
            (facts.test, MOST_HELD_OUT, 1),
        ]
        if s is not None
    ]
    codes = np.vstack([s.codes for s, _, _ in parts])
    truth = np.concatenate([s.truth for s, _, _ in parts])
    ellipses = [ellipse(codes[truth == c]) for c in range(len(facts.classes))]
    told = {
        "factors": factor_names(facts),
        "total": sum(len(s) for s, _, _ in parts),
        "drawn": sum(len(kept) for _, kept, _ in parts),
        "means": _means(facts),
        "unlabeled": _unlabeled(facts),
    }
    payload = {
        "points": [p for part in parts for p in _points(*part)],
        "names": factor_names(facts),
        "range": [compact(ends) for ends in ranges(codes, ellipses)],
        "ellipses": [None if e is None else _ellipse(e) for e in ellipses],
        "centre": compact(facts.train.codes.mean(axis=0)),
        "arrows": _arrows(facts),
    }
    return Section("samples", "Samples", "The samples in the space of the factors", told, payload)


def _unlabeled(facts: Facts) -> list[dict[str, Any]]:
    """What the model says of the first samples without a label; empty where all have one."""
    if facts.unlabeled is None:
        return []
    shares = facts.unlabeled.probabilities[:MOST_UNLABELED]
    best = np.argmax(shares, axis=1)
    return [
        {"name": name, "predicted": facts.classes[c], "probability": probability(own[c])}
        for name, own, c in zip(facts.unlabeled.ids, shares, best, strict=False)
    ]


def factor_names(facts: Facts) -> list[str]:
    """Factor 1, …; background factors are called so."""
    kinds = facts.predictive
    return [f"Factor {j + 1}" + ("" if kind else " (background)") for j, kind in enumerate(kinds)]


def thinned(truth: Any, most: int) -> Any:
    """Positions of about `most` samples, evenly spaced within every class; all where they fit."""
    n = len(truth)
    if n <= most:
        return np.arange(n)
    kept = []
    for c in np.unique(truth):
        members = np.flatnonzero(truth == c)
        room = min(len(members), max(FEWEST_OF_CLASS, most * len(members) // n))
        kept.append(members[np.linspace(0, len(members) - 1, room).astype(int)])
    return np.sort(np.concatenate(kept))


def ranges(codes: Any, ellipses: list[Ellipse | None]) -> Any:
    """(r, 2): the axis of each factor, the same in every picture."""
    low, high = codes.min(axis=0), codes.max(axis=0)
    margin = (high - low) * 0.04 + (high == low)
    room = (high - low) * ROOM_FOR_ELLIPSES
    ends = [e.extent() for e in ellipses if e is not None]
    least = np.min([low, *(a for a, _ in ends)], axis=0)
    most = np.max([high, *(b for _, b in ends)], axis=0)
    return np.column_stack(
        [np.maximum(least, low - room) - margin, np.minimum(most, high + room) + margin]
    )


def _points(samples: Samples, kept: Any, held_out: int) -> list[list[Any]]:
    """Name, held out?, class, predicted class, its probability, that of the true class, codes."""
    predicted = np.argmax(samples.probabilities, axis=1)
    return [
        [
            samples.ids[i],
            held_out,
            int(samples.truth[i]),
            int(predicted[i]),
            probability(samples.probabilities[i, predicted[i]]),
            probability(samples.probabilities[i, samples.truth[i]]),
            compact(samples.codes[i]),
        ]
        for i in kept
    ]


def _ellipse(own: Ellipse) -> dict[str, Any]:
    lower = own.covariance[np.tril_indices(len(own.mean))]
    return {"mean": compact(own.mean), "covariance": compact(lower), "radius": round(own.radius, 4)}


def _arrows(facts: Facts) -> list[list[Any]]:
    """Factor, name, and correlation with all factors, of the features at its ends, in their order."""
    most = min(ARROWS_PER_END, max(MOST_ARROWS // facts.rank, 2))
    chosen = []
    for j, scaled in enumerate(facts.view.scaled):
        both = np.concatenate(extremes(scaled, most))
        chosen += [(j, int(i)) for i in both[np.argsort(-np.abs(scaled[both]), kind="stable")]]
    if not chosen:
        return []
    found = correlations(facts.factorized[:, [i for _, i in chosen]], facts.train.codes)
    return [
        [j, label(facts.view.features[i]), [correlation(c) for c in own]]
        for (j, i), own in zip(chosen, found.tolist(), strict=True)
    ]


def correlations(X: Any, codes: Any) -> Any:
    """(k, r) between columns of X (n, k), dense or sparse, and of the codes (n, r); 0 without variance."""
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    X, codes = ((A - A.mean(axis=0)) for A in (X, codes))
    X, codes = (A / np.where((size := np.linalg.norm(A, axis=0)) > 0, size, 1) for A in (X, codes))
    return np.clip(X.T @ codes, -1, 1)


def _means(facts: Facts) -> list[dict[str, Any]]:
    """Mean and spread of every factor by class, in units of the spread of all training codes."""
    codes = facts.train.codes
    spread = codes.std(axis=0)
    standardised = (codes - codes.mean(axis=0)) / np.where(spread > 0, spread, 1)
    rows = []
    for c, name in enumerate(facts.classes):
        own = standardised[facts.train.truth == c]
        cells = list(zip(own.mean(0).tolist(), own.std(0).tolist(), strict=True))
        rows.append({"name": name, "cells": cells})
    return rows
