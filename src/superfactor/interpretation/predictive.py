"""The predictive rotation: the classifier in as few factors as it needs, and what else varies behind them.

Let A be the matrix of the classifier, A = Wβ (p, κ) in the filter model and A = Hᵀβ (n, κ) in the
feature model. Its singular vectors, κ at most, are the predictive factors: all of A lies in them, so that
every other factor has the coefficient 0. Those are the background, turned to the principal axes of
what is left of codes · weights. Orthonormal is what A is made with, and only that: the atoms in the filter
model, the codes in the feature model. There R ∈ O(r) turns them, and the products codes · weights and
codes · coefᵀ stay as they are; shares of the factors add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Turn:
    """Codes (n, r) become ``codes @ M``, weights (r, p) ``inverse @ weights``, effects ``effect @ inverse.T``

    Attributes
    ----------
    M, inverse : (r, r)
    predictive : how many factors carry the classifier; they come first
    """

    M: Any
    inverse: Any
    predictive: int

    def effects(self, effect: Any) -> Any:
        """Effects (κ, r) per unit of the turned codes; those of background factors are exactly 0."""
        turned = effect @ self.inverse.T
        turned[:, self.predictive :] = 0
        return turned


def predictive_turn(weights: Any, codes: Any, effect: Any, *, orthonormal_codes: bool) -> Turn:
    """The turn that leaves the classifier in the first factors.

    Parameters
    ----------
    weights : (r, p)
    codes : (n, r)
    effect : (κ, r), change of the outputs per unit of each code
    orthonormal_codes : the codes are made orthonormal (feature model), not the atoms (filter, SVD)
    """
    r = len(weights)
    side = codes if orthonormal_codes else weights.T
    used = np.linalg.norm(side, axis=0) > 0  # an empty factor has nothing to turn
    order = np.argsort(~used, kind="stable")  # empty ones last
    k = int(used.sum())
    M, inverse = np.eye(r)[:, order], np.eye(r)[order]
    if k == 0:
        return Turn(M, inverse, 0)
    weights, codes, effect = weights[used], codes[:, used], effect[:, used]
    to_basis, from_basis = _basis(side[:, used], orthonormal_codes)
    R, carrying = _rotation(
        effect @ from_basis.T,
        _gram(from_basis @ weights) if orthonormal_codes else _gram((codes @ to_basis).T),
    )
    turn, back = to_basis @ R, R.T @ from_basis
    if orthonormal_codes:
        # Orthonormal codes would be tiny: both sides the same size, as the estimators have them.
        size = np.hypot(*(np.linalg.norm(x, axis=1) for x in (back @ weights, back @ effect.T)))
        root = np.sqrt(np.where(size > 0, size, 1))
        turn, back = turn * root, back / root[:, None]
    M[:, :k], inverse[:k] = M[:, :k] @ turn, back @ inverse[:k]
    return Turn(M, inverse, carrying)


def _basis(side: Any, orthonormal_codes: bool) -> tuple[Any, Any]:
    """B (r, r) and its inverse: codes·B and B⁻¹·weights have the columns of `side` orthonormal."""
    T: Any = np.linalg.qr(side, mode="r")
    if orthonormal_codes:
        return np.linalg.inv(T), T
    return T.T, np.linalg.inv(T).T


def _rotation(effect: Any, gram: Any) -> tuple[Any, int]:
    """R (r, r): left singular vectors of effectᵀ, then principal axes of `gram` (r, r) across them."""
    U, values, _ = np.linalg.svd(effect.T)
    rounding = max(effect.shape) * np.finfo(float).eps * values[:1].sum()
    carrying = int(np.sum(values > rounding))
    rest = U[:, carrying:]
    _, axes = np.linalg.eigh(rest.T @ gram @ rest)
    return np.hstack([U[:, :carrying], rest @ axes[:, ::-1]]), carrying


def _gram(rows: Any) -> Any:
    return rows @ rows.T
