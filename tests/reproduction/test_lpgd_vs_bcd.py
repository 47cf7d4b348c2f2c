"""The comparison of solvers: which ones run, from which starts, and what the experiment reports."""

import numpy as np
import pytest

from reproduction.convergence.comparison import (
    DEFAULT,
    OUR_BCD,
    OUR_LPGD,
    THEIR_BCD,
    THEIR_LPGD,
    UNTUNED,
    Length,
    compare_solvers,
)
from reproduction.convergence.curves import optimum
from reproduction.convergence.released import release_installed
from reproduction.convergence.study import PAPER, SAFE, TAU, Study

needs_release = pytest.mark.skipif(not release_installed(), reason="SupervisedMF is not installed")


def study():
    rng = np.random.default_rng(0)
    X = rng.random((40, 2)) @ rng.random((2, 15)) + 0.3 * rng.standard_normal((40, 15))
    y = (X[:, 0] > np.median(X[:, 0])).astype(float)
    return Study(X=X, y=y, covariates=None, rank=2, xis=(5.0,), starts=2, iterations=60)


@pytest.fixture(scope="module", params=["filter", "feature"])
def comparison(request):
    steps = []
    found = compare_solvers(
        study(),
        request.param,
        5.0,
        Length(60, 12, 3),
        released=release_installed(),
        step=lambda: steps.append(None),
    )
    assert len(steps) == (6 if release_installed() else 2)
    return found


def test_all_start_at_the_same_points(comparison):
    given = study()
    values = [given.objective(comparison.model, comparison.xi, given.start(k)) for k in range(2)]
    for solver, curves in comparison.curves.items():
        first = [curve.objective[0] for curve in curves]
        if solver in (THEIR_BCD, UNTUNED):  # with the best coefficients for these factors
            assert np.all(np.array(first) < values)
        elif solver != DEFAULT:
            np.testing.assert_allclose(first, values, rtol=1e-9)


def test_no_solver_is_below_the_proven_optimum(comparison):
    best = optimum(study().problem(comparison.model, comparison.xi), 2)
    assert best.is_global
    assert comparison.best == pytest.approx(best.value, rel=1e-9)
    for solver in comparison.curves:
        assert comparison.final(solver) >= best.value - best.gap - 1e-9
    assert comparison.final(DEFAULT) == pytest.approx(best.value, rel=1e-9)
    assert comparison.final(OUR_BCD) == pytest.approx(best.value, rel=1e-6)


def test_lpgd_is_compared_at_its_better_step(comparison):
    assert set(comparison.lpgd) == {PAPER, SAFE}
    ends = {step: np.mean([curve.end for curve in curves]) for step, curves in comparison.lpgd.items()}
    assert ends[comparison.step] <= min(ends.values()) * (1 + 1e-10)
    assert comparison.curves[OUR_LPGD] is comparison.lpgd[comparison.step]
    assert (comparison.tau == TAU) == (comparison.step == PAPER)


@needs_release
def test_the_released_lpgd_is_algorithm_1_too(comparison):
    ours, theirs = comparison.curves[OUR_LPGD][0], comparison.curves[THEIR_LPGD][0]
    np.testing.assert_allclose(theirs.objective, ours.objective[:13], rtol=1e-6)
