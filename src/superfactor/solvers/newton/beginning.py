"""The start of a search, from PCA or from a stored state, and what a checkpoint stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, eigh_descending, moved, namespace, wide
from superfactor.problem import Problem
from superfactor.samples import Block, Vectors
from superfactor.solvers.newton.checkpoint import Checkpoint
from superfactor.solvers.newton.descent import Stride, proximal
from superfactor.solvers.newton.starts import supervised_start
from superfactor.solvers.newton.state import GROWING, Run, State
from superfactor.subspace import Basis, Inside, leading_basis
from superfactor.subspace.newton_model import elimination_pays


def begin(problem: Problem, rank: int, run: Run, beginning: Beginning | None = None) -> State:
    """Return the first state of a search, or the stored state of an earlier one in `beginning`."""
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
    elif problem.model.labels_leave_range:  # where to depends on the residuals
        point = inside.polish(inside.leading(), max_iter=6, tol=1e-3)
    else:
        none = problem.zeros(inside.rank, problem.n_outputs)
        point = inside.at(inside.leading(), none, inside.without_factors.gamma)
    state = State(inside, point, Stride.of(problem), inside.pca_value, whole, capacity)
    if held is None:
        state = supervised_start(with_label_directions(state), run)
    run.observe(state, False)
    if held is None and not elimination_pays(state.inside):
        return state
    point, stride = proximal(state.inside, state.point, state.stride, run.monitor)
    return replace(state, point=point, stride=stride)


def _leading_subspace(problem: Problem, rank: int, whole: bool, run: Run) -> Basis:
    """Return the whole range of X if that is small, otherwise its leading part by a block-Krylov space."""
    model = problem.model
    if whole:
        T = model.everything(problem.side, max(min(problem.shape), problem.options.whole_range))
    elif problem.has_few_features:
        T = model.from_loadings(
            problem.side, eigh_descending(problem.samples.gram()[0])[1][:, : 2 * rank + 10]
        )
    else:
        return leading_basis(problem, 4 * rank, 2 * rank + 10, run.rng, max(8, rank // 2))
    return Basis.empty(problem).extended(T)[0]


def _resumed_subspace(problem: Problem, beginning: Beginning) -> tuple[Basis, Vectors | None]:
    """Return the subspace of an earlier search, and the vectors that span W of its point."""
    grown, held = problem.model.resumed(problem.side, beginning.loadings, beginning.tall)
    basis = Basis.empty(problem)
    for T in grown:
        basis, _ = basis.extended(T)
    return basis, held


def with_label_directions(state: State) -> State:
    """Return S extended by the gradient of the loss, ΦᵀE, and by a short Krylov chain of G from it."""
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


@dataclass(frozen=True)
class Beginning:
    """The stored state from which a search may begin."""

    loadings: Array  # (p, k), of the subspace W of a point, then of the other directions
    beta: Array  # (r, κ), (q, κ) of the point
    gamma: Array
    tall: Array | None = None  # W (n, r) if the search side is the samples and W is known
    phase: str = GROWING  # phase of the search
    random: str | None = None  # the state of its random numbers

    @classmethod
    def of(cls, state: State) -> Beginning:
        """Return what a search of a similar problem needs to continue from this state."""
        frame = state.inside.frame(state.point)
        V = namespace(frame.W).concat([frame.W, frame.complement], axis=1)
        return cls(state.basis.loadings @ V, frame.beta, state.point.gamma)

    @classmethod
    def from_arrays(cls, stored: Mapping[str, Any], problem: Problem) -> Beginning:
        """Return the result of `arrays` on the device of the problem's own arrays."""
        like = problem.like
        return cls(
            wide(stored["vectors"]),
            wide(stored["beta"]),
            wide(stored["gamma"]),
            cast(moved(stored["tall"], like), like) if "tall" in stored else None,
            str(stored["phase"]),
            str(stored["random"]),
        )


def arrays(state: State, random: str) -> dict[str, Any]:
    """Return the state by name, for a file; `random` is the generator's state before other starts."""
    begin, frame = Beginning.of(state), state.inside.frame(state.point)
    stored: dict[str, Any] = {
        "vectors": begin.loadings,
        "beta": begin.beta,
        "gamma": begin.gamma,
        "objective": state.point.F,
        "phase": state.phase,
        "random": random,
    }
    if state.problem.model.searches_samples:
        stored["tall"] = state.basis.S.combined(frame.W).array()
    return stored


def writing_to(checkpoint: Checkpoint, rng: np.random.Generator) -> Callable[[State, bool], None]:
    """Return an observer of a search that writes states to a file, if it is time or they are important."""
    begun: list[str] = []  # the generator's state after the beginning, from which other starts draw

    def observe(state: State, important: bool) -> None:
        if not begun:
            begun.append(random_state(rng))
        checkpoint.save(lambda: arrays(state, begun[0]), important)

    return observe


def fingerprint(problem: Problem, rank: int) -> dict[str, Any]:
    """Return what identifies this problem: weights, sizes and some sums over the samples."""
    labels, covariates, rows = problem.samples.sum(Block.digest)
    xi, lam = problem.users_weights  # in the user's units, since errors show them
    return {
        "model": problem.model.name,
        "n_components": rank,
        "xi": xi,
        "lam": lam,
        "shape of X": list(problem.shape),
        "sum of squares of X": problem.squared_norm,
        "unit of X": problem.scale,
        "digest of loss": problem.loss.digest(problem.n_outputs),
        "loss of a constant": problem.null_loss,
        "digest of X": float(rows),  # all standardised data of this shape have the same sum of squares
        "digest of y": [float(x) for x in labels],
        "digest of covariates": [float(x) for x in covariates],
        "penalties of the covariates": [float(x) for x in problem.covariate_ridge],
    }


def random_state(rng: np.random.Generator) -> str:
    """Return the state of a generator as text."""
    return json.dumps(rng.bit_generator.state)


def restore_random(rng: np.random.Generator, state: str) -> None:
    """Restore the state of a generator of the same kind; do nothing for other kinds."""
    found = json.loads(state)
    if found["bit_generator"] == rng.bit_generator.state["bit_generator"]:
        rng.bit_generator.state = found
