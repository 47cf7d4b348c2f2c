"""The release's solvers through the adapter: the same problem, the same iterates, the same F."""

import sys

import numpy as np
import pytest

from reproduction.convergence import released
from reproduction.convergence.curves import objective_at
from reproduction.convergence.released import ReleasedBCD, ReleasedLPGD, random_start
from reproduction.fits import solve, state

XI, LAM, RANK = 0.7, 0.9, 2
needs_release = pytest.mark.skipif(not released.release_installed(), reason="SupervisedMF is not installed")
models = pytest.mark.parametrize("model", ["filter", "feature"])
with_covariates = pytest.mark.parametrize("q", [0, 3], ids=["alone", "covariates"])


def data(q, n=40, p=12):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 2)) @ rng.standard_normal((2, p))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(float)
    return X, y, rng.standard_normal((n, q)) if q else None


def problem(model, X, y, Z):
    return state(model, X, y[:, None], xi=XI, lam=LAM, covariates=Z)


def value(model, X, y, Z, factors):
    return objective_at(model, X, y, Z, factors, xi=XI, lam=LAM)


@needs_release
@models
@with_covariates
def test_lpgd_takes_the_steps_of_algorithm_1(model, q):
    X, y, Z = data(q)
    start = random_start(*X.shape, RANK, q, seed=5)
    theirs = ReleasedLPGD(X, y, RANK, model, XI, LAM, Z, start=start, step_size=0.02)
    curve = theirs.run(6)
    stated = problem(model, X, y, Z)
    ours = solve(stated, RANK, "lpgd", start=start, step_size=0.02, max_iter=6, tol=0)
    expected = [value(model, X, y, Z, start), *ours.history.objective]
    np.testing.assert_allclose(curve.objective, expected, rtol=1e-8)
    assert np.all(np.diff(curve.seconds) > 0)
    np.testing.assert_allclose(value(model, X, y, Z, theirs.factors()), expected[-1], rtol=1e-8)


@needs_release
@models
@with_covariates
def test_bcd_is_measured_by_the_same_objective(model, q):
    X, y, Z = data(q)
    theirs = ReleasedBCD(X, y, RANK, model, XI, LAM, Z, seed=1)
    values = theirs.run(60).objective
    stated = problem(model, X, y, Z)
    as_it_is = theirs.objective(refit=False)
    assert as_it_is == pytest.approx(value(model, X, y, Z, theirs.factors()), rel=1e-9)
    assert theirs.objective() <= as_it_is
    best = solve(stated, RANK).objective
    assert best <= values.min()
    assert values[-1] < values[0]


def test_without_the_release(monkeypatch):
    monkeypatch.setitem(sys.modules, "SMF", None)
    assert not released.release_installed()
    X, y, _ = data(0)
    with pytest.raises(ImportError, match=r"SupervisedMF, is not installed: .*superfactor\[bench\]"):
        ReleasedLPGD(X, y, RANK, "filter", XI, LAM, step_size=0.1)
