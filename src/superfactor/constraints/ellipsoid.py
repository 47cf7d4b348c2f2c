"""Projection onto an ellipsoid whose axes come in blocks: one scalar equation, however large.

A Frobenius ball on the lifted variables becomes an ellipsoid once a block is rescaled: with
``z_j = s_j θ_j`` the condition ``Σ_j ‖θ_j‖² ≤ R²`` reads ``Σ_j ‖z_j/s_j‖² ≤ R²``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_MAX_STEPS = 200


def project_onto_ellipsoid(
    norms2: Sequence[float], scales: Sequence[float], radius: float
) -> tuple[float, ...]:
    """Factors ``m_j`` such that ``z_j = m_j y_j`` is the point of the ellipsoid nearest to ``y``.

    Minimises ``Σ_j ‖z_j − y_j‖²`` subject to ``Σ_j ‖z_j/s_j‖² ≤ radius²``. The solution is
    ``m_j = s_j²/(s_j² + ν)``, where ``ν = 0`` if ``y`` is inside and otherwise solves

        ``φ(ν) = Σ_j ‖y_j‖² s_j²/(s_j² + ν)² = radius²``.

    Parameters
    ----------
    norms2 : sequence of k floats
        Squared block norms ``‖y_j‖²``.
    scales : sequence of k floats
        ``s_j > 0``.
    radius : float
        ``R > 0``.

    Returns
    -------
    tuple of k floats in (0, 1]
    """
    norms2 = [float(value) for value in norms2]
    scales = [float(value) for value in scales]
    radius = float(radius)
    if len(norms2) != len(scales):
        raise ValueError(f"scales={scales!r}: as many as norms2 ({len(norms2)}) are required")
    if not all(value >= 0.0 and math.isfinite(value) for value in norms2):
        raise ValueError(f"norms2={norms2!r}: finite non-negative numbers are required")
    if not all(value > 0.0 and math.isfinite(value) for value in scales):
        raise ValueError(f"scales={scales!r}: finite positive numbers are required")
    if not radius > 0.0:
        raise ValueError(f"radius={radius!r}: a positive number is required")
    if not norms2 or math.isinf(radius):
        return (1.0,) * len(norms2)

    # In units of the largest scale and of the radius: φ(ν) = Σ w_j q_j/(q_j + ν)² against 1.
    largest = max(scales)
    q = [(scale / largest) ** 2 for scale in scales]
    w = [value / (largest * radius) / (largest * radius) for value in norms2]

    def phi(nu: float) -> float:
        return math.fsum(wj * qj / (qj + nu) ** 2 for wj, qj in zip(w, q, strict=True))

    nu = 0.0
    if phi(nu) <= 1.0:
        return (1.0,) * len(norms2)
    # Newton on 1/√φ, which is concave and increasing in ν and almost linear: the iterates climb to
    # the root from the left and never pass it, so no bracket is needed.
    for _ in range(_MAX_STEPS):
        value = phi(nu)
        slope = -2.0 * math.fsum(wj * qj / (qj + nu) ** 3 for wj, qj in zip(w, q, strict=True))
        step = 2.0 * value * (math.sqrt(value) - 1.0) / -slope
        if not step > 1e-16 * nu:
            break
        nu += step
    return tuple(qj / (qj + nu) for qj in q)
