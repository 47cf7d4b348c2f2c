"""A path of solutions against the same problems solved one by one."""

from dataclasses import replace

import numpy as np
import pytest
from tests.solvers.newton.searching import WAYS, begun, inside_of, lowest_angle, new_run, of_two_features

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton import solve_path
from superfactor.solvers.newton.path import from_neighbour, lower_from, reweighted
from superfactor.solvers.newton.rounds import rounds
from superfactor.subspace import Inside
from superfactor.theory import certify


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
    path = [s.n_iter for s in solve_path(stated(1.0, 1.0), 2, weights, search="off")]
    alone = [newton.solve(stated(*w), 2, search="off").n_iter for w in weights]
    assert sum(path[1:]) < 0.8 * sum(alone[1:])


def test_zero_ridge_at_the_end_of_a_path():
    stated = example("filter", n=200, p=5)
    solutions = list(solve_path(stated(1.0, 1.0), 2, [(0.1, 1.0), (0.1, 0.0)]))
    assert solutions[1].objective < solutions[0].objective


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("falling", [True, False])
def test_weak_ridges_along_a_path_are_no_worse_than_alone(model, seed, falling):
    """Where the landscape is not benign, the neighbour's valley may be the wrong one."""
    stated = example(model, n=14, p=6, seed=seed)
    weights = [(0.05, lam) for lam in (1.0, 0.03, 1e-3)]
    weights = weights if falling else weights[::-1]
    for pair, found in zip(weights, solve_path(stated(1.0, 1.0), 2, weights), strict=True):
        alone = newton.solve(stated(*pair), 2).objective
        assert found.objective <= alone * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_solutions_stay_their_own_as_the_path_goes_on(model):
    """Each has its factors, its signal and its basis; the next weights change none of them."""
    stated = example(model, n=80, p=70, weighted=True)
    weights = [(0.1, 1.0), (0.5, 0.2), (0.02, 3.0)]
    problem, kept = stated(1.0, 1.0), []
    for found in solve_path(problem, 2, weights):
        kept.append((found, found.signal.array().copy(), found.basis().D.copy()))
    for (xi, lam), (found, signal, D) in zip(weights, kept, strict=True):
        np.testing.assert_array_equal(found.signal.array(), signal)
        np.testing.assert_array_equal(found.basis().D, D)
        here = found.basis().problem.users_weights
        assert here == pytest.approx((xi, lam))


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_what_depends_on_X_alone_is_kept(model):
    """The basis of other weights is (the best of) the one before, and that state stays what it was."""
    problem = example(model, n=80, p=70)(1.0, 1.0)
    run = new_run()
    first = rounds(begun(problem, 2, run), run)
    other = problem.restated(0.1, 0.3)
    moved = reweighted(first, other)
    S, old = moved.basis.S.array(), first.basis.S.array()
    np.testing.assert_allclose(old @ (old.T @ S), S, atol=1e-10)
    assert moved.basis.size <= first.begun + 2 * 2
    assert moved.problem is other
    fresh = Inside(replace(first.trimmed().basis, problem=other), 2)
    assert moved.floor == pytest.approx(fresh.pca_value, rel=1e-12)
    end = from_neighbour(moved, run)
    point = first.trimmed().point
    start = fresh.polish(point.W, point.beta, point.gamma)
    assert end.point.F <= start.F
    assert (first.problem.xi, first.problem.lam) == (problem.xi, problem.lam)


