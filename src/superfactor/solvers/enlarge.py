"""Where the growing subspace must grow: the residual of the full problem, and chains that remove it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from superfactor._arrays import Array, indices, namespace
from superfactor.lifting import Vectors
from superfactor.solvers.subspace import Frame, Point, SubspaceProblem


@dataclass(frozen=True)
class Residual:
    """What the full problem still asks for outside the basis.

    vectors (N, r): (I − SSᵀ)[ξGW − ½ΦᵀEβᵀ], one column per direction of the frame
    bounds (r,): |R_i|²/(ξ(θ_i − ν̄)), how far F may fall along each (docs/method.md §11, multiplied by ξ)
    """

    frame: Frame
    vectors: Vectors
    bounds: Array

    @property
    def total(self) -> float:
        return float(namespace(self.bounds).sum(self.bounds))


def residual(inside: SubspaceProblem, point: Point, outside: float) -> Residual:
    """The residual at a point; `outside` is about the largest value of the spectrum outside the basis."""
    problem, basis = inside.problem, inside.basis
    xp = namespace(point.W)
    frame = inside.frame(point)
    R, gram = basis.outside(basis.residual(frame.W, frame.beta, point.theta))
    size = xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))
    gap = frame.theta - (float(frame.nu[0]) if frame.nu.shape[0] else 0.0)
    if float(gap[-1]) <= 0:
        # Nothing is certifiable: a local estimate, half the distance to the spectrum outside.
        floor = 0.5 * (frame.theta - outside)
        gap = xp.where(gap > 0, gap, xp.where(floor > gap, floor, gap))
    gap = problem.xi * gap
    safe = xp.where(gap > size, gap, xp.ones_like(gap))
    lower = xp.where(gap > -size, gap, -size)
    c = xp.where(gap > size, size**2 / safe, 2 * size - lower)
    return Residual(frame, R, c)


def chain_lengths(bounds: Array, goal: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Which directions need a Krylov chain, and how long: about one product per decimal digit.

    Longer chains are wasted before the nonlinearity has settled, so a round aims at estimate^1.5.
    """
    b = np.asarray([float(x) for x in bounds])
    estimate = float(b.sum())
    order = np.argsort(-b, kind="stable")
    rest = estimate - np.cumsum(b[order])
    active = order[: int(np.argmax(rest <= max(0.1 * estimate, 0.3 * goal))) + 1]
    target = max(0.3 * goal, (estimate / scale) ** 1.5 * scale) / len(b)
    depth = np.clip(np.ceil(np.log10(np.maximum(b[active] / target, 1))), 1, 10)
    return active, depth.astype(int)


def enlarge(
    inside: SubspaceProblem, point: Point, found: Residual, active: np.ndarray, depth: np.ndarray
) -> int:
    """Krylov chains of 2ξ(θ_i − G) + |β_i|²·(loss Hessian) from the active residuals.

    Returns the number of directions that were new; the caller refreshes the inner problem.
    """
    basis, frame = inside.basis, found.frame
    T, before = basis.take(found.vectors, active), basis.size
    while depth.size:
        new, source = basis.new_directions(T)
        if source.size == 0:
            break
        active, depth = active[source], depth[source] - 1
        index = indices(frame.theta, active)
        theta = namespace(frame.theta).take(frame.theta, index)
        beta = namespace(frame.beta).take(frame.beta, index, axis=0)
        basis.append(new, point.theta, beta)
        on = np.flatnonzero(depth > 0)
        T = basis.chain(theta, on)
        active, depth = active[on], depth[on]
    return basis.size - before
