"""A lower bound of F over all factors of rank r (docs/method.md §7), and what rounding can change.

At any activations a whose gradient E = ∇Σωℓ(a) is balanced, ZᵀE = 0 for unpenalised covariates Z,

    F ≥ Σωℓ(a) − ⟨E, a⟩ + ξ(‖X̃‖² − Σ_{i≤r} eig_i(G + QQᵀ)) − Σ_j ‖z_jᵀE‖²/(4ρ_j),     Q = ΦᵀE/(2√(ξλ)).

Σωℓ(a) − ⟨E, a⟩ is minus the conjugate at E, whatever the convex loss. At a global optimum the bound is often
tight at the point's own activations. Elsewhere shorter gradients, of activations that fit better, give better
bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace, wide
from superfactor._new.newton import fit_ridge
from superfactor._new.tall import dot, here, pull, there

#: A gap this small, relative to what supervision can change, counts as zero.
PROVEN = 1e-6
# Largest side and operations of a Gram matrix whose eigenvalues are computed for a bound.
_EXACT_SIDE, _EXACT_WORK = 1200, 4e9
# Lengths of shorter gradients.
_SHORTER = 0.75, 0.5, 0.25, 0.1
# A gap that is worth trying them.
_LOOSE = 1e-2
_DOUBLE = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Bound:
    """A lower bound of F, rounding subtracted, at a point."""

    objective: float
    lower: float
    unsupervised: float  # the bound of reconstruction alone
    rounding: float  # of F and of the bound together
    exact: bool  # whether eigenvalues outside a subspace were not needed

    @property
    def gap(self) -> float:
        return max(self.objective - self.lower, 0.0)

    @property
    def relative(self) -> float:
        """The gap relative to what supervision can change."""
        return self.over(self.gap)

    @property
    def proven(self) -> bool:
        return self.relative <= PROVEN

    def over(self, gap: float) -> float:
        """Return a gap relative to what supervision can change."""
        supervised = self.objective - self.unsupervised
        return 0.0 if gap == 0 else gap / supervised if supervised > 0 else math.inf


def bounded(found: Any, *, exact: bool = True, shorter: bool = True, ascent: int = 0) -> Bound:
    """Return the bound at a point.

    Parameters
    ----------
    found : Found
        A point with its subspace.
    exact : bool
        Whether to decompose the smaller Gram matrix, if that is not too large.
    shorter : bool
        Whether to try shorter gradients where the first bound is loose.
    ascent : int
        Most steps that increase the bound.
    """
    inside, at = found.inside, found.at
    rows, F = inside.rows, float(at.F)
    spectrum = Spectrum(found, exact)
    alone = spectrum.top(None)
    squares = _rounding(math.prod(rows.shape)) * rows.total
    unsupervised = max(inside.xi * (rows.total - alone.value - alone.rounding - squares), 0.0)
    if inside.lam == 0 or not rows.loss.convex:
        return Bound(F, unsupervised, unsupervised, 0.0, spectrum.exact)
    dual = Dual(found, spectrum)
    own = dual.rounding_of_objective(unsupervised)

    def bound(value: float, rounding: float) -> Bound:
        useful = rounding if value + rounding > unsupervised else 0.0
        return Bound(F, max(max(value, unsupervised) - own, 0.0), unsupervised, own + useful, spectrum.exact)

    best = dual.at(at.a)
    if shorter and bound(*best).relative > _LOOSE:
        # In the subspace a bound costs little: it chooses the length.
        quick = Dual(found, Spectrum(found, exact=False)) if spectrum.gram is not None else dual
        points = {t: dual.shortened(t) for t in _SHORTER}
        values = {t: quick.at(points[t])[0] for t in _SHORTER}
        longest = max(values, key=lambda t: values[t])
        if values[longest] > max(best[0], unsupervised):
            best = max(best, dual.at(points[longest]))
    if ascent and not bound(*best).proven:
        best = max(best, dual.ascended(ascent))
    return bound(*best)


@dataclass
class Dual:
    """The bound as a function of activations."""

    found: Any
    spectrum: Spectrum

    @property
    def rows(self) -> Any:
        return self.found.inside.rows

    def balanced(self, a: Array) -> Array:
        """Return activations moved along unpenalised covariates until their gradient is balanced."""
        rows, free = self.rows, self.rows.rho == 0
        if not free.any():
            return a
        Z = dot(rows.Z, np.eye(len(free))[:, free])
        none = np.zeros((int(free.sum()), rows.outputs))
        return a + dot(Z, fit_ridge(rows, Z, np.zeros(len(none)), none, a, steps=8, tol=0.0))

    def at(self, a: Array) -> tuple[float, float]:
        """Return the bound at activations a, less its rounding, and that rounding."""
        inside, rows = self.found.inside, self.rows
        with np.errstate(all="ignore"):
            a = self.balanced(a)
            loss, E = rows.evaluate(a)
        xp = namespace(a)
        if not np.isfinite(loss) or not bool(xp.all(xp.isfinite(E))):
            return -math.inf, 0.0
        top = self.spectrum.top(E)
        each, free = _rounding(rows.shape[0], rows.eps), rows.rho == 0
        pulled, sizes = pull(rows.Z, E), pull(xp.abs(rows.Z), xp.abs(E))
        off = each * sizes
        if (np.abs(pulled[free]) > 1e-6 * sizes[free]).any():
            return -math.inf, 0.0  # the gradient cannot be balanced: there is no bound
        penalised = float((pulled[~free] ** 2).sum(1) @ (0.25 / rows.rho[~free]))
        along = here(xp.sum(wide(E) * wide(a)))
        value = float(loss) - float(along) + inside.xi * (rows.total - top.value) - penalised
        # What is left of the balance costs at most itself times the size of activations.
        reach = 1 + float(np.abs(here(xp.max(xp.abs(a)))))
        terms = float(loss) + float(here(xp.sum(xp.abs(wide(E) * wide(a)))))
        rounding = inside.xi * (top.rounding + _rounding(math.prod(rows.shape)) * rows.total) + each * terms
        rounding += float(((2 * np.abs(pulled) + off) * off)[~free].sum(1) @ (0.25 / rows.rho[~free]))
        rounding += reach * float((np.abs(pulled) + off)[free].sum())
        return value - rounding, rounding

    def shortened(self, t: float) -> Array:
        """Return activations with about t times the gradient, by Newton's method in each row."""
        rows, at = self.rows, self.found.at
        a, goal = at.a, t * at.E
        with np.errstate(all="ignore"):  # a row without curvature goes astray, and so does its bound
            for _ in range(6):
                _, E = rows.evaluate(a)
                a = a - rows.curvature(a).row_solve(E - goal)
        return a

    def ascended(self, steps: int) -> tuple[float, float]:
        """Return the best bound along a ← a + t(â − a), â = −ΦPΦᵀE/(2λ) + Zγ.

        The bound has the gradient â − a in E, with P the projection onto the leading eigenvectors of G + QQᵀ
        in the subspace: at a fixed point it is the largest.
        """
        inside, rows = self.found.inside, self.rows
        a = self.balanced(self.found.at.a)
        best, t = self.at(a), 1.0
        for _ in range(steps):
            _, E = rows.evaluate(a)
            basis = inside.basis
            K = basis.turn.T @ pull(basis.Phi, E)
            V = np.linalg.eigh(np.diag(basis.d) + K @ K.T / (4 * inside.xi * inside.lam))[1][
                :, -inside.rank :
            ]
            target = dot(basis.Phi, basis.turn @ (V @ (V.T @ K)) / (-2 * inside.lam))
            before = best[0]
            while t > 1e-6:
                trial = self.balanced(a + t * (target - a))
                if (found := self.at(trial))[0] > best[0]:
                    a, best, t = trial, found, min(2 * t, 1.0)
                    break
                t /= 3
            if best[0] - before <= 1e-9 * (float(self.found.at.F) - best[0]):
                break
        return best

    def rounding_of_objective(self, unsupervised: float) -> float:
        """Return what F may differ by from that of the factors in exact arithmetic (docs/method.md §19)."""
        inside, at, rows, lost = self.found.inside, self.found.at, self.rows, self.found.rounding
        (n, p), eps, size, F = rows.shape, rows.eps, math.sqrt(rows.total), float(at.F)
        # λ‖β‖² is a part of F, and reconstruction costs the unsupervised part at least.
        length = math.sqrt(max(F - unsupervised, 0.0) / inside.lam)
        filters = inside.basis.model.name == "filter"
        off = (
            2 * length * ((_rounding(p, eps) * size + lost.rows) if filters else _rounding(rows.outputs, eps))
        )
        xp = namespace(at.a)
        slope = math.sqrt(float(here(xp.sum(wide(rows.unrooted(at.E)) ** 2))))
        curvature = rows.unrooted(rows.unrooted(at.H.by_row(there(np.eye(rows.outputs), at.a))))
        bend = float(xp.max(curvature))
        products = _rounding(max(n, p), eps) + 4 * _rounding(min(n, p), eps)
        terms = float(here(xp.sum(xp.abs(wide(at.E) * wide(at.a)))))
        precision = max(eps, lost.precision)
        parts = (
            slope * off + bend * (off**2 + (2 * precision * length * (size if filters else 1.0)) ** 2),
            _rounding(n, eps) * abs(F) + precision * terms,
            inside.xi * size * ((products + _rounding(n * p) + precision**2) * size + 2 * lost.rows),
            2 * precision * math.sqrt(n) * size * length if rows.loss.couples_samples else 0.0,
        )
        return sum(parts)


