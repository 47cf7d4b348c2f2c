"""Dual ascent: the best lower bound the convex relaxation by low-rank-inducing norms can give.

Any activations z give a dual point G = ω∘∇ℓ(z), so the dual is maximised over z, without conjugates. Its
gradient compares two activations: with V the top eigenvectors of M(G),

    ∂D/∂G = (ΦA* + X'γ*) − z,     A* = −VVᵀΦᵀG/(2λ),     γ*_j = −x'_jᵀG/(2ρ_j).

The sum of the top r eigenvalues has kinks where λ_r = λ_{r+1}, and the maximiser likes to sit there. It is
smoothed as max{⟨Π, M⟩ − (μ/2)‖Π‖² : 0 ≼ Π ≼ I, tr Π = r}, with μ going down; bounds are always
evaluated without smoothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor._arrays import Array, eigh_descending, inner, namespace, to_numpy
from superfactor.lifting import fit_ridge
from superfactor.theory.dual import Dual


def ascend(dual: Dual, activations: Array, objective: float, *, max_iter: int = 300) -> float:
    """The best value of D found from activations (n, κ); never below D there minus rounding."""
    from scipy.optimize import minimize

    path = _Path(dual, activations)
    best = float("-inf")
    z = to_numpy(activations).astype(float).ravel()
    smoothing = 0.1
    for _ in range(6):
        result = minimize(
            path.negative,
            z,
            args=(smoothing,),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": max(max_iter // 6, 1), "maxcor": 20, "ftol": 1e-13, "gtol": 1e-10},
        )
        z = result.x
        best = max(best, path.bound(z))
        if objective - best <= 1e-9 * abs(objective):
            break
        smoothing /= 5
    return best


class _Path:
    """D as a function of flat activations, its intercept profiled out."""

    def __init__(self, dual: Dual, like: Array):
        self.dual, self.problem, self.like = dual, dual.problem, like
        problem = dual.problem
        self.xp = namespace(like)
        free = problem.covariate_ridge == 0
        self.free = problem.covariates[:, free]
        self.fixed, self.ridge = problem.covariates[:, ~free], problem.covariate_ridge[~free]
        # The Gram matrix of the smaller side, in its own eigenvectors, once.
        gram = dual._gram if dual.exact else None
        self.on_small_side = problem.side <= problem.other_side
        self.d, self.V = (None, None) if gram is None else eigh_descending(gram)
        self.shift = None

    def _array(self, z: Any) -> Array:
        shape = tuple(self.like.shape)
        return self.xp.asarray(np.reshape(z, shape), dtype=self.like.dtype)

    def _balanced(self, z: Array) -> tuple[Array, Array]:
        """z moved along the unpenalised covariates until they see no residual."""
        if self.free.shape[1] == 0:
            return z, self.problem.loss_terms(z)[1]
        xp, kappa = self.xp, z.shape[1]
        zero = xp.zeros((self.free.shape[1],), dtype=z.dtype)
        start = xp.zeros((self.free.shape[1], kappa), dtype=z.dtype)
        _, _, a, E = fit_ridge(
            self.problem, self.free, zero, start, offset=z, max_iter=50, tol=1e-12
        )
        return a, E

    def bound(self, z: Any) -> float:
        _, E = self._balanced(self._array(z))
        return self.dual.value(self.dual.feasible(E))

    def negative(self, z: Any, smoothing: float) -> tuple[float, Any]:
        """−D_μ and its gradient in z."""
        problem, xp = self.problem, self.xp
        a, G = self._balanced(self._array(z))
        f = problem.loss_terms(a)[0] - inner(G, a)
        top, primal = self._smoothed_top(G, smoothing)
        slope = self.fixed.T @ G
        value = f + problem.xi * (problem.data.squared_norm - top)
        value -= float(xp.sum(slope**2 / (4 * self.ridge[:, None])))
        primal = primal - self.fixed @ (slope / (2 * self.ridge[:, None]))
        h = problem.loss_hessian(a)
        push = xp.sum(h * (primal - a)[:, None, :], axis=2)
        gradient = push - self._through_intercept(h, push)
        return -value, -to_numpy(gradient).astype(float).ravel()

    def _through_intercept(self, h: Array, push: Array) -> Array:
        """What moving z moves the intercept: ω h (Σ ω h)⁻¹ Σ push, for the constant column."""
        xp = self.xp
        if self.free.shape[1] == 0:
            return xp.zeros_like(push)
        total = xp.sum(h, axis=0)
        jitter = 1e-14 * float(xp.max(xp.abs(total))) + 1e-300
        kappa = push.shape[1]
        solved = xp.linalg.solve(
            total + jitter * xp.eye(kappa, dtype=total.dtype), xp.sum(push, axis=0)[:, None]
        )
        return xp.sum(h * solved[:, 0][None, None, :], axis=2)

    def _smoothed_top(self, G: Array, smoothing: float) -> tuple[float, Array]:
        """The smoothed sum of the top r eigenvalues of M, and the activations ΦA* it implies."""
        problem, dual, xp = self.problem, self.dual, self.xp
        Q = dual.root(G)
        if self.on_small_side:
            values, V = eigh_descending(dual._gram + Q @ Q.T)
            back = V
        else:
            image = problem.image(Q)
            M = xp.concat(
                [xp.concat([dual._gram, image], axis=1), xp.concat([image.T, Q.T @ Q], axis=1)]
            )
            values, V = eigh_descending(M)
            m = dual._gram.shape[0]
            positive = values > 1e-14 * values[0]
            values, V = values[positive], V[:, positive]
            # Eigenvectors on the search side: [X, Q]·v/√λ.
            back = (problem.back(V[:m, :]) + Q @ V[m:, :]) / xp.sqrt(values)[None, :]
        weight = _capped_simplex(
            values,
            min(dual.rank, values.shape[0]),
            smoothing * float(values[0]) / values.shape[0] ** 0.5,
        )
        mu = smoothing * float(values[0]) / values.shape[0] ** 0.5
        top = float(xp.sum(weight * values)) - 0.5 * mu * float(xp.sum(weight**2))
        A = -(back @ (weight[:, None] * (back.T @ problem.pull(G)))) / (2 * problem.lam)
        zero = xp.zeros((problem.covariates.shape[1], A.shape[1]), dtype=A.dtype)
        return top, problem.activations(A, zero)


def _capped_simplex(values: Array, rank: int, mu: float) -> Array:
    """π = clip((λ − t)/μ, 0, 1) with Σπ = r: the weights of the smoothed Ky Fan sum."""
    xp = namespace(values)
    low, high = float(xp.min(values)) - mu * 1.0 - 1e-300, float(xp.max(values))
    for _ in range(100):
        t = 0.5 * (low + high)
        total = float(xp.sum(xp.clip((values - t) / mu, 0.0, 1.0)))
        low, high = (t, high) if total > rank else (low, t)
    weight = xp.clip((values - high) / mu, 0.0, 1.0)
    return weight
