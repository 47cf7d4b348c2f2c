"""Other starts: what they are, how they descend, and that no other multi-start finds anything lower."""

import math
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.newton.searching import WAYS, begun, lowest_angle, new_run, of_two_features
from tests.solvers.newton.test_fleet import fleet_of
from tests.solvers.restarts import best_of
from tests.subspace.points import paper_value, random_point, subspace

from superfactor.solvers import newton
from superfactor.solvers.newton.directions import Directions
from superfactor.solvers.newton.fleet import Fleet
from superfactor.solvers.newton.rounds import rounds
from superfactor.solvers.newton.starts import (
    DATA_FIRST,
    EFFORTS,
    LABELS_FIRST,
    STEPS_ON_THE_WAY,
    STRAIGHT,
    Effort,
    Race,
    Start,
    led,
    loud_directions,
    other_starts,
    places,
    ridge_subspace,
    supervised_start,
)

every_model = pytest.mark.parametrize("model", MODELS)
both_ways = pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())
GENEROUS = Effort(1.0, 1e12, 16, 1, 40, 3)
AUTO = EFFORTS["auto"]


# Of these some have an answer that only other starts find.
WEAK = (0, 4, 9, 12, 20)


def same_span(V, W):
    return np.linalg.norm(V - W @ (W.T @ V)) < 1e-8


# --- against an independent multi-start -----------------------------------------------------------------


def weak_ridge(seed, options=None):
    """Small problems with λ from 1e-4 to 1e-2, where the landscape is not benign."""
    rng = np.random.default_rng(5000 + seed)
    loss = ("logistic", "logistic", "squared")[rng.integers(3)]
    n, p = int(rng.integers(8, 15)), int(rng.integers(3, 8))
    given = {"xi": 10 ** rng.uniform(-2, 0), "lam": 10 ** rng.uniform(-4, -2), "loss": loss}
    kappa, rank = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    return *example(MODELS[seed % 2], n, p, kappa, seed, covariates=None, options=options, **given), rank


@cache
def reference(seed):
    """The lowest value of twenty random starts of L-BFGS."""
    _, P, rank = weak_ridge(seed)
    return best_of(P, rank, 20, seed, max_iter=80)


@both_ways
def test_no_multi_start_finds_anything_lower(options):
    """And of one that looks for no other starts some do: these problems tell the two apart."""
    beaten = 0
    for seed in WEAK:
        problem, _, rank = weak_ridge(seed, options)
        best = reference(seed)
        assert newton.solve(problem, rank).objective <= best + 1e-6 * (1 + abs(best))
        beaten += newton.solve(problem, rank, search="off").objective > best + 1e-6 * (1 + abs(best))
    assert beaten >= 1


