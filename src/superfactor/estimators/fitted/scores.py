"""Scores of factors: the rotation of the codes that is shown, and the contribution of each factor.

A factor is a new variable, its *score* on every sample. The fit determines the span of the centred codes
S = XV; any invertible transformation of S gives the same predictions and reconstruction. With C = SᵀDS and
K = XᵀDS (`samples.moments`), and β the effect of the codes on the outputs, the scores T = S·M are
(docs/method.md §17):

1. predictive scores: principal axes of the activations Sβᵀ, largest variance first, as many as the
   activations have dimensions;
2. background scores: uncorrelated with the predictive ones, rotated to explain as much of X as possible,
   largest first.

Scores are uncorrelated with variance 1: MᵀCM = I. X ≈ mean + T·Pᵀ with patterns P = KM. The share of the
variance of factor k is ‖P_k‖²/‖X‖²_D, and shares add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._arrays import namespace, to_numpy
from superfactor.samples import Block, Design, Moments

if TYPE_CHECKING:
    from superfactor.models import Factors
    from superfactor.problem import Problem

# An eigenvalue of the scores' correlations below this share of the largest one is rounding error.
_NO_DIRECTION = 1e-13
# Overconfident predictions, as in the feature model with codes that ignore labels, would make factors look
# useless. Effects are therefore halved as long as the deviance decreases, down to this share.
_LEAST_SHARE = 2**-7


@dataclass(frozen=True)
class ShownFactors:
    """The factors of a fit in the form that tables and plots show."""

    moments: Moments  # moments of the features and of the codes
    turn: Any  # M (r, r); (codes − mean)·M are the scores; columns of zeros if the rank is lower than r
    contribution: Any  # (r,), share of the explained deviance that is lost without the factor


def whitening(C: Any) -> Any:
    """Return Q (r, k) with QᵀCQ = I on the range of a covariance C (r, r), for codes in any units."""
    deviation = np.sqrt(np.clip(np.diag(C), 0.0, None))
    used = deviation > 0
    scale = np.where(used, deviation, 1.0)
    values, U = np.linalg.eigh(np.where(np.outer(used, used), C / np.outer(scale, scale), 0.0))
    kept = values > _NO_DIRECTION * values.max(initial=0.0)
    return (U[:, kept] / np.sqrt(values[kept]))[:, ::-1] / scale[:, None]


def patterns(moments: Moments) -> Any:
    """Return the regression of X on the codes (r, p): X ≈ mean + (codes − mean)·patterns."""
    Q = whitening(moments.C)
    return Q @ (moments.K @ Q).T


def principal_turn(C: Any, gram: Any) -> Any:
    """Return M (r, r) for uncorrelated scores of variance 1 that explain most of X first; `gram` is KᵀK."""
    return _padded(_explaining(whitening(C), gram), len(C))


def predictive_turn(C: Any, gram: Any, effect: Any) -> tuple[Any, int]:
    """Return M (r, r) with the predictive scores first, and their number.

    `gram` is KᵀK (r, r), `effect` (outputs, r) is the change of the outputs per unit of each code.
    """
    Q = whitening(C)
    if Q.shape[1] == 0:
        return np.zeros_like(C), 0
    # The singular values are the standard deviations of the activations.
    U, values, _ = np.linalg.svd((effect @ C @ Q).T)
    rounding = max(effect.shape) * np.finfo(float).eps * values[:1].sum()
    count = int(np.sum(values > rounding))
    rest = _explaining(Q @ U[:, count:], gram)
    return _padded(np.hstack([Q @ U[:, :count], rest]), len(C)), count


def parts_turn(C: Any, effect: Any) -> Any:
    """Return M (r, r) that scales codes to variance 1 and puts those with the largest effect first.

    For non-negative parts, which a rotation would make negative.
    """
    deviation = np.sqrt(np.clip(np.diag(C), 0.0, None))
    order = np.argsort(-np.linalg.norm(effect * deviation, axis=0), kind="stable")
    return np.diag(np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 0))[:, order]


def effects_of(turn: Any, C: Any, effect: Any) -> Any:
    """Return the change of the outputs per standard deviation of each score, others fixed: (outputs, r)."""
    # The regression of the codes on the scores; for uncorrelated scores MᵀCM is the identity.
    back = np.linalg.pinv(turn.T @ C @ turn, rcond=1e-10, hermitian=True) @ (turn.T @ C)
    return effect @ back.T


def _explaining(basis: Any, gram: Any) -> Any:
    """Rotate unit scores (r, k) so that the explained variance ‖KᵀM_k‖² is largest first."""
    _, axes = np.linalg.eigh(basis.T @ gram @ basis)
    return basis @ axes[:, ::-1]


def _padded(turn: Any, r: int) -> Any:
    """Append columns of zeros for directions that the scores do not have."""
    return np.hstack([turn, np.zeros((r, r - turn.shape[1]))])


def shown_factors(problem: Problem, factors: Factors, weights: Any, symmetric: Any) -> ShownFactors:
    """Return the factors of a fit, by one pass over X and a few evaluations of the loss.

    `factors` are in the user's units, `weights` V (p, r) with codes = XV; `symmetric` converts effects (κ, r)
    to those on all outputs, (outputs, r).
    """
    V, beta, gamma = (_numbers(x) for x in (weights, factors.beta, factors.gamma))
    (scores,), sums = problem.samples.make(Block.scored, V)
    moments = Moments.of(sums, problem.scale)
    C, effect = moments.C, symmetric(beta.T)
    if are_parts(factors.components, factors.codes):
        turn = parts_turn(C, effect)
    else:
        turn, _ = predictive_turn(C, moments.K.T @ moments.K, effect)
    each = turn[:, :, None] * effects_of(turn, C, beta.T).T  # (code, factor, κ)

    def deviance(used: Any) -> float:
        """Return the loss with the share `used` (r,) of each factor, the rest replaced by its mean."""
        coef = np.einsum("s,rsc->rc", used, each)
        constant = moments.score_mean @ (beta - coef)  # keeps the activations at the mean
        point = np.vstack([coef * problem.scale, constant[None, :] * problem.scale, gamma])
        return float(problem.samples.sum(Block.evaluate, Design(scores.place), point)[0])

    r, share = len(beta), 1.0
    none, whole = deviance(np.zeros(r)), deviance(np.ones(r))
    while share > _LEAST_SHARE and (less := deviance(np.full(r, share / 2))) < whole:
        whole, share = less, share / 2
    contribution = np.zeros(r)
    if whole < none:
        carrying = np.flatnonzero(np.any(each, axis=(0, 2)))
        without = [deviance(share * (np.arange(r) != k)) for k in carrying]
        contribution[carrying] = np.clip((np.array(without) - whole) / (none - whole), 0.0, 1.0)
    return ShownFactors(moments, turn, contribution)


def are_parts(components: Any, codes: Any) -> bool:
    """Return whether factors are non-negative parts of supervised NMF, which must not be rotated.

    Components are (p, r) or (r, p), codes (n, r), or None if they are not known.
    """
    several = codes is not None and codes.shape[1] > 1
    return several and _none_negative(components) and _none_negative(codes)


def _none_negative(x: Any) -> bool:
    return not bool(namespace(x).any(x < 0))


def _numbers(x: Any) -> Any:
    return np.asarray(to_numpy(x), dtype=np.float64)
