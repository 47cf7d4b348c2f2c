"""A path of solutions against the same problems solved one by one."""

from dataclasses import replace

import numpy as np
import pytest
from tests.solvers.newton.searching import begun, lowest_angle, new_run, of_two_features
from tests.subspace.points import subspace

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton import solve_path
from superfactor.solvers.newton.path import lower_from
from superfactor.solvers.newton.rounds import rounds


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


@pytest.mark.parametrize(("model", "shape"), [("filter", (40, 90)), ("feature", (90, 20))])
def test_restating_equals_stating(model, shape):
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


@pytest.mark.parametrize(("model", "classes"), [("filter", 4), ("feature", 2)])
def test_a_path_ends_where_single_solves_end(model, classes):
    stated = example(model, classes)
    weights = [(xi, lam) for xi in (0.01, 0.1) for lam in (10.0, 0.1)]
    problem = stated(1.0, 1.0)
    for (xi, lam), solution in zip(weights, solve_path(problem, 3, weights), strict=True):
        alone = newton.solve(stated(xi, lam), 3)
        assert solution.converged
        assert solution.objective == pytest.approx(alone.objective, rel=1e-6)
        A = problem.model.lifted(solution.factors)
        np.testing.assert_allclose(A, problem.model.lifted(alone.factors), atol=2e-3 * abs(A).max())


def test_solutions_are_computed_lazily():
    """Except for the next pair, if a solution is not proven optimal."""
    stated = example("filter", n=20, p=6)
    asked = []

    def weights():
        for lam in (100.0, 1e-3, 5e-4, 2e-4):
            asked.append(lam)
            yield 0.1, lam

    path = solve_path(stated(1.0, 1.0), 2, weights(), search="off")
    assert asked == []
    next(path)
    assert asked == [100.0]
    next(path)
    assert asked == [100.0, 1e-3, 5e-4]


LAMBDAS = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
WEAK_GRID = [(xi, lam) for xi in (1e-3, 0.1) for lam in LAMBDAS]


@pytest.mark.parametrize(("model", "seed"), [("filter", 0), ("feature", 1)])
def test_no_solution_is_above_those_from_neighbours(model, seed):
    """The next in λ, and the same λ at the ξ before: their subspaces, with the best β and γ, are no lower."""
    problem = example(model, n=14, p=12, seed=seed)(1.0, 1.0)
    found = list(solve_path(problem, 2, WEAK_GRID, tol=1e-6, search="off"))
    assert len(found) == len(WEAK_GRID)
    row = len(LAMBDAS)
    for i, weights in enumerate(WEAK_GRID):
        inside = subspace(problem.restated(*weights), 2)
        goal = 1e-4 * (found[i].objective - inside.pca_value)
        neighbours = [j for j in (i + 1, i - row) if 0 <= j < len(WEAK_GRID)]
        for j in neighbours:
            factors = found[j].factors
            span = factors.components if model == "filter" else factors.codes
            W = np.linalg.qr(inside.basis.S.array().T @ span)[0]
            assert found[i].objective <= inside.polish(W).F + goal


def test_a_lower_neighbour_improves_a_solution():
    """The poor minimum of two features is left for a lower one of a neighbour, not for a higher one."""
    run = new_run()
    problem = of_two_features(0.05)
    state_ = begun(problem, 1, run)
    poor = rounds(replace(state_, point=state_.inside.polish(state_.inside.leading())), run)
    rich = rounds(replace(state_, point=state_.inside.polish(np.array([[0.1], [1.0]]) / 1.01**0.5)), run)
    assert rich.point.F < poor.point.F - 1
    assert pytest.approx(lowest_angle(0.05), rel=1e-6) == lower_from(poor, rich, run).point.F
    assert lower_from(rich, poor, run) is rich


# --- many classes ---------------------------------------------------------------------------------------


def test_an_unknown_search_raises():
    with pytest.raises(ValueError, match="search='hard': 'auto', 'off' or 'thorough'"):
        next(solve_path(example("filter")(1.0, 1.0), 2, [(1.0, 1.0)], search="hard"))
    with pytest.raises(ValueError, match="search='hard'"):
        newton.solve(example("filter")(1.0, 1.0), 2, search="hard")
