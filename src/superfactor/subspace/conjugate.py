"""Conjugate gradients that stop at the boundary of a trust region, for several systems at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from superfactor._arrays import Array, namespace

Linear = Callable[[Array], Array]


@dataclass(frozen=True)
class Truncated:
    """Result of conjugate gradients."""

    x: Array  # (…, N)
    decrease: Array  # (…), decrease of the quadratic ½xᵀHx − bᵀx by x
    length: Array  # (…), √(xᵀMx) in the metric of the preconditioner M⁻¹
    # (…), whether the tolerance was reached: False after negative curvature, at the boundary of the trust
    # region, or at the limit of iterations
    solved: Array


def conjugate_gradients(
    apply: Linear,
    rhs: Array,
    precondition: Linear,
    *,
    tol: float | Array,
    max_iter: int,
    radius: float | Array = float("inf"),
) -> Truncated:
    """Minimise ½xᵀHx − bᵀx over xᵀMx ≤ radius² (Steihaug), for b (…, N), H = apply, M⁻¹ = precondition.

    Stops if the residual is below `tol` times the first one, both in the norm of M⁻¹. Along a direction of
    negative curvature x goes to the boundary, or, without one, as far as if M were the curvature.
    """
    xp = namespace(rhs)

    def inner(a: Array, b: Array) -> Array:
        return xp.sum(a * b, axis=-1)

    def along(scale: Array, direction: Array) -> Array:
        return scale[..., None] * direction

    x, r = xp.zeros_like(rhs), rhs
    z = precondition(r)
    d, rz = z, inner(r, z)
    zero = xp.zeros_like(rz)
    one = zero + 1.0
    xx, xd, dd = zero, zero, rz  # in the metric M: ⟨x, x⟩, ⟨x, d⟩, ⟨d, d⟩
    edge = (zero + radius) ** 2
    goal = (zero + tol) ** 2 * rz
    going = rz > 0
    solved = ~going
    for _ in range(max_iter):
        if not bool(xp.any(going)):
            break
        Hd = apply(d)
        curvature = inner(d, Hd)
        bent = curvature > 0
        step = rz / xp.where(bent, curvature, one)
        farther = xx + 2 * step * xd + step**2 * dd
        inside = going & bent & (farther < edge)
        if not bool(xp.all(inside)):
            # To the boundary, or, without one, as far as if M were the curvature. Solved systems do not
            # change.
            room = xp.where(edge < xp.inf, edge - xx, zero)
            root = xp.sqrt(xp.clip(xd**2 + dd * room, 0.0, None))
            last = (root - xd) / xp.where(dd > 0, dd, one)
            last = xp.where(edge < xp.inf, last, one)
            step = xp.where(inside, step, xp.where(going, last, zero))
            farther = xx + 2 * step * xd + step**2 * dd
        x, r, xx = x + along(step, d), r - along(step, Hd), farther
        z = precondition(r)
        new = inner(r, z)
        met = inside & (new <= goal)
        # Such growth of a residual is a rounding error: the curvature is as small as floats can be.
        solved, going = solved | met, inside & ~met & (1e-100 * new < rz)
        # Systems that have ended need no update, and their residuals may be as small as floats can be.
        ratio = xp.where(going, new, zero) / xp.where(going & (rz > 0), rz, one)
        xd = ratio * (xd + step * dd)
        d, rz = z + along(ratio, d), new
        dd = new + ratio**2 * dd
    # ½xᵀHx − bᵀx, with Hx = b − r.
    decrease = 0.5 * inner(x, rhs + r)
    return Truncated(x, decrease, xp.sqrt(xp.clip(xx, 0.0, None)), solved)
