"""Codes and activations of new samples.

Filter model: the code is Wᵀx, the activation βᵀWᵀx + γᵀx'.

Feature model: the code of a training sample depends on its label, which a new sample does not have. The
value that its training term would have with label y,

    E_y = min_h ℓ(y, βᵀh + γᵀx') + λ‖βᵀh‖² + ξ‖W(h − W⁺x)‖²,

determines how well y fits x: p_y ∝ exp(−E_y). With W = QSVᵀ on its numerical range and
h = W⁺x + VS⁻¹e, the activation is b + γᵀx' + Cᵀe, b = βᵀW⁺x, C = S⁻¹Vᵀβ, and the last term is ξ‖e‖².
Only e in the range of C = P·diag(m)·Rᵀ has an effect: at most κ unknowns. Completing the square in them gives

    E_y = Σ_j λ(1−s_j)(Rᵀb)_j² + min_t ℓ(y, c + R·diag(m̂)t + γᵀx') + ½‖t‖²,
    m̂_j² = m_j²/(2ξ + 2λm_j²),   s_j = 2λm̂_j²,   c = R·diag(1−s)·Rᵀb.

For several yes/no labels, each label is predicted with the others unknown: its odds are exp(E_0 − E_1) with
the loss ℓ of this label alone. This problem has one unknown, of width ‖row of R·diag(m̂)‖.

In regression y is free and the loss is zero at the minimum: the prediction is c + γᵀx'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any

from superfactor._arrays import Array, cast, device, eps, eye_like, namespace, wide, zeros_like_of
from superfactor.losses import Loss, Multinomial, resolve_link

# Entries of the temporary arrays, κ × (samples × labels): the first fits into the cache of a core, the second
# keeps an accelerator busy.
_CHUNK, _LARGE_CHUNK = 30_000, 10_000_000
_MAX_ITER = 500


def _linear_scores(a: Array, loss: Multinomial) -> Array:
    """Return the logarithms of h at activations (n, κ), with 0 for class 0: (n, κ + 1)."""
    scores = loss.link.log_h(a)
    xp = namespace(scores)
    return xp.concat([xp.zeros_like(scores[:, :1]), scores], axis=1)


class Coding(ABC):
    """Codes and predictions of new samples by a fitted model: a dataclass of arrays and numbers."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """Return V (p, r): the codes of samples X (n, p) are XV."""

    @abstractmethod
    def codes(self, X: Array) -> Array:
        """Return codes (n, r) of the rows of X (n, p)."""

    @abstractmethod
    def scores(self, b: Array, offset: Array, loss: Multinomial, prediction: str) -> Array:
        """Return log unnormalised class probabilities (n, κ + 1), for b = codes·β and offset γᵀx' (n, κ)."""

    @abstractmethod
    def log_odds(self, b: Array, offset: Array, prediction: str) -> Array:
        """Return log-odds (n, κ) of κ yes/no labels, for the same arguments."""

    @abstractmethod
    def targets(self, b: Array, offset: Array, prediction: str) -> Array:
        """Return predicted targets (n, κ), for the same arguments."""

    def moved(self, move: Any) -> Coding:
        """Return a copy with `move` applied to every array."""
        arrays = {field.name: move(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        return replace(self, **arrays)  # type: ignore[type-var]


@dataclass(frozen=True)
class FilterCoding(Coding):
    """codes = XW, for filters W (p, r)."""

    filters: Array

    @property
    def weights(self) -> Array:
        return self.filters

    def codes(self, X: Array) -> Array:
        return X @ self.filters

    def scores(self, b: Array, offset: Array, loss: Multinomial, prediction: str) -> Array:
        return _linear_scores(b + offset, loss)

    def log_odds(self, b: Array, offset: Array, prediction: str) -> Array:
        return b + offset

    def targets(self, b: Array, offset: Array, prediction: str) -> Array:
        return b + offset


@dataclass(frozen=True)
class FeatureCoding(Coding):
    """codes = X(W⁺)ᵀ, with predictions by the energies E_y of the module's docstring."""

    xi: float  # ξ > 0 and λ ≥ 0 of the fit, in the user's units
    lam: float
    range: Array  # Q (p, k), an orthonormal basis of the numerical range of W
    back: Array  # D·V·S⁻¹ (r, k), so that W⁺ = back·Qᵀ; D are the sizes of the training codes
    mixing: Array  # R (κ, ρ) with orthonormal columns
    widths: Array  # m (ρ,) > 0

    @classmethod
    def of(cls, components: Array, size: Array, beta: Array, *, xi: float, lam: float) -> FeatureCoding:
        """Return the coding from W (p, r), the norms of the training codes (r,), β (r, κ), ξ and λ.

        Directions of W are numerically zero relative to their contributions ‖w_j‖·‖h_j‖ to the
        reconstruction: a factor that only labels use has only noise in W.
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

    @property
    def weights(self) -> Array:
        return self.range @ self.back.T

    def codes(self, X: Array) -> Array:
        return (X @ self.range) @ self.back.T

    def scores(self, b: Array, offset: Array, loss: Multinomial, prediction: str) -> Array:
        if prediction != "exact":
            return _linear_scores(b + offset, loss)
        energies = self.energies(wide(b), wide(offset), loss)
        return cast(-energies, b)

    def log_odds(self, b: Array, offset: Array, prediction: str) -> Array:
        if prediction != "exact":
            return b + offset
        xp, loss = namespace(b), resolve_link("logistic", 1)
        R, width, _ = self._prior(wide(b))
        centre = self.centre(wide(b)) + wide(offset)
        reach = xp.sqrt(xp.sum((R * width) ** 2, axis=1))  # (κ,)
        odds = []
        for c in range(int(b.shape[1])):
            energies = _in_chunks(loss, centre[:, c : c + 1], reach[c : c + 1, None])
            odds.append(energies[:, :1] - energies[:, 1:])
        return cast(xp.concat(odds, axis=1), b)

    def targets(self, b: Array, offset: Array, prediction: str) -> Array:
        return (cast(self.centre(wide(b)), b) if prediction == "exact" else b) + offset

    def centre(self, b: Array) -> Array:
        """Return c (n, κ), the centre of the prior of the activations; b = codes·β."""
        R, _, shrink = self._prior(b)
        return ((b @ R) * shrink) @ R.T

    def energies(self, b: Array, offset: Array, loss: Loss) -> Array:
        """Return E_y (n, κ+1) for every sample and label; b = codes·β (n, κ), offset = γᵀx' (n, κ)."""
        R, width, shrink = self._prior(b)
        inside = b @ R
        fixed = self.lam * namespace(b).sum(inside * inside * shrink, axis=1)
        return fixed[:, None] + _in_chunks(loss, (inside * shrink) @ R.T + offset, R * width)

    def _prior(self, like: Array) -> tuple[Array, Array, Array]:
        """Return R (κ, ρ), m̂ (ρ,) and 1 − s (ρ,) in the floating type of `like`."""
        xp = namespace(like)
        m = xp.astype(self.widths, like.dtype)
        stiffness = xp.clip(((2 * self.xi) ** 0.5 / m) ** 2, 1e-300, 1e300)
        total = stiffness + 2 * self.lam
        # A width of 1e10 already leaves the activation free, up to rounding.
        width = 1 / xp.sqrt(xp.clip(total, min=1e-20))
        return xp.astype(self.mixing, like.dtype), width, stiffness / total


def _right_singular(C: Array) -> tuple[Array, Array]:
    """Return R (κ, ρ) and m (ρ,) > 0 of C = P·diag(m)·Rᵀ, without numerically zero directions."""
    xp = namespace(C)
    if 0 in C.shape:
        return zeros_like_of(C, C.shape[1], 0), zeros_like_of(C, 0)
    _, m, Rt = xp.linalg.svd(C, full_matrices=False)
    kept = m > m[0] * eps(m) * max(C.shape)
    m = m[kept]
    return Rt[: m.shape[0], :].T, m


def _in_chunks(loss: Loss, centre: Array, basis: Array) -> Array:
    """Return `_least_energies`, computed for some samples at a time."""
    n, kappa = centre.shape
    entries = _CHUNK if str(device(centre)) == "cpu" else _LARGE_CHUNK
    rows = max(entries // ((kappa + 1) * kappa), 1)
    parts = [_least_energies(loss, centre[a : min(a + rows, n), :], basis) for a in range(0, max(n, 1), rows)]
    return namespace(centre).concat(parts, axis=0)


def _least_energies(loss: Loss, centre: Array, basis: Array) -> Array:
    """Return min_t ℓ(y, centre_i + basis·t) + ½‖t‖² for every sample i and label y: (n, κ+1)."""
    xp, (n, kappa) = namespace(centre), centre.shape
    shape = (kappa, n, kappa + 1)
    labels = eye_like(centre, kappa + 1)[1:, None, :]
    Y = xp.reshape(xp.broadcast_to(labels, shape), (kappa, -1))
    a = xp.reshape(xp.broadcast_to(centre.T[:, :, None], shape), (kappa, -1))
    if basis.shape[1] == 0:
        return xp.reshape(loss.value(a.T, Y.T), (n, kappa + 1))
    return xp.reshape(_minima(loss, a, Y, basis), (n, kappa + 1))


def _minima(loss: Loss, a: Array, Y: Array, basis: Array) -> Array:
    """Return the minima (N,) of f(t) = ℓ(y, a + basis·t) + ½‖t‖², one for each column of a and Y (κ, N).

    Damped Newton steps for all columns at once; solved columns are removed. For a convex loss f is 1-strongly
    convex: the squared Newton decrement and ‖∇f‖² bound twice the distance of f to the minimum.
    """
    xp, N = namespace(a), int(a.shape[1])
    place, t = xp.arange(N, device=device(a)), zeros_like_of(a, int(basis.shape[1]), N)
    f, residual = loss.value_and_residual(a.T, Y.T)
    g, noise, found = basis.T @ residual.T, _noise(f), []
    for _ in range(_MAX_ITER):
        if place.shape[0] == 0:
            break
        step, fall, decrement = _newton_step(loss, a, Y, basis, g, noise)
        move, s, before = basis @ step, xp.ones_like(f), f
        for _ in range(100):
            f, residual = loss.value_and_residual((a + s * move).T, Y.T)
            f = f + 0.5 * xp.sum((t + s * step) ** 2, axis=0)
            bad = f > before - 1e-4 * s * fall + noise
            if not bool(xp.any(bad)):
                break
            s = xp.where(bad, s / 2, s)
        a, t = a + s * move, t + s * step
        g, noise = basis.T @ residual.T + t, _noise(f)
        goes_on = xp.minimum(decrement, xp.sum(g * g, axis=0)) > noise
        if not bool(xp.all(goes_on)):
            (left,), (done,) = xp.nonzero(goes_on), xp.nonzero(~goes_on)
            found.append((xp.take(place, done), xp.take(f, done)))
            place, f, noise = (xp.take(x, left) for x in (place, f, noise))
            a, Y, t, g = (xp.take(x, left, axis=1) for x in (a, Y, t, g))
    found.append((place, f))
    places, minima = (xp.concat(parts) for parts in zip(*found, strict=True))
    return xp.take(minima, xp.argsort(places))


def _noise(f: Array) -> Array:
    """Return the rounding error of values f."""
    return 16 * eps(f) * (1 + namespace(f).abs(f))


def _newton_step(
    loss: Loss, a: Array, Y: Array, basis: Array, g: Array, noise: Array
) -> tuple[Array, Array, Array]:
    """Return about −H⁻¹g (ρ, N), the decrease rate of f along it (N,), and an upper bound of gᵀH⁻¹g (N,).

    H = I + basisᵀ∇²ℓ·basis has few eigenvalues far from 1, those of classes with similar probabilities. So
    conjugate gradients need few products, which all columns share. Their residual r is orthogonal to their
    solution s: gᵀH⁻¹g = gᵀs + rᵀH⁻¹r ≤ gᵀs + ‖r‖². Along a direction of negative curvature, possible if the
    loss is not convex, the curvature counts as 0 and the iteration ends.
    """
    xp, curvature = namespace(g), loss.curvature(a.T, Y.T)
    tiny = float(xp.finfo(g.dtype).smallest_normal)
    first = rr = dd = xp.sum(g * g, axis=0)
    # Closer to the minimum, steps are solved more precisely.
    enough = xp.clip(xp.sqrt(first), max=0.1) * first
    s, fall, bound, r, d = xp.zeros_like(g), xp.zeros_like(first), first, g, g
    for _ in range(int(basis.shape[1])):
        v = basis @ d
        Mv = curvature.times(v.T).T
        bent = xp.sum(v * Mv, axis=0)
        size = rr / xp.clip(dd + xp.clip(bent, min=0.0), min=tiny)
        s, fall, r = s + size * d, fall + size * rr, r - size * (d + basis.T @ Mv)
        if not loss.convex:
            r = xp.where(bent < 0, xp.zeros_like(r), r)
        last, rr = rr, xp.sum(r * r, axis=0)
        # A residual from rounding counts as 0: with a wide basis it never gets small.
        bound = fall + xp.where(rr > eps(rr) * first, rr, xp.zeros_like(rr))
        if bool(xp.all((bound <= noise) | ((rr <= enough) & (fall > noise)))):
            break
        turn = rr / xp.clip(last, min=tiny)
        d, dd = r + turn * d, rr + turn * turn * dd
    return -s, fall, bound
