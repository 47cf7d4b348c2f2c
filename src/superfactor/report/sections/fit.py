"""How the fit came about: rank and weights by their scores, then the way of the solver and what is proven."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.words.certificate import CAVEAT, in_plain_words, technical
from superfactor.report.words.formats import compact, label, metric, objective, parameter, seconds, share
from superfactor.selection import Scree, scree

MOST_SINGULAR_VALUES = 50


def choice(facts: Facts) -> Section:
    """Scree, and the surface of scores over (ξ, λ) where there was a search."""
    values = getattr(facts.search, "scree_", None) or _scree_of(facts)
    shown = values.share[: max(MOST_SINGULAR_VALUES, facts.rank)]
    told: dict[str, Any] = {
        "elbow": int(values.elbow),
        "scree": [
            {"singular_value": float(v), "share": float(s), "together": float(t)}
            for v, s, t in zip(values.singular_values, shown, np.cumsum(shown), strict=False)
        ],
        "search": None,
    }
    payload: dict[str, Any] = {
        "scree": {
            "share": compact(shown),
            "said": [share(float(s)) for s in shown],
            "rank": facts.rank,
            "elbow": int(values.elbow),
        }
    }
    if facts.search is not None:
        surfaces = _surfaces(facts.search)
        told["search"] = _told(facts.search, surfaces)
        payload |= {"surfaces": surfaces, "scorer": scorer_name(facts.search)}
    return Section("choice", "Choice", "How rank and weights were chosen", told, payload)


def _scree_of(facts: Facts) -> Scree:
    X = facts.factorized
    return scree(X, n_values=min(max(MOST_SINGULAR_VALUES, facts.rank), *X.shape), center=False)


def scorer_name(search: Any) -> str:
    """What the search maximised, in words."""
    scoring = getattr(search, "scoring", None)
    if scoring is None or scoring == "neg_log_loss":
        return "log-likelihood"
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return label(name.replace("_", " "))


def cross_validated(facts: Facts) -> dict[str, Any] | None:
    """The cross-validated score of the chosen setting; None without a search."""
    search = facts.search
    if search is None:
        return None
    return {
        "scorer": scorer_name(search),
        "mean": float(search.best_score_),
        "spread": float(search.cv_results_["std_test_score"][search.best_index_]),
        "splits": int(search.n_splits_),
        "tried": len(search.cv_results_["mean_test_score"]),
    }


def _surfaces(search: Any) -> list[dict[str, Any]]:
    """One grid of mean scores over ξ (columns) and λ (rows) for each model and rank."""
    results, name = search.cv_results_, scorer_name(search)
    points = list(enumerate(results["params"]))
    families = dict.fromkeys((p["model"], p["n_components"]) for _, p in points)
    surfaces = []
    for model, rank in families:
        own = [(i, p) for i, p in points if (p["model"], p["n_components"]) == (model, rank)]
        xi, lam = (sorted({float(p[key]) for _, p in own}) for key in ("xi", "lam"))
        mean, spread = np.full((2, len(lam), len(xi)), np.nan)
        chosen = None
        for i, p in own:
            cell = lam.index(float(p["lam"])), xi.index(float(p["xi"]))
            mean[cell] = results["mean_test_score"][i]
            spread[cell] = results["std_test_score"][i]
            chosen = list(cell) if i == search.best_index_ else chosen
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


def _told(search: Any, surfaces: list[dict[str, Any]]) -> dict[str, Any]:
    results = search.cv_results_
    scores = zip(
        results["params"],
        results["mean_test_score"],
        results["std_test_score"],
        results["rank_test_score"],
        strict=True,
    )
    settings = [
        {
            "model": p["model"],
            "rank": int(p["n_components"]),
            "xi": float(p["xi"]),
            "lam": float(p["lam"]),
            "mean": float(mean),
            "spread": float(spread),
            "place": int(place),
        }
        for p, mean, spread, place in sorted(scores, key=lambda s: s[3])
    ]
    best = search.best_params_
    return {
        "scorer": scorer_name(search),
        "splits": int(search.n_splits_),
        "model": best["model"],
        "rank": int(best["n_components"]),
        "xi": float(best["xi"]),
        "lam": float(best["lam"]),
        "surfaces": [{k: s[k] for k in ("model", "rank", "chosen")} for s in surfaces],
        "settings": settings,
    }


# Algorithm 1 may take thousands of iterations; a curve of this many points looks the same.
MOST_POINTS = 400
MOST_ROWS = 40


def convergence(facts: Facts) -> Section:
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
