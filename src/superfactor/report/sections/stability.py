"""The stability of factors and features if some samples are left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.report.facts import Facts
from superfactor.report.formats import correlation, frequency, label, similarity
from superfactor.report.section import Section
from superfactor.report.sections.samples import factor_names


def section(facts: Facts) -> Section | None:
    """Return frequencies of top features and similarities of factors, with those of shuffled outcomes."""
    found = facts.stability
    if found is None:
        return None
    features = [
        {
            "factor": row["factor"],
            "end": row["end"],
            "name": label(row["feature"]),
            "correlation": correlation(row["correlation"]),
            "frequency": frequency(row["frequency"]),
            "shuffled": frequency(row["frequency_shuffled"]),
        }
        for row in found.table.to_dict("records")
    ]
    own, null = _quantiles(found.similarity), found.similarity_shuffled
    by_chance = [None] * len(own) if null is None else _quantiles(null)
    returns = found.table.groupby("factor")[["frequency", "frequency_shuffled"]].mean()
    names = factor_names(facts)
    payload = {
        "features": features,
        "names": names,
        "similarity": [[similarity(q) for q in row] for row in own],
        "shuffled": [None if row is None else similarity(row[1]) for row in by_chance],
    }
    content = {
        "resamples": int(found.n_resamples),
        "shuffled": null is not None,
        "rows": list(zip(names, own, by_chance, returns.to_numpy().tolist(), strict=True)),
    }
    heading = "Stability of the factors over subsamples"
    return Section("stability", "Stability", heading, content, payload)


def _quantiles(similarities: Any) -> list[list[float]]:
    """Return the 10 %, 50 % and 90 % quantiles of each column of (m, r)."""
    found = np.quantile(np.asarray(similarities, dtype=float), [0.1, 0.5, 0.9], axis=0)
    return [[float(x) for x in column] for column in found.T]


def frequencies(facts: Facts) -> dict[tuple[int, str, str], tuple[str, str]]:
    """Return the frequency of each top feature, with real and shuffled outcomes, by factor, end and name."""
    rows = [] if facts.stability is None else facts.stability.table.to_dict("records")
    return {
        (row["factor"], row["end"], row["feature"]): (
            frequency(row["frequency"]),
            frequency(row["frequency_shuffled"]),
        )
        for row in rows
    }
