"""Ridge logistic regression with many penalties at once: Newton's method on a stack of problems.

For S settings, class indicators Y (n, c) and rows A (n, d), each setting minimises

    Σᵢ weightᵢ·log-loss(yᵢ, A·W) + ½·Σⱼ penaltyⱼ·‖wⱼ‖²

with an intercept that costs nothing. Two classes have one column of weights, as in scikit-learn, several
one a class. Tuning asks for dozens of these on a hundred rows, where one call of scikit-learn takes longer
than the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

# Of the objective, relative, a step: probabilities then have five digits.
_TOLERANCE = 1e-8
_MOST_STEPS = 50


def ridge_probabilities(A: Any, codes: Any, B: Any, penalties: Any, weight: Any) -> Any:
    """Probabilities (S, n', c) of the rows B (n', d), fitted to A (n, d), for `penalties` (S, d).

    Parameters
    ----------
    codes : class numbers (n,), each of the c classes at least once
    weight : of the samples (n,)
    """
    n_classes = int(codes.max()) + 1
    outputs = 1 if n_classes == 2 else n_classes
    A, B = (np.column_stack([Z, np.ones(len(Z))]) for Z in (A, B))
    penalties = np.column_stack([penalties, np.zeros(len(penalties))])
    if outputs > 1:  # their common shift is free: any small price makes it one point
        penalties[:, -1] = 1e-8
    S, d = penalties.shape
    Y, w = np.eye(n_classes)[codes], weight[:, None]
    W = np.zeros((S, d, outputs))
    value = _objective(A, Y, w, W, penalties)
    active = np.arange(S)
    for _ in range(_MOST_STEPS):
        step, promised = _newton_step(A, Y, w, W[active], penalties[active])
        length = np.ones(len(active))
        for _ in range(30):  # of halving
            new = W[active] + length[:, None, None] * step
            found = _objective(A, Y, w, new, penalties[active])
            worse = found > value[active] - 1e-4 * length * promised + 1e-12 * value[active]
            if not worse.any():
                break
            length[worse] /= 2
        W[active], value[active] = new, found
        active = active[promised > _TOLERANCE * np.maximum(value[active], 1e-8)]
        if not len(active):
            break
    return softmax(_logits(B, W), axis=2)


def _logits(A: Any, W: Any) -> Any:
    """(S, n, c); the first of two classes is where 0 is."""
    Z = A @ W
    return np.concatenate([np.zeros_like(Z), Z], axis=2) if Z.shape[2] == 1 else Z


def _objective(A: Any, Y: Any, w: Any, W: Any, penalties: Any) -> Any:
    """(S,); w (n, 1) are the weights of the samples."""
    Z = _logits(A, W)
    losses = (logsumexp(Z, axis=2) @ w)[:, 0] - (w * Z * Y).sum(axis=(1, 2))
    return losses + 0.5 * (penalties[:, :, None] * W**2).sum(axis=(1, 2))


def _newton_step(A: Any, Y: Any, w: Any, W: Any, penalties: Any) -> tuple[Any, Any]:
    """Steps (S, d, κ), and by how much each lowers the quadratic model (S,)."""
    S, d, outputs = W.shape
    P = softmax(_logits(A, W), axis=2)
    gradient = A.T @ (w * (P - Y))[:, :, -outputs:] + penalties[:, :, None] * W
    P = P[:, :, -outputs:]
    H = np.empty((S, outputs, d, outputs, d))
    for k in range(outputs):
        for m in range(k + 1):
            weight = w[:, 0] * P[:, :, k] * ((k == m) - P[:, :, m])
            H[:, k, :, m, :] = H[:, m, :, k, :] = (A.T * weight[:, None, :]) @ A
    H = H.reshape(S, outputs * d, outputs * d)
    diagonal = np.arange(outputs * d)
    H[:, diagonal, diagonal] += np.tile(penalties, outputs) + 1e-10
    g = gradient.transpose(0, 2, 1).reshape(S, -1, 1)
    step = -np.linalg.solve(H, g)
    promised = -0.5 * (g * step).sum(axis=(1, 2))
    return step.reshape(S, outputs, d).transpose(0, 2, 1), promised
