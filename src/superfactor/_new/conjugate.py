"""Conjugate gradients, for several systems at once, on arrays of any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor._new.tall import here, there


def conjugate_gradients(
    times: Callable[[Array], Array], b: Array, precondition: Callable[[Array], Array], tol: Any, most: int
) -> tuple[Array, Any]:
    """Solve Hx = b roughly for one or several b (…, N).

    A system stops at a residual `tol` times the first in the norm of the preconditioner. At negative
    curvature it stops with a step along that direction, as long as if the preconditioner were exact.

    Returns
    -------
    x : array (…, N)
    bent : array (…) of bool, NumPy
        Where negative curvature was met.
    """
    xp = namespace(b)

    def inner(u: Array, v: Array) -> Any:
        return here(xp.vecdot(u, v))

    x, r = 0 * b, b
    d = z = precondition(r)
    rz = inner(r, z)
    goal, going, bent = tol**2 * rz, rz > 0, rz < 0
    for _ in range(most):
        if not going.any():
            break
        Hd = times(d)
        bend = inner(d, Hd)
        bent = bent | going & (bend <= 1e-14 * rz)
        step = np.where(going, np.where(bent, 1.0, rz / np.where(bend > 0, bend, 1.0)), 0.0)
        step = there(step[..., None], b)
        x, r = x + step * d, r - step * Hd
        z = precondition(r)
        new = inner(r, z)
        going = going & ~bent & (new > goal)
        d, rz = z + there((new / np.where(rz > 0, rz, 1.0))[..., None], b) * d, new
    return x, bent
