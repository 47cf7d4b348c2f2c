"""Weights given as "auto", in units of the data (docs/method.md §12).

    ξ = t·ℓ₀/‖X‖²        ℓ₀ is the loss of the null model
    λ = t·σ₁²·Σω/Σw      filter model, classes; σ₁² without the mean of X where an intercept fits it
    λ from the data      filter model, other outcomes: see `estimated_ridge`
    λ = t                feature model
    ρ_j = 0.08·Var(x'_j) covariates: a normal prior with s.d. 2.5 on the log-odds per standard deviation

The numbers depend on X and y alone, not on how X is stored: where X is wide or has few features they are
exact, and elsewhere they come from a fixed number of products from a fixed start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from superfactor._arrays import namespace, wide
from superfactor._new.compression import MOST_SAMPLES
from superfactor._new.newton import fit_ridge
from superfactor._new.rows import InMemory, Rows
from superfactor._new.tall import dot, here, pull, there

# t of ξ and λ by model, measured on the tables of docs/selection.md.
USUAL = {"filter": (0.1, 1e-3), "feature": (10.0, 1e-3)}
_COVARIATE_RIDGE = 0.08
# A variance below this share of the mean square is rounding error.
_NO_VARIANCE = 1e-24
# Below this share of ‖X‖², X without its mean is only rounding errors.
_NO_VARIATION = 1e-12
# Features, and operations, up to which the Gram matrix of the features is decomposed.
_FEW_FEATURES, _GRAM_OPERATIONS = 256, 2e9
# Otherwise σ₁² comes from this many products with a block of vectors: it is only a unit.
_WIDTH, _PRODUCTS, _CHANGE = 8, 8, 1e-3
# More samples than this: the mean of wide X stays for an estimate of λ.
_CENTRED_SAMPLES = 800


@dataclass
class Units:
    """What "auto" needs to know of the rows of a problem."""

    rows: Rows
    has_intercept: bool

    @cached_property
    def null(self) -> tuple[float, float, Any]:
        """The loss at activations 0, the loss ℓ₀ of the null model, and its coefficients (q, κ).

        The null model is the best constant where activations 0 mean nothing.
        """
        rows, loss = self.rows, self.rows.loss
        coef = np.zeros((len(rows.rho), rows.outputs))
        at_zero, E = rows.evaluate(dot(rows.Z, coef))
        constant = None
        if self.has_intercept:
            total = float(here(namespace(E).sum(rows.loss_weight)))
            slope = here(namespace(E).sum(wide(E), axis=0))
            constant = loss.best_constant(slope / total) if total > 0 else None
        if constant is None:
            return float(at_zero), float(at_zero), coef
        coef[-1] = constant
        return float(at_zero), float(rows.evaluate(dot(rows.Z, coef))[0]), coef

    @cached_property
    def covariate_ridges(self) -> Any:
        """ρ_j (q,) of every covariate, the intercept's column included.

        That of a constant column is 0.08 times its mean square.
        """
        Z, weight = here(self.rows.Z), here(self.rows.loss_weight)
        mean = (weight * Z).sum(0) / weight.sum()
        variance = (weight * (Z - mean) ** 2).sum(0) / weight.sum()
        square = variance + mean**2
        size = np.where(variance > _NO_VARIANCE * square, variance, square)
        return _COVARIATE_RIDGE * np.where(size > 0, size, 1.0)

    @cached_property
    def _weights(self) -> tuple[float, float]:
        """Σω of the informative share of each row, and Σw."""
        rows, xp = self.rows, namespace(self.rows.Y)
        telling = xp.sum(rows.loss_weight * rows.loss.informative(wide(rows.Y)))
        return float(telling), rows.shape[0] if rows.weight is None else float(xp.sum(rows.weight))

    @property
    def _centring(self) -> float:
        """Σw if X counts without its mean, infinite otherwise."""
        return self._weights[1] if self.has_intercept or self.rows.loss.ignores_constants else math.inf

    @property
    def _root(self) -> Any:
        """√w (n, 1)."""
        return (
            np.ones((self.rows.shape[0], 1)) if self.rows.weight is None else np.sqrt(here(self.rows.weight))
        )

    @property
    def _wide(self) -> bool:
        (n, p), blocks = self.rows.shape, self.rows.blocks
        return p >= 2 * n and n <= MOST_SAMPLES and isinstance(blocks, InMemory)

    def feature_ridge(self) -> float:
        """Return λ of the filter model at t = 1, in the units of X̃."""
        telling, total = self._weights
        largest = self.largest_square()
        return (largest if largest > _NO_VARIATION * self.rows.total else 0.0) * telling / total or 1.0

    def largest_square(self) -> float:
        """Return σ₁² of X̃, centred if an intercept fits the mean.

        It is exact if X is wide or has few features, otherwise an estimate from below.
        """
        n, p = self.rows.shape
        if self._wide or (p <= _FEW_FEATURES and n * p**2 <= _GRAM_OPERATIONS):
            return float(max(self._spectrum(self._centring)[0][-1], 0.0))
        s = self.rows.back(there(self._root, self.rows.Y))

        def power(T: Any) -> Any:
            return self.rows.power(T)[1] - s @ (s.T @ T) / self._centring

        T = np.random.default_rng(0).standard_normal((p, min(_WIDTH, p)))
        S, GS, largest = np.empty((p, 0)), np.empty((p, 0)), 0.0
        for _ in range(_PRODUCTS):
            T = np.linalg.qr(T)[0]
            S, GS = np.hstack([S, T]), np.hstack([GS, power(T)])
            values, V = np.linalg.eigh(S.T @ S)
            V = V[:, values > 1e-10 * values[-1]] / np.sqrt(values[values > 1e-10 * values[-1]])
            before, inside = largest, V.T @ (S.T @ GS) @ V
            largest = float(np.linalg.eigvalsh((inside + inside.T) / 2)[-1])
            if largest - before <= _CHANGE * largest or S.shape[1] >= p:
                break
            T = GS[:, -T.shape[1] :]
        return largest

    def _spectrum(self, centring: float) -> tuple[Any, Any]:
        """Return the eigenvalues (k,), ascending, of X̃ᵀX̃ − ssᵀ/Σw, and E ↦ VᵀX̃ᵀE for its eigenvectors V."""
        rows = self.rows
        if self._wide:
            # The Gram matrix of the samples has the same eigenvalues, and X̃ᵀU = V√values.
            K, ones = rows.sample_gram(), self._root
            image = K @ ones / centring
            K = K - image @ ones.T - ones @ image.T + ones @ (ones.T @ image / centring) @ ones.T
            values, U = np.linalg.eigh((K + K.T) / 2)
            down = np.sqrt(np.clip(values, 0.0, None))[:, None]
            return values, lambda E: down * (U.T @ here(E))
        s = rows.back(there(self._root, rows.Y))
        values, V = np.linalg.eigh(rows.gram() - s @ s.T / centring)
        return values, lambda E: V.T @ rows.back(E)

    def estimated_ridge(self) -> float | None:
        """Return λ of the filter model from how much of y the features explain.

        It is None if X is too large, or constant. Around the best model without factors the loss is about
        bᵀθ + ½θᵀMθ, with b = X̃ᵀE/√w and M = h·G for the mean curvature h: a linear regression. λ is the
        geometric mean of two standard choices, by marginal likelihood, which is too small where few strong
        factors explain everything, and by generalized cross-validation, which is too small where there is
        only noise.
        """
        rows, (n, p) = self.rows, self.rows.shape
        if not self._wide and (n + 10 * p) * p**2 > _GRAM_OPERATIONS:
            return None
        ridge = np.append(self.covariate_ridges, []) * (
            np.arange(len(rows.rho)) < len(rows.rho) - self.has_intercept
        )
        coef = fit_ridge(rows, rows.Z, ridge, self.null[2], tol=1e-8) if len(rows.rho) else self.null[2]
        a = dot(rows.Z, coef)
        _, E = rows.evaluate(a)
        centring = math.inf if self._wide and n > _CENTRED_SAMPLES else self._centring
        values, pulled = self._spectrum(centring)
        kept = values > 1e-10 * max(values.max(initial=0.0), 1e-300)
        along = pulled(rows.unrooted(E))[kept]
        bend = np.diagonal(here(rows.curvature(a).total()))
        squares = np.diagonal(pull(*(rows.unrooted(E),) * 2))
        known = here(namespace(E).astype(rows.Y == rows.Y, E.dtype)) * (here(rows.loss_weight) > 0)
        counts = (known * self._root**2).sum(0)
        found = []
        for c, dispersion in enumerate(rows.loss.dispersions(rows.outputs)):
            if bend[c] > 0 and counts[c] >= 3 and kept.any():
                m = bend[c] / self._weights[1] * values[kept]
                z = along[:, c] ** 2 / m
                explained = float(z.sum())
                rest = max(squares[c] * counts[c] / bend[c] - explained, 1e-9 * explained, 1e-300)
                found.append(_Regression(m, z, rest, counts[c], dispersion))
        if not found:
            return None
        places = np.geomspace(1e-5, 1e3, 81) * max(each.m.max() for each in found)
        best = [
            places[int(np.argmin([sum(criterion(each, lam) for each in found) for lam in places]))]
            for criterion in (_Regression.marginal, _Regression.cross_validated)
        ]
        return float(np.sqrt(best[0] * best[1]))


@dataclass(frozen=True)
class _Regression:
    """One output's loss around the best model without factors, in the eigenvectors of M."""

    m: Any  # (k,), eigenvalues of M, positive
    z: Any  # (k,), the decrease that each direction explains
    rest: float  # what no coefficients explain
    count: float  # observations
    dispersion: float | None  # the mean of z_j for pure noise, if known

    def marginal(self, lam: float) -> float:
        """Return twice the negative log marginal likelihood, up to a constant."""
        d = self.m / (self.m + 2 * lam)
        if self.dispersion is not None:
            return float(np.sum(np.log1p(self.m / (2 * lam)) - self.z * d / self.dispersion))
        left = self.rest + float(np.sum(self.z * (1 - d)))
        return (self.count - 1) * float(np.log(left)) + float(np.sum(np.log1p(self.m / (2 * lam))))

    def cross_validated(self, lam: float) -> float:
        """Return N times the log of the generalized cross-validation error, up to a constant."""
        d = self.m / (self.m + 2 * lam)
        freedom = self.count - 1 - float(np.sum(d))
        if freedom < 1e-3 * self.count:
            return math.inf
        left = self.rest + float(np.sum(self.z * (1 - d) ** 2))
        return self.count * (math.log(left) - 2 * math.log(freedom))


def usual_weights(units: Units, model: str, xi: float | str, lam: float | str) -> tuple[float, float]:
    """Return ξ and λ in the user's units; each may be "auto"."""
    rows, loss = units.rows, units.rows.loss
    s2, (t_xi, t_lam) = rows.scale**2, USUAL[model]
    if xi == "auto":
        null = units.null[1] * (loss.feature_xi if model == "feature" else 1.0)
        xi = t_xi * (null / (rows.total * s2) if rows.total > 0 and null > 0 else 1.0)
    if lam == "auto":
        if model == "feature":
            lam = t_lam * loss.feature_ridge
        else:
            found = units.estimated_ridge() if loss.estimates_ridge else None
            lowest, highest = loss.curvature_bounds(rows.outputs)
            # Where the loss is not quadratic the estimate holds for small effects only.
            if found is not None and 0 < lowest == highest:
                lam = s2 * found
            else:
                lam = s2 * max(t_lam * units.feature_ridge(), found or 0.0)
    return float(xi), float(lam)
