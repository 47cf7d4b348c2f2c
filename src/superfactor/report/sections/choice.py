"""How rank and weights were chosen: the scree and the cross-validated scores."""

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
    fixed,
    label,
    number,
    percent,
    plural,
    select,
    table,
)
from superfactor.selection import Scree, scree

MOST_SINGULAR_VALUES = 50


def section(facts: Facts) -> Section:
    """Scree, and the surface of scores over (ξ, λ) where there was a search."""
    values = getattr(facts.search, "scree_", None) or _scree_of(facts)
    html = _scree(facts, values)
    payload: dict[str, Any] = {"scree": _scree_payload(facts, values)}
    if facts.search is not None:
        surfaces = _surfaces(facts.search)
        html += _search(facts.search, surfaces)
        payload["surfaces"] = surfaces
        payload["scorer"] = scorer_name(facts.search)
    return Section("choice", "Choice", "How rank and weights were chosen", html, payload)


def _scree_of(facts: Facts) -> Scree:
    X = facts.factorized
    return scree(X, n_values=min(max(MOST_SINGULAR_VALUES, facts.rank), *X.shape), center=False)


# --- rank ----------------------------------------------------------------------------------------


def _scree(facts: Facts, values: Scree) -> str:
    caption = (
        "Share of the variance of each further factor of a plain SVD. The model uses "
        f"{plural(facts.rank, 'factor')}; the curve bends after {plural(values.elbow, 'factor')}."
    )
    shown = values.share[: max(MOST_SINGULAR_VALUES, facts.rank)]
    rows = [
        [
            str(i + 1),
            number(float(values.singular_values[i])),
            percent(float(s), 2),
            percent(float(c)),
        ]
        for i, (s, c) in enumerate(zip(shown, np.cumsum(shown), strict=True))
    ]
    head = ["Factor", "Singular value", "Share of variance", "Together"]
    return (
        "<h3>Number of factors</h3>"
        + figure("scree", caption)
        + details("Scree as a table", table("Scree", head, rows, numbers=(1, 2, 3)))
    )


def _scree_payload(facts: Facts, values: Scree) -> dict[str, Any]:
    share = compact(values.share[: max(MOST_SINGULAR_VALUES, facts.rank)])
    return {"share": share, "rank": facts.rank, "elbow": int(values.elbow)}


# --- weights -------------------------------------------------------------------------------------


def scorer_name(search: Any) -> str:
    """What the search maximised, in words."""
    scoring = getattr(search, "scoring", None)
    if scoring is None:
        return "accuracy"
    if scoring == "neg_log_loss":
        return "log-likelihood"
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return label(name.replace("_", " "))


def cross_validated(facts: Facts) -> tuple[str, str, str] | None:
    """Name, value and a note of the cross-validated score; None without a search."""
    search = facts.search
    if search is None:
        return None
    name, tried = scorer_name(search), len(search.cv_results_["mean_test_score"])
    spread = float(search.cv_results_["std_test_score"][search.best_index_])
    shown = percent if name in ("accuracy", "balanced accuracy") else fixed
    note = f"± {shown(spread)} over {plural(search.n_splits_, 'split')}"
    if tried > 1:
        note += f" · best of {plural(tried, 'setting')}, so slightly high"
    return f"Cross-validated {name}", shown(float(search.best_score_)), note


def _surfaces(search: Any) -> list[dict[str, Any]]:
    """One grid of mean scores over ξ (columns) and λ (rows) for each model and rank."""
    results = search.cv_results_
    points = list(enumerate(results["params"]))
    families = dict.fromkeys((p["model"], p["n_components"]) for _, p in points)
    surfaces = []
    for model, rank in families:
        own = [(i, p) for i, p in points if (p["model"], p["n_components"]) == (model, rank)]
        xi, lam = (sorted({float(p[name]) for _, p in own}) for name in ("xi", "lam"))
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
                "xi": compact(xi),
                "lam": compact(lam),
                "mean": [compact(row) for row in mean],
                "spread": [compact(row, 2) for row in spread],
                "chosen": chosen,
            }
        )
    return surfaces


def _search(search: Any, surfaces: list[dict[str, Any]]) -> str:
    name, best = scorer_name(search), search.best_params_
    options = [
        (
            str(i),
            f"{s['model']} model, {plural(s['rank'], 'factor')}"
            + (" (chosen)" if s["chosen"] else ""),
        )
        for i, s in enumerate(surfaces)
    ]
    chosen = next((str(i) for i, s in enumerate(surfaces) if s["chosen"]), "0")
    choice = controls(select("surface", "Model", options, chosen)) if len(options) > 1 else ""
    caption = (
        f"Mean {name} over {plural(search.n_splits_, 'split')} for each weight ξ of the reconstruction and "
        f"each ridge λ. Chosen: {best['model']} model, {plural(int(best['n_components']), 'factor')}, "
        f"ξ = {number(float(best['xi']))}, λ = {number(float(best['lam']))}."
    )
    results = search.cv_results_
    scores = zip(
        results["params"],
        results["mean_test_score"],
        results["std_test_score"],
        results["rank_test_score"],
        strict=True,
    )
    rows = [
        [
            f"{p['model']}, {p['n_components']}",
            number(float(p["xi"])),
            number(float(p["lam"])),
            fixed(float(mean), 4),
            fixed(float(spread), 4),
            str(int(place)),
        ]
        for p, mean, spread, place in sorted(scores, key=lambda s: s[3])
    ]
    head = ["Model, factors", "ξ", "λ", f"Mean {name}", "Standard deviation", "Place"]
    return (
        "<h3>Cross-validation</h3>"
        + figure("surface", caption, choice)
        + details(
            "All settings as a table", table("Cross-validation", head, rows, numbers=range(1, 6))
        )
    )
