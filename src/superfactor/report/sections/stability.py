"""Whether the same factors and features come back when some samples are left out."""

from __future__ import annotations

import numpy as np

from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.text import compact, figure, fixed, label, plural, table


def section(facts: Facts) -> Section | None:
    """Frequencies of the top features, and how alike the factors are."""
    found = facts.stability
    if found is None:
        return None
    similarity = np.asarray(found.similarity, dtype=float)
    low, middle, high = np.quantile(similarity, [0.1, 0.5, 0.9], axis=0)
    rows = [
        [str(j + 1), fixed(middle[j], 2), f"{fixed(low[j], 2)} to {fixed(high[j], 2)}"]
        for j in range(similarity.shape[1])
    ]
    features = [
        {"factor": int(f), "end": str(e), "name": label(n), "weight": w, "frequency": q}
        for f, e, n, w, q in zip(
            found.table["factor"],
            found.table["end"],
            found.table["feature"],
            compact(found.table["weight"]),
            compact(found.table["frequency"]),
            strict=True,
        )
    ]
    caption = (
        f"The model was refitted on {plural(int(found.n_resamples), 'resample')}, parts of the training "
        "samples. Bars: how often a feature is again among the top features of the same end of the same "
        "factor (blue: high end, orange: low end). The similarity of a factor is the |cosine| with its "
        "counterpart in the refits: 1 is the same factor."
    )
    html = (
        figure("stability", caption, kind="long")
        + "<h3>Similarity of the factors</h3>"
        + table(
            "|Cosine| between a factor and its counterparts",
            ["Factor", "Median |cosine|", "10 % to 90 %"],
            rows,
            numbers=(1, 2),
        )
    )
    payload = {
        "features": features,
        "similarity": [compact(q, 3) for q in zip(low, middle, high, strict=True)],
    }
    return Section(
        "stability",
        "Stability",
        "Whether the factors come back without some of the samples",
        html,
        payload,
    )


def frequencies(facts: Facts) -> dict[tuple[int, str, str], str]:
    """How often each top feature returned, by factor, end and name."""
    if facts.stability is None:
        return {}
    found = facts.stability.table
    rows = zip(found["factor"], found["end"], found["feature"], found["frequency"], strict=True)
    return {(int(f), str(e), str(n)): fixed(float(q), 2) for f, e, n, q in rows}
