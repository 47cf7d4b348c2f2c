"""The peers: scikit-learn's pipeline, and the paper authors' release."""

from __future__ import annotations

import contextlib
import io
import time

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline


def pipeline(X, y, rank: int):
    """TruncatedSVD + LogisticRegression with their defaults."""
    return make_pipeline(TruncatedSVD(rank), LogisticRegression()).fit(X, y)


def released_seconds_per_iteration(X, y, rank: int, model: str, iterations: int = 3) -> float:
    """Seconds per iteration of the release's LPGD (`step_SVP`) on dense X (n, p).

    Its module lacks an import, which is set by hand; one warm-up iteration is not counted.
    """
    import SMF

    SMF.TruncatedSVD = TruncatedSVD
    rng = np.random.default_rng(0)
    data, labels = np.ascontiguousarray(X.T), y[None, :].astype(float)
    with contextlib.redirect_stdout(io.StringIO()):
        solver = next(
            getattr(SMF, name)([data, labels], n_components=rank, xi=1.0)
            for name in dir(SMF)
            if hasattr(getattr(SMF, name), "step_SVP")
        )
    p, n = data.shape
    A = rng.random((p, 1)) if model == "filter" else rng.random((1, n))
    B, gamma = rng.random((p, rank)) @ rng.random((rank, n)), np.zeros((1, 1))
    A, B, gamma = solver.step_SVP(A, B, gamma, tau=1e-3, option=model)
    start = time.perf_counter()
    for _ in range(iterations):
        A, B, gamma = solver.step_SVP(A, B, gamma, tau=1e-3, option=model)
    return (time.perf_counter() - start) / iterations
