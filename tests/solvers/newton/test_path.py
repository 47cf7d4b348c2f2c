"""A path of solutions against the same problems solved one by one."""

import numpy as np
import pytest

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton import solve_path


def example(model, classes=2, n=40, p=90, seed=0, **given):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    X = rng.standard_normal((n, p)) + 0.6 * rng.standard_normal((classes, p))[labels]
    targets = (labels[:, None] == np.arange(1, classes)).astype(float)
    covariates = rng.standard_normal((n, 2))

    def stated(xi, lam):
        return state(
            model,
            X,
            targets,
            resolve_link("logistic", classes - 1),
            xi=xi,
            lam=lam,
            covariates=covariates,
            sample_weight=rng.uniform(0.5, 2, n) if given.get("weighted") else None,
        )

    return stated


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("shape", [(40, 90), (90, 20)], ids=["wide", "tall"])
def test_restating_is_stating_anew(model, shape):
    stated = example(model, n=shape[0], p=shape[1])
    first = stated(2.0, 3.0)
    again, fresh = first.restated(0.05, 0.7), stated(0.05, 0.7)
    assert (again.xi, again.lam) == (fresh.xi, fresh.lam)
    np.testing.assert_allclose(again.covariate_ridge, fresh.covariate_ridge)
    small, expected = again.compact, fresh.compact
    assert (small.xi, small.lam) == (expected.xi, expected.lam)
    assert small.whole is first.compact.whole  # compressed once
    ours, theirs = (newton.solve(problem, 2).objective for problem in (again, fresh))
    assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("classes", [2, 4])
def test_a_path_ends_where_single_solves_end(model, classes):
    stated = example(model, classes)
    weights = [(xi, lam) for xi in (0.01, 0.1) for lam in (10.0, 1.0, 0.1)]
    problem = stated(1.0, 1.0)
    for (xi, lam), solution in zip(weights, solve_path(problem, 3, weights), strict=True):
        alone = newton.solve(stated(xi, lam), 3)
        assert solution.converged
        assert solution.objective == pytest.approx(alone.objective, rel=1e-6)
        A = problem.model.lifted(solution.factors)
        np.testing.assert_allclose(A, problem.model.lifted(alone.factors), atol=2e-3 * abs(A).max())


def test_a_path_takes_fewer_iterations():
    stated = example("filter", n=60, p=200)
    weights = [(0.05, lam) for lam in (3.0, 2.0, 1.5, 1.0, 0.7, 0.5)]
    path = [s.n_iter for s in solve_path(stated(1.0, 1.0), 2, weights, starts=False)]
    alone = [newton.solve(stated(*w), 2, starts=False).n_iter for w in weights]
    assert sum(path[1:]) < 0.8 * sum(alone[1:])


def test_zero_ridge_at_the_end_of_a_path():
    stated = example("filter", n=200, p=5)
    solutions = list(solve_path(stated(1.0, 1.0), 2, [(0.1, 1.0), (0.1, 0.0)]))
    assert solutions[1].objective < solutions[0].objective
