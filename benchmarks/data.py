"""Data for the benchmarks: random with planted signal at the paper's sizes, and scikit-learn's own."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler


def microarray(
    n: int, p: int, rank: int, seed: int = 0, classes: int = 2, uneven: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """X (n, p) = low rank + noise; y read off the last factor, or off all of them where classes are many.

    Each of many classes is favoured by `uneven` more than the one before.
    """
    rng = np.random.default_rng(seed)
    codes, atoms = rng.standard_normal((n, rank)), rng.standard_normal((p, rank))
    X = 0.5 * codes @ atoms.T + rng.standard_normal((n, p))
    noise = 0.3 * rng.standard_normal(n)
    if classes == 2:
        return X, (codes[:, -1] + noise > 0).astype(int)
    scores = codes @ rng.standard_normal((rank, classes)) + uneven * np.arange(classes)
    return X, (scores + noise[:, None]).argmax(axis=1)


def postings(n: int = 17880, p: int = 2480, fill: float = 0.03, seed: int = 0):
    """Sparse rows of unit length drawn from 20 topics, the rare class read off two of them."""
    rng = np.random.default_rng(seed)
    topics, mix = rng.dirichlet(np.full(p, 0.05), 20), rng.dirichlet(np.full(20, 0.2), n)
    common = 1 / (np.arange(p) + 10.0)
    common /= common.sum()
    rows, columns = [], []
    for i in range(n):
        chance = 0.5 * common + 0.5 * mix[i] @ topics
        words = np.unique(rng.choice(p, int(1.09 * p * fill), p=chance))
        rows.append(np.full(len(words), i))
        columns.append(words)
    row, column = np.concatenate(rows), np.concatenate(columns)
    X = sp.csr_array((1 + rng.exponential(size=len(row)), (row, column)), shape=(n, p))
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_array(sp.dia_array((1 / length[None, :], [0]), shape=(n, n)) @ X)
    y = (mix[:, 0] - mix[:, 1] + 0.1 * rng.standard_normal(n) > 0.3).astype(int)
    return X, y


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised breast-cancer or digits data."""
    bunch = load_breast_cancer() if name == "breast-cancer" else load_digits()
    return StandardScaler().fit_transform(bunch.data), bunch.target


def small_problem(seed: int):
    """A small random problem: X, one-hot targets, rank, ξ, λ, model. Seed -1 is the two-feature case."""
    if seed < 0:
        y, u = np.repeat([0, 1], 10), np.tile([1.0, -1.0], 10)
        return np.c_[3 * u, 2 * y - 1.0], y[:, None].astype(float), 1, 0.05, 0.001, "filter"
    rng = np.random.default_rng(seed)
    n, p, kappa = (int(rng.integers(8, 40)), int(rng.integers(2, 14)), int(rng.choice([1, 1, 1, 2, 3])))
    rank = min(int(rng.integers(1, min(n, p) + 1)), 4)
    X = rng.standard_normal((n, p)) * np.exp(rng.standard_normal(p) * rng.choice([0, 1, 2]))
    if rng.random() < 0.3:
        X = np.repeat(X[: max(2, n // 3)], 3, axis=0)[:n]
    score = X @ rng.standard_normal((p, kappa + 1))
    score += rng.standard_normal(score.shape) * rng.choice([0.1, 1, 5])
    y = score.argmax(axis=1)
    if len(np.unique(y)) < kappa + 1:
        y[: kappa + 1] = np.arange(kappa + 1)
    xi, lam = 10 ** rng.uniform(-3, 1), 10 ** rng.uniform(-5, 1)
    return X, np.eye(kappa + 1)[y][:, 1:], rank, xi, lam, str(rng.choice(["filter", "feature"]))
