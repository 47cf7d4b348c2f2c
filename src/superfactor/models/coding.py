"""From a new sample to its code and its activations.

Filter model: the code is Wᵀx, the activation βᵀWᵀx + γᵀx'.

Feature model: the code of a training sample was chosen together with its label, and a new sample
has none. The energy its training term would have with label y,

    E_y = min_h ℓ(y, βᵀh + γᵀx') + λ‖βᵀh‖² + ξ‖W(h − W⁺x)‖²,

says how well y goes with x: p_y ∝ exp(−E_y). With W = QSVᵀ on its numerical range and
h = W⁺x + VS⁻¹e the activation is b + γᵀx' + Cᵀe, b = βᵀW⁺x, C = S⁻¹Vᵀβ, and the last term is ξ‖e‖².
Only e in the range of C = P·diag(m)·Rᵀ matters: at most κ unknowns. Completing the square in them,

    E_y = Σ_j λ(1−s_j)(Rᵀb)_j² + min_t ℓ(y, c + R·diag(m̂)t + γᵀx') + ½‖t‖²,
    m̂_j² = m_j²/(2ξ + 2λm_j²),   s_j = 2λm̂_j²,   c = R·diag(1−s)·Rᵀb.

In regression y is free and the loss vanishes: the prediction is c + γᵀx'.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from superfactor._arrays import Array, cast, device, eps, namespace, wide, zeros_like_of
from superfactor.losses import Loss, Multinomial
from superfactor.models.base import Coding

# Entries of the largest temporary array, (samples × labels) × κ × κ.
_CHUNK = 2_000_000
_MAX_ITER = 500


def _linear_scores(a: Array, loss: Multinomial) -> Array:
    """Logarithms of h at activations (n, κ), with 0 for class 0: (n, κ + 1)."""
    scores = loss.link.log_h(a)
    xp = namespace(scores)
    return xp.concat([xp.zeros_like(scores[:, :1]), scores], axis=1)


class _ArrayCoding(Coding):
    """Codings are dataclasses of arrays and numbers."""

    def moved(self, move: Any) -> Coding:
        arrays = {field.name: move(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        return replace(self, **arrays)  # type: ignore[type-var]


@dataclass(frozen=True)
class FilterCoding(_ArrayCoding):
    """codes = XW.

    Attributes
    ----------
    filters : W (p, r)
    """

    filters: Array

    def codes(self, X: Array) -> Array:
        """Wᵀx for every row of X (n, p): (n, r)."""
        return X @ self.filters

    def scores(self, b: Array, offset: Array, loss: Multinomial, prediction: str) -> Array:
        return _linear_scores(b + offset, loss)

    def targets(self, b: Array, offset: Array, prediction: str) -> Array:
        return b + offset


@dataclass(frozen=True)
class FeatureCoding(_ArrayCoding):
    """codes = X(W⁺)ᵀ, and the supervised coding of the energies above.

    Attributes
    ----------
    xi, lam : ξ > 0 and λ ≥ 0 of the fit, in the user's units
    range : Q (p, k), an orthonormal basis of the numerical range of W
    back : D·V·S⁻¹ (r, k), so that W⁺ = back·Qᵀ; D are the sizes of the training codes
    mixing : R (κ, ρ) with orthonormal columns
    widths : m (ρ,) > 0
    """

    xi: float
    lam: float
    range: Array
    back: Array
    mixing: Array
    widths: Array

    @classmethod
    def of(
        cls, components: Array, size: Array, beta: Array, *, xi: float, lam: float
    ) -> FeatureCoding:
        """From W (p, r), the norms of the training codes' columns (r,), β (r, κ), ξ and λ.

        Which directions of W are numerically zero is decided in units of what each contributes to
        the reconstruction, ‖w_j‖·‖h_j‖: a factor that only labels use has nothing but noise in W.
        """
        xp = namespace(components)
        size = xp.where(size > 0, size, xp.ones_like(size))
        Q, T = xp.linalg.qr(components * size[None, :])
        U, S, Vt = xp.linalg.svd(T, full_matrices=False)
        kept = S[0] * eps(S) ** (2 / 3) < S
        S = S[kept]
        k = int(S.shape[0])
        back = Vt[:k, :].T / S[None, :]
        C = back.T @ (beta * size[:, None])
        R, m = _right_singular(C)
        return cls(xi, lam, Q @ U[:, :k], back * size[:, None], R, m)

    def codes(self, X: Array) -> Array:
        """W⁺x for every row of X (n, p): (n, r)."""
        return (X @ self.range) @ self.back.T

    def scores(self, b: Array, offset: Array, loss: Multinomial, prediction: str) -> Array:
        if prediction != "exact":
            return _linear_scores(b + offset, loss)
        energies = self.energies(wide(b), wide(offset), loss)
        return cast(-energies, b)

    def targets(self, b: Array, offset: Array, prediction: str) -> Array:
        return (cast(self.centre(wide(b)), b) if prediction == "exact" else b) + offset

    def centre(self, b: Array) -> Array:
        """c (n, κ): the activations a sample is drawn to before any label speaks; b = codes·β."""
        R, _, shrink = self._prior(b)
        return ((b @ R) * shrink) @ R.T

    def energies(self, b: Array, offset: Array, loss: Loss) -> Array:
        """E_y (n, κ+1) for every sample and label.

        Parameters
        ----------
        b : codes·β (n, κ)
        offset : γᵀx' with the intercept (n, κ)
        """
        xp, (n, kappa) = namespace(b), b.shape
        R, width, shrink = self._prior(b)
        rows = max(_CHUNK // ((kappa + 1) * kappa**2), 1)
        parts = []
        for a in range(0, max(n, 1), rows):
            z = min(a + rows, n)
            inside = b[a:z, :] @ R
            centre = (inside * shrink) @ R.T + offset[a:z, :]
            fixed = self.lam * xp.sum(inside * inside * shrink, axis=1)
            parts.append(fixed[:, None] + _least_energies(loss, centre, R * width))
        return xp.concat(parts, axis=0)

    def _prior(self, like: Array) -> tuple[Array, Array, Array]:
        """R (κ, ρ), m̂ (ρ,) and 1 − s (ρ,) in the floating type of `like`."""
        xp = namespace(like)
        m = xp.astype(self.widths, like.dtype)
        stiffness = xp.clip(((2 * self.xi) ** 0.5 / m) ** 2, 1e-300, 1e300)
        total = stiffness + 2 * self.lam
        return xp.astype(self.mixing, like.dtype), 1 / xp.sqrt(total), stiffness / total


def _right_singular(C: Array) -> tuple[Array, Array]:
    """R (κ, ρ) and m (ρ,) > 0 of C = P·diag(m)·Rᵀ, numerically zero directions left out."""
    xp = namespace(C)
    if 0 in C.shape:
        return zeros_like_of(C, C.shape[1], 0), zeros_like_of(C, 0)
    _, m, Rt = xp.linalg.svd(C, full_matrices=False)
    kept = m > m[0] * eps(m) * max(C.shape)
    m = m[kept]
    return Rt[: m.shape[0], :].T, m


def _least_energies(loss: Loss, centre: Array, basis: Array) -> Array:
    """min_t ℓ(y, centre_i + basis·t) + ½‖t‖² for every sample i and label y: (n, κ+1)."""
    xp, (n, kappa) = namespace(centre), centre.shape
    labels = xp.eye(kappa + 1, dtype=centre.dtype, device=device(centre))[:, 1:]
    shape = (n, kappa + 1, kappa)
    Y = xp.reshape(xp.broadcast_to(labels[None, :, :], shape), (-1, kappa))
    centre = xp.reshape(xp.broadcast_to(centre[:, None, :], shape), (-1, kappa))
    if basis.shape[1] == 0:
        return xp.reshape(loss.value(centre, Y), (n, kappa + 1))
    return xp.reshape(_newton(loss, centre, Y, basis), (n, kappa + 1))


def _newton(loss: Loss, centre: Array, Y: Array, basis: Array) -> Array:
    """The minima (N,) of f(t) = ℓ(y, centre + basis·t) + ½‖t‖², all rows at once.

    Damped Newton; f is 1-strongly convex for a convex loss, so the squared Newton decrement bounds
    twice the distance to the minimum. Far down a tail of the loss a Newton step moves the
    activation by one only: once the plain steps have had their chance, steps may double.
    """
    xp = namespace(centre)

    def value(t: Array) -> Array:
        return loss.value(centre + t @ basis.T, Y) + 0.5 * xp.sum(t * t, axis=1)

    t = xp.zeros((centre.shape[0], basis.shape[1]), dtype=centre.dtype, device=device(centre))
    f = value(t)
    for iteration in range(_MAX_ITER):
        a = centre + t @ basis.T
        g = loss.residual(a, Y) @ basis + t
        step = -_solve(_hessian(loss, a, Y, basis), g)
        decrement = -xp.sum(g * step, axis=1)
        noise = 16 * eps(f) * (1 + xp.abs(f))
        active = decrement > noise
        if not bool(xp.any(active)):
            break
        s = xp.where(active, xp.ones_like(f), xp.zeros_like(f))
        new = value(t + s[:, None] * step)
        for _ in range(60):
            bad = new > f - 1e-4 * s * decrement + noise
            if not bool(xp.any(bad)):
                break
            s = xp.where(bad, s / 2, s)
            new = value(t + s[:, None] * step)
        for _ in range(60 if iteration > 8 else 0):
            longer = value(t + 2 * s[:, None] * step)
            better = longer < new
            if not bool(xp.any(better)):
                break
            s, new = xp.where(better, 2 * s, s), xp.where(better, longer, new)
        t, f = t + s[:, None] * step, new
    return f


def _hessian(loss: Loss, a: Array, Y: Array, basis: Array) -> Array:
    """basisᵀ∇²ℓ·basis + I (N, ρ, ρ), with negative curvature of a non-convex loss taken as none."""
    xp = namespace(a)
    H = basis.T @ loss.hessian(a, Y) @ basis
    if not loss.convex:
        values, vectors = xp.linalg.eigh(H)
        values = xp.where(values > 0, values, xp.zeros_like(values))
        H = (vectors * values[:, None, :]) @ xp.matrix_transpose(vectors)
    return H + xp.eye(basis.shape[1], dtype=a.dtype, device=device(a))


def _solve(H: Array, g: Array) -> Array:
    """H⁻¹g row by row: (N, ρ, ρ), (N, ρ) -> (N, ρ)."""
    if g.shape[1] == 1:
        return g / H[:, :, 0]
    return namespace(g).linalg.solve(H, g[:, :, None])[:, :, 0]
