"""Descent inside a subspace: downhill, to the lowest point there, in few steps, and away from saddles."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.solvers.newton.searching import (
    WAYS,
    inside_of,
    lowest_angle,
    of_two_features,
    random_point,
    value_at_angle,
)
from tests.solvers.restarts import Factored

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solution import Monitor
from superfactor.solvers.newton.descent import NO_MINIMUM, Stride, descend, escape, newton, proximal
from superfactor.subspace.newton_model import newton_step, rotation_curvature

every_model = pytest.mark.parametrize("model", MODELS)
CASES = {
    "binary": {"kappa": 1},
    "three classes": {"kappa": 2, "weighted": True},
    "squared": {"kappa": 2, "loss": "squared"},
    "probit": {"kappa": 1, "loss": "probit"},
    "nothing but X": {"kappa": 1, "covariates": None, "fit_intercept": False},
}
every_case = pytest.mark.parametrize("case", CASES)
both_ways = pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())


def restricted(problem, P, inside):
    """An independent objective over (W, β, γ) whose W stays in the span of the basis."""
    S = inside.basis.S.array()
    F = Factored(P, inside.rank)
    unit = problem.scale if P.model == "filter" else 1.0  # Ã/A
    F.Phi, F.gram, F.side = F.Phi @ S / unit, S.T @ F.gram @ S, S.shape[1]
    weight = unit**-2  # λ‖A‖² = λ‖Ã‖²/unit²
    return F, weight


def lowest(problem, P, inside, restarts=6):
    """By L-BFGS from random starts, in coordinates of the basis."""
    F, weight = restricted(problem, P, inside)
    ridge = P.lam * weight

    class Ridge:
        lam = ridge

        def __getattr__(self, name):
            return getattr(P, name)

    F.P, rng = Ridge(), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        return min(F.descend(F.start(rng), 400)[0] for _ in range(restarts))


@every_model
@every_case
@both_ways
@pytest.mark.parametrize("seed", range(4))
def test_never_uphill(model, case, seed, options):
    """From points of no merit, at a ridge so weak that the landscape is not benign."""
    given = {"seed": seed, "xi": 0.05, "lam": 1e-3, "options": options}
    problem, _ = example(model, 12, 7, **given, **CASES[case])
    inside = inside_of(problem, 2)
    point = random_point(inside, seed, size=3.0)
    monitor, reached = Monitor(), []
    descend(inside, point, Stride.of(problem), monitor, 1e-9, limit=40, reached=lambda p: reached.append(p.F))
    for values in ([point.F, *monitor.history.objective], reached):
        assert np.all(np.diff(values) <= 1e-13 * np.abs(values[:-1]))
    assert monitor.history.objective[-1] < point.F


@every_model
@every_case
@both_ways
def test_each_step_alone_is_never_uphill(model, case, options):
    problem, _ = example(model, 12, 7, xi=0.05, lam=1e-3, options=options, **CASES[case])
    inside, stride = inside_of(problem, 2), Stride.of(problem)
    for seed in range(6):
        point = random_point(inside, seed)
        new, longer = proximal(inside, point, stride, Monitor())
        assert new.F <= point.F
        assert longer.shortest <= longer.eta <= longer.longest
        moved = newton(inside, point, stride, Monitor())
        assert moved is None or moved[0].F <= point.F


def test_a_step_that_is_too_long_is_shortened_and_never_taken(monkeypatch):
    """Newton's direction ten times too long: the line search takes it back, or nothing moves."""
    problem, _ = example("filter", 12, 7, 1, lam=0.1)
    inside = inside_of(problem, 2)
    point = random_point(inside)
    step = newton_step(inside, point)

    class TooLong:
        T, v, g, decrease, saddle = 30 * step.T, 30 * step.v, 30 * step.g, step.decrease, False
        length = None

        def apply(self, inside, point, t):
            return step.apply(inside, point, 30 * t)

    monkeypatch.setattr("superfactor.solvers.newton.descent.newton_step", lambda *_: TooLong())
    moved = newton(inside, point, Stride.of(problem), Monitor())
    assert moved is None or moved[0].F <= point.F


@every_model
@every_case
@both_ways
@pytest.mark.parametrize("size", [4, 6])
def test_reaches_the_lowest_point_of_the_subspace(model, case, size, options):
    problem, P = example(model, 12, 9, xi=0.3, lam=3.0, options=options, **CASES[case])
    inside = inside_of(problem, 2, size)
    start = inside.polish(inside.leading())
    found = descend(inside, start, Stride.of(problem), Monitor(), 1e-12 * start.F)
    best = lowest(problem, P, inside)
    assert best + 1e-8 * abs(best) >= found.point.F
    assert best - 1e-6 * abs(best) <= found.point.F  # nothing lower is there: the values mean the same


