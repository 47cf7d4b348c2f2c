"""Other starts: what they are, how they are sifted, and that no other multi-start finds anything lower."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.problems import MODELS, example
from tests.solvers.newton.searching import (
    begun,
    inside_of,
    lowest_angle,
    new_run,
    of_two_features,
    random_point,
)
from tests.solvers.restarts import best_of

from superfactor.options import Options
from superfactor.solution import Monitor
from superfactor.solvers import newton
from superfactor.solvers.newton.rounds import rounds
from superfactor.solvers.newton.starts import (
    Effort,
    loud_directions,
    other_starts,
    promising,
    ridge_subspace,
    starting_points,
    supervised_start,
)

every_model = pytest.mark.parametrize("model", MODELS)
EFFORT = Effort((1.0, 1e2), (1e3, 1e2, 1e1), random=5, steps=6, patience=4, finished=2)


def same_span(V, W):
    return np.linalg.norm(V - W @ (W.T @ V)) < 1e-8


# --- against an independent multi-start -----------------------------------------------------------------

WEAK = 30


def weak_ridge(seed):
    """Small problems with λ from 1e-4 to 1e-2, where the landscape is not benign."""
    rng = np.random.default_rng(5000 + seed)
    loss = ("logistic", "logistic", "squared")[rng.integers(3)]
    n, p = int(rng.integers(8, 15)), int(rng.integers(3, 8))
    given = {"xi": 10 ** rng.uniform(-2, 0), "lam": 10 ** rng.uniform(-4, -2), "loss": loss}
    kappa, rank = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    return *example(MODELS[seed % 2], n, p, kappa, seed, covariates=None, **given), rank


@cache
def reference(seed):
    """The lowest value of twenty random starts of L-BFGS."""
    _, P, rank = weak_ridge(seed)
    return best_of(P, rank, 20, seed, max_iter=80)


@pytest.mark.parametrize("seed", range(WEAK))
def test_no_multi_start_finds_anything_lower(seed):
    problem, _, rank = weak_ridge(seed)
    best = reference(seed)
    assert newton.solve(problem, rank).objective <= best + 1e-6 * (1 + abs(best))


def test_without_starts_some_would():
    """These problems tell a search with other starts from one without."""
    beaten = 0
    for seed in range(WEAK):
        problem, _, rank = weak_ridge(seed)
        found, best = newton.solve(problem, rank, search="off").objective, reference(seed)
        beaten += found > best + 1e-6 * (1 + abs(best))
    assert beaten >= 2


# --- the starts themselves ------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("case", ["plain", "weighted", "no ridge"])
def test_ridge_regression_on_the_whole_subspace(model, case):
    """A and γ by L-BFGS over all of Φ, W by the eigenvectors of D and the residuals."""
    lam = 0.0 if case == "no ridge" else 0.3
    problem, _ = example(model, 25, 5, 1, weighted=case == "weighted", lam=0.5)
    inside = inside_of(problem, 2) if model == "filter" else inside_of(problem, 2, 8)
    k, q = inside.basis.size, problem.n_covariates
    arrays = problem.arrays()
    Phi = arrays.known.over_root(inside.basis.features.array())
    ridge = np.concatenate([np.full(k, lam), problem.covariate_ridge])[:, None]

    def f(x):
        coef = x.reshape(k + q, 1)
        value, E = arrays.loss_terms(Phi @ coef[:k] + arrays.covariates @ coef[k:])
        slope = np.vstack([Phi.T @ E, arrays.covariates.T @ E]) + 2 * ridge * coef
        return value + np.sum(ridge * coef**2), slope.ravel()

    best = minimize(
        f, np.zeros(k + q), jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9}
    )
    W, A, gamma = ridge_subspace(inside, inside.polish(inside.leading()), lam)
    found = np.concatenate([A, gamma]).ravel()
    assert f(found)[0] <= best.fun + 1e-4 * (1 + abs(best.fun))
    if lam > 0:
        np.testing.assert_allclose(found, best.x, atol=1e-2 * (1 + np.abs(best.x).max()))
        pulled = Phi.T @ arrays.loss_terms(Phi @ A + arrays.covariates @ gamma)[1]
        M = inside.D + pulled @ pulled.T / (4 * problem.xi * lam)
        assert same_span(W, np.linalg.eigh(M)[1][:, ::-1][:, :2])
    else:
        assert same_span(W, loud_directions(inside, A))


@every_model
def test_loud_directions_hold_the_coefficients_and_the_rest_is_pca(model):
    problem, _ = example(model, 20, 9, 1)
    inside = inside_of(problem, 3)
    A = np.random.default_rng(0).standard_normal((inside.basis.size, 1))
    W = loud_directions(inside, A)
    assert np.linalg.norm(A - W @ (W.T @ A)) < 1e-4 * np.linalg.norm(A)
    # Of what is orthogonal to A, the two directions of most variance.
    unit = A / np.linalg.norm(A)
    away = np.eye(len(A)) - unit @ unit.T
    values = np.sort(np.linalg.eigvalsh(away @ inside.D @ away))[::-1]
    rest = np.trace(W.T @ away @ inside.D @ away @ W)
    assert rest == pytest.approx(values[:2].sum(), rel=1e-4)


@every_model
def test_every_kind_of_start_is_among_them(model):
    problem, _ = example(model, 16, 8, 1, lam=1e-3)
    inside = inside_of(problem, 2)
    current = inside.polish(inside.leading())
    points = list(starting_points(inside, current, EFFORT, np.random.default_rng(0)))
    assert len(points) == 1 + EFFORT.random + 2 * len(EFFORT.factors) + len(EFFORT.path)
    assert same_span(points[0].W, inside.leading())  # PCA, the first
    for factor in EFFORT.factors:
        W, A, _ = ridge_subspace(inside, current, problem.lam * factor)
        assert any(same_span(point.W, W) for point in points)
        assert any(same_span(point.W, loud_directions(inside, A)) for point in points)
    for point in points:  # all are points of this problem, at its own λ, none of another
        again = inside.at(point.W, point.beta, point.gamma)
        assert pytest.approx(point.F, rel=1e-12) == again.F
        np.testing.assert_allclose(point.W.T @ point.W, np.eye(2), atol=1e-10)


@every_model
def test_the_path_from_a_large_ridge(model):
    """Each of its points is lower at its own λ than PCA is there: it has descended on the way."""
    problem, _ = example(model, 16, 8, 1, xi=0.05, lam=1e-3)
    inside = inside_of(problem, 2)
    effort = replace(EFFORT, factors=(), random=0)
    pca, *path = starting_points(
        inside, inside.polish(inside.leading()), effort, np.random.default_rng(0)
    )
    assert len(path) == 3
    for factor, point in zip(effort.path, path, strict=True):
        easier = inside.at_weights(replace(problem, lam=problem.lam * factor))
        here = easier.at(point.W, point.beta, point.gamma).F
        assert here <= easier.polish(pca.W).F * (1 + 1e-12)
        long = easier.polish(point.W, point.beta, point.gamma).F
        assert here == pytest.approx(long, rel=1e-2)


def test_random_starts_follow_the_generator():
    problem, _ = example("filter", 16, 8, 1)
    inside = inside_of(problem, 2)
    point = inside.polish(inside.leading())
    effort = replace(EFFORT, factors=(), path=())
    runs = [
        [p.F for p in starting_points(inside, point, effort, np.random.default_rng(seed))]
        for seed in (0, 0, 1)
    ]
    assert runs[0] == runs[1] != runs[2]
    assert len(set(runs[0])) == 6


# --- sifting --------------------------------------------------------------------------------------------


@every_model
def test_the_most_promising_come_first_and_none_has_risen(model):
    problem, _ = example(model, 16, 8, 1, xi=0.05, lam=1e-3)
    inside = inside_of(problem, 2)
    points = [random_point(inside, seed) for seed in range(8)]
    found = promising(inside, iter(points), EFFORT, math.inf, 1e-6, Monitor())
    values = [point.F for point in found]
    assert len(found) == 8
    assert values == sorted(values)
    assert values[-1] < min(point.F for point in points)
    lazy = promising(inside, iter(points), replace(EFFORT, steps=1), math.inf, 1e-6, Monitor())
    assert values[0] <= lazy[0].F + 1e-9


def test_starts_that_keep_ending_at_what_is_known_end_the_search():
    problem, _ = example("filter", 16, 8, 1, xi=1.0, lam=50.0)  # one minimum
    inside = inside_of(problem, 2)
    run = new_run()
    known = rounds(begun(problem, 2, run), run).point.F
    asked = []

    def points():
        for seed in range(30):
            asked.append(seed)
            yield random_point(inside, seed)

    effort = replace(EFFORT, steps=30)
    promising(inside, points(), effort, known, 1e-6, Monitor())
    assert len(asked) == effort.patience
    asked.clear()
    promising(inside, points(), effort, known - 1.0, 1e-6, Monitor())  # all end elsewhere
    assert len(asked) == 30


def test_a_stop_is_heard_between_starts():
    problem, _ = example("filter", 16, 8, 1)
    inside = inside_of(problem, 2)
    heard = []

    def callback(iteration, objective):
        heard.append(objective)
        return len(heard) == 3

    monitor = Monitor(callback=callback)
    points = (random_point(inside, seed) for seed in range(30))
    found = promising(inside, points, EFFORT, -1.0, 1e-9, monitor)
    assert len(found) == 3
    assert heard == [-1.0] * 3
    assert monitor.stopped_early
    assert len(monitor.history) == 0  # short descents are nobody's history


# --- the whole of it ------------------------------------------------------------------------------------


def test_the_poor_minimum_of_two_features_is_left():
    """14.863 at PCA is a minimum that no descent leaves; 8.919 is the optimum (docs/method.md §6)."""
    problem, run = of_two_features(0.05), new_run()
    state = begun(problem, 1, run)
    pca = state.inside.polish(state.inside.leading())
    stuck = rounds(replace(state, point=pca), run)
    assert pytest.approx(14.863, abs=1e-3) == stuck.point.F
    assert not stuck.proven(1e-8)
    free = other_starts(stuck, run)
    assert pytest.approx(lowest_angle(0.05), rel=1e-7) == free.point.F
    assert pytest.approx(14.863, abs=1e-3) == stuck.point.F


@every_model
@pytest.mark.parametrize("seed", [5, 9, 12, 27])
def test_other_starts_are_never_worse(model, seed):
    problem, _, rank = weak_ridge(seed)
    run = new_run()
    first = rounds(begun(problem, rank, run), run)
    second = other_starts(first, run)
    assert second.point.F <= first.point.F * (1 + 1e-13)
    assert second.phase == "restarting"
    # What is told of the point belongs to it.
    again = second.inside.at(second.point.W, second.point.beta, second.point.gamma)
    assert pytest.approx(second.point.F, rel=1e-12) == again.F
    third = supervised_start(first)
    assert third.point.F <= first.point.F


def test_effort_falls_with_the_cost_of_a_step():
    options = Options()
    works = (1e3, 1e5, 1e6, 1e7, 2e8)
    efforts = [Effort.for_work(work, options) for work in works]
    counts = [e.random + 2 * len(e.factors) + len(e.path) for e in efforts]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 2 * counts[-1]
    assert [e.steps for e in efforts] == sorted((e.steps for e in efforts), reverse=True)
    assert all(e.finished >= 1 and e.random >= 2 and e.factors and e.path for e in efforts)
    assert efforts[0].patience > efforts[2].patience
