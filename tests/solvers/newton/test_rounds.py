"""Rounds: the bound on what lies outside, chains where it is large, and the optimum of a growing subspace."""

from dataclasses import replace

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example, lifted
from tests.solvers.newton.searching import GROWING, begun, growing, new_run
from tests.subspace.points import subspace

from superfactor.options import Options
from superfactor.solution import Monitor
from superfactor.solvers import newton
from superfactor.solvers.newton.descent import Stride, descend
from superfactor.solvers.newton.rounds import chain_lengths, descended, residual, rounds, with_chains

every_model = pytest.mark.parametrize("model", MODELS)


def settled(problem, rank=3, tol=1e-8):
    """A state at the lowest point of its first subspace, the residual of the full problem, its run."""
    run = new_run(tol)
    state_ = descended(begun(problem, rank, run), run, 1e-12)
    return state_, residual_of(state_), run


def residual_of(state_):
    outside = 0.0 if state_.whole else float(state_.basis.D[-1, -1])
    return residual(state_.inside, state_.point, outside)


# --- the bound --------------------------------------------------------------------------------------


# --- growth -----------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("active", [[2], [0, 2]])
def test_chains_are_added_for_active_directions_only(model, active):
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


def test_one_product_per_digit():
    """Lengths grow with log₁₀ of bound/goal; bounds below the goal get no chain."""
    lengths = []
    for digits in range(1, 8):
        active, depth = chain_lengths(np.array([1.0]), 10.0**-digits, 1e30)
        assert active.tolist() == [0]
        lengths.append(int(depth[0]))
    assert lengths == sorted(lengths)
    assert np.all(np.diff(lengths) <= 1)
    assert lengths[-1] == lengths[0] + 6
    assert chain_lengths(np.array([1.0]), 1e-30, 1e60)[1].max() <= 10
    # A round aims at estimate^1.5: chains are short while the bound is relatively large.
    assert chain_lengths(np.array([1e-2]), 1e-9, scale=1e-1)[1].tolist() == [1]


# --- a full basis -----------------------------------------------------------------------------------


@every_model
def test_a_basis_never_exceeds_its_capacity(model):
    """Rounds with a small capacity restart often and end at the same optimum."""
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


# --- results of rounds ------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "tol"), [("filter", 1e-4), ("feature", 1e-8)])
def test_rounds_end_within_the_tolerance(model, tol):
    """Against the same problem on the whole search side."""
    problem = growing(model, n=120, p=90)
    run = new_run(tol)
    end = rounds(begun(problem, 3, run), run)
    assert end.converged
    assert "tolerance" in end.reason
    whole = subspace(problem, 3)
    W = whole.basis.coordinates(end.basis.S.combined(end.point.W))

    start = whole.polish(W, end.point.beta, end.point.gamma)
    best = descend(whole, start, Stride.of(problem), Monitor(), 1e-12).point.F
    assert end.point.F - best <= 10 * tol * end.supervised
    assert end.basis.size < 60


@every_model
@pytest.mark.parametrize(
    "given", [{"kappa": 2, "sparse": True, "weighted": True}, {"kappa": 1, "loss": "probit", "sparse": True}]
)
def test_a_growing_subspace_finds_the_global_optimum(model, given):
    whole, grown = (
        example(model, 90, 70, lam=3.0, options=o, **given) for o in (Options(whole_range=100), GROWING)
    )
    best, found = (newton.solve(problem, 3, tol=1e-10) for problem, _ in (whole, grown))
    assert best.basis().size >= 64 > found.basis().size
    np.testing.assert_allclose(found.objective, best.objective, rtol=1e-7)
    value = naive.lifted_objective(grown[1], *lifted(model, found.factors))
    np.testing.assert_allclose(found.objective, value, rtol=1e-9)
