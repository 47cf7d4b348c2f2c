"""Random restarts of a local method: what to ask where nothing is proven.

A local method that shares nothing with the solvers but the objective: L-BFGS over the factors

    F(W, β, γ) = Σ_i ω_i ℓ(y_i, (ΦWβ)_i + γᵀx'_i) + λ‖Wβ‖² + Σ_j ρ_j‖γ_j‖² + ξ(‖X̃‖² − tr WᵀGW(WᵀW)⁻¹)

for any W (N, r) of full rank (notation of `superfactor.lifting.problem`; the best B̃ for the span of W
is put in). Every value it returns belongs to a point of rank r, so that a lower one refutes an optimum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from superfactor._arrays import blas_threads
from superfactor.lifting import LiftedProblem

Floats = NDArray[np.float64]

__all__ = ["FactoredObjective", "random_restarts"]

# Columns of W that depend on each other to this degree no longer span r directions: nothing computed
# from them counts.
_DEPENDENT = 1e-7


class FactoredObjective:
    """F over x = (W, β/b, γ) as one vector, with its gradient.

    b makes activations of size one from β/b of size one: L-BFGS starts from a multiple of the identity and
    would otherwise crawl in the units of X.
    """

    def __init__(self, problem: LiftedProblem, rank: int):
        self.problem = problem.compact[0]
        self.rank = min(rank, *self.problem.data.shape)
        self.kappa = self.problem.n_outputs
        size = self.problem.data.squared_norm / self.problem.n_samples  # mean squared row of X̃
        self.unit = size**-0.5 if self.problem.name == "filter" and size > 0 else 1.0

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """W (N, r), β (r, κ) and γ (q, κ)."""
        r, kappa = self.rank, self.kappa
        a = self.problem.side * r
        b = a + r * kappa
        beta = x[a:b].reshape(r, kappa) * self.unit
        return x[:a].reshape(-1, r), beta, x[b:].reshape(-1, kappa)

    def join(self, W: Floats, beta: Floats, gamma: Floats) -> Floats:
        """The vector x of a point."""
        return np.concatenate([W.ravel(), beta.ravel() / self.unit, gamma.ravel()])

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """F and its gradient at x."""
        problem = self.problem
        W, beta, gamma = self.split(x)
        gram = W.T @ W
        if not _independent(gram):
            return 1e100, np.zeros(len(x))
        image = problem.image(W)
        inverse = np.linalg.inv(gram)
        GW = problem.back(image)
        inside = inverse @ (image.T @ image)
        A = W @ beta
        a = problem.features(A, image @ beta) + problem.covariates @ gamma
        loss, E = problem.loss_terms(a)
        value = (
            loss
            + problem.xi * (problem.data.squared_norm - np.trace(inside))
            + problem.lam * np.sum(A**2)
            + problem.covariate_penalty(gamma)
        )
        in_A = problem.pull(E) + 2 * problem.lam * A
        in_W = in_A @ beta.T - 2 * problem.xi * (GW - W @ inside) @ inverse
        in_gamma = problem.covariates.T @ E + 2 * problem.covariate_ridge[:, None] * gamma
        parts = (in_W, W.T @ in_A * self.unit, in_gamma)
        return float(value), np.concatenate([part.ravel() for part in parts])

    def start(self, rng: np.random.Generator) -> Floats:
        """A random subspace, with coefficients of random size."""
        W = np.linalg.qr(rng.standard_normal((self.problem.side, self.rank)))[0]
        rest = (self.rank + self.problem.covariates.shape[1]) * self.kappa
        size = 10 ** rng.uniform(-2, 1)
        return np.concatenate([W.ravel(), size * rng.standard_normal(rest)])

    def descend(self, x: Floats, max_iter: int = 300) -> tuple[float, Floats]:
        """The end of a descent from x: F and the point, W orthonormal."""
        from scipy.optimize import minimize

        limits = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 1e-12, "gtol": 1e-9}
        with np.errstate(all="ignore"):  # a line search may wander far for one evaluation
            found = minimize(self, x, jac=True, method="L-BFGS-B", options=limits | {"maxcor": 20})
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
    problem: LiftedProblem, rank: int, restarts: int, *, seed: int = 0, max_iter: int = 300
) -> Floats:
    """The objectives (restarts,) at the ends of descents from random starts."""
    objective, rng = FactoredObjective(problem, rank), np.random.default_rng(seed)
    with blas_threads(1):
        starts = [objective.start(rng) for _ in range(restarts)]
        return np.array([objective.descend(start, max_iter)[0] for start in starts])
