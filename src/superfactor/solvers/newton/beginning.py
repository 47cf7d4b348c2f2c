"""How a search begins: a subspace, the best point in it without labels, then where the labels pull."""

from __future__ import annotations

from dataclasses import replace

from superfactor._arrays import eigh_descending
from superfactor.problem import Problem
from superfactor.samples import Vectors
from superfactor.solvers.newton.descent import Stride, proximal
from superfactor.solvers.newton.resuming import Beginning, restore_random
from superfactor.solvers.newton.starts import supervised_start
from superfactor.solvers.newton.state import Run, State
from superfactor.subspace import Basis, Inside, leading_basis
from superfactor.subspace.newton_model import elimination_pays


def begin(problem: Problem, rank: int, run: Run, beginning: Beginning | None = None) -> State:
    """The first state of a search; from where another one ended, if that is given."""
    dimension = min(problem.shape)
    whole = dimension <= max(4 * rank, problem.options.whole_range)
    held: Vectors | None = None
    if beginning is None:
        basis = _leading_subspace(problem, rank, whole, run)
    else:
        basis, held = _resumed_subspace(problem, beginning)
    if basis.size < rank:  # rank X < r: labels may use the spare rank
        spare = problem.model.random(problem.side, run.rng, rank - basis.size)
        basis, _ = basis.extended(spare)
    if whole and beginning is None:
        basis = basis.turned(eigh_descending(basis.D)[1])
    labels = min(problem.n_outputs, rank)
    capacity = max(6 * rank, 2 * rank + 30) + 8 * labels
    if whole:
        capacity = basis.size + 4 * rank + 20 * labels
    inside = Inside(basis, min(rank, basis.size))
    if beginning is not None and held is not None:
        W = basis.coordinates(held)[:, : inside.rank]
        point = inside.polish(W, beginning.beta, beginning.gamma, max_iter=30, tol=1e-10)
        if beginning.random is not None:
            restore_random(run.rng, beginning.random)
    elif elimination_pays(inside):
        point = inside.polish(inside.leading(), max_iter=30, tol=1e-10)
    elif problem.model.labels_leave_range:  # and where to depends on what is left of them
        point = inside.polish(inside.leading(), max_iter=6, tol=1e-3)
    else:
        none = problem.zeros(inside.rank, problem.n_outputs)
        point = inside.at(inside.leading(), none, inside.without_factors.gamma)
    stride, begun = Stride.of(problem), basis.size
    state = State(inside, point, stride, inside.pca_value, whole, begun, capacity)
    if held is None:
        state = supervised_start(with_label_directions(state), run)
    run.observe(state, False)
    if held is None and not elimination_pays(state.inside):
        return state
    point, stride = proximal(state.inside, state.point, state.stride, run.monitor)
    return replace(state, point=point, stride=stride)


def _leading_subspace(problem: Problem, rank: int, whole: bool, run: Run) -> Basis:
    """The whole range of X when that is small, a block-Krylov approximation of its top otherwise."""
    if not whole:
        return leading_basis(problem, 4 * rank, 2 * rank + 10, run.rng, max(8, rank // 2))
    limit = max(min(problem.shape), problem.options.whole_range)
    return Basis.empty(problem).extended(problem.model.everything(problem.side, limit))[0]


def _resumed_subspace(problem: Problem, beginning: Beginning) -> tuple[Basis, Vectors | None]:
    """The subspace of another search, and what of it its point's W spans."""
    grown, held = problem.model.resumed(problem.side, beginning.loadings, beginning.tall)
    basis = Basis.empty(problem)
    for T in grown:
        basis, _ = basis.extended(T)
    return basis, held


def with_label_directions(state: State) -> State:
    """S enlarged by where the labels pull: ΦᵀE and, if G has more to say of it, a short Krylov chain."""
    problem, basis = state.problem, state.basis
    model = problem.model
    if state.whole and not model.labels_leave_range:
        return state
    pulled = model.pulled(problem.side, basis.design, state.point.coef)
    block = basis.leading_of(pulled, max(state.rank, problem.n_outputs) if state.whole else state.rank)
    for _ in range(model.label_steps):
        basis, added = basis.extended(block)
        if added is None:
            break
        block = added.powers
    return state.in_basis(basis)
