"""Algorithm 1 straight from the paper: dense, uncompressed, slow and obvious. The tests' reference.

Everything is in the paper's orientation: X is p × n, Y is κ × n (one-hot without class 0, or real
values), X' (`aux`) is q × n, γ is q × κ, and

    filter:   θ = [A, B],  A p × κ, B p × n,    a_i = Aᵀx_i + γᵀx'_i
    feature:  θ = [A ‖ B], A κ × n, B p × n,    a_i = A[:, i] + γᵀx'_i
    F = Σ_i w_i c_i ℓ(y_i, a_i) + Σ_i w_i ξ‖x_i − b_i‖² + λ‖A‖² + Σ_j ρ_j‖γ_j‖²

(feature: λ Σ_i w_i‖A[:, i]‖²), with sample weights w, class weights c, and ρ_j = λ but for the
intercept, which is the last row of X', constantly 1, with ρ = 0. Nothing here uses superfactor.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import norm as normal


def loss_value(loss, y, a):
    """ℓ(y, a) of one sample, y and a of shape (κ,)."""
    if loss == "squared":
        return np.sum((y - a) ** 2)
    log_h = a if loss == "logistic" else log_ndtr(a) - log_ndtr(-a)
    top = max(0.0, np.max(log_h))
    return top + np.log(np.exp(-top) + np.sum(np.exp(log_h - top))) - np.sum(y * log_h)


def loss_gradient(loss, y, a):
    """∇_a ℓ(y, a), equation (hdot) of the paper's appendix A."""
    if loss == "squared":
        return 2 * (a - y)
    if loss == "logistic":
        top = max(0.0, np.max(a))
        e = np.exp(a - top)
        return e / (np.exp(-top) + np.sum(e)) - y
    # Probit, κ = 1: ℓ = −log Φ(−a) or −log Φ(a).
    sign = np.where(y > 0, -1.0, 1.0)
    return sign * np.exp(normal.logpdf(a) - log_ndtr(-sign * a))


@dataclass(frozen=True)
class Problem:
    """The problem in the paper's notation; `weight`, `class_weight` have shape (n,)."""

    model: str
    X: np.ndarray
    Y: np.ndarray
    xi: float
    lam: float
    aux: np.ndarray
    ridge: np.ndarray
    weight: np.ndarray
    class_weight: np.ndarray
    loss: str = "logistic"

    @property
    def kappa(self):
        return self.Y.shape[0]


def state(
    model,
    X,
    targets,
    xi,
    lam,
    covariates=None,
    fit_intercept=True,
    sample_weight=None,
    class_weight=None,
    loss="logistic",
):
    """The problem from arrays in scikit-learn's orientation: X (n, p), targets (n, κ), ..."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    n = X.shape[0]
    aux, ridge = np.zeros((0, n)), []
    if covariates is not None:
        aux = np.asarray(covariates, dtype=float).T
        ridge = [lam] * aux.shape[0]
    if fit_intercept:
        aux, ridge = np.vstack([aux, np.ones((1, n))]), [*ridge, 0.0]
    return Problem(
        model,
        X.T,
        np.asarray(targets, dtype=float).T,
        xi,
        lam,
        aux,
        np.array(ridge),
        np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float),
        np.ones(n) if class_weight is None else np.asarray(class_weight, dtype=float),
        loss,
    )


def activations(P, A, gamma):
    """κ × n."""
    return (A.T @ P.X if P.model == "filter" else A) + gamma.T @ P.aux


def lifted_objective(P, A, B, gamma):
    """F at A, B, γ in the user's units."""
    a = activations(P, A, gamma)
    total = 0.0
    for i in range(P.X.shape[1]):
        total += P.weight[i] * P.class_weight[i] * loss_value(P.loss, P.Y[:, i], a[:, i])
        total += P.weight[i] * P.xi * np.sum((P.X[:, i] - B[:, i]) ** 2)
        if P.model == "feature":
            total += P.weight[i] * P.lam * np.sum(A[:, i] ** 2)
    if P.model == "filter":
        total += P.lam * np.sum(A**2)
    return total + np.sum(P.ridge[:, None] * gamma**2)


def objective(model, X, Y, W, H, beta, gamma, xi, lam, **options):
    """F at X (n, p), Y (n, κ), W (p, r), H (r, n), β (r, κ), γ (q, κ); options as in `state`."""
    P = state(model, X, Y, xi, lam, **options)
    A = W @ beta if model == "filter" else beta.T @ H
    return lifted_objective(P, A, W @ H, gamma)


