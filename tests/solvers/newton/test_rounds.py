"""Rounds: the bound on what lies outside, chains where it is large, and what a growing subspace reaches."""

from dataclasses import replace

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.newton.searching import GROWING, begun, growing, inside_of, new_run, planted

from superfactor.losses import resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.samples import Block
from superfactor.solution import Monitor
from superfactor.solvers import newton
from superfactor.solvers.newton.descent import Stride, descend
from superfactor.solvers.newton.rounds import (
    chain_lengths,
    descended,
    enlarged,
    residual,
    rounds,
    thick_restart,
    with_chains,
)

every_model = pytest.mark.parametrize("model", MODELS)


def settled(problem, rank=3, tol=1e-8):
    """A state at the lowest point of its first subspace, what the full problem asks for there, its run."""
    run = new_run(tol)
    state_ = descended(begun(problem, rank, run), run, 1e-12)
    return state_, residual_of(state_), run


def residual_of(state_):
    outside = 0.0 if state_.whole else float(state_.basis.D[-1, -1])
    return residual(state_.inside, state_.point, outside)


# --- the bound --------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("weighted", [False, True])
def test_the_residual_is_its_formula(model, weighted):
    """(I − SSᵀ)[ξGW − ½ΦᵀEβᵀ] with explicit matrices, in the units of the problem."""
    problem, P = example(model, 14, 9, 2, weighted=weighted, lam=1.0)
    inside = inside_of(problem, 2, 5)
    point = inside.polish(inside.leading())
    found = residual(inside, point, 0.0)
    S, root = inside.basis.S.array(), np.sqrt(P.weight)
    X = (P.X * root / problem.scale).T  # X̃ (n, p)
    a = problem.samples.stack(Block.activations, inside.basis.design, point.coef)
    E = problem.arrays().loss_terms(a)[1]
    if model == "filter":
        gram, pulled = X.T @ X, X.T @ (E / root[:, None])
    else:
        gram, pulled = X @ X.T, E / root[:, None]
    W = S @ found.frame.W
    R = problem.xi * gram @ W - 0.5 * pulled @ found.frame.beta.T
    R = R - S @ (S.T @ R)
    np.testing.assert_allclose(found.vectors.array(), R, atol=1e-11 * np.abs(R).max())
    assert found.total == pytest.approx(float(np.sum(found.bounds)))
    assert np.all(found.bounds >= 0)


@every_model
def test_nothing_is_asked_for_where_the_subspace_is_everything(model):
    problem, _ = example(model, 14, 9, 2)
    inside = inside_of(problem, 2)
    found = residual(inside, inside.polish(inside.leading()), 0.0)
    assert found.total <= 1e-20 * problem.squared_norm


@every_model
def test_the_bound_is_about_what_is_gained(model):
    """Between a share of the fall to the optimum and many times it: it decides when to stop."""
    problem = growing(model)
    first, found, _ = settled(problem)
    best = newton.solve(growing(model, options=Options(whole_range=1000)), 3, tol=1e-11).objective
    gained = first.point.F - best
    assert gained > 1e-3
    assert 0.5 * gained <= found.total <= 100 * gained


# --- growth -----------------------------------------------------------------------------------------


@every_model
def test_enlarging_lowers_the_bound_by_a_factor(model):
    """One round of chains and a descent: an order of magnitude, where random directions do nothing."""
    first, found, run = settled(growing(model))
    grown, added = enlarged(first, found, run)
    assert added == grown.basis.size - first.basis.size > 0
    assert pytest.approx(first.point.F, rel=1e-12) == grown.point.F  # the same point, more room
    after = residual_of(descended(grown, run, 1e-12))
    assert after.total < 0.2 * found.total
    side, rng = first.problem.side, np.random.default_rng(3)
    random, _ = first.basis.extended(first.problem.model.random(side, rng, added))
    blind = residual_of(descended(first.in_basis(random), run, 1e-12))
    assert after.total < 0.3 * blind.total