def test_nothing_is_solved_before_it_is_asked_for():
    """But the next one, where an answer is not proven."""
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
WEAK_GRID = [(xi, lam) for xi in (1e-3, 1e-2, 0.1) for lam in LAMBDAS]


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("seed", range(3))
def test_no_answer_is_above_what_its_neighbours_lead_to(model, seed):
    """The next in λ, and the same λ at the ξ before: their subspaces, with the best β and γ, are no lower."""
    problem = example(model, n=14, p=12, seed=seed)(1.0, 1.0)
    found = list(solve_path(problem, 2, WEAK_GRID, tol=1e-6, search="off"))
    assert len(found) == len(WEAK_GRID)
    row = len(LAMBDAS)
    for i, weights in enumerate(WEAK_GRID):
        inside = inside_of(problem.restated(*weights), 2)
        goal = 1e-4 * (found[i].objective - inside.pca_value)
        neighbours = [j for j in (i + 1, i - row) if 0 <= j < len(WEAK_GRID)]
        for j in neighbours:
            factors = found[j].factors
            span = factors.components if model == "filter" else factors.codes
            W = np.linalg.qr(inside.basis.S.array().T @ span)[0]
            assert found[i].objective <= inside.polish(W).F + goal


def test_an_answer_is_found_from_a_lower_neighbour():
    """The poor minimum of two features is left once a neighbour shows the way, and not for a higher one."""
    run = new_run()
    problem = of_two_features(0.05)
    state_ = begun(problem, 1, run)
    poor = rounds(replace(state_, point=state_.inside.polish(state_.inside.leading())), run)
    rich = rounds(replace(state_, point=state_.inside.polish(np.array([[0.1], [1.0]]) / 1.01**0.5)), run)
    assert rich.point.F < poor.point.F - 1
    assert pytest.approx(lowest_angle(0.05), rel=1e-6) == lower_from(poor, rich, run).point.F
    assert lower_from(rich, poor, run) is rich


# --- many classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_a_path_of_many_classes_ends_where_single_fits_end(model):
    """Newton steps by products, where the dual bound proves both answers: one optimum, two ways to it."""
    rng = np.random.default_rng(0)
    classes, n, p = 10, 400, 20
    labels = rng.integers(0, classes, n)
    X = rng.standard_normal((n, p)) + rng.standard_normal((classes, p))[labels]
    Y = (labels[:, None] == np.arange(1, classes)).astype(float)
    loss, options = resolve_link("logistic", classes - 1), WAYS["by products"]
    # ‖∇‖² of labels grows with n: ridges that leave something to learn, and something to prove.
    scale = 300.0 if model == "filter" else 3.0
    weights = [(1.0, factor * scale) for factor in (3.0, 1.0, 0.5)]
    problem = state(model, X, Y, loss, xi=1.0, lam=1.0, options=options)
    proven = 0
    for (xi, lam), found in zip(weights, solve_path(problem, 3, weights), strict=True):
        alone_problem = state(model, X, Y, loss, xi=xi, lam=lam, options=options)
        alone = newton.solve(alone_problem, 3)
        assert found.objective == pytest.approx(alone.objective, rel=1e-6)
        certificate = certify(alone_problem, 3, alone)
        if certificate.relative_gap < 1e-5:
            proven += 1
            assert found.searched is None
            A, B = (problem.model.lifted(s.factors) for s in (found, alone))
            np.testing.assert_allclose(A, B, atol=1e-3 * np.abs(B).max())
    assert proven >= 2


@pytest.mark.parametrize("search", ["off", "auto", "thorough"])
def test_how_hard_a_path_searches_is_told(search):
    stated = example("filter", n=14, p=6)
    weak = [(0.05, 1e-3), (0.05, 5e-4)]
    for found in solve_path(stated(1.0, 1.0), 2, weak, search=search):
        if search == "off":
            assert found.searched is None
        else:
            assert found.searched.starts >= (64 if search == "thorough" else 2)


def test_what_no_search_is_called():
    with pytest.raises(ValueError, match="search='hard': 'auto', 'off' or 'thorough'"):
        next(solve_path(example("filter")(1.0, 1.0), 2, [(1.0, 1.0)], search="hard"))
    with pytest.raises(ValueError, match="search='hard'"):
        newton.solve(example("filter")(1.0, 1.0), 2, search="hard")
