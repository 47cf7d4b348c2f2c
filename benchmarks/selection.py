"""A search over rank and weights against fits of the plain pipeline, and against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks import data, measure
from benchmarks.methods import svd_and_regression
from superfactor import SMFClassifier, SMFClassifierCV

# t of ξ = t·n·log 2/‖X‖² and of λ = t·σ₁² (filter) or t (feature): the default grids and a step beyond.
XI_STEPS = {"filter": (0.01, 0.1, 1.0), "feature": (0.1, 1.0, 10.0)}
LAM_STEPS = {"filter": (1e-4, 1e-3, 1e-2), "feature": (1e-3, 1e-2, 1e-1)}


def search(quick: bool = False) -> list[dict[str, Any]]:
    """181 × 12,533, 18 candidates, 5 folds: time in fits of the pipeline, and the choice."""
    X, y = data.microarray(181, 12533, 8)
    sigma = np.linalg.svd(X, compute_uv=False)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    repeats = 3 if quick else 7
    pipeline = measure.seconds(lambda: svd_and_regression(8).fit(X, y), 3 * repeats)
    rows = []
    for model in ("filter", "feature"):
        unit = sigma[0] ** 2 if model == "filter" else 1.0
        grid = {
            "n_components": [2, 8],
            "xi": [t * len(y) * np.log(2) / (sigma**2).sum() for t in XI_STEPS[model]],
            "lam": [t * unit for t in LAM_STEPS[model]],
        }
        for scoring in ("accuracy", "neg_log_loss"):
            ours = SMFClassifierCV(**grid, model=model, preprocess=None, cv=folds, scoring=scoring)
            brute = GridSearchCV(SMFClassifier(model=model), grid, cv=folds, scoring=scoring)
            # Not in turns with the pipeline: a search changes the number of BLAS threads.
            seconds = {}
            for jobs in (1, 2):
                ours.set_params(n_jobs=jobs)
                seconds[jobs] = measure.seconds(lambda s=ours: s.fit(X, y), repeats)
            brute.fit(X, y)
            scores = [s.cv_results_["mean_test_score"] for s in (ours, brute)]
            rows.append(
                {
                    "model": model,
                    "scoring": scoring,
                    "seconds": seconds[1],
                    "seconds, 2 jobs": seconds[2],
                    "pipeline fits": seconds[1] / pipeline,
                    "pipeline fits, 2 jobs": seconds[2] / pipeline,
                    "asked at most": 12,
                    "same choice": bool(ours.best_index_ == brute.best_index_),
                    "scores differ by": float(np.abs(scores[0] - scores[1]).max()),
                }
            )
    return rows
