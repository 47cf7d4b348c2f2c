"""What the methods are compared on: planted signal at the paper's sizes, and real tables.

Planted data is drawn large enough to hold samples out: the methods learn from as many as the paper has.
The weights are ξ = 1 and λ = 0.1, both of the paper's grid. Against noise of variance one the
reconstruction then outweighs the labels by far, so that one case has ξ = n·log 2/‖X‖² instead, where
both weigh the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import svds
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import data

# The paper's ranks by a part of the name; 8 where it has none.
RANKS = {"GSE16515": 2, "GSE70947": 16}


@dataclass(frozen=True)
class Case:
    """X (n, p) dense or CSR and y (n,) in 0…κ to learn from, others to be right about, and the problem."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    rank: int
    xi: float = 1.0
    lam: float = 0.1

    def unsupervised(self) -> float:
        """ξΣ_{i>r}σ_i²: the part of the objective that no supervision can change."""
        values = self.X.data if hasattr(self.X, "toarray") else self.X
        leading = svds(self.X, k=self.rank, return_singular_vectors=False, random_state=0)
        return float(self.xi * ((values**2).sum() - (leading**2).sum()))


def planted(quick: bool = False) -> Iterator[Case]:
    """Those of the paper's sizes, or small ones."""
    return (make() for make in (_SMALL if quick else _PAPER))


def dense(n: int, p: int, rank: int, held_out: int = 500, balanced: bool = False, classes: int = 2) -> Case:
    """Low rank and noise, with as many samples held out; `balanced` weighs X like the labels."""
    X, y = data.microarray(n + held_out, p, rank, classes=classes)
    xi = n * np.log(classes) / float((X[:n] ** 2).sum()) if balanced else 1.0
    name = f"{p:,} × {n:,}, rank {rank}" + (", balanced" if balanced else "")
    name += f", {classes} classes" if classes > 2 else ""
    return Case(name, X[:n].copy(), y[:n], X[n:].copy(), y[n:], rank, xi)


def sparse(n: int, p: int, rank: int, held_out: int = 2000) -> Case:
    """Rows of unit length from topics."""
    X, y = data.postings(n + held_out, p)
    name = f"{p:,} × {n:,} sparse, rank {rank}"
    return Case(name, X[:n], y[:n], X[n:], y[n:], rank)


def real() -> Iterator[Case]:
    """What is at hand of microarrays, standardised by the half that is learned from, and job postings."""
    from reproduction.data import DataNotFound, find_microarrays, load_job_postings, load_microarray

    for name in find_microarrays():
        table = load_microarray(name).log2()
        rank = next((r for part, r in RANKS.items() if part in table.name), 8)
        codes = np.unique(table.y, return_inverse=True)[1]
        X, X_test, y, y_test = _halves(np.asarray(table.X, float), codes)
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        yield Case(f"{_shape(table.name, X)}, rank {rank}", X, y, X_test, y_test, rank)
    try:
        postings = load_job_postings()
    except DataNotFound:
        return
    X, X_test, y, y_test = _halves(postings.X, postings.y)
    yield Case(f"{_shape('job postings', X)}, rank 20", X, y, X_test, y_test, 20)


def _halves(X: Any, y: Any) -> list[Any]:
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def _shape(name: str, X: Any) -> str:
    return f"{name} {X.shape[1]:,} × {X.shape[0]:,}"


_PAPER: tuple[Callable[[], Case], ...] = (
    partial(dense, 51, 54676, 2),
    partial(dense, 289, 35982, 16),
    partial(sparse, 17880, 2480, 20),
    partial(dense, 500, 784, 2),
    partial(dense, 500, 784, 2, balanced=True),
)
_SMALL: tuple[Callable[[], Case], ...] = (partial(dense, 40, 400, 2), partial(sparse, 40, 100, 2, 40))
