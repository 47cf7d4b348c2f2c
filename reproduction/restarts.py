"""Random restarts of a local method: what to ask where nothing is proven.

A local method that shares nothing with the solvers, not even the statement of the problem: L-BFGS over

    F(W, β, γ) = Σ_i ℓ(y_i, (ΦWβ)_i + γᵀx'_i) + λ‖Wβ‖² + Σ_j ρ_j‖γ_j‖² + ξ(‖X‖² − tr WᵀGW(WᵀW)⁻¹)

for any W (N, r) of full rank, with Φ = X, G = XᵀX (filter model) or Φ = I, G = XXᵀ (feature model); the
best B for the span of W is put in. Every value it returns belongs to a point of rank r, so that a lower
one refutes an optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from reproduction.coordinates import short_rows
from superfactor.losses import resolve_link

Floats = NDArray[np.float64]

__all__ = ["FactoredObjective", "Weighted", "random_restarts"]

# Columns of W that depend on each other to this degree no longer span r directions: nothing computed
# from them counts.
_DEPENDENT = 1e-7


@dataclass(frozen=True)
class Weighted:
    """Data and weights of F.

    Attributes
    ----------
    model : "filter" or "feature"
    X : (n, p)
    Y : (n, κ), one-hot without class 0
    xi, lam : ξ and λ
    covariates : (n, q) or None, with ridge λ
    intercept : whether there is one besides, without a penalty
    """

    model: str
    X: Floats
    Y: Floats
    xi: float
    lam: float
    covariates: Floats | None = None
    intercept: bool = False


class FactoredObjective:
    """F over x = (W, β/b, γ) as one vector, with its gradient.

    b makes activations of size one from β/b of size one: L-BFGS starts from a multiple of the identity and
    would otherwise crawl in the units of X. Wide X is put in coordinates with the same inner products: of A
    in the filter model the part outside the row space of X would cost and gain nothing.
    """

    def __init__(self, given: Weighted, rank: int):
        self.given = given
        self.by_filter = given.model == "filter"
        self.X = short_rows(given.X)
        n, p = self.X.shape
        self.rank = min(rank, n, p)
        self.side = p if self.by_filter else n
        self.kappa = given.Y.shape[1]
        columns = [np.zeros((n, 0)) if given.covariates is None else given.covariates]
        self.ridge = np.full(columns[0].shape[1], given.lam)
        if given.intercept:
            columns.append(np.ones((n, 1)))
            self.ridge = np.append(self.ridge, 0.0)
        self.Z = np.hstack(columns)
        self.loss = resolve_link("logistic", self.kappa)
        self.squares = float(np.sum(self.X**2))
        size = self.squares / n  # mean squared row
        self.unit = size**-0.5 if self.by_filter and size > 0 else 1.0

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """W (N, r), β (r, κ) and γ (q, κ)."""
        r, kappa = self.rank, self.kappa
        a = self.side * r
        b = a + r * kappa
        beta = x[a:b].reshape(r, kappa) * self.unit
        return x[:a].reshape(-1, r), beta, x[b:].reshape(-1, kappa)

    def join(self, W: Floats, beta: Floats, gamma: Floats) -> Floats:
        """The vector x of a point."""
        return np.concatenate([W.ravel(), beta.ravel() / self.unit, gamma.ravel()])

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """F and its gradient at x."""
        xi, lam = self.given.xi, self.given.lam
        W, beta, gamma = self.split(x)
        gram = W.T @ W
        if not _independent(gram):
            return 1e100, np.zeros(len(x))
        to, back = (self.X, self.X.T) if self.by_filter else (self.X.T, self.X)
        image = to @ W
        inverse = np.linalg.inv(gram)
        inside = inverse @ (image.T @ image)
        A = W @ beta
        a = (image @ beta if self.by_filter else A) + self.Z @ gamma
        losses, E = self.loss.value_and_residual(a, self.given.Y)
        value = (
            np.sum(losses)
            + xi * (self.squares - np.trace(inside))
            + lam * np.sum(A**2)
            + self.ridge @ np.sum(gamma**2, axis=1)
        )
        in_A = (back @ E if self.by_filter else E) + 2 * lam * A
        in_W = in_A @ beta.T - 2 * xi * (back @ image - W @ inside) @ inverse
        in_gamma = self.Z.T @ E + 2 * self.ridge[:, None] * gamma
        parts = (in_W, W.T @ in_A * self.unit, in_gamma)
        return float(value), np.concatenate([part.ravel() for part in parts])

    def start(self, rng: np.random.Generator) -> Floats:
        """A random subspace, with coefficients of random size."""
        W = np.linalg.qr(rng.standard_normal((self.side, self.rank)))[0]
        rest = (self.rank + self.Z.shape[1]) * self.kappa
        size = 10 ** rng.uniform(-2, 1)
        return np.concatenate([W.ravel(), size * rng.standard_normal(rest)])

    def descend(self, x: Floats, max_iter: int = 300) -> tuple[float, Floats]:
        """The end of a descent from x: F and the point, W orthonormal."""
        from scipy.optimize import minimize

        limits: dict[str, Any] = {"maxiter": max_iter, "maxfun": 2 * max_iter, "maxcor": 20}
        limits |= {"ftol": 1e-12, "gtol": 1e-9}
        with np.errstate(all="ignore"):  # a line search may wander far for one evaluation
            found = minimize(self, x, jac=True, method="L-BFGS-B", options=limits)
        # Once more with orthonormal columns: the value of a feasible point, free of rounding.
        W, beta, gamma = self.split(found.x)
        W, R = np.linalg.qr(W)
        x = self.join(W, R @ beta, gamma)
        return self(x)[0], x


def _independent(gram: Floats) -> bool:
    """Whether columns with this Gram matrix (r, r) are so, to working precision."""
    if not np.all(np.isfinite(gram)):
        return False
    try:
        heights = np.diag(np.linalg.cholesky(gram))  # of each column over the span of those before
    except np.linalg.LinAlgError:
        return False
    return bool(heights.min() > _DEPENDENT * heights.max())


def random_restarts(
    given: Weighted, rank: int, restarts: int, *, seed: int = 0, max_iter: int = 300
) -> Floats:
    """The objectives (restarts,) at the ends of descents from random starts."""
    objective, rng = FactoredObjective(given, rank), np.random.default_rng(seed)
    with threadpool_limits(1, user_api="blas"):  # products this small only wait for threads
        starts = [objective.start(rng) for _ in range(restarts)]
        return np.array([objective.descend(start, max_iter)[0] for start in starts])