@every_model
@every_case
def test_few_newton_steps_on_a_well_conditioned_problem(model, case):
    """Quadratic convergence: the last predicted decreases are squares of those before."""
    problem, _ = example(model, 30, 9, xi=1.0, lam=20.0, **CASES[case])
    inside = inside_of(problem, 2)
    monitor = Monitor()
    start = inside.polish(inside.leading())
    first = proximal(inside, start, Stride.of(problem), monitor)[0]
    found = descend(inside, first, Stride.of(problem), monitor, 1e-13 * first.F)
    kinds = monitor.history.kind
    assert kinds.count("newton") <= 8
    assert len(kinds) <= 11
    values = np.array([first.F, *monitor.history.objective])
    left = values - found.point.F
    left = left[left > 1e-12 * first.F]
    slow = [b / a for a, b in itertools.pairwise(left)]
    assert max(slow[1:], default=0.0) < 0.2  # no gradient method falls like this
    assert found.left <= 1e-13 * first.F


@every_model
def test_the_goal_ends_the_descent(model):
    """A loose goal costs fewer steps, and what is left is told about right."""
    problem, _ = example(model, 30, 9, 1, xi=0.1, lam=0.5)
    inside = inside_of(problem, 2)
    start, counts = random_point(inside), []
    best = descend(inside, start, Stride.of(problem), Monitor(), 1e-12).point.F
    for goal in (1.0, 1e-3, 1e-10):
        monitor = Monitor()
        found = descend(inside, start, Stride.of(problem), monitor, goal)
        counts.append(len(monitor.history))
        assert found.left <= goal or "escape" in monitor.history.kind
        assert found.point.F - best <= 10 * goal + 1e-12 * best
    assert counts[0] < counts[-1]


def test_whoever_wants_to_stop_is_heard():
    problem, _ = example("filter", 20, 6, 1, xi=0.01, lam=1e-3)
    inside = inside_of(problem, 2)
    monitor = Monitor(callback=lambda i, _: i == 2)
    descend(inside, random_point(inside), Stride.of(problem), monitor, 0.0)
    assert len(monitor.history) <= 3
    limited = Monitor()
    descend(inside, random_point(inside), Stride.of(problem), limited, 0.0, limit=1)
    assert len(limited.history) <= 3  # one round: Newton, proximal, escape


# --- no minimum -------------------------------------------------------------------------------------


