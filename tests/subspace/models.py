"""The second-order model of F with every entry written out, and options to choose the way to its minimum."""

import numpy as np

FAR = 1e6  # a radius that no step reaches


def dense_model(inside, point, frame, gaps=None):
    """Slope and Hessian of the model in x = (T, v, g), each row by row, every entry written out.

    gaps (k − r, r) replace ritz_i − rest_j if they are given.
    """
    problem, turn = inside.problem, frame.turn(inside.problem.n_covariates)
    k, (r, kappa), m = inside.basis.size, frame.beta.shape, turn.shape[0]
    outer, q = k - r, m - k
    if gaps is None:
        gaps = frame.ritz[None, :] - frame.rest[:, None]
    pulled = turn.T @ point.pulled
    L = np.zeros((kappa * m, outer * r + (r + q) * kappa))  # x to the coefficients, class-major
    for j, i in np.ndindex(outer, r):
        for c in range(kappa):
            L[c * m : (c + 1) * m, j * r + i] += turn[:, j] * frame.beta[i, c]
    for i, c in np.ndindex(r + q, kappa):
        L[c * m : (c + 1) * m, outer * r + i * kappa + c] += turn[:, outer + i]
    ridge = np.concatenate([np.full(r, problem.lam), problem.covariate_ridge])
    H = L.T @ inside.loss.curvature(point.coef) @ L
    H += np.diag(np.concatenate([2 * problem.xi * gaps.ravel(), 2 * np.repeat(ridge, kappa)]))
    for j, i in np.ndindex(outer, r):
        for c in range(kappa):
            v = outer * r + i * kappa + c
            H[j * r + i, v] += pulled[j, c]
            H[v, j * r + i] += pulled[j, c]
    across = frame.complement.T @ inside.D @ frame.W
    by_T = pulled[:outer] @ frame.beta.T - 2 * problem.xi * across
    now = np.concatenate([frame.beta, point.gamma])
    by_w = pulled[outer:] + 2 * ridge[:, None] * now
    return np.concatenate([by_T.ravel(), by_w.ravel()]), H


def flat(step):
    """(T, v, g) as one vector, of a step or of its parts."""
    parts = (step.T, step.v, step.g) if hasattr(step, "v") else step
    return np.concatenate([np.ravel(part) for part in parts])


def placed(step):
    """The same in coordinates of the basis, for any rotation of the step."""
    return flat((step.T @ step.W.T, step.W @ step.v, step.g))


def framed(step, frame):
    """(T, v, g) of a step in the coordinates of a frame, as one vector."""
    rotation = frame.W.T @ step.W
    return flat((frame.complement.T @ step.T @ rotation.T, rotation @ step.v, step.g))