@dataclass(frozen=True)
class Top:
    """A sum of r leading eigenvalues, an upper bound but for rounding; and what rounding may add to it."""

    value: float
    rounding: float


class Spectrum:
    """The leading eigenvalues of G and G + QQᵀ: of the smaller Gram matrix, or from the subspace."""

    def __init__(self, found: Any, exact: bool) -> None:
        self.found, self.inside = found, found.inside
        rows = self.inside.rows
        n, p = rows.shape
        small = min(n, p)
        worth = small <= _EXACT_SIDE and 2.0 * small * small * max(n, p) <= _EXACT_WORK
        self.gram: Any = None
        self.of_samples = False
        if self.inside.basis.whole or not exact:
            pass
        elif rows.squares is not None and p <= _EXACT_SIDE:
            self.gram = np.diag(rows.squares)
        elif worth and p <= n:
            self.gram = rows.gram()
        elif worth and rows.in_memory:
            self.gram, self.of_samples = rows.sample_gram(), True
        self.exact = self.gram is not None or self.inside.basis.whole

    def top(self, E: Array | None) -> Top:
        """Return the sum for G, or for G + QQᵀ with the gradient E."""
        rows, model, lam = self.inside.rows, self.inside.basis.model, self.inside.lam
        scale = 0.0 if E is None else 0.5 / math.sqrt(self.inside.xi * lam)
        size, each = rows.total, _rounding(max(rows.shape), rows.eps)
        pull_size = 0.0 if E is None else scale * math.sqrt(float(np.trace(pull(*(rows.unrooted(E),) * 2))))
        filters = model.name == "filter"
        if self.gram is None:
            value, own = self._in_basis(E, scale)
        else:
            value, own = self._of_gram(E, scale, filters)
        # ‖ΔM‖ changes a sum of r eigenvalues by √r‖ΔM‖; M = KᵀK with a root K, ‖ΔK‖, by 2‖ΔK‖√sum + ‖ΔK‖².
        matrix = (0.0 if rows.squares is not None else each * size) + own
        lost = self.found.rounding
        matrix += lost.gram * (1 + (pull_size**2 if filters else 0.0))
        if not filters or self.of_samples:
            matrix += 2 * each * pull_size**2
        root = _rounding(rows.shape[0], rows.eps) * pull_size * (math.sqrt(size) if filters else 1.0)
        by_matrix = math.sqrt(self.found.rank) * matrix
        rounding = by_matrix + 2 * root * math.sqrt(max(value + by_matrix, 0.0)) + root**2
        return Top(value, rounding)

    def _of_gram(self, E: Array | None, scale: float, filters: bool) -> tuple[float, float]:
        """Return the sum from all eigenvalues of the smaller Gram matrix, and the rounding of eigenvalues.

        Where its side is not that of W, the labels border it.
        """
        rows, G = self.inside.rows, self.gram
        if E is not None:
            E = rows.unrooted(E)
            Q = scale * (here(E) if self.of_samples else rows.back(E))
            if self.of_samples == (not filters):
                G = G + Q @ Q.T
            elif self.of_samples:
                side = G @ Q
                G = np.block([[G, side], [side.T, Q.T @ side]])
            else:
                G = np.block([[G, Q], [Q.T, scale**2 * pull(E, E)]])
        values = np.linalg.eigvalsh(G)[::-1]
        return float(np.maximum(values[: self.found.rank], 0).sum()), 2 * _rounding(len(G)) * float(
            np.linalg.norm(values)
        )

    def _in_basis(self, E: Array | None, scale: float) -> tuple[float, float]:
        """Return the sum from Ritz values in the subspace, and by how much their residuals may raise it."""
        basis, r = self.inside.basis, self.found.rank
        Q, K = None, None
        M = np.diag(basis.d)
        if E is not None:
            Q = basis.model.gradient(E) * scale
            basis = basis if basis.whole else basis.grown(Q)
            K = basis.coordinates(Q)
            M = np.diag(basis.d) + K @ K.T
        values, V = np.linalg.eigh(M)
        values, V = values[::-1], V[:, ::-1][:, : r + 1]
        top = float(values[:r].sum())
        if not basis.whole:  # the eigenvalues of the whole matrix are larger
            size = np.sqrt(np.diag(pull(*(basis.outside(basis.power(V)),) * 2)))
            rest = values[r] + size[r] if len(values) > r else 0.0
            top += float(excess(size[:r], values[:r] - rest).sum())
        return top, 2 * _rounding(len(values)) * float(np.linalg.norm(values))


def excess(size: Any, gap: Any) -> Any:
    """Return by how much eigenvalues may exceed Ritz values, from residuals and gaps to the others."""
    return np.where(gap > size, size**2 / np.maximum(gap, 1e-300), 2 * size - gap)


def _rounding(terms: float, epsilon: float = _DOUBLE) -> float:
    """Return the relative rounding error of a sum of this many products (Higham and Mary 2019): 2√terms·ε."""
    return 2 * math.sqrt(max(terms, 1)) * epsilon
