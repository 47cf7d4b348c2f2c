"""Estimators as they come, on every shape: ξ and λ are "auto", the rank is the number of classes.

Real tables are taken where SUPERFACTOR_DATA_DIR has them, planted ones of the same shape elsewhere. One
core. "pipelines" is the time of a whole fit, certificate included, in fits of PCA (of sparse X
TruncatedSVD) + logistic regression of the same rank, in the same process.

`searches` has the searches as they come, of classes and of numbers (one column of the table from the others).
"searches" is their CPU time in grid searches of the pipeline, standardised as they do it, with as many
candidates and the same folds; both are chosen by the default score of the search.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import data
from benchmarks.methods import MODELS, svd_and_regression
from reproduction.data import VARIABLE
from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressorCV


@dataclass(frozen=True)
class Table:
    """X (n, p), dense or CSR, and y (n,)."""

    name: str
    X: Any
    y: Any

    @property
    def rank(self) -> int:
        return len(np.unique(self.y))


def tables() -> Iterator[Table]:
    """Sparse text, digits, microarrays, tall and square tables."""
    yield _text(1993, 4862)
    yield _relathe()
    yield _text(1943, 3289)
    yield Table("digits 1,797 × 64, 10 classes", *data.real("digits"))
    yield _planted(700, 765, 10, 10, uneven=0.3)
    for n, p in ((72, 6833), (168, 2905), (181, 12264)):
        yield _planted(n, p, 4, 2)
    yield _nci60()
    yield _planted(20_000, 200, 10, 2)
    yield _planted(20_000, 200, 10, 10)
    yield _planted(3000, 3000, 10, 5)


def defaults(quick: bool = False) -> list[dict[str, Any]]:
    """A row for each table and model."""
    chosen = [_planted(60, 30, 3, 2)] if quick else tables()
    return [row for table in chosen for row in compare(table)]


def compare(table: Table) -> Iterator[dict[str, Any]]:
    """The rows of one table."""
    plain = (
        svd_and_regression(table.rank)
        if sp.issparse(table.X)
        else make_pipeline(PCA(table.rank), LogisticRegression())
    )
    with one_core(), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = shortest(lambda: plain.fit(table.X, table.y))
        for model in MODELS:
            ours = SMFClassifier(table.rank, model=model)
            spent = shortest(lambda ours=ours: ours.fit(table.X, table.y))
            yield {
                "table": table.name,
                "model": model,
                "fit s": spent,
                "PCA + LR s": pipeline,
                "pipelines": spent / pipeline,
                "iterations": int(ours.n_iter_),
                "objective": float(ours.objective_),
                "proven": bool(ours.certificate_.is_global),
                "gap": float(ours.certificate_.relative_gap),
            }


@contextmanager
def one_core() -> Iterator[None]:
    """This process on one of its cores, where that can be had: a fit has as many threads as cores."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def searches(quick: bool = False) -> list[dict[str, Any]]:
    """A row for each table and kind of y."""
    return [search_beside_grid(table) for table in ([*_small()] if quick else searched_tables())]


def searched_tables() -> Iterator[Table]:
    """Sparse and dense ones, tall and wide, with few classes, many, and numbers."""
    chosen = [
        _text(3576, 5000),
        _text(1943, 3289),
        _relathe(),
        Table("digits 1,797 × 64, 10 classes", *data.real("digits")),
        _planted(700, 765, 10, 10, uneven=0.3),
        _planted(168, 2905, 4, 2),
        _planted(20_000, 200, 10, 2),
    ]
    yield from chosen
    yield from map(one_column, chosen)


def _small() -> Iterator[Table]:
    dense = _planted(60, 20, 3, 3)
    sparse = Table("text 60 × 130, 3 classes", data.postings(60, 130, fill=0.1)[0], dense.y)
    yield from (dense, sparse, one_column(dense), one_column(sparse))


def one_column(table: Table) -> Table:
    """The column whose numbers are largest, to be predicted from the others.

    Of standardised columns that is no rare one, which might be constant in a fold.
    """
    X, name = table.X, f"{table.name.rpartition(', ')[0] or table.name}, a column"
    most = int(np.argmax(np.asarray(abs(X).mean(axis=0)).ravel()))
    others = np.arange(X.shape[1]) != most
    y = X[:, [most]]
    return Table(name, X[:, others], np.asarray(y.toarray() if sp.issparse(y) else y).ravel())


