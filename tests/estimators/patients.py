"""Patients whose survival depends on what is measured, observed for a while."""

import numpy as np


def patients(n=60, p=5, seed=0, ties=True):
    """X (n, p), y (n, 2) of events and times, covariates (n, 2)."""
    rng = np.random.default_rng(seed)
    X, covariates = rng.standard_normal((n, p)), rng.standard_normal((n, 2))
    risk = X[:, 0] - 0.7 * X[:, 1] + 0.5 * covariates[:, 0]
    time, left = rng.exponential(np.exp(-risk)), rng.exponential(1.5, n)
    event, time = time <= left, np.minimum(time, left)
    if ties:
        time = np.ceil(8 * time) / 8
    return X, np.column_stack([event, time]).astype(float), covariates


def structured(y):
    """The same y as scikit-survival has it."""
    dtype = [("status", bool), ("days", float)]
    return np.array([(bool(event), time) for event, time in y], dtype=dtype)