# --- the starts themselves ------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("case", ["plain", "weighted", "no ridge"])
def test_ridge_regression_on_the_whole_subspace(model, case):
    """A and γ by L-BFGS over all of Φ, W by the eigenvectors of D and the residuals."""
    lam = 0.0 if case == "no ridge" else 0.3
    problem, _ = example(model, 25, 5, 1, weighted=case == "weighted", lam=0.5)
    inside = subspace(problem, 2) if model == "filter" else subspace(problem, 2, 8)
    k, q = inside.basis.size, problem.n_covariates
    arrays = problem.arrays()
    Phi = arrays.known.over_root(inside.basis.features.array())
    ridge = np.concatenate([np.full(k, lam), problem.covariate_ridge])[:, None]

    def f(x):
        coef = x.reshape(k + q, 1)
        value, E = arrays.loss_terms(Phi @ coef[:k] + arrays.covariates @ coef[k:])
        slope = np.vstack([Phi.T @ E, arrays.covariates.T @ E]) + 2 * ridge * coef
        return value + np.sum(ridge * coef**2), slope.ravel()

    best = minimize(f, np.zeros(k + q), jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})
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
def test_every_kind_of_start_is_among_them(model):
    problem, _ = example(model, 16, 8, 1, lam=1e-3)
    inside = subspace(problem, 2)
    current = inside.polish(inside.leading())
    starts = list(islice(places(inside, current, Directions.of(inside), np.random.default_rng(0)), 40))
    pca = inside.leading()
    assert same_span(starts[0].W, pca) and same_span(starts[1].W, pca)
    assert [start.way for start in starts[:2]] == [DATA_FIRST, LABELS_FIRST]
    assert {start.way for start in starts[2:22]} == {STRAIGHT}
    assert {start.way for start in starts[22:]} == {STRAIGHT, DATA_FIRST, LABELS_FIRST}
    for factor in (1.0, 1e2, 1e4, 1e6):
        W, A, _ = ridge_subspace(inside, current, problem.lam * factor)
        assert any(same_span(start.W, W) for start in starts)
        assert any(same_span(start.W, loud_directions(inside, A)) for start in starts)
    for start in starts:  # all are points of this problem
        np.testing.assert_allclose(start.W.T @ start.W, np.eye(2), atol=1e-10)
        assert np.isfinite(inside.at(start.W, start.beta, start.gamma).F)


# --- ways ------------------------------------------------------------------------------------------------


def starts_at(inside, ways, size=1.0):
    points = [random_point(inside, seed, size) for seed in range(len(ways))]
    return [Start(p.W, p.beta, p.gamma, way) for p, way in zip(points, ways, strict=True)]


@every_model
def test_ways_end_at_the_weights_of_the_problem(model):
    """Of whatever way: the values of a fleet are the naive objective's, at the problem's own ξ and λ."""
    problem, P = example(model, 14, 8, 2, xi=0.1, lam=1e-2, weighted=True)
    inside = subspace(problem, 2)
    ways = [DATA_FIRST, STRAIGHT, LABELS_FIRST, STRAIGHT]
    fleet = led(inside, starts_at(inside, ways))
    for i in range(fleet.size):
        point = fleet.points[i]
        value = paper_value(inside, P, point.W, point.beta, point.gamma)
        assert fleet.F[i] == pytest.approx(value, rel=1e-9)
    assert np.all(np.isinf(fleet.radius)) and not fleet.solved.any()
    after = fleet.stepped(inside)
    assert np.all(after.F <= fleet.F)


@every_model
def test_each_way_goes_by_its_factors(model, monkeypatch):
    """ξ and λ times these, in this order, at most so many steps at each, then the problem's own."""
    problem, _ = example(model, 14, 8, 1, xi=0.1, lam=1e-2)
    inside = subspace(problem, 2)
    seen = []
    stepped = Fleet.stepped

    def watched(fleet, there):
        seen.append((np.ravel(there.xi) / problem.xi, np.ravel(there.lam) / problem.lam))
        return stepped(fleet, there)

    monkeypatch.setattr(Fleet, "stepped", watched)
    led(inside, starts_at(inside, [DATA_FIRST, LABELS_FIRST, STRAIGHT]))
    expected = [
        ([1e3, 1e-3, 1.0], [1e3, 1.0, 1.0]),
        ([1e2, 1e-2, 1.0], [1e2, 1.0, 1.0]),
        ([1e1, 1e-1, 1.0], [1e1, 1.0, 1.0]),
    ]
    stages = [expected[0]]
    for now in seen:
        stage = next(e for e in expected if np.allclose(e, now))
        if stage is not stages[-1]:
            stages.append(stage)
    assert stages == expected
    assert 3 <= len(seen) <= 3 * STEPS_ON_THE_WAY


# --- races -----------------------------------------------------------------------------------------------


def racing(model="filter", lam=50.0, xi=1.0, size=6):
    problem, P = example(model, 16, 8, 1, xi=xi, lam=lam)
    inside = subspace(problem, 2)
    return inside, P, fleet_of(inside, [random_point(inside, seed) for seed in range(size)])


