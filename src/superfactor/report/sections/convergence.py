"""How the solver came to its answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.text import (
    compact,
    controls,
    details,
    figure,
    number,
    plural,
    select,
    table,
)

# Algorithm 1 may take thousands of iterations; a curve of this many points looks the same.
MOST_POINTS = 400
MOST_ROWS = 40


def section(facts: Facts) -> Section | None:
    """Objective against iterations and seconds."""
    history, certificate = facts.estimator.history_, facts.estimator.certificate_
    objective, seconds = history["objective"], history["seconds"]
    if not objective:
        return None
    caption = (
        f"The objective F, which sums reconstruction error and classification loss, over "
        f"{plural(len(objective), 'iteration')}, {number(seconds[-1])} s in all; smaller is better."
    )
    choices = controls(
        select("time-axis", "Across", [("iteration", "iteration"), ("seconds", "seconds")]),
        select(
            "loss-axis",
            "Up",
            [("objective", "objective"), ("excess", "excess over the best, log scale")],
        ),
    )
    rows = [
        [f"{i + 1:,}", number(objective[i], 8), number(seconds[i])]
        for i in _spread(len(objective), MOST_ROWS)
    ]
    kept = _spread(len(objective), MOST_POINTS)
    payload = {
        "iteration": (kept + 1).tolist(),
        "objective": [float(objective[i]) for i in kept],
        "seconds": compact([seconds[i] for i in kept]),
        "bound": None if certificate is None else compact([certificate.lower_bound], 10)[0],
    }
    html = figure("convergence", caption, choices) + details(
        "Iterations as a table",
        table(
            "Objective by iteration", ["Iteration", "Objective", "Seconds"], rows, numbers=(1, 2)
        ),
    )
    return Section("convergence", "Convergence", "How the fit converged", html, payload)


def _spread(n: int, most: int) -> Any:
    """At most `most` of the positions 0..n−1, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))
