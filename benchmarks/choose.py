"""superfactor beside its nearest relatives: who is right on new samples, and whose factors say more of X.

Real tables, 2 and 5 factors, the same five outer folds for all, every method tuned in the same three inner
folds among eight candidates by balanced accuracy. Dense tables are standardised by the outer training part,
words are TF-IDF. "variance" is the share of the variance
of held-out X that the codes explain, with loadings from least squares on the training part: so all codes are
read in the same way, and none can gain by fitting noise. "CPU s" is processor time of one tuned fit, final
fit and certificate included, on one thread.

Four tables come with scikit-learn and superfactor, the cells with scanpy; SUPERFACTOR_DATA_DIR says where
microarrays and job postings are. Who is not installed or refuses a table has a note. MOFA-FLEX, which takes
half a minute a fit, is not tuned, and is for small tables only: `python -m benchmarks guided`.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.relatives import ANY_RANK, GUIDED, METHODS, Guided, installed
from reproduction.data import DataNotFound, find_microarrays, load_job_postings, load_microarray
from superfactor.datasets import load_prostate

RANKS = (2, 5)
SMALL = 30_000  # entries of a table that MOFA-FLEX gets
WORDS = 5000


@dataclass(frozen=True)
class Table:
    """X (n, p), dense or CSR, and labels 0…κ (n,)."""

    name: str
    X: Any
    y: np.ndarray

    @property
    def title(self) -> str:
        """Name and shape."""
        n, p = self.X.shape
        return f"{self.name}, {n:,} × {p:,}"


def choose(quick: bool = False) -> list[dict[str, Any]]:
    """A row for each table, number of factors and method."""
    rows = []
    for table in [_first(next(tables()), 120)] if quick else tables():
        same = {name: _row(table, RANKS[0], name) for name in ANY_RANK}
        for rank in RANKS[:1] if quick else RANKS:
            for name in METHODS:
                row = same[name] if name in same else _row(table, rank, name)
                rows.append(row | {"case": f"{table.title}, {rank} factors", "rank": rank})
    return rows


def guided(quick: bool = False) -> list[dict[str, Any]]:
    """The same of MOFA-FLEX on small tables, not tuned."""
    rows = []
    for table in [_first(next(tables()), 60)] if quick else tables():
        if table.X.shape[0] * table.X.shape[1] <= SMALL:
            rows += [_row(table, rank, GUIDED) for rank in RANKS]
    return rows


def tables() -> Iterator[Table]:
    """What is at hand, what takes long last."""
    for name, load in (("breast cancer", load_breast_cancer), ("wine", load_wine), ("digits", load_digits)):
        yield _table(name, *load(return_X_y=True))
    prostate = load_prostate()
    yield _table("prostate (bundled)", prostate.X, prostate.y)
    if importlib.util.find_spec("scanpy"):
        yield _cells()
    for file in find_microarrays():
        found = load_microarray(file).log2()
        name = next((label for part, label in ARRAYS.items() if part in found.name), found.name)
        yield _table(name, np.asarray(found.X, dtype=float), found.y)
    try:
        postings = load_job_postings(n_words=WORDS)
    except DataNotFound:
        return
    yield _table("job postings (sparse)", sp.csr_array(postings.X), postings.y)


ARRAYS = {
    "GSE16515": "pancreas",
    "alon": "colon",
    "chowdary": "breast/colon",
    "pomeroy": "brain tumours, outcome",
    "singh": "prostate (all genes)",
}


def _cells() -> Table:
    import scanpy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scanpy.datasets.pbmc68k_reduced()
    return _table("blood cells", np.asarray(found.X, dtype=float), found.obs["bulk_labels"])


def _table(name: str, X: Any, y: Any) -> Table:
    return Table(name, X, np.unique(np.asarray(y), return_inverse=True)[1])


def _first(table: Table, n: int) -> Table:
    return Table(table.name, table.X[:n], table.y[:n])


def _row(table: Table, rank: int, method: str) -> dict[str, Any]:
    """Means over the outer folds."""
    row: dict[str, Any] = {"case": f"{table.title}, {rank} factors", "table": table.title}
    row |= {"rank": rank, "method": method}
    folds: list[dict[str, float]] = []
    if not installed(method):
        return row | _means(folds, "not installed")
    note = None
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(table.y, table.y):
            try:
                folds.append(_fold(table, rank, method, train, test))
            except (TypeError, ValueError) as error:
                asked_for_dense = any(word in str(error).lower() for word in ("sparse", "ndarray"))
                if not (sp.issparse(table.X) and asked_for_dense):
                    raise
                note = "dense X only"
                break
    row |= _means(folds, note)
    print(row, file=sys.stderr, flush=True)  # a benchmark of many minutes says where it is
    return row


def _means(folds: list[dict[str, float]], note: str | None) -> dict[str, Any]:
    keys = ("accuracy", "variance", "CPU s")
    found = {key: [fold[key] for fold in folds if fold[key] is not None] for key in keys}
    means = {key: float(np.mean(values)) if values else None for key, values in found.items()}
    return means | {"note": note}


def _fold(table: Table, rank: int, method: str, train: Any, test: Any) -> dict[str, Any]:
    X, X_test, y = table.X[train], table.X[test], table.y
    if not sp.issparse(X):
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    model = Guided(rank) if method == GUIDED else METHODS[method](rank, inner, sp.issparse(X))
    start = time.process_time()
    model.fit(X, y[train])
    spent = time.process_time() - start
    right = balanced_accuracy_score(y[test], model.predict(X_test))
    codes = _codes(model)
    return {
        "accuracy": 100 * float(right),
        "variance": None if codes is None else 100 * explained(X, codes(X), X_test, codes(X_test)),
        "CPU s": spent,
    }


def _codes(model: ClassifierMixin) -> Any:
    """The function that gives the codes of samples; None where there is none to read."""
    best = getattr(model, "best_estimator_", model)
    if not hasattr(best, "steps"):
        return getattr(best, "transform", None)
    last = best.steps[-1][1]
    return best.transform if hasattr(last, "transform") else best[:-1].transform


def explained(X: Any, codes: Any, X_test: Any, codes_test: Any) -> float:
    """The share of the variance of X_test that its codes explain by the loadings of X on codes."""
    X, X_test = (A.toarray() if sp.issparse(A) else A for A in (X, X_test))
    mean, centre = X.mean(axis=0), codes.mean(axis=0)
    loadings = np.linalg.lstsq(codes - centre, X - mean, rcond=None)[0]
    left = X_test - mean - (codes_test - centre) @ loadings
    return float(1 - (left**2).sum() / ((X_test - mean) ** 2).sum())
