"""Whether the same factors and features come back when some samples are left out."""

from __future__ import annotations

import numpy as np

from superfactor.report.facts import Facts
from superfactor.report.formats import frequency, label, similarity, weight
from superfactor.report.section import Section
from superfactor.report.sections.samples import factor_names


def section(facts: Facts) -> Section | None:
    """Frequencies of the top features, and how alike the factors are."""
    found = facts.stability
    if found is None:
        return None
    quantiles = np.quantile(np.asarray(found.similarity, dtype=float), [0.1, 0.5, 0.9], axis=0).T
    features = [
        {
            "factor": int(f),
            "end": str(e),
            "name": label(n),
            "weight": weight(float(w)),
            "frequency": frequency(float(q)),
        }
        for f, e, n, w, q in zip(
            *(found.table[c] for c in ("factor", "end", "feature", "weight", "frequency")),
            strict=True,
        )
    ]
    names = factor_names(facts)
    payload = {
        "features": features,
        "names": names,
        "similarity": [[similarity(q) for q in row] for row in quantiles],
    }
    told = {
        "resamples": int(found.n_resamples),
        "rows": list(zip(names, quantiles.tolist(), strict=True)),
    }
    heading = "Whether the factors come back without some of the samples"
    return Section("stability", "Stability", heading, told, payload)


def frequencies(facts: Facts) -> dict[tuple[int, str, str], str]:
    """How often each top feature returned, by factor, end and name."""
    if facts.stability is None:
        return {}
    found = facts.stability.table
    rows = zip(found["factor"], found["end"], found["feature"], found["frequency"], strict=True)
    return {(int(f), str(e), str(n)): frequency(float(q)) for f, e, n, q in rows}