class Steps:
    """Counts steps, keeps what it hears, and is tired after so many."""

    def __init__(self, limit=10**9):
        self.limit, self.heard = limit, []

    def __call__(self, lowest):
        self.heard.append(lowest)
        return len(self.heard) >= self.limit


@every_model
def test_whoever_has_settled_leaves_and_is_counted(model):
    """One valley: most of the six end at the naive optimum, long before their steps are used up; all stop."""
    inside, P, fleet = racing(model)
    known, steps = naive.optimum(P, 2)[1], Steps()
    race = Race(inside, known, 1e-6 * known)
    race.run(fleet, 500, steps)
    assert race.starts == 6
    assert 4 <= len(race.settled) <= 6
    np.testing.assert_allclose(race.settled, known, rtol=2e-5)
    assert len(steps.heard) < 40
    assert len(race.found) == 6
    np.testing.assert_allclose([p.F for p, _ in race.found], known, rtol=2e-5)
    assert race.agrees(known)


@every_model
def test_what_the_tired_have_is_kept_with_what_it_may_become(model):
    inside, _, fleet = racing(model, lam=1e-3, xi=0.05)
    race, steps = Race(inside, math.inf, 1e-9), Steps(limit=2)
    race.run(fleet, 500, steps)
    assert len(steps.heard) == 2
    assert len(race.found) == 6
    assert all(hope <= point.F for point, hope in race.found)
    after = fleet.stepped(inside).stepped(inside)
    assert pytest.approx(after.F.min(), rel=1e-10) == race.lowest.F
    assert steps.heard[-1] == pytest.approx(after.F.min(), rel=1e-10)
    assert np.all(np.diff(steps.heard) <= 0)


def test_a_hope_is_not_below_what_becomes_of_it_by_much():
    """Whoever leaves as hopeless would have ended above the lowest: nothing is lost by letting it go."""
    for seed in range(2):
        problem, _ = example("filter", 16, 8, 1, seed=seed, xi=0.05, lam=1e-3)
        inside = subspace(problem, 2)
        fleet = fleet_of(inside, [random_point(inside, s) for s in range(12)])
        race = Race(inside, math.inf, 1e-7)
        race.run(fleet, 100, Steps())
        for _ in range(100):
            fleet = fleet.stepped(inside)
        assert fleet.F.min() * (1 + 1e-5) >= race.lowest.F


@every_model
def test_the_lowest_hopeful_goes_on_alone(model):
    inside, _, fleet = racing(model, lam=1e-3, xi=0.05)
    race = Race(inside, math.inf, 1e-9)
    race.run(fleet, 2, Steps())
    before = [point.F for point, _ in race.found]
    race.go_on(200, Steps())
    after = [point.F for point, _ in race.found]
    assert race.starts == 6 == len(after)  # none of them is counted twice
    assert min(after) < min(before)
    assert sorted(after)[1:] == sorted(before)[1:]  # the others wait
    assert race.settled and min(race.settled) == min(after)
    for _ in range(4):
        race.go_on(200, Steps())  # the next
    assert sum(point.F in before for point, _ in race.found) <= 4
    assert race.starts == 6
    tired = Race(inside, math.inf, 1e-9)
    tired.run(fleet, 2, Steps())
    tired.go_on(200, Steps(limit=1))
    assert sorted(point.F for point, _ in tired.found) == sorted(before)


# --- the whole of it ------------------------------------------------------------------------------------


def stuck_at_pca(options=None):
    """The poor minimum of the two features, and a run."""
    problem, run = of_two_features(0.05), new_run()
    problem = problem if options is None else replace(problem, options=options)
    state = begun(problem, 1, run)
    pca = state.inside.polish(state.inside.leading())
    return rounds(replace(state, point=pca), run), run


