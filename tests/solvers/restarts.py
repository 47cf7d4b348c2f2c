"""An independent local method: L-BFGS over (W, β, γ) from random starts, on the naive problem."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr


class Factored:
    """F(W, β, γ) with the best B for the span of W, any W of full rank; from a `naive.Problem`.

    Samples weigh √w on their side of X. Filter: W (p, r), a = XᵀWβ + X'ᵀγ, ridge ‖Wβ‖². Feature:
    W (n, r) in units of √w, a = Wβ/√w + X'ᵀγ.
    """

    def __init__(self, P, rank):
        root = np.sqrt(P.weight)
        X = P.X * root
        self.P, self.rank, self.Y, self.C = P, rank, P.Y.T, P.aux.T
        self.omega = (P.weight * P.class_weight)[:, None]
        self.gram = X @ X.T if P.model == "filter" else X.T @ X
        self.Phi = P.X.T if P.model == "filter" else np.diag(1 / root)
        self.total = np.sum(X**2)
        self.side = len(self.gram)
        self.floor = P.xi * np.sum(np.linalg.svd(X, compute_uv=False)[rank:] ** 2)

    def loss(self, a):
        """Σω(ℓ, ∇ℓ)."""
        if self.P.loss == "squared":
            value, slope = np.sum((self.Y - a) ** 2, axis=1, keepdims=True), 2 * (a - self.Y)
        elif self.P.loss == "probit":
            sign = 2 * self.Y - 1
            log_p = log_ndtr(sign * a)
            value = -log_p
            slope = -sign * np.exp(-(a**2) / 2 - log_p) / np.sqrt(2 * np.pi)
        else:
            top = np.maximum(a.max(axis=1, keepdims=True), 0)
            e = np.exp(a - top)
            s = np.exp(-top) + e.sum(axis=1, keepdims=True)
            value = top + np.log(s) - np.sum(self.Y * a, axis=1, keepdims=True)
            slope = e / s - self.Y
        return np.sum(self.omega * value), self.omega * slope

    def split(self, x):
        r, kappa = self.rank, self.P.kappa
        a, b = self.side * r, self.side * r + r * kappa
        return x[:a].reshape(self.side, r), x[a:b].reshape(r, kappa), x[b:].reshape(-1, kappa)

    def __call__(self, x):
        P = self.P
        W, beta, gamma = self.split(x)
        if not np.all(np.isfinite(x)) or np.linalg.cond(W) > 1e7:
            return 1e100, np.zeros(len(x))  # fewer than r directions: the value would be inaccurate
        inverse = np.linalg.inv(W.T @ W)
        GW = self.gram @ W
        A = W @ beta
        f, E = self.loss(self.Phi @ A + self.C @ gamma)
        inside = inverse @ (W.T @ GW)
        f += P.xi * (self.total - np.trace(inside))
        f += P.lam * np.sum(A**2) + np.sum(P.ridge[:, None] * gamma**2)
        in_A = self.Phi.T @ E + 2 * P.lam * A
        in_W = in_A @ beta.T - 2 * P.xi * (GW - W @ inside) @ inverse
        in_gamma = self.C.T @ E + 2 * P.ridge[:, None] * gamma
        return f, np.concatenate([in_W.ravel(), (W.T @ in_A).ravel(), in_gamma.ravel()])

    def start(self, rng):
        W = np.linalg.qr(rng.standard_normal((self.side, self.rank)))[0]
        rest = self.rank * self.P.kappa + self.C.shape[1] * self.P.kappa
        return np.concatenate([W.ravel(), 10 ** rng.uniform(-3, 1) * rng.standard_normal(rest)])

    def descend(self, x, max_iter=300):
        found = minimize(self, x, jac=True, method="L-BFGS-B", options={"maxiter": max_iter, "ftol": 1e-12})
        # Again with orthonormal columns: the value of a feasible point, without rounding errors.
        W, beta, gamma = self.split(found.x)
        W, R = np.linalg.qr(W)
        x = np.concatenate([part.ravel() for part in (W, R @ beta, gamma)])
        return self(x)[0], x


def best_of(P, rank, restarts, seed=0, max_iter=300):
    """The lowest objective over random restarts."""
    problem, rng = Factored(P, rank), np.random.default_rng(seed)
    with np.errstate(all="ignore"):  # scipy's line search may evaluate far points
        return min(problem.descend(problem.start(rng), max_iter)[0] for _ in range(restarts))
