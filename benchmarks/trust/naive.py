"""F of the paper on the user's own numbers, in long double, and how far rounding may have moved it.

    F = Σ_i ω_i ℓ(y_i, a_i) + ξ Σ_i w_i‖x_i − W h_i‖² + λ‖A‖² + Σ_j ρ_j‖γ_j‖²

filter:   A = Wβ (p, κ),   a_i = Aᵀx_i + γᵀx'_i
feature:  A_i = βᵀh_i,     a_i = A_i + γᵀx'_i,  and λ Σ_i w_i‖A_i‖² for λ‖A‖²

Whatever W, H, β and γ are, that is a point of rank r: a lower F refutes a bound. Nothing of superfactor is
used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.trust.svd import EPS, accurate_svd

Array = Any


@dataclass(frozen=True)
class Factors:
    """W (p, r), H (n, r), β (r, κ) and γ (q, κ)."""

    W: Array
    H: Array
    beta: Array
    gamma: Array


@dataclass(frozen=True)
class Given:
    """A problem in the user's units; samples of weight zero are left out.

    Attributes
    ----------
    model : {"filter", "feature"}
    X : (n, p)
    weight : w (n,), of every term of a sample
    loss : with ω, which is w but for samples without an outcome and for class weights
    Z : covariates x' (n, q), the intercept (if any) in the last column
    ridge : ρ (q,), 0 for the intercept
    xi, lam, rank : ξ, λ and r
    """

    model: str
    X: Array
    weight: Array
    loss: Any
    Z: Array
    ridge: Array
    xi: float
    lam: float
    rank: int

    @cached_property
    def svd(self) -> tuple[Array, Array, Array]:
        """Of diag(√w)·X."""
        return accurate_svd(np.sqrt(_long(self.weight))[:, None] * _long(self.X))

    @cached_property
    def floor(self) -> float:
        """ξΣ_{i>r}σ_i², the part of F that no supervision can change."""
        return float(self.xi * (self.svd[1][self.rank :] ** 2).sum())


def objective(given: Given, at: Factors) -> tuple[float, float]:
    """F of these factors, and how far rounding may have moved it.

    Returns
    -------
    value, error : float
        Every entry of X − HWᵀ, and of a, is wrong by at most its number of terms times ε times their sizes;
        the error is what that changes in F to second order.
    """
    X, w = _long(given.X), _long(given.weight)[:, None]
    W, H, beta, gamma, Z = map(_long, (at.W, at.H, at.beta, at.gamma, given.Z))
    by_filter = given.model == "filter"
    left = X - H @ W.T
    left_error = 4 * EPS * (W.shape[1] + 2) * (np.abs(X) + np.abs(H) @ np.abs(W).T)
    A = (W if by_filter else H) @ beta
    A_size = np.abs(W if by_filter else H) @ np.abs(beta)
    a = (X @ A if by_filter else A) + Z @ gamma
    sizes = (np.abs(X) @ A_size if by_filter else A_size) + np.abs(Z) @ np.abs(gamma)
    a_error = 4 * EPS * (X.shape[1] + Z.shape[1] + 4) * sizes
    loss, slope = given.loss(a)
    ridge = _long(given.lam) * ((1 if by_filter else w) * A * A).sum()
    ridge += (_long(given.ridge)[:, None] * gamma * gamma).sum()
    lost = given.xi * (w * left * left).sum()
    error = given.xi * (w * (2 * np.abs(left) + left_error) * left_error).sum()
    error += ((np.abs(slope) + 2 * _long(given.loss.omega)[:, None] * a_error) * a_error).sum()
    error += 4 * EPS * X.size * (abs(loss) + ridge + lost)
    return float(loss + ridge + lost), float(error)


def with_best_codes(given: Given, side: Array, beta: Array, gamma: Array) -> Factors:
    """The factors that reconstruct best for W (p, r) (filter) or codes in units of √w (n, r) (feature).

    Parameters
    ----------
    side : orthonormal columns
    beta : (r, κ), of W or of these codes
    gamma : (q, κ)
    """
    root = np.sqrt(_long(given.weight))[:, None]
    side = _long(side)
    if given.model == "filter":
        return Factors(side, _long(given.X) @ side, beta, gamma)
    return Factors((root * _long(given.X)).T @ side, side / root, beta, gamma)


def orthonormal(U: Array) -> tuple[Array, Array]:
    """Q (N, r) and R (r, r) of U in long double, by Gram-Schmidt done twice."""
    Q, R = _long(U).copy(), np.eye(U.shape[1], dtype=np.longdouble)
    for _ in range(2):
        S = np.zeros_like(R)
        for j in range(Q.shape[1]):
            S[:j, j] = Q[:, :j].T @ Q[:, j]
            Q[:, j] -= Q[:, :j] @ S[:j, j]
            S[j, j] = np.sqrt(Q[:, j] @ Q[:, j])
            Q[:, j] /= S[j, j] if S[j, j] > 0 else 1
        R = S @ R
    return Q, R


def _long(x: Array) -> Array:
    return np.asarray(x, dtype=np.longdouble)
