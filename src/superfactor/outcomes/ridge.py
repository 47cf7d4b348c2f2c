"""Ridge regressions with many penalties, for the baselines of nested scores.

`ridge_activations` accepts any loss of this package and solves one setting after another.
`ridge_probabilities` is for class labels and solves all settings together with Newton's method. For S
settings, class indicators Y (n, c) and rows A (n, d), each setting minimises

    Σᵢ weightᵢ·log-loss(yᵢ, A·W) + ½·Σⱼ penaltyⱼ·‖wⱼ‖²

with an intercept that is not penalized. Two classes have one column of weights, as in scikit-learn; several
classes have one column each. Tuning needs dozens of such fits on about a hundred rows. There the overhead of
a scikit-learn call is larger than the computation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp, softmax
from sklearn.decomposition import TruncatedSVD

from superfactor.losses import Loss

# Relative decrease of the objective at which Newton steps stop; probabilities then have five digits.
_TOLERANCE = 1e-8
_MOST_STEPS = 50
# A penalty that removes a column.
OFF = 1e12
# With more numbers than this in the rows of all settings, one setting after another is solved. It reads its
# own columns only, and starts from the setting before if that has the same ones.
_TOGETHER = 4_000_000
# Sparse tables are replaced by this many leading directions in `ridge_activations`.
_DIRECTIONS = 300


def ridge_probabilities(A: Any, codes: Any, B: Any, penalties: Any, weight: Any) -> Any:
    """Return probabilities (S, n', c) of the rows B (n', d), fitted to A (n, d), for `penalties` (S, d).

    Parameters
    ----------
    codes : class numbers (n,), each of the c classes at least once
    weight : of the samples (n,)
    """
    if len(penalties) > 1 and len(penalties) * A.size > _TOGETHER:
        return np.stack(list(_one_by_one(A, codes, B, np.asarray(penalties), weight)))
    W = _newton(A, codes, penalties, weight)
    return softmax(_logits(_with_ones(B), W), axis=2)


def _one_by_one(A: Any, codes: Any, B: Any, penalties: Any, weight: Any) -> Iterator[Any]:
    """Yield probabilities (n', c) for each row of `penalties` (S, d)."""
    earlier: tuple[Any, Any, Any, Any] | None = None
    for penalty in penalties:
        kept = penalty < OFF
        if earlier is not None and np.array_equal(earlier[0], kept):
            _, seen, asked, start = earlier
        else:
            seen, asked, start = A[:, kept], B[:, kept], None
        W = _newton(seen, codes, penalty[None, kept], weight, start)
        earlier = kept, seen, asked, W
        yield softmax(_logits(_with_ones(asked), W), axis=2)[0]


def _with_ones(A: Any) -> Any:
    return np.column_stack([A, np.ones(len(A))])


def _newton(A: Any, codes: Any, penalties: Any, weight: Any, start: Any = None) -> Any:
    """Return weights (S, d + 1, κ) with the intercept last, found from `start` or from 0."""
    n_classes = int(codes.max()) + 1
    outputs = 1 if n_classes == 2 else n_classes
    A = _with_ones(A)
    penalties = np.column_stack([penalties, np.zeros(len(penalties))])
    if outputs > 1:  # a common shift of all classes changes nothing: a small penalty makes it unique
        penalties[:, -1] = 1e-8
    S, d = penalties.shape
    Y, w = np.eye(n_classes)[codes], weight[:, None]
    W = np.zeros((S, d, outputs)) if start is None else start.copy()
    value = _objective(A, Y, w, W, penalties)
    active = np.arange(S)
    for _ in range(_MOST_STEPS):
        step, promised = _newton_step(A, Y, w, W[active], penalties[active])
        length = np.ones(len(active))
        for _ in range(30):  # halve the steps
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
    return W


def _logits(A: Any, W: Any) -> Any:
    """Return logits (S, n, c); of two classes the first has logit 0."""
    Z = A @ W
    return np.concatenate([np.zeros_like(Z), Z], axis=2) if Z.shape[2] == 1 else Z


def _objective(A: Any, Y: Any, w: Any, W: Any, penalties: Any) -> Any:
    """Return the objective of each setting (S,); w (n, 1) are sample weights."""
    Z = _logits(A, W)
    losses = (logsumexp(Z, axis=2) @ w)[:, 0] - (w * Z * Y).sum(axis=(1, 2))
    return losses + 0.5 * (penalties[:, :, None] * W**2).sum(axis=(1, 2))


def _newton_step(A: Any, Y: Any, w: Any, W: Any, penalties: Any) -> tuple[Any, Any]:
    """Return Newton steps (S, d, κ), and the decrease of the quadratic model by each (S,)."""
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


def ridge_activations(loss: Loss, Y: Any, A: Any, B: Any, penalties: Any, weight: Any) -> list[Any]:
    """Return activations (n', κ) of the rows B (n', d), fitted to A (n, d), for each of `penalties` (S, d).

    Each setting minimises Σᵢ weightᵢ·ℓ(yᵢ, aᵢ) + ½·Σⱼ penaltyⱼ·‖wⱼ‖² by Newton's method. The intercept is
    not penalized; a loss that ignores constants has none.

    Parameters
    ----------
    loss : loss of all these samples
    Y : targets (n, κ), as the loss requires them
    weight : of the samples (n,)
    """
    if sp.issparse(A):
        directions = TruncatedSVD(min(_DIRECTIONS, *(side - 1 for side in A.shape)), random_state=0).fit(A)
        A, B = directions.transform(A), directions.transform(B)
        penalties = np.repeat(penalties[:, :1], A.shape[1], axis=1)  # the same for all columns
    if not loss.ignores_constants:
        A, B = (np.column_stack([Z, np.ones(len(Z))]) for Z in (A, B))
        penalties = np.column_stack([penalties, np.full(len(penalties), 1e-12)])
    low, high = loss.curvature_bounds(Y.shape[1])
    if low == high:
        return [B @ W for W in _one_step(loss, low, Y, A, penalties, weight)]
    found, W = [], np.zeros((A.shape[1], Y.shape[1]))
    for penalty in penalties:
        W = _minimized(loss, Y, A, penalty[:, None], weight, np.where(penalty[:, None] < OFF, W, 0.0))
        found.append(B @ W)
    return found


def _one_step(loss: Loss, curvature: float, Y: Any, A: Any, penalties: Any, weight: Any) -> Iterator[Any]:
    """Yield the weights (d, κ) of each penalty for a loss with constant curvature.

    One Newton step from 0 is exact. Its matrix is the same for all targets, and for all settings up to the
    penalty.
    """
    R = A * np.sqrt(curvature * weight)[:, None]
    gram, diagonal = R.T @ R, np.diag_indices(A.shape[1])
    gradient = A.T @ (weight[:, None] * loss.residual(np.zeros_like(Y), Y))
    for penalty in penalties:
        H = gram.copy()
        H[diagonal] += penalty + 1e-10
        yield -np.linalg.solve(H, gradient)


def _minimized(loss: Loss, Y: Any, A: Any, penalty: Any, weight: Any, W: Any) -> Any:
    """Return the weights (d, κ) that minimize the objective, by damped Newton steps from W."""

    def value(W: Any) -> float:
        return float(weight @ loss.value(A @ W, Y) + 0.5 * np.sum(penalty * W**2))

    now = value(W)
    for _ in range(_MOST_STEPS):
        a = A @ W
        gradient = A.T @ (weight[:, None] * loss.residual(a, Y)) + penalty * W
        H = loss.curvature(a, Y).weighted(weight[:, None]).gram(A, True)
        H[np.diag_indices(len(H))] += np.tile(penalty[:, 0], Y.shape[1]) + 1e-10
        step = np.linalg.solve(H, gradient.T.ravel()).reshape(Y.shape[1], -1).T
        promised, length = 0.5 * np.sum(gradient * step), 1.0
        while (then := value(W - length * step)) > now - 1e-4 * length * promised + 1e-12 * abs(now):
            length /= 2
            if length < 1e-9:
                return W
        W, now = W - length * step, then
        if promised <= _TOLERANCE * max(abs(now), 1e-8):
            break
    return W


def tuned(
    strengths: Sequence[float],
    folds: Sequence[tuple[Any, Any]],
    fit: Callable[[float, Any], Any],
    loss: Callable[[Any, Any], float],
) -> Any:
    """Return ``fit(strength, slice(None))`` for the strength with the least loss on the test parts of folds.

    `fit` returns a regression on the samples at some positions, `loss` is that of a regression on others.
    """
    if len(folds) == 0:
        return fit(1.0, slice(None))
    found = [sum(loss(fit(strength, train), test) for train, test in folds) for strength in strengths]
    return fit(strengths[int(np.argmin(found))], slice(None))
