"""An independent implementation of supervised matrix factorization, dense and slow, from the formulas.

Samples are rows. Unknowns U = [A ‖ γ] (d, κ) act through J (n, d): [X, X'] for the filter model,
[I, X'] for the feature model. θ = [A, B] (N, κ + other) with the search side in rows, for both models.
"""

from dataclasses import dataclass

import numpy as np


def softmax(a):
    """Probabilities (n, κ) of the classes 1..κ at activations a (n, κ), with score 1 of class 0."""
    top = np.maximum(a.max(axis=1, keepdims=True), 0)
    e = np.exp(a - top)
    return e / (np.exp(-top) + e.sum(axis=1, keepdims=True))


def one_hot(y, n_classes):
    return np.eye(n_classes)[y][:, 1:]


def project(theta, rank):
    U, s, Vt = np.linalg.svd(theta, full_matrices=False)
    return (U[:, :rank] * s[:rank]) @ Vt[:rank]


@dataclass
class Naive:
    """F with logistic loss, λ on A and on all covariates but the intercept (last, if any)."""

    model: str
    X: np.ndarray
    Y: np.ndarray
    xi: float
    lam: float
    C: np.ndarray
    intercept: bool = False

    def __post_init__(self):
        n = len(self.X)
        if self.intercept:
            self.C = np.hstack([self.C, np.ones((n, 1))])
        self.first = self.X if self.model == "filter" else np.eye(n)
        self.side = self.first.shape[1]
        self.J = np.hstack([self.first, self.C])
        self.ridge = np.full(self.J.shape[1], self.lam)
        if self.intercept:
            self.ridge[-1] = 0.0
        self.target = self.X.T if self.model == "filter" else self.X

    def loss(self, U):
        a = self.J @ U
        top = np.maximum(a.max(axis=1), 0)
        total = np.exp(-top) + np.exp(a - top[:, None]).sum(axis=1)
        return np.sum(top + np.log(total)) - np.sum(self.Y * a) + np.sum(self.ridge @ U**2)

    def value(self, A, B, gamma):
        return self.loss(np.vstack([A, gamma])) + self.xi * np.sum((self.target - B) ** 2)

    def gradient(self, U):
        return self.J.T @ (softmax(self.J @ U) - self.Y) + 2 * self.ridge[:, None] * U

    def gradients(self, A, B, gamma):
        G = self.gradient(np.vstack([A, gamma]))
        return G[: self.side], 2 * self.xi * (B - self.target), G[self.side :]

    def hessian(self, U):
        """(dκ, dκ), index (i, c) -> i·κ + c; the block of A first."""
        P = softmax(self.J @ U)
        kappa = P.shape[1]
        H = P[:, :, None] * np.eye(kappa) - P[:, :, None] * P[:, None, :]
        full = np.einsum("ncd,ni,nj->icjd", H, self.J, self.J)
        size = self.J.shape[1] * kappa
        return full.reshape(size, size) + 2 * np.diag(np.repeat(self.ridge, kappa))

    def profiled_hessian(self, U):
        """The Schur complement of γ in the Hessian: (Nκ, Nκ)."""
        H, m = self.hessian(U), self.side * U.shape[1]
        return H[:m, :m] - H[:m, m:] @ np.linalg.solve(H[m:, m:], H[m:, :m])

    def minimise(self, A=None):
        """U at the minimum, over γ alone if A is given; damped Newton."""
        kappa = self.Y.shape[1]
        U = np.zeros((self.J.shape[1], kappa))
        free = slice(0, U.size)
        if A is not None:
            U[: self.side] = A
            free = slice(A.size, U.size)
        if free.start == free.stop:
            return U
        for _ in range(100):
            g = self.gradient(U).reshape(-1)[free]
            if np.linalg.norm(g) < 1e-12:
                break
            step = np.zeros(U.size)
            step[free] = np.linalg.solve(self.hessian(U)[free, free], g)
            step, t = step.reshape(U.shape), 1.0
            while self.loss(U - t * step) > self.loss(U) + 1e-12 and t > 1e-6:
                t /= 2
            U = U - t * step
        return U

    def algorithm_1(self, start, rank, step_size, iterations):
        """Iterates (A, B, γ) of the printed algorithm, without constraint."""
        A, B, gamma = start
        kappa = A.shape[1]
        for _ in range(iterations):
            gA, gB, gg = self.gradients(A, B, gamma)
            theta = np.hstack([A - step_size * gA, B - step_size * gB])
            theta = project(theta, rank)
            A, B, gamma = theta[:, :kappa], theta[:, kappa:], gamma - step_size * gg
            yield A, B, gamma


def random_problem(rng, model, n, p, q, kappa, xi, lam, scale=1.0, intercept=False, data_rank=None):
    X = scale * rng.standard_normal((n, p))
    return Naive(
        model,
        X if data_rank is None else project(X, data_rank),
        one_hot(rng.integers(0, kappa + 1, n), kappa + 1),
        xi,
        lam,
        rng.standard_normal((n, q)),
        intercept,
    )


def distance(Z, Z0):
    return np.sqrt(sum(np.sum((z - z0) ** 2) for z, z0 in zip(Z, Z0, strict=True)))