@every_model
@pytest.mark.parametrize("of", [0, 2])
def test_chains_are_those_of_the_second_order_model(model, of):
    """Powers of 2ξ(θ − G) + |β|²ΦᵀhΦ, written out, from the residual; without the loss they miss it."""
    problem = growing(model, n=40, p=30, xi=0.05, lam=0.05)
    first, found, _ = settled(problem)
    one, depth = np.array([of]), np.array([3])
    basis = with_chains(first.basis, first.point.coef, found, one, depth)
    assert basis.size == first.basis.size + 3
    frame, S0 = found.frame, first.basis.S.array()
    X = problem.arrays().data.times(np.eye(30))
    gram, Phi = (X.T @ X, X) if model == "filter" else (X @ X.T, np.eye(40))
    a = problem.samples.stack(Block.activations, first.basis.design, first.point.coef)
    h = np.exp(-np.logaddexp(0, a) - np.logaddexp(0, -a))
    plain = 2 * problem.xi * (frame.ritz[of] * np.eye(len(gram)) - gram)
    bent = frame.beta[of, 0] ** 2 * Phi.T @ (h * Phi)
    S = basis.S.array()
    lost = {}
    for name, operator in (("model", plain + bent), ("reconstruction", plain)):
        t, Q = found.vectors.array()[:, of], S0
        for _ in range(3):
            for _ in range(2):
                t = t - Q @ (Q.T @ t)
            t = t / np.linalg.norm(t)
            Q = np.column_stack([Q, t])
            t = operator @ t
        lost[name] = np.linalg.norm(Q - S @ (S.T @ Q))
    assert lost["model"] < 1e-8
    assert lost["reconstruction"] > 1e-6


@every_model
@pytest.mark.parametrize("active", [[0], [2], [0, 2], [1, 0, 2]])
def test_chains_are_added_only_where_they_are_asked_for(model, active):
    first, found, _ = settled(growing(model))
    active = np.asarray(active)
    depth = np.ones(len(active), dtype=int)
    basis = with_chains(first.basis, first.point.coef, found, active, depth)
    assert basis.size == first.basis.size + len(active)
    R = found.vectors.array()
    S = basis.S.array()
    inside = np.linalg.norm(R - S @ (S.T @ R), axis=0) / np.linalg.norm(R, axis=0)
    others = np.setdiff1d(np.arange(3), active)
    assert np.all(inside[active] < 1e-7)
    assert np.all(inside[others] > 1e-3)
    np.testing.assert_allclose(S.T @ S, np.eye(basis.size), atol=1e-12)


@every_model
def test_chains_have_the_lengths_they_are_given(model):
    first, found, _ = settled(growing(model))
    basis = with_chains(first.basis, first.point.coef, found, np.array([0, 1, 2]), np.array([1, 3, 2]))
    assert basis.size == first.basis.size + 6
    none = np.array([], dtype=int)
    assert with_chains(first.basis, first.point.coef, found, none, none) is first.basis


def test_one_product_a_digit():
    """Lengths grow with log₁₀ of bound/goal, and no chain is for what is below it."""
    lengths = []
    for digits in range(1, 8):
        active, depth = chain_lengths(np.array([1.0]), 10.0**-digits, 1e30)
        assert active.tolist() == [0]
        lengths.append(int(depth[0]))
    assert lengths == sorted(lengths)
    assert np.all(np.diff(lengths) <= 1)
    assert lengths[-1] == lengths[0] + 6
    assert chain_lengths(np.array([1.0]), 1e-30, 1e60)[1].max() <= 10


def test_chains_are_no_longer_than_the_nonlinearity_allows():
    """A round aims at estimate^1.5: while the bound is large against what supervision can change, short."""
    bounds, goal = np.array([1e-2]), 1e-9
    early = chain_lengths(bounds, goal, scale=1e-1)[1][0]
    late = chain_lengths(bounds, goal, scale=1e6)[1][0]
    assert early == 1
    assert late >= early + 3


def test_directions_of_small_bounds_have_no_chain():
    bounds = np.array([1e-9, 1.0, 1e-8, 0.5])
    active, depth = chain_lengths(bounds, 1e-3, 1.0)
    assert active.tolist() == [1, 3]  # the largest first
    assert depth[0] >= depth[1] >= 1
    active, _ = chain_lengths(np.array([1.0, 1.0, 1.0]), 1e-3, 1.0)
    assert sorted(active) == [0, 1, 2]


