"""The samples in the space of the factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.report.facts import Facts, Samples
from superfactor.report.section import Section
from superfactor.report.text import compact, controls, figure, fixed, select, table

# More points than this hide each other, and make the page heavy.
MOST_TRAINING = 1200
MOST_HELD_OUT = 800
# Numbers kept, over all points and factors.
MOST_CODES = 60_000
# A rare class keeps at least this many of its points.
FEWEST_OF_CLASS = 10


def section(facts: Facts) -> Section:
    """Scatter of two factors at a time, and the class means."""
    factors = [(str(j), f"Factor {j + 1}") for j in range(facts.rank)]
    by_class = ("class", "classes, one row each")
    show = [("all", "all"), ("wrong", "wrongly predicted")]
    if facts.test is not None:
        show[1:1] = [("0", "training"), ("1", "held-out")]
    parts = [
        (s, thinned(s.truth, min(most, MOST_CODES // facts.rank)), held_out)
        for s, most, held_out in [
            (facts.train, MOST_TRAINING, 0),
            (facts.test, MOST_HELD_OUT, 1),
        ]
        if s is not None
    ]
    total, drawn = sum(len(s) for s, _, _ in parts), sum(len(kept) for _, kept, _ in parts)
    caption = "Each mark is a sample; colour and shape are its class" + (
        ", filled marks are held out and open ones were used for training. "
        if facts.test is not None
        else ". All samples were used for training. "
    )
    if drawn < total:
        caption += (
            f"Of {total:,} samples, {drawn:,} are drawn: every class evenly thinned, always the same "
            "ones. "
        )
    caption += (
        "Positions do not use the labels of the samples: they are computed as for a new sample."
    )
    html = (
        figure(
            "samples",
            caption,
            controls(
                select("x-factor", "Across", factors, "0"),
                select("y-factor", "Up", [*factors, by_class], "1" if facts.rank > 1 else "class"),
                select("which-samples", "Show", show),
            ),
        )
        + "<h3>Where the classes lie</h3>"
        + _means(facts)
    )
    return Section(
        "samples",
        "Samples",
        "The samples in the space of the factors",
        html,
        {"points": [p for part in parts for p in _points(*part)]},
    )


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


def _points(samples: Samples, kept: Any, held_out: int) -> list[list[Any]]:
    """Name, held out?, class, predicted class, its probability, that of the true class, codes."""
    predicted = np.argmax(samples.probabilities, axis=1)
    return [
        [
            samples.ids[i],
            held_out,
            int(samples.truth[i]),
            int(predicted[i]),
            *compact(
                [
                    samples.probabilities[i, predicted[i]],
                    samples.probabilities[i, samples.truth[i]],
                ],
                3,
            ),
            compact(samples.codes[i]),
        ]
        for i in kept
    ]


def _means(facts: Facts) -> str:
    """Mean and spread of every factor by class, in units of the spread of all training codes."""
    codes = facts.train.codes
    spread = codes.std(axis=0)
    standardised = (codes - codes.mean(axis=0)) / np.where(spread > 0, spread, 1)
    rows = []
    for c, name in enumerate(facts.classes):
        own = standardised[facts.train.truth == c]
        rows.append(
            [
                name,
                *(
                    f"{fixed(m, 2)} ± {fixed(s, 2)}"
                    for m, s in zip(own.mean(0), own.std(0), strict=True)
                ),
            ]
        )
    caption = (
        "Mean ± standard deviation of each class on each factor, training samples, in standard "
        "deviations of all of them"
    )
    head = ["Class", *(f"Factor {j + 1}" if j == 0 else str(j + 1) for j in range(facts.rank))]
    return table(caption, head, rows, numbers=range(1, facts.rank + 1))