@both_ways
def test_the_poor_minimum_of_two_features_is_left(options):
    """14.863 at PCA is a minimum that no descent leaves; 8.919 is the optimum (docs/method.md §6)."""
    stuck, run = stuck_at_pca(options)
    assert pytest.approx(14.863, abs=1e-3) == stuck.point.F
    assert not stuck.proven(1e-8)
    free = other_starts(stuck, run, AUTO)
    assert pytest.approx(lowest_angle(0.05), rel=1e-7) == free.point.F
    assert pytest.approx(14.863, abs=1e-3) == stuck.point.F
    assert free.searched.starts >= 2 and stuck.searched is None


@both_ways
@pytest.mark.parametrize("seed", [5, 12])
def test_other_starts_are_never_worse(seed, options):
    problem, _, rank = weak_ridge(seed, options)
    run = new_run()
    first = rounds(begun(problem, rank, run), run)
    second = other_starts(first, run, AUTO)
    assert second.point.F <= first.point.F * (1 + 1e-13)
    assert second.phase == "restarting"
    # What is told of the point belongs to it.
    again = second.inside.at(second.point.W, second.point.beta, second.point.gamma)
    assert pytest.approx(second.point.F, rel=1e-12) == again.F
    third = supervised_start(first, run)
    if options.largest_system:
        assert third.point.F <= first.point.F


def test_what_a_callback_was_told_is_kept():
    """A stop at a value that starts have reached ends with a point of that value."""
    for after in (1, 4, 16):
        stuck, run = stuck_at_pca()
        heard = []

        def callback(_, objective, heard=heard, after=after):
            heard.append(objective)
            return len(heard) == after

        stopping = new_run(callback=callback)
        free = other_starts(stuck, replace(stopping, begun=run.begun), GENEROUS)
        assert len(heard) == after and stopping.monitor.stopped_early
        assert len(stopping.monitor.history) == 0  # descents side by side are nobody's history
        assert min(heard) * (1 + 1e-9) >= free.point.F


# --- what it may cost -----------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize(("classes", "allowance"), [(2, 4.0), (4, 0.5)])
def test_starts_cost_what_is_allowed(classes, allowance, options):
    """In operations of the samples, of what the first answer took; a few steps more, no multiple of it."""
    problem, _ = example(
        "filter", 200, 12, classes - 1, xi=0.02, lam=1e-3, options=replace(options, a_question=1e3)
    )
    run = replace(new_run(), begun=problem.compact.samples.operations)
    first = rounds(begun(problem, 3, run), run)
    samples = first.problem.samples
    took = samples.operations - run.begun
    other = other_starts(first, run, Effort(allowance, 0.0, 16, 1, 40, 3))
    spent = samples.operations - run.begun - took
    assert other.searched.starts >= 2
    # By elimination up to three that are hopeful are finished besides, each for no more than the first.
    finishing = 3 if options.largest_system else 0
    assert spent <= (2 * max(allowance, 1.0) + finishing) * took
    none = other_starts(first, run, Effort(0.0, 0.0, 16, 1, 40, 3))
    assert none.point.F <= first.point.F * (1 + 1e-12)


@both_ways
def test_whoever_says_that_nothing_is_left_is_right(options):
    """Also where a callback stops the search, or few may be finished: who is on its way has not converged."""
    problem, _, rank = weak_ridge(9, options)
    for after, most in ((2, 3), (6, 3), (10**9, 0)):
        run = new_run()
        first = rounds(begun(problem, rank, run), run)
        heard = []

        def callback(_, objective, heard=heard, after=after):
            heard.append(objective)
            return len(heard) == after

        stopping = replace(new_run(callback=callback), begun=run.begun)
        end = other_starts(first, stopping, Effort(1.0, 1e12, 16, 1, 4, most))
        further = rounds(end, new_run())
        left = end.point.F - further.point.F
        assert not end.converged or left <= 100 * end.goal(1e-8) + 1e-5 * end.supervised