def test_the_longest_chain_is_where_the_bound_is_largest():
    active, depth = chain_lengths(np.array([1.0, 1e3, 1e5]), 1e-2, 1e12)
    assert dict(zip(active.tolist(), depth.tolist(), strict=True))[2] == max(depth)
    assert active[0] == 2


# --- a full basis -----------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("kappa", [1, 3])
def test_a_thick_restart_keeps_F(model, kappa):
    problem, _ = example(model, 90, 80, kappa, lam=5.0, weighted=True, options=GROWING)
    first, found, run = settled(problem)
    first, _ = enlarged(first, found, run)
    first = descended(first, run, 1e-10)
    frame = first.inside.frame(first.point)
    kept = thick_restart(first)
    assert kept.basis.size == min(2 * 3 + 10, first.basis.size) < first.basis.size
    assert pytest.approx(first.point.F, rel=1e-12) == kept.point.F
    S = kept.basis.S.array()
    np.testing.assert_allclose(S.T @ S, np.eye(kept.basis.size), atol=1e-11)
    # The best of the complement is kept: its leading values.
    np.testing.assert_allclose(np.diag(kept.basis.D)[3:], frame.rest[: kept.basis.size - 3], rtol=1e-8)
    assert first.basis.size > kept.basis.size  # the old state is as it was
    assert (
        pytest.approx(first.point.F, rel=1e-13)
        == first.inside.at(first.point.W, first.point.beta, first.point.gamma).F
    )


@every_model
def test_a_basis_never_outgrows_its_room(model):
    """Rounds with little room restart often and end at the same optimum."""
    problem = growing(model)
    run, ample = new_run(1e-9), new_run(1e-9)
    free = rounds(begun(problem, 3, ample), ample)
    first = begun(problem, 3, run)
    most = first.basis.size + 3
    tight = replace(first, capacity=most)
    sizes = []
    watched = replace(run, observe=lambda s, _: sizes.append(s.basis.size))
    end = rounds(tight, watched)
    assert max(sizes) <= most < free.basis.size
    assert end.basis.size <= most
    assert end.converged and free.converged
    assert pytest.approx(free.point.F, rel=1e-7) == end.point.F


# --- what rounds reach ------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_rounds_end_within_the_tolerance(model, tol):
    """Against the same problem on the whole search side."""
    problem = growing(model, n=120, p=90)
    run = new_run(tol)
    end = rounds(begun(problem, 3, run), run)
    assert end.converged
    assert "tolerance" in end.reason
    whole = inside_of(problem, 3)
    W = whole.basis.coordinates(end.basis.S.combined(end.point.W))

    start = whole.polish(W, end.point.beta, end.point.gamma)
    best = descend(whole, start, Stride.of(problem), Monitor(), 1e-12).point.F
    assert end.point.F - best <= 10 * tol * end.supervised
    assert end.basis.size < 60


@every_model
def test_a_better_tolerance_takes_a_larger_subspace(model):
    problem, sizes = growing(model), []
    for tol in (1e-2, 1e-9):
        run = new_run(tol)
        sizes.append(rounds(begun(problem, 3, run), run).basis.size)
    assert sizes[0] < sizes[1]


def test_a_stop_is_heard_between_rounds():
    run = new_run(1e-10, max_iter=2)
    end = rounds(begun(growing("filter"), 3, run), run)
    assert not end.converged
    assert end.reason == "reached the limit of 2 iterations"


@every_model
def test_the_objective_of_a_grown_subspace_is_the_papers(model):
    X, y = planted(100, 80)
    loss = resolve_link("logistic", 1)
    problem = state(model, X, y, loss, xi=1.0, lam=0.5, options=GROWING)
    found = newton.solve(problem, 3)
    f = found.factors
    value = naive.objective(model, X, y[:, None], f.components, f.codes.T, f.beta, f.gamma, xi=1.0, lam=0.5)
    assert found.objective == pytest.approx(value, rel=1e-10)