def told_apart(model, lam, options, kappa=1):
    """Classes that can be told apart: by X itself, or, of the feature model, by its free codes alone."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, kappa + 1, 30)
    X = rng.standard_normal((30, 4))
    if model == "filter":
        X[:, 0] += 8.0 * y
    Y = np.eye(kappa + 1)[y][:, 1:]
    loss = resolve_link("logistic", kappa)
    return state(model, X, Y, loss, xi=0.5, lam=lam, options=options)


@both_ways
@pytest.mark.parametrize("kappa", [1, 2])
def test_where_nothing_holds_coefficients_back_it_ends_and_says_why(options, kappa):
    """λ = 0: downhill for ever; not many steps after activations have grown huge."""
    inside = inside_of(told_apart("feature", 0.0, options, kappa), 1)
    start, monitor, far = inside.polish(inside.leading(), max_iter=1), Monitor(), []
    found = descend(
        inside,
        start,
        Stride.of(inside.problem),
        monitor,
        1e-9,
        limit=10**6,
        reached=lambda point: far.append(inside.has_no_minimum(point)),
    )
    assert monitor.stop_reason == NO_MINIMUM
    assert "lam=0" in NO_MINIMUM and "no minimum" in NO_MINIMUM
    assert not far[0]  # it has only begun to grow
    assert sum(far) <= 25
    assert len(monitor.history) <= 250
    assert found.point.F < start.F


@every_model
@both_ways
@pytest.mark.parametrize("kappa", [1, 2])
def test_without_a_ridge_every_descent_ends(model, options, kappa):
    """At the infimum, reconstruction alone, where the loss has come to nothing; or told to."""
    inside, monitor = inside_of(told_apart(model, 0.0, options, kappa), 2), Monitor()
    start = inside.polish(inside.leading(), max_iter=1)
    found = descend(inside, start, Stride.of(inside.problem), monitor, 1e-9, limit=10**6)
    assert len(monitor.history) <= 250
    assert found.point.F < start.F
    assert monitor.stop_reason in (None, NO_MINIMUM)
    assert inside.pca_value - 1e-9 <= found.point.F


@every_model
@both_ways
def test_any_ridge_is_a_minimum(model, options):
    inside = inside_of(told_apart(model, 1e-8, options), 2)
    monitor = Monitor()
    start = inside.polish(inside.leading())
    descend(inside, start, Stride.of(inside.problem), monitor, 1e-9)
    assert not monitor.stopped
    assert not inside.has_no_minimum(random_point(inside, size=1e6))


def test_classes_that_overlap_have_a_minimum_without_a_ridge():
    problem, _ = example("filter", 60, 4, 1, xi=0.3, lam=0.0)
    inside, monitor = inside_of(problem, 2), Monitor()
    found = descend(inside, inside.polish(inside.leading()), Stride.of(problem), monitor, 1e-9)
    assert not monitor.stopped
    assert found.left <= 1e-9


# --- saddles ----------------------------------------------------------------------------------------


def at_the_labels(xi, options=WAYS["dense"]):
    """The two features where W is that of the labels, and reconstruction wants the other one."""
    inside = inside_of(replace(of_two_features(xi), options=options), 1)
    return inside, inside.polish(np.array([[0.0], [1.0]]))


@both_ways
@pytest.mark.parametrize("xi", [0.05, 0.1, 0.2, 1.0])
def test_a_saddle_is_left(xi, options):
    """By symmetry it is stationary and a fixed point of the proximal step, but turning W goes down."""
    inside, stuck = at_the_labels(xi, options)
    stride = Stride.of(inside.problem)
    new, _ = proximal(inside, stuck, stride, Monitor())
    assert pytest.approx(stuck.F, rel=1e-12) == new.F
    h = 1e-2
    around = [value_at_angle(xi, math.pi / 2 + t) for t in (-h, 0, h)]
    assert around[1] == pytest.approx(stuck.F, rel=1e-9)
    assert around[0] - 2 * around[1] + around[2] < 0
    monitor = Monitor()
    free = escape(inside, stuck, monitor)
    assert free.F < stuck.F - 0.1
    assert monitor.history.kind == ["escape"]
    assert monitor.history.objective == [free.F]
    end = descend(inside, stuck, stride, Monitor(), 1e-10).point
    assert pytest.approx(lowest_angle(xi), rel=1e-8) == end.F


@both_ways
def test_without_an_escape_it_would_stay(monkeypatch, options):
    """The test above has teeth."""
    monkeypatch.setattr("superfactor.solvers.newton.descent.escape", lambda inside, point, _: point)
    inside, stuck = at_the_labels(0.2, options)
    end = descend(inside, stuck, Stride.of(inside.problem), Monitor(), 1e-10).point
    assert pytest.approx(stuck.F, rel=1e-9) == end.F


def test_a_poor_minimum_is_no_saddle():
    """PCA sees nothing of the labels and is a minimum all the same: only another start leaves it (§6)."""
    xi, h = 0.05, 1e-2
    inside = inside_of(of_two_features(xi), 1)
    stuck = inside.polish(inside.leading())
    assert pytest.approx(14.863, abs=1e-3) == stuck.F
    around = [value_at_angle(xi, t) for t in (-h, 0, h)]
    assert (around[0] - 2 * around[1] + around[2]) / h**2 > 10
    assert escape(inside, stuck, Monitor()) is stuck
    assert lowest_angle(xi) == pytest.approx(8.919377, abs=1e-5)


@every_model
@every_case
def test_a_point_that_is_no_saddle_is_returned_as_it_is(model, case):
    problem, _ = example(model, 14, 7, xi=1.0, lam=10.0, **CASES[case])
    inside, monitor = inside_of(problem, 2), Monitor()
    start = inside.polish(inside.leading())
    minimum = descend(inside, start, Stride.of(problem), Monitor(), 1e-12).point
    assert np.min(rotation_curvature(inside, minimum, inside.frame(minimum))) > 0
    assert escape(inside, minimum, monitor) is minimum
    assert len(monitor.history) == 0


def test_no_direction_is_left_where_the_rank_is_that_of_the_subspace():
    problem, _ = example("filter", 14, 3, 1)
    inside = inside_of(problem, 3)
    point = inside.polish(inside.leading())
    assert escape(inside, point, Monitor()) is point


# --- the length of proximal steps -------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_strides(model, lam):
    problem, _ = example(model, 12, 7, 1, lam=lam)
    stride = Stride.of(problem)
    assert 0 < stride.shortest <= stride.eta <= stride.longest < math.inf
    if lam > 0:
        assert stride.longest == pytest.approx(max(1 / (2 * problem.lam), stride.shortest))
    inside = inside_of(problem, 2)
    point = random_point(inside)
    # The shortest step descends by itself, whatever the point: 1/L_A.
    W = inside.proximal_subspace(point, stride.shortest, inside.gradient(point))
    A = point.W @ point.beta - stride.shortest * inside.gradient(point)
    assert inside.at(W, W.T @ A, point.gamma).F <= point.F * (1 + 1e-12)
