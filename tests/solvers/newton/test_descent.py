"""Descent inside a subspace: never uphill, to the lowest point, in few steps, and away from saddles."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.solvers.newton.searching import WAYS, lowest_angle, of_two_features, value_at_angle
from tests.solvers.restarts import Factored
from tests.subspace.points import CASES, one_model_each, random_point, subspace

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solution import Monitor
from superfactor.solvers.newton.descent import NO_MINIMUM, Stride, _left_after, descend, escape, proximal

every_model = pytest.mark.parametrize("model", MODELS)
both_ways = pytest.mark.parametrize("options", WAYS.values(), ids=WAYS.keys())


def restricted(problem, P, inside):
    """An independent objective over (W, β, γ) whose W stays in the span of the basis."""
    S = inside.basis.S.array()
    F = Factored(P, inside.rank)
    unit = problem.scale if P.model == "filter" else 1.0  # Ã/A
    F.Phi, F.gram, F.side = F.Phi @ S / unit, S.T @ F.gram @ S, S.shape[1]
    weight = unit**-2  # λ‖A‖² = λ‖Ã‖²/unit²
    return F, weight


def lowest(problem, P, inside, restarts=3):
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


@one_model_each
@both_ways
def test_never_uphill(model, case, options, seed=0):
    """From random points, with a ridge so weak that there are several local minima."""
    given = {"seed": seed, "xi": 0.05, "lam": 1e-3, "options": options}
    problem, _ = example(model, 12, 7, **given, **CASES[case])
    inside = subspace(problem, 2)
    point = random_point(inside, seed, size=3.0)
    monitor, reached = Monitor(), []
    descend(inside, point, Stride.of(problem), monitor, 1e-9, limit=40, reached=lambda p: reached.append(p.F))
    for values in ([point.F, *monitor.history.objective], reached):
        assert np.all(np.diff(values) <= 1e-13 * np.abs(values[:-1]))
    assert monitor.history.objective[-1] < point.F


@one_model_each
@both_ways
def test_reaches_the_lowest_point_of_the_subspace(model, case, options):
    problem, P = example(model, 12, 9, xi=0.3, lam=3.0, options=options, **CASES[case])
    inside = subspace(problem, 2, 5)
    start = inside.polish(inside.leading())
    found = descend(inside, start, Stride.of(problem), Monitor(), 1e-12 * start.F)
    best = lowest(problem, P, inside)
    assert best + 1e-8 * abs(best) >= found.point.F
    assert best - 1e-6 * abs(best) <= found.point.F  # the values are comparable


@one_model_each
def test_few_newton_steps_on_a_well_conditioned_problem(model, case):
    """Quadratic convergence: the last predicted decreases are squares of those before."""
    problem, _ = example(model, 30, 9, xi=1.0, lam=20.0, **CASES[case])
    inside = subspace(problem, 2)
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
    assert max(slow[1:], default=0.0) < 0.2  # faster than a gradient method
    assert found.left <= 1e-13 * first.F


# --- no minimum -------------------------------------------------------------------------------------


def separable(model, lam, options, kappa=1):
    """Separable classes: by X, or in the feature model by its free codes."""
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
def test_without_a_ridge_the_descent_ends_with_a_reason(options, kappa):
    """λ = 0: F has no minimum; the descent ends a few steps after activations become large."""
    inside = subspace(separable("feature", 0.0, options, kappa), 1)
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
    assert not far[0]  # activations are still small
    assert sum(far) <= 25
    assert len(monitor.history) <= 250
    assert found.point.F < start.F


@every_model
@both_ways
def test_with_any_ridge_there_is_a_minimum(model, options):
    inside = subspace(separable(model, 1e-8, options), 2)
    monitor = Monitor()
    start = inside.polish(inside.leading())
    descend(inside, start, Stride.of(inside.problem), monitor, 1e-9)
    assert not monitor.stopped
    assert not inside.has_no_minimum(random_point(inside, size=1e6))


# --- saddles ----------------------------------------------------------------------------------------


def at_the_labels(xi, options=WAYS["dense"]):
    """The two features where W is the direction of the labels, and reconstruction needs the other one."""
    inside = subspace(replace(of_two_features(xi), options=options), 1)
    return inside, inside.polish(np.array([[0.0], [1.0]]))


@both_ways
@pytest.mark.parametrize("xi", [0.05, 1.0])
def test_a_saddle_is_left(xi, options):
    """By symmetry it is stationary and a fixed point of the proximal step, but rotating W descends."""
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


def test_no_rotation_if_the_rank_is_that_of_the_subspace():
    problem, _ = example("filter", 14, 3, 1)
    inside = subspace(problem, 3)
    point = inside.polish(inside.leading())
    assert escape(inside, point, Monitor()) is point


# --- the length of proximal steps -------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.6, 0.3, 0.1, -0.1, -0.3])
def test_what_is_left_after_a_good_step(start):
    """F(x) = eˣ − x near its minimum x = 0: estimated up to a factor, without another step."""
    step = -math.expm1(start) / math.exp(start)
    promised = math.expm1(start) ** 2 / math.exp(start) / 2
    fallen = math.exp(start) - start - (math.exp(start + step) - start - step)
    left = math.exp(start + step) - start - step - 1
    exact = SimpleNamespace(length=None, saddle=False)
    found = _left_after(exact, 1.0, promised, fallen, 0.0)
    if abs(promised - fallen) < 0.1 * promised:
        assert 0.4 * left < found < 2.5 * left
    else:
        assert found == promised
    for doubtful in (SimpleNamespace(length=1.0, saddle=False), SimpleNamespace(length=None, saddle=True)):
        assert _left_after(doubtful, 1.0, promised, fallen, 0.0) == promised
    assert _left_after(exact, 0.5, promised, fallen, 0.0) == promised
