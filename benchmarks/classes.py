"""Whole fits with more and more classes: the digits data, against the pipeline."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from benchmarks import measure
from benchmarks.methods import svd_and_regression
from superfactor import SMFClassifier

RANK, XI, LAM = 10, 0.01, 0.1


def classes(quick: bool = False) -> list[dict[str, Any]]:
    """The first 2, 3, 5 and all 10 digits, 64 standardised pixels, both models."""
    images, digits = load_digits(return_X_y=True)
    repeats = 1 if quick else 3
    rows = []
    for count in (2, 3) if quick else (2, 3, 5, 10):
        X, y = StandardScaler().fit_transform(images[digits < count]), digits[digits < count]
        pipeline = measure.seconds(lambda X=X, y=y: svd_and_regression(RANK).fit(X, y), 5 * repeats)
        for model in ("filter", "feature"):
            own = SMFClassifier(RANK, model=model, xi=XI, lam=LAM)
            spent = measure.seconds(lambda own=own, X=X, y=y: own.fit(X, y), repeats)
            rows.append(
                {
                    "classes": count,
                    "n": len(y),
                    "model": model,
                    "fit s": spent,
                    "pipeline s": pipeline,
                    "proven": bool(own.certificate_.is_global),
                }
            )
    return rows
