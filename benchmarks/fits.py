"""Whole fits, from raw X to fitted attributes, against the peers."""

from __future__ import annotations

from typing import Any

from benchmarks import data, measure, peers
from superfactor import SMFClassifier

MODELS = ("filter", "feature")


def wide(quick: bool = False) -> list[dict[str, Any]]:
    """The paper's two microarray sizes."""
    rows = []
    for n, p, rank, asked in ((51, 54676, 2, (3000, 0.5)), (289, 35982, 16, (2000, 0.8))):
        X, y = data.microarray(n, p, rank)
        jobs = {"pipeline": lambda X=X, y=y, r=rank: peers.pipeline(X, y, r)}
        for model in MODELS:
            jobs[model] = lambda X=X, y=y, r=rank, m=model: SMFClassifier(r, model=m).fit(X, y)
        times = measure.side_by_side(jobs, 3 if quick else 9)
        for model in MODELS:
            release = 1000 * peers.released_seconds_per_iteration(X, y, rank, model)
            fit = SMFClassifier(rank, model=model).fit(X, y)
            rows.append(
                {
                    "features x samples": f"{p:,} x {n}",
                    "rank": rank,
                    "model": model,
                    "seconds": times[model],
                    "of pipeline": times[model] / times["pipeline"],
                    "asked at most": asked[1],
                    "times faster than release": release / times[model],
                    "asked at least": asked[0],
                    "iterations": fit.n_iter_,
                    "relative gap": fit.certificate_.relative_gap,
                }
            )
    return rows


def sparse(quick: bool = False) -> list[dict[str, Any]]:
    """17,880 × 2,480, 3 % filled, rank 20."""
    X, y = data.postings()
    rank, rows = 20, []
    jobs = {"pipeline": lambda: peers.pipeline(X, y, rank)}
    for model in MODELS:
        jobs[model] = lambda m=model: SMFClassifier(rank, model=m).fit(X, y)
    times = measure.side_by_side(jobs, 1 if quick else 5)
    for model, asked in zip(MODELS, (3, 5), strict=True):
        fit = SMFClassifier(rank, model=model).fit(X, y)
        rows.append(
            {
                "model": model,
                "filled": X.nnz / (X.shape[0] * X.shape[1]),
                "seconds": times[model],
                "of pipeline": times[model] / times["pipeline"],
                "asked at most": asked,
                "peak MB": measure.peak_megabytes(jobs[model]),
                "asked MB": 300,
                "iterations": fit.n_iter_,
                "relative gap": fit.certificate_.relative_gap,
            }
        )
    return rows


def imports(quick: bool = False) -> list[dict[str, Any]]:
    """What `import superfactor` adds to scikit-learn's linear models."""
    base = "import sklearn.linear_model"
    return [
        {
            "sklearn.linear_model": measure.import_seconds(base),
            "adds": measure.import_seconds("import superfactor", base),
            "adds, with SMFClassifier": measure.import_seconds(
                "from superfactor import SMFClassifier", base
            ),
            "asked at most": 0.2,
        }
    ]
