"""Features: stable features, relation to the outcome, a heat map, and the top features of all factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.interpretation.roles import BACKGROUND
from superfactor.interpretation.tables import ENDS, extremes
from superfactor.report.facts import Facts
from superfactor.report.formats import LONGEST_NOTE, NONE, deviations, label
from superfactor.report.section import Section
from superfactor.report.sections.factors import per_end
from superfactor.report.sections.heat_map import FARTHEST, heat_map
from superfactor.report.sections.samples import thinned
from superfactor.report.sections.single_features import effects, markers, stable
from superfactor.report.sections.stability import frequencies

# Limits of the heat map.
MOST_ROWS = 40
MOST_COLUMNS = 240
# Levels of colour on either side of the middle.
LEVELS = 8


def section(facts: Facts) -> Section:
    """Return the top features of each factor, the heat map and the results of single features."""
    returned, view, most, rows = frequencies(facts), facts.view, per_end(facts.rank), []
    weights = view.shown("weight")
    for j, row in enumerate(view.correlations):
        for end, positions in zip(ENDS, extremes(row, most), strict=True):
            for rank, i in enumerate(positions, start=1):
                name = view.features[i]
                rows.append(
                    {
                        "name": label(name),
                        "factor": j + 1,
                        "end": end,
                        "rank": rank,
                        "correlation": float(row[i]),
                        "scaled": float(weights[j, i]),
                        "weight": float(view.weights[j, i]),
                        "disagrees": bool(view.disagree[j, i]),
                        "returns": returned.get((j + 1, end, name), ("", "")),
                        "note": label(facts.markers[name], LONGEST_NOTE) if name in facts.markers else "",
                    }
                )
    shown = _heat_map(facts)
    content = {
        "per_end": most,
        "rows": rows,
        "returned": bool(returned),
        "shuffled": any(by_chance != NONE for _, by_chance in returned.values()),
        "heat_map": shown["content"],
        "but_background": len(set(facts.roles)) > 1 and BACKGROUND in facts.roles,
        "separates": facts.separates,
    }
    if facts.feature_results is not None:
        own = facts.feature_results
        content |= {"stable": stable(own), "effects": effects(facts, own)}
        if own.markers is not None:
            content["markers"] = markers(facts, own)
    payload = {"heatMap": shown["payload"]}
    return Section("features", "Features", facts.page.features_heading, content, payload)


def _heat_map(facts: Facts) -> dict[str, Any]:
    chosen = _heat_features(facts)
    kept = thinned(facts.page.sorts(facts.train.truth), MOST_COLUMNS)
    X = facts.factorized[:, chosen][kept]
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    found = heat_map(X)
    levels = np.rint(np.clip(found.values / FARTHEST, -1, 1) * LEVELS).astype(int)
    samples = kept[found.columns]
    parts = [(name, inside[kept]) for name, inside in facts.page.parts(facts.train.truth, facts.names)]
    means = np.array([X[inside].mean(axis=0) for _, inside in parts]).reshape(
        len(parts), X.shape[1]
    )  # (c, k)
    spread = X.std(axis=0)
    means = (means - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    payload = {
        "features": [label(facts.view.features[chosen[i]]) for i in found.rows],
        "samples": [facts.train.ids[i] for i in samples],
        "classes": facts.page.colours(facts.train.truth[samples]),
        # One letter per cell: "a" is the lowest level.
        "levels": ["".join(chr(ord("a") + LEVELS + level) for level in row) for row in levels],
        "steps": LEVELS,
        "farthest": FARTHEST,
        "means": [[deviations(m) for m in means[:, i]] for i in found.rows],
        "rowTree": np.round(found.row_tree, 3).tolist(),
        "columnTree": np.round(found.column_tree, 3).tolist(),
    }
    if facts.groups != facts.names:
        payload["parts"] = [name for name, _ in parts]
    content = {"features": len(chosen), "samples": len(kept), "total": len(facts.train), "farthest": FARTHEST}
    return {"content": content, "payload": payload}


def _heat_features(facts: Facts) -> Any:
    """Return positions of top features of all factors, without background factors unless all are."""
    included = [role != BACKGROUND for role in facts.roles]
    ends = [
        end
        for row, own in zip(facts.view.correlations, included, strict=True)
        if own or not any(included)
        for end in extremes(row, MOST_ROWS // 2)
    ]
    chosen: dict[int, None] = {}
    for place in range(MOST_ROWS // 2):
        for end in ends:
            if place < len(end) and len(chosen) < MOST_ROWS:
                chosen[int(end[place])] = None
    return np.array(list(chosen) or [0])
