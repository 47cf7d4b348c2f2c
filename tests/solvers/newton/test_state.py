"""A state is immutable."""

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.solvers.newton.searching import GROWING, begun, growing, new_run

from superfactor.solvers.newton.beginning import Beginning, arrays, with_label_directions
from superfactor.solvers.newton.path import from_neighbour, reweighted
from superfactor.solvers.newton.rounds import descended, enlarged, residual, rounds, thick_restart
from superfactor.solvers.newton.solve import finish
from superfactor.solvers.newton.starts import EFFORTS, other_starts, supervised_start

every_model = pytest.mark.parametrize("model", MODELS)


def seen(state):
    """Every public value of a state, computed again."""
    basis, point, inside = state.basis, state.point, state.inside
    parts = [
        *(part.array().copy() for part in (basis.S, basis.GS, basis.features)),
        *(np.array(x) for x in (basis.D, basis.loadings)),
        *(np.array(getattr(point, f.name)) for f in fields(point)),
    ]
    again = inside.at(point.W, point.beta, point.gamma)
    polished = inside.polish(inside.leading())
    numbers = [again.F, polished.F, inside.pca_value, state.floor, state.left, state.capacity]
    return [*parts, again.pulled, np.array(numbers)]


def grown(state, run):
    return enlarged(state, residual(state.inside, state.point, float(state.basis.D[-1, -1])), run)[0]


PHASES = {
    "descended": lambda s, run: descended(s, run, 1e-10),
    "enlarged": grown,
    "thick restart": lambda s, run: thick_restart(s),
    "rounds": rounds,
    "other starts": lambda s, run: other_starts(s, run, EFFORTS["auto"]),
    "supervised start": supervised_start,
    "label directions": lambda s, run: with_label_directions(s),
    "finish": finish,
    "reweighted": lambda s, run: from_neighbour(
        reweighted(s, s, s.problem.at_weights(s.problem.xi, 3 * s.problem.lam)), run
    ),
    "written": lambda s, run: arrays(s, "") and Beginning.of(s) and s,
}


@every_model
def test_no_phase_changes_the_state_it_gets(model):
    run = new_run()
    before = begun(growing(model, n=60, p=50), 2, run)
    first = seen(before)
    for phase, changed in PHASES.items():
        after = changed(before, run)
        more = grown(after, run)  # and growth of the result
        assert more.basis.size >= after.basis.size
        for one, other in zip(first, seen(before), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=phase)


@every_model
def test_a_held_point_does_not_depend_on_the_basis(model):
    run = new_run()
    state = descended(begun(growing(model, n=60, p=50), 2, run), run, 1e-8)
    held = state.held()
    restarted = thick_restart(grown(state, run))
    side = state.problem.side
    other = state.problem.model.random(side, np.random.default_rng(1), 5)
    elsewhere = restarted.in_basis(restarted.basis.extended(other)[0])
    back = elsewhere.back_to(held)
    assert held.F == state.point.F
    assert pytest.approx(state.point.F, rel=1e-11) == back.point.F
    W = back.basis.S.array() @ back.point.W
    expected = state.basis.S.array() @ state.point.W
    np.testing.assert_allclose(W @ W.T, expected @ expected.T, atol=1e-9)
    assert (back.left, back.reason, back.converged) == (state.left, state.reason, state.converged)


# --- tolerances -----------------------------------------------------------------------------------------


@every_model
def test_the_goal_is_relative_to_what_supervision_can_change(model):
    problem, P = example(model, 20, 6, 1, options=GROWING)
    run = new_run()
    state = rounds(begun(problem, 2, run), run)
    sigma = np.linalg.svd(P.X, compute_uv=False)
    floor = P.xi * np.sum(sigma[2:] ** 2)
    assert state.supervised == pytest.approx(state.point.F - floor, rel=1e-6)
    assert state.goal(1e-3) == pytest.approx(1e-3 * state.supervised)
    assert state.goal(0.0) == pytest.approx(16 * np.finfo(float).eps * state.point.F)
    nothing = replace(state, floor=state.point.F)  # as for separable classes
    alone = state.inside.without_factors.loss
    assert nothing.supervised == pytest.approx(1e-4 * alone)
    assert alone < problem.null_loss
