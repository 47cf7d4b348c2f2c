"""The choice of rank, ξ and λ, the convergence of the solver, and the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.report.certificate import in_plain_words, technical
from superfactor.report.facts import Facts, Searched
from superfactor.report.formats import compact, metric, objective, parameter, seconds, share
from superfactor.report.section import Section
from superfactor.selection import scree

MOST_SINGULAR_VALUES = 50
# Algorithm 1 can take thousands of iterations; a curve of this many points looks the same.
MOST_POINTS = 400
MOST_ROWS = 40


def choice(facts: Facts) -> Section:
    """Return the scree, and the scores over (ξ, λ) of a search."""
    X, search, most = facts.factorized, facts.search, max(MOST_SINGULAR_VALUES, facts.rank)
    values = scree(X, n_values=min(most, *X.shape), center=False) if search is None else search.scree
    shown = values.share[:most]
    content: dict[str, Any] = {
        "elbow": int(values.elbow),
        "scree": list(zip(values.singular_values, shown, np.cumsum(shown), strict=False)),
        "search": search,
    }
    payload: dict[str, Any] = {
        "scree": {
            "share": compact(shown),
            "said": [share(float(s)) for s in shown],
            "rank": facts.rank,
            "elbow": int(values.elbow),
        }
    }
    if search is not None:
        rows = zip(search.settings, search.mean, search.spread, search.place, strict=True)
        surfaces = _surfaces(search)
        content |= {"settings": sorted(rows, key=lambda row: row[3]), "surfaces": surfaces}
        payload |= {"surfaces": surfaces, "scorer": search.scorer}
    return Section("choice", "Choice", "Choice of rank, ξ and λ", content, payload)


def _surfaces(search: Searched) -> list[dict[str, Any]]:
    """Return one grid of mean scores over ξ (columns) and λ (rows) for each model and rank."""
    name, points = search.scorer, list(enumerate(search.settings))
    families = dict.fromkeys((p["model"], p["n_components"]) for p in search.settings)
    surfaces = []
    for model, rank in families:
        own = [(i, p) for i, p in points if (p["model"], p["n_components"]) == (model, rank)]
        xi, lam = (sorted({float(p[key]) for _, p in own}) for key in ("xi", "lam"))
        mean, spread = np.full((2, len(lam), len(xi)), np.nan)
        chosen = None
        for i, p in own:
            cell = lam.index(float(p["lam"])), xi.index(float(p["xi"]))
            mean[cell], spread[cell] = search.mean[i], search.spread[i]
            chosen = list(cell) if i == search.chosen else chosen
        surfaces.append(
            {
                "model": str(model),
                "rank": int(rank),
                "xi": [parameter(v) for v in xi],
                "lam": [parameter(v) for v in lam],
                "mean": [compact(row) for row in mean],
                "said": [[metric(v, name) for v in row] for row in mean],
                "spread": [[metric(v, name) for v in row] for row in spread],
                "chosen": chosen,
            }
        )
    return surfaces


def convergence(facts: Facts) -> Section:
    """Return the certificate, and the objective against iterations and seconds."""
    history, certificate = facts.estimator.history_, facts.estimator.certificate_
    values, times = history["objective"], history["seconds"]
    content: dict[str, Any] = {
        "proof": in_plain_words(
            certificate, facts.rank, influence=facts.page.influence, completed=facts.filled is not None
        ),
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
    heading = "Convergence and certificate"
    return Section("convergence", "Convergence", heading, content, payload if values else {})


def _spread(n: int, most: int) -> Any:
    """Return at most `most` of the positions 0..n−1, including the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))