def gradient(P, A, B, gamma):
    """∇_A, ∇_B, ∇_γ of F, appendix A of the paper, sample by sample."""
    a = activations(P, A, gamma)
    gA, gB, gC = np.zeros_like(A), np.zeros_like(B), 2 * P.ridge[:, None] * gamma
    for i in range(P.X.shape[1]):
        h = P.weight[i] * P.class_weight[i] * loss_gradient(P.loss, P.Y[:, i], a[:, i])
        gB[:, i] = P.weight[i] * 2 * P.xi * (B[:, i] - P.X[:, i])
        gC = gC + np.outer(P.aux[:, i], h)
        if P.model == "filter":
            gA += np.outer(P.X[:, i], h)
        else:
            gA[:, i] = h + P.weight[i] * 2 * P.lam * A[:, i]
    if P.model == "filter":
        gA += 2 * P.lam * A
    return gA, gB, gC


def stack(P, A, B):
    return np.hstack([A, B]) if P.model == "filter" else np.vstack([A, B])


def unstack(P, theta):
    k = P.kappa
    return (theta[:, :k], theta[:, k:]) if P.model == "filter" else (theta[:k], theta[k:])


def project_rank(theta, rank):
    U, s, Vt = np.linalg.svd(theta, full_matrices=False)
    return (U[:, :rank] * s[:rank]) @ Vt[:rank]


def pca_start(P, rank):
    """B = Π_r(X) in units of √w, A = 0, γ = 0."""
    root = np.sqrt(P.weight)
    B = project_rank(P.X * root, rank) / root
    shape = (P.X.shape[0], P.kappa) if P.model == "filter" else (P.kappa, P.X.shape[1])
    return np.zeros(shape), B, np.zeros((P.aux.shape[0], P.kappa))


def algorithm_1(P, rank, start, tau, n_iter, project=None, rescale=1.0):
    """All iterates [(A_0, B_0, γ_0), (A_1, B_1, γ_1), ...] of LPGD, in the user's units.

    With weights the samples of B (and A, feature) are measured in units of √w. `project` maps
    (A, B, γ) in those units to Π_Θ. With `rescale` = s the lifted matrix is [sA, B] and γ carries s
    as well (section 3 of the mathematics): another metric, the same problem.
    """
    root = np.sqrt(P.weight)
    unit_A = 1.0 if P.model == "filter" else root
    A, B, gamma = (np.array(x, dtype=float) for x in start)
    path = [(A, B, gamma)]
    for _ in range(n_iter):
        gA, gB, gC = gradient(P, A, B, gamma)
        # Coordinates (s·√w·A, √w·B, s·γ): gradients are divided by the same factors.
        A1 = rescale * unit_A * A - tau * gA / (rescale * unit_A)
        B1 = root * B - tau * gB / root
        gamma1 = rescale * gamma - tau * gC / rescale
        if project is not None:
            A1, B1, gamma1 = project(A1, B1, gamma1)
        A1, B1 = unstack(P, project_rank(stack(P, A1, B1), rank))
        A, B, gamma = A1 / (rescale * unit_A), B1 / root, gamma1 / rescale
        path.append((A, B, gamma))
    return path


def curvature(P):
    """An upper bound of the curvature of the loss and ridge in (A, γ): 2λ + α⁺·‖features‖²."""
    alpha = {"squared": 2.0, "probit": 1.0, "logistic": 0.25 if P.kappa == 1 else 0.5}[P.loss]
    root = np.sqrt(P.weight * P.class_weight)
    Phi = P.aux * root
    own = np.max(P.class_weight)
    if P.model == "filter":
        Phi, own = np.vstack([P.X * root, Phi]), 0.0
    top = np.linalg.norm(Phi, 2) ** 2 if Phi.size else 0.0
    return 2 * P.lam + alpha * (top + own)


def optimum(P, rank, start=None, n_iter=20000, tol=1e-13):
    """(A, B, γ), F after LPGD with τ = 1/L in the metric where all blocks have the curvature 2ξ.

    A stationary point reached from PCA (or `start`): the global one where the landscape is benign.
    """
    scale = np.sqrt(curvature(P) / (2 * P.xi))
    point = pca_start(P, rank) if start is None else start
    value = lifted_objective(P, *point)
    for _ in range(0, n_iter, 50):
        point = algorithm_1(P, rank, point, 1 / (2 * P.xi), 50, rescale=scale)[-1]
        new = lifted_objective(P, *point)
        if value - new <= tol * abs(new):
            break
        value = new
    return point, lifted_objective(P, *point)


def without_weights(P):
    """The same problem with samples repeated: weights must be whole numbers."""
    index = np.repeat(np.arange(P.X.shape[1]), P.weight.astype(int))
    return replace(
        P,
        X=P.X[:, index],
        Y=P.Y[:, index],
        aux=P.aux[:, index],
        weight=np.ones(len(index)),
        class_weight=P.class_weight[index],
    )
