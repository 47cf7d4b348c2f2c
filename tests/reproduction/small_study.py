"""A study small enough to run in a test."""

import numpy as np

from reproduction.convergence.study import Study


def small_study(**changes):
    rng = np.random.default_rng(0)
    X = 20 * rng.standard_normal((30, 2)) @ rng.standard_normal((2, 10))
    X += rng.standard_normal(X.shape)
    y = (X[:, 0] + 30 * rng.standard_normal(30) > 0).astype(float)
    given = {"X": X, "y": y, "covariates": None, "rank": 2, "xis": (1.0, 5.0)}
    return Study(**given | {"starts": 2, "iterations": 40} | changes)