def search_beside_grid(table: Table) -> dict[str, Any]:
    """The row of one table."""
    numbers = table.y.dtype.kind == "f"
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = SMFRegressorCV() if numbers else SMFClassifierCV()
        spent = shortest(lambda: own.fit(table.X, table.y), most=3, clock=process_time)
        grid = plain_search(own, sp.issparse(table.X))
        plain = shortest(lambda: grid.fit(table.X, table.y), most=3, clock=process_time)
    return {
        "table": table.name,
        "kind": "numbers" if numbers else "classes",
        "candidates": len(own.cv_results_["params"]),
        "seconds": spent,
        "grid search s": plain,
        "searches": spent / plain,
        "last fit s": float(own.refit_time_),
        "score": float(own.best_score_),
        "grid search score": float(grid.best_score_),
    }


def plain_search(own: Any, sparse: bool) -> GridSearchCV:
    """That of PCA + regression with the ranks, the number of candidates and the folds of a fitted search."""
    candidates = own.cv_results_["params"]
    ranks = sorted({candidate["n_components"] for candidate in candidates})
    each = len(candidates) // len(ranks)
    if isinstance(own, SMFRegressorCV):
        regression, scoring = ("ridge", Ridge()), "r2"
        strengths = {"ridge__alpha": np.logspace(-2, 3, each)}
    else:
        regression, scoring = ("logistic", LogisticRegression()), "neg_log_loss"
        strengths = {"logistic__C": np.logspace(-3, 2, each)}
    pca = TruncatedSVD() if sparse else PCA()
    steps = [("scale", StandardScaler(with_mean=not sparse)), ("pca", pca), regression]
    ranked = {"pca__n_components": ranks, **strengths}
    return GridSearchCV(Pipeline(steps), ranked, cv=own.n_splits_, scoring=scoring)


def shortest(
    job: Callable[[], Any], budget: float = 2.0, most: int = 7, clock: Callable[[], float] = perf_counter
) -> float:
    """The least seconds of at least two runs, and of more while the budget lasts."""
    times: list[float] = []
    while len(times) < most and (len(times) < 2 or sum(times) < budget):
        start = clock()
        job()
        times.append(clock() - start)
    return min(times)


def _planted(n: int, p: int, rank: int, classes: int, **options: Any) -> Table:
    X, y = data.microarray(n, p, rank, classes=classes, **options)
    return Table(f"{n:,} × {p:,}, {classes} classes", StandardScaler().fit_transform(X), y)


def _text(n: int, p: int) -> Table:
    """Words of job postings, those of the rarer class first; or planted topics."""
    name = f"text {n:,} × {p:,}, 2 classes"
    kept = _kept("fake_jobs_description_counts.npz")
    if kept is None:
        return Table(name, *data.postings(n, p, fill=0.01))
    X = sp.csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])).astype(
        float
    )
    rows = np.sort(np.argsort(-kept["y"], kind="stable")[:n])
    words = np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")[:p])
    return Table(name, sp.csr_array(X[rows][:, words]), kept["y"][rows])


def _relathe() -> Table:
    """Words of newsgroups about religion and atheism; or planted topics."""
    kept = _kept("relathe_text_1427x4322.npz")
    if kept is None:
        return Table("text 1,427 × 4,322, 2 classes", *data.postings(1427, 4322, fill=0.01))
    return Table("newsgroups 1,427 × 4,322, 2 classes", sp.csr_array(kept["X"].astype(float)), kept["y"])


def _nci60() -> Table:
    """Cell lines of 14 tissues; or planted classes."""
    kept = _kept("nci60_64x6830.npz")
    if kept is None:
        return _planted(64, 6830, 14, 14)
    X = StandardScaler().fit_transform(kept["X"].astype(float))
    return Table("NCI-60 64 × 6,830, 14 classes", X, kept["y"])


def _kept(name: str) -> Any:
    """The arrays of a file, None where it is not at hand."""
    file = Path(os.environ.get(VARIABLE) or ".") / name
    return np.load(file) if file.exists() else None
