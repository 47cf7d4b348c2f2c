"""How the solver came to its answer, and what is proven about it."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.report.certificate import CAVEAT, in_plain_words, technical
from superfactor.report.facts import Facts
from superfactor.report.formats import compact, objective, seconds
from superfactor.report.section import Section

# Algorithm 1 may take thousands of iterations; a curve of this many points looks the same.
MOST_POINTS = 400
MOST_ROWS = 40


def section(facts: Facts) -> Section:
    """The certificate, and the objective against iterations and seconds."""
    history, certificate = facts.estimator.history_, facts.estimator.certificate_
    values, times = history["objective"], history["seconds"]
    told: dict[str, Any] = {
        "proof": in_plain_words(certificate, facts.rank, completed=facts.filled is not None),
        "caveat": CAVEAT,
        "technical": [] if certificate is None else technical(certificate),
        "iterations": len(values),
        "rows": [(i + 1, values[i], times[i]) for i in _spread(len(values), MOST_ROWS)],
    }
    kept = _spread(len(values), MOST_POINTS)
    payload = {
        "iteration": (kept + 1).tolist(),
        "objective": [float(values[i]) for i in kept],
        "said": [objective(values[i]) for i in kept],
        "seconds": compact([times[i] for i in kept]),
        "saidSeconds": [seconds(times[i]) for i in kept],
        "bound": None if certificate is None else compact([certificate.lower_bound], 10)[0],
    }
    heading = "How the fit converged, and what is proven"
    return Section("convergence", "Convergence", heading, told, payload if values else {})


def _spread(n: int, most: int) -> Any:
    """At most `most` of the positions 0..n−1, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))
