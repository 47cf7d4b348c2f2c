"""Fitted models and hand-made views that several test files plot."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import FactorView
from superfactor.outcomes import outcome_named


@cache
def cancer():
    """Two classes: X (569, 30) DataFrame, y strings, a fitted pipeline of rank 3."""
    data = load_breast_cancer(as_frame=True)
    return _fitted(data.data, data.target_names[data.target], 3)


@cache
def wine():
    """Three classes: X (178, 13) DataFrame, y strings, a fitted pipeline of rank 3."""
    data = load_wine(as_frame=True)
    return _fitted(data.data, data.target_names[data.target], 3)


@cache
def digits():
    """Ten classes: X (300, 61) DataFrame with long names, y strings, a model of rank 2."""
    data = load_digits(as_frame=True)
    X = data.data[:300].rename(columns=lambda name: f"mean intensity of {name} in the scanned image")
    X, y = X.loc[:, X.std() > 0], np.array([f"the digit {k}" for k in data.target[:300]])
    return X, y, SMFClassifier(2, lam=10.0, max_iter=2, tol=0, certify=None).fit(X - X.mean(), y)


def _fitted(X, y, rank):
    return X, y, make_pipeline(StandardScaler(), SMFClassifier(rank)).fit(X, y)


def made_view(rank, *, p=60, outputs=1, n=40, names=None, seed=0):
    """A view of random factors: correlations of both signs, weights that sometimes point the other way."""
    rng = np.random.default_rng(seed)
    correlations = np.tanh(rng.standard_normal((rank, p)))
    classes = tuple(f"class {k}" for k in range(outputs + 1))
    coef = rng.standard_normal((outputs, rank))
    return FactorView(
        correlations=correlations,
        patterns=correlations * rng.uniform(0.5, 2.0, p),
        weights=correlations + 0.4 * rng.standard_normal((rank, p)),
        coef=coef,
        share=rng.dirichlet(np.ones(rank + 1))[:rank],
        contribution=np.full(rank, 1 / rank),
        scores=rng.standard_normal((n, rank)),
        turn=np.eye(rank),
        center=np.zeros(rank),
        features=np.array([f"gene {i}" for i in range(p)] if names is None else names, dtype=object),
        classes=classes,
        outputs=classes[1:],
        outcome=outcome_named("classes"),
        model="filter",
        supervised=True,
    )


ODD_NAMES = [
    "α-synuclein (ΔG₀ₓ) β→γ transition, mitochondrial membrane associated variant 2",
    "_hidden",
    "$x_1$ and $y$",
    "two\nlines\tand a tab",
    "W" * 40,
    "AFFX-HUMISGF3A/M97935_5_at///HLA-DRB1///HLA-DRB4",
    "ünïcödé Ωmega",
    "γ" * 60,
    "x",
    "y" * 200,
    "100 % <b>&amp;",
    "ivory & ebony {keys}",
]


def odd_frame(n=60, seed=0):
    """X (n, 12) with column names that plots tend to trip over."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.standard_normal((n, len(ODD_NAMES))), columns=ODD_NAMES)
