"""Rounds: descent inside a subspace, a bound on what lies outside, and growth where the bound is large.

Each round consists of (1) second-order descent inside a subspace S of the search side, (2) the residual of
the full problem outside S, (3) short Krylov chains that enlarge S where the residual is large. This is block
Davidson, known from eigenproblems (docs/method.md §11). If S is the whole range of X, the rounds end at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from superfactor._arrays import Array, indices, namespace, to_numpy
from superfactor.samples import Along, Block, Tall, Vectors
from superfactor.solvers.newton.descent import descend
from superfactor.solvers.newton.state import GROWING, Run, State
from superfactor.spectrum import ritz_corrections
from superfactor.subspace import Basis, Frame, Inside, Point, selector
from superfactor.subspace.newton_model import elimination_pays

MAX_ROUNDS = 60
# Curvatures of reconstruction below this share of the largest are raised to it.
_LEAST_RITZ = 1e-6


def rounds(state: State, run: Run) -> State:
    """Descend inside S, bound what lies outside and enlarge S, until the bound is below the tolerance."""
    enough = "the objective can fall by no more than the tolerance"
    estimate = 0.1 * state.supervised
    flat, previous, final, added = 0, math.inf, False, 1
    for _ in range(MAX_ROUNDS):
        tight, before = 0.1 * state.goal(run.tol), state.point.F
        state = descended(state, run, tight if final else max(tight, 0.02 * estimate), seen=final)
        goal = state.goal(run.tol)
        if run.monitor.stopped:
            return replace(state, reason=str(run.monitor.stop_reason), converged=False)
        if added == 0 and state.left <= goal and before - state.point.F <= tight:
            return replace(state, reason=enough, converged=True)  # the residual has not changed
        outside = 0.0 if state.whole else float(state.basis.D[-1, -1])
        found = residual(state.inside, state.point, outside)
        estimate = found.total
        if estimate + state.left <= goal:
            # A truncated step predicts what is left before it, not an estimate of what is left after it.
            exact = elimination_pays(state.inside)
            if final or (state.left <= tight and not exact):
                return replace(state, reason=enough, converged=True)
            final, added = True, 0
            continue
        flat = flat + 1 if previous - state.point.F <= 0.05 * goal else 0
        previous = state.point.F
        if flat == 3:
            reason = "the objective has stopped falling at the precision of floats"
            return replace(state, reason=reason, converged=True)
        state, added = enlarged(state, found, run)
        if added == 0:
            if final:
                return replace(state, reason=enough, converged=True)
            final = True
    return replace(state, reason=f"reached the limit of {MAX_ROUNDS} rounds", converged=False)


def descended(state: State, run: Run, goal: float, limit: int = 100, seen: bool = True) -> State:
    """Return the state after a descent inside its subspace; only growing searches are observed in between."""

    def reached(point: Point) -> None:
        run.observe(replace(state, point=point), False)

    found = descend(
        state.inside,
        state.point,
        state.stride,
        run.monitor,
        goal,
        limit=limit,
        seen=seen,
        reached=reached if state.phase == GROWING else None,
    )
    return replace(state, point=found.point, left=found.left, stride=found.stride)


@dataclass(frozen=True)
class Residual:
    """The residual of the full problem outside the basis (docs/method.md §11, multiplied by ξ)."""

    frame: Frame
    vectors: Vectors  # (N, r): (I − SSᵀ)[ξGW − ½ΦᵀEβᵀ], one column per direction of the frame
    bounds: Array  # (r,): |R_i|²/(ξ(ritz_i − rest₁)), possible decrease of F along each

    @property
    def total(self) -> float:
        """Possible decrease of F in total."""
        return float(namespace(self.bounds).sum(self.bounds))


def residual(inside: Inside, point: Point, outside: float) -> Residual:
    """Return the residual at a point; `outside` is about the largest eigenvalue outside the basis."""
    problem, basis = inside.problem, inside.basis
    xp, frame = namespace(point.W), inside.frame(point)
    pulled = problem.model.pulled(problem.side, basis.design, point.coef)
    R, gram = basis.outside(basis.residual(frame.W, frame.beta, pulled))
    size = xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))
    gap = frame.ritz - (float(frame.rest[0]) if frame.rest.shape[0] else 0.0)
    if float(gap[-1]) <= 0:
        # No bound is possible: a local estimate is half the distance to the spectrum outside.
        floor = 0.5 * (frame.ritz - outside)
        gap = xp.where(gap > 0, gap, xp.where(floor > gap, floor, gap))
    gap = problem.xi * gap
    return Residual(frame, R, ritz_corrections(xp.where(gap > -size, gap, -size), size))


def chain_lengths(bounds: Array, goal: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions that need a Krylov chain, and its length: about one product per decimal digit.

    Longer chains are useless while the point still changes much, so a round aims at estimate^1.5.
    """
    b = to_numpy(bounds)
    estimate = float(b.sum())
    order = np.argsort(-b, kind="stable")
    rest = estimate - np.cumsum(b[order])
    active = order[: int(np.argmax(rest <= max(0.1 * estimate, 0.3 * goal))) + 1]
    target = max(0.3 * goal, (estimate / scale) ** 1.5 * scale) / len(b)
    depth = np.clip(np.ceil(np.log10(np.maximum(b[active] / target, 1))), 1, 10)
    return active, depth.astype(int)


