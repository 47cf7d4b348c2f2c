"""The factors: their extreme features, coefficients and shares, beside those of a plain SVD; covariates."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from superfactor.estimators.inputs import as_numpy
from superfactor.interpretation import FactorView, Matched
from superfactor.interpretation.tables import direction, extremes
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.text import (
    LONGEST_NOTE,
    compact,
    controls,
    figure,
    fixed,
    label,
    percent,
    select,
    table,
)

# Features kept of each end of a factor, fewer where there are many factors.
FEATURES_PER_END = 20
MOST_BARS = 600


def section(facts: Facts) -> Section:
    """Bars of both kinds of factors, and their tables."""
    factors = [(str(j), str(j)) for j in range(1, facts.rank + 1)]
    counts = [(str(n), str(n)) for n in (5, 10, 20) if n <= per_end(facts.rank)]
    html = (
        _explanation(facts.classes[0], facts.estimator.link == "logistic")
        + figure(
            "factors",
            "Right, in blue: the high end of a factor; left, in orange: its low end. Weights are "
            "scaled so that the largest of each factor is 1 or −1; a star marks a known marker. "
            "Point at a bar, or move through the bars with the arrow keys, for exact values.",
            controls(
                select("factor", "Factor", [("all", "all"), *factors]),
                select("per-end", "Features at each end", counts),
                select(
                    "compare",
                    "Show",
                    [
                        ("both", "supervised beside plain SVD"),
                        ("supervised", "supervised only"),
                        ("plain", "plain SVD only"),
                    ],
                ),
            ),
            kind="long",
        )
        + "<h3>Supervised factors</h3>"
        + _factor_table("Learned together with the classifier", facts.view, facts.classes)
        + _covariates(facts)
        + "<h3>Plain SVD, for comparison</h3><p>The same number of factors of the same data, found "
        "without the labels; a regression on the labels then reads them. Each stands beside the "
        "supervised factor it is paired with, in its sign, and keeps the number of its own order. "
        "Similarity is the cosine between the two: 1 where supervision has changed nothing.</p>"
        + _plain_table(facts.plain, facts.classes)
    )
    payload = {
        "supervised": _payload(facts.view, facts.markers),
        "plain": [
            factor | {"number": int(number), "similarity": fixed(float(similarity), 2)}
            for factor, number, similarity in zip(
                _payload(facts.plain.view, facts.markers),
                facts.plain.number,
                facts.plain.similarity,
                strict=True,
            )
        ],
    }
    return Section("factors", "Factors", "What the factors are made of", html, payload)


def per_end(rank: int) -> int:
    """How many features the page has of each end."""
    return min(FEATURES_PER_END, max(MOST_BARS // rank, 5))


def _explanation(base: str, logistic: bool) -> str:
    what = "log-odds" if logistic else "score"
    return (
        "<p>A factor is a weighted combination of features. Samples that are high on it have more of "
        "the features at its upper end and less of those at its lower end. A coefficient says what one "
        f"standard deviation more of the factor adds to the {what} of a class against "
        f"<b>{escape(base)}</b>, the class the others are compared with. The most predictive factor "
        "comes first, and its sign is such that its largest coefficient is positive.</p>"
    )


def _factor_table(caption: str, view: FactorView, classes: list[str]) -> str:
    rows = [[str(j + 1), *_cells(view, j, classes)] for j in range(len(view.weights))]
    head = ["Factor", "Share of variance", *classes[1:], "Direction"]
    caption = f"{caption}; coefficients against “{classes[0]}”"
    return table(caption, head, rows, numbers=range(1, 1 + len(classes)), kind="coefficients")


def _plain_table(plain: Matched, classes: list[str]) -> str:
    rows = [
        [str(number), str(beside + 1), fixed(float(alike), 2), *_cells(plain.view, j, classes)]
        for j, (number, beside, alike) in enumerate(
            zip(plain.number, plain.beside, plain.similarity, strict=True)
        )
    ]
    head = ["SVD factor", "Beside factor", "Similarity"]
    head += ["Share of variance", *classes[1:], "Direction"]
    caption = f"Found without the labels; coefficients against “{classes[0]}”"
    return table(caption, head, rows, numbers=range(1, 3 + len(classes)), kind="coefficients")


def _cells(view: FactorView, j: int, classes: list[str]) -> list[str]:
    """Share, coefficients and direction of factor j."""
    coef = view.coef[:, j]
    numbers = [percent(float(view.share[j])), *(fixed(float(c), 2) for c in coef)]
    return [*numbers, direction(coef, classes, classes[1:])]


def _covariates(facts: Facts) -> str:
    """Their coefficients, where there are any."""
    if not facts.covariates:
        return ""
    coef = np.asarray(as_numpy(facts.estimator.covariate_coef_), dtype=float)
    rows = [
        [name, *(fixed(float(c), 3) for c in effects)]
        for name, effects in zip(facts.covariates, coef.T, strict=True)
    ]
    what = "log-odds" if facts.estimator.link == "logistic" else "score"
    passed = (
        " Covariates among the columns of the table pass the preprocessing: after a StandardScaler "
        "their unit is one standard deviation."
        if facts.steps and facts.estimator.covariate_columns_
        else ""
    )
    return (
        f"<h3>Covariates</h3><p>What one unit more of a covariate adds to the {what} of a class while "
        f"the factors stay the same, shrunk by the ridge λ like all coefficients.{passed}</p>"
        + table(
            f"Beside the factors; coefficients against “{facts.classes[0]}”",
            ["Covariate", *facts.classes[1:]],
            rows,
            numbers=range(1, len(facts.classes)),
        )
    )


def _payload(view: FactorView, markers: Mapping[str, str]) -> list[dict[str, Any]]:
    factors = []
    for j, scaled in enumerate(view.scaled):
        high, low = (
            [_bar(view, j, i, markers) for i in end]
            for end in extremes(scaled, per_end(len(view.scaled)))
        )
        share = percent(float(view.share[j]))
        factors.append({"share": share, "coef": compact(view.coef[:, j]), "high": high, "low": low})
    return factors


def _bar(view: FactorView, factor: int, feature: int, markers: Mapping[str, str]) -> list[Any]:
    """Name, scaled weight, weight in the units of the fit, and the marker's note where there is one."""
    name = view.features[feature]
    bar = [label(name), *compact([view.scaled[factor, feature], view.weights[factor, feature]])]
    return [*bar, label(markers[name], LONGEST_NOTE)] if name in markers else bar