def enlarged(state: State, found: Residual, run: Run) -> tuple[State, int]:
    """Return a basis extended where the residual is large, and the number of new vectors.

    If every sample has its own curvature on the search side, residuals divided by it point close to the
    minimum; otherwise Krylov chains do. A full basis keeps its best directions.
    """
    divided = state.problem.curves_by_sample
    if divided:
        active = np.argsort(-to_numpy(found.bounds), kind="stable")
        depth = np.ones_like(active)
    else:
        active, depth = chain_lengths(found.bounds, state.goal(run.tol), state.supervised)
    room = state.capacity - state.basis.size
    if depth.sum() > room and not state.whole:
        state = thick_restart(state)
        room = state.capacity - state.basis.size
        while depth.sum() > room and depth.max() > 1:
            depth = np.minimum(depth, depth.max() - 1)
        active, depth = active[:room], depth[:room]
    if divided:
        basis, _ = state.basis.extended(softened(state.basis, state.point.coef, found, active))
    else:
        basis = with_chains(state.basis, state.point.coef, found, active, depth)
    return state.in_basis(basis), basis.size - state.basis.size


def softened(basis: Basis, coef: Array, found: Residual, active: np.ndarray) -> Vectors:
    """Return residuals R (n, r) divided, sample by sample, by the curvature outside the basis without G.

    This curvature is 2ξ·diag(ritz) + βH_iβᵀ, H_i that of the loss. In the eigenvectors of ββᵀ, scaled by
    ritz, only the diagonal of βH_iβᵀ is used, so one (r, r) decomposition serves all samples. Exact for one
    output.
    """
    assert isinstance(found.vectors, Tall)
    problem, ritz = basis.problem, found.frame.ritz
    xp = namespace(ritz)
    least = _LEAST_RITZ * xp.max(ritz) + float(xp.finfo(ritz.dtype).smallest_normal) ** 0.5
    root = (2 * problem.xi * xp.where(ritz > least, ritz, least)) ** -0.5
    b = root[:, None] * found.frame.beta
    turn = xp.linalg.eigh(b @ b.T)[1]
    along = Along(basis.design, coef, turn.T @ b)
    pick = selector(ritz, active, found.vectors.columns)
    terms = root[:, None] * turn, turn.T @ (root[:, None] * pick)
    return problem.samples.keep(Block.softened, found.vectors.place, *terms, along)


def with_chains(basis: Basis, coef: Array, found: Residual, active: np.ndarray, depth: np.ndarray) -> Basis:
    """Extend the basis by Krylov chains of 2ξ(ritz_i − G) + |β_i|²·(loss Hessian) from active residuals."""
    frame, design = found.frame, basis.design
    xp = namespace(frame.ritz)
    T = found.vectors.combined(selector(frame.ritz, active, found.vectors.columns))
    while depth.size:
        new, source = basis.new_directions(T)
        if source.size == 0:
            break
        active, depth = active[source], depth[source] - 1
        index = indices(frame.ritz, active)
        beta = xp.take(frame.beta, index, axis=0)
        basis, added = basis.grown(new, Along(design, coef, beta))
        on = np.flatnonzero(depth > 0)
        T = added.chain(basis.problem.xi, xp.take(frame.ritz, index), on)
        active, depth = active[on], depth[on]
    return basis


def thick_restart(state: State) -> State:
    """Restrict S to W and the leading directions of its complement."""
    rank, outputs = state.rank, min(state.problem.n_outputs, state.rank)
    return state.restarted(min(2 * rank + 10, state.capacity - 2 * outputs - 1))
