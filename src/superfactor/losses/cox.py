"""Cox's partial likelihood with Breslow's ties: outcomes that are times, some of them not seen to the end.

With times ``t``, events ``δ``, weights ``ω`` and ``d = ωδ``, the sums ``S_i = Σ_{t_j≥t_i} ω_j e^{a_j}`` over
those at risk and ``D_i = Σ_{t_j=t_i} d_j`` over events of one time, half the partial-likelihood deviance is

    ``Σ_i ω_i ℓ_i,   ℓ_i = δ_i (log(S_i/D_i) − a_i)``.

Let ``P_ij = ω_j e^{a_j} 1{t_j≥t_i}/S_i``, the chance that the event of ``i`` had been that of ``j``. Then

    ``E = Pᵀd − d,   ∇² = diag(Pᵀd) − Pᵀ diag(d) P``.

The rows of ``P`` sum to one: ``ΣE = 0``, and a constant added to all activations changes nothing. Without
the ``D_i``, a constant, it is the partial likelihood as it is usually printed; with them it is 0 where every
event was certain, and twice as large for every sample twice.

**The conjugate.** ``E = ∇`` can be solved for ``a``, since risk sets are nested: with the tails
``T_i = Σ_{t_j≥t_i} E_j`` the sums shrink by ``T_{k+1}/(T_k + D_k)`` from one event time ``k`` to the next.
Put in, with ``m = E + d``,

    ``ℓ*(E) = Σ_j m_j log(m_j/ω_j) − Σ_k [(T_k + D_k) log(T_k + D_k) − T_k log T_k − D_k log D_k]``

over the event times ``k``, for ``m ≥ 0``, ``T ≥ 0`` and ``ΣE = 0``; infinite elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, moved, namespace, wide
from superfactor.losses.base import Loss, check_radius
from superfactor.losses.entropy import times_own_log
from superfactor.losses.risk_sets import AtRisk, RiskSets

# By how much of all events dual points may leave the domain: rounding.
_ROUNDING = 1e-10


class CoxPartialLikelihood(Loss):
    """Half the partial-likelihood deviance of certain samples, with Breslow's ties.

    It compares samples with each other and so is made for certain samples, all of them in memory. The targets
    ``Y`` of its methods are the events, shape ``(n, 1)``.

    Parameters
    ----------
    times : array of shape (n,)
        When an event happened, or until when there was none.
    events : array of shape (n,)
        1 for an event, 0 for none.
    weights : array of shape (n,), optional
        A weight of 2 is the sample twice; samples of weight 0 are nowhere at risk, and have any time.

    Examples
    --------
    Of three patients the first one dies when all are at risk, the second one when two are:

    >>> import numpy as np
    >>> from superfactor.losses import CoxPartialLikelihood
    >>> events = np.array([1.0, 1.0, 0.0])
    >>> loss = CoxPartialLikelihood(np.array([2.0, 5.0, 7.0]), events)
    >>> np.exp(loss.value(np.zeros((3, 1)), events[:, None]))
    array([3., 2., 1.])
    >>> loss.residual(np.zeros((3, 1)), events[:, None])[:, 0].round(3)
    array([-0.667, -0.167,  0.833])
    """

    convex = True
    has_conjugate = True
    couples_samples = True
    ignores_constants = True

    def __init__(self, times: Any, events: Any, weights: Any = None) -> None:
        times, events = np.asarray(times, dtype=float), np.asarray(events, dtype=float)
        self.weights: Any = np.ones(len(times)) if weights is None else np.asarray(weights, dtype=float)
        self.deaths: Any = self.weights * events
        self.risk_sets: RiskSets = RiskSets.of(times, self.weights > 0)
        self.times = times
        tied = self.risk_sets.tied(self.deaths)
        self.tied: Any = np.where(self.deaths > 0, tied, 1.0)
        self._log_tied = np.log(self.tied)

    def __repr__(self) -> str:
        return f"CoxPartialLikelihood({len(self.deaths)} samples)"

    # ---------------------------------------------------------------- primal side

    def value(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[1]

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        at_risk = self.at_risk(a)
        log_tied, deaths = (moved(x, a) for x in (self._log_tied, self.deaths))
        value = wide(Y)[:, 0] * (at_risk.log_sums - log_tied - wide(a)[..., 0])
        return cast(value, a), cast(at_risk.spread(deaths)[..., None], a) - Y

    def curvature(self, a: Array, Y: Array) -> RiskCurvature:
        return self.curvature_of((a, namespace(a).ones_like(a)))

    def curvature_of(self, numbers: tuple[Array, Array]) -> RiskCurvature:
        return RiskCurvature(self, *numbers)

    def at_risk(self, a: Array) -> AtRisk:
        """The risk sets at activations of shape ``(…, n, 1)``."""
        return self.risk_sets.at(a[..., 0], self.weights)

    def log_cumulative_hazard(self, a: Any) -> tuple[Any, Any]:
        """The distinct times of events, and the log of Breslow's cumulative hazard of ``a = 0`` at them.

        ``log Σ_k D_k/S_k`` over event times ``k`` until then: finite wherever ``a`` is, however widely risks
        differ. ``a`` are the activations of all samples, NumPy, shape ``(n, 1)``.
        """
        happened = self.deaths > 0
        times, which = np.unique(self.times[happened], return_index=True)
        hazard = (self._log_tied - self.at_risk(a).log_sums)[happened][which]
        return times, np.logaddexp.accumulate(hazard)

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``α⁺ = Σd/(2·min ω)``: of one event ``diag(p) − ppᵀ``, a variance, is at most ½ anywhere."""
        check_radius(radius)
        return 0.0, float(self.deaths.sum() / (2 * self.weights[self.weights > 0].min()))

    def informative(self, Y: Array) -> Array:
        """Events: of a sample without one only others' risk sets know."""
        return Y

    def digest(self, n_outputs: int) -> list[float]:
        place = np.arange(len(self.deaths), dtype=float)[:, None]
        value, residual = self.value_and_residual(np.sin(place), self.deaths[:, None])
        return [float(np.sum(value)), float(np.sum(place * residual))]

    # ---------------------------------------------------------------- dual side

    def conjugate(self, G: Array, Y: Array) -> Array:
        xp, g, events = namespace(G), wide(G)[:, 0], wide(Y)[:, 0]
        weights, deaths, tied = (moved(x, g) for x in (self.weights, self.deaths, self.tied))
        noise = _ROUNDING * float(xp.sum(deaths))
        share, tails = g + events, self.risk_sets.tails(weights * g)
        inside = xp.where(deaths > 0, tails, xp.zeros_like(tails)) >= -noise
        inside = inside & (weights * share >= -noise) & (xp.abs(xp.sum(weights * g)) <= noise)
        tails = xp.clip(tails, float(xp.finfo(g.dtype).smallest_normal) ** 0.5, None)
        split = tails * xp.log1p(tied / tails) / tied + xp.log1p(tails / tied)
        found = times_own_log(share) - events * split
        return xp.where(inside, found, xp.full_like(found, math.inf))

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        return (namespace(G).sum(weights[:, None] * G),)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """``G``: its weighted sum is zero wherever the conjugate is finite."""
        return G


@dataclass(frozen=True)
class RiskCurvature:
    """``diag(Pᵀd) − Pᵀ diag(d) P`` of all samples together, as `superfactor.losses.AnyCurvature` asks."""

    loss: CoxPartialLikelihood  # who was at risk when
    activations: Array  # (…, n, 1), where
    factor: Array  # (…, n, 1), by what each sample's row is multiplied: ω where it is weighted, otherwise 1

    @property
    def numbers(self) -> tuple[Array, Array]:
        return self.activations, self.factor

    def weighted(self, weights: Array) -> RiskCurvature:
        """That of ``Σ_i ω_i ℓ_i``; the weights are those that the loss was made with."""
        return replace(self, factor=self.factor * weights)

    def times(self, v: Array) -> Array:
        return cast(self._times(wide(v)[..., 0])[..., None], v)

    def matrices(self) -> Array:
        raise TypeError(f"{self.loss!r}: samples have no curvature of their own, for they are coupled")

    def total(self) -> Array:
        """The sum of the diagonal of ``diag(Pᵀd)``, shape ``(…, 1, 1)``."""
        total = namespace(self._diagonal).sum(self._diagonal, axis=-1)
        return cast(total[..., None, None], self.activations)

    def gram(self, J: Array, convex: bool) -> Array:
        """``Jᵀ∇²J``, shape ``(k, k)``."""
        # Without its mean J has the same product, and the difference of two sums keeps its digits.
        columns = self._centred(J)
        gram = columns @ self._times(columns).T
        return cast((gram + gram.T) / 2, J)

    def forms(self, J: Array, directions: Array) -> Array:
        """``b_c²·j_lᵀ∇²j_l``, shape ``(k, r)``."""
        columns = self._centred(J)
        forms = namespace(J).sum(columns * self._times(columns), axis=-1)
        return cast(forms, J)[:, None] * (directions**2).T

    def along(self, Z: Array, directions: Array) -> Array:
        """``∇²Z`` with columns times ``b_j²``, shape ``(n, j)``."""
        return cast(self._times(wide(Z).T).T, Z) * (directions**2).T

    def _centred(self, J: Array) -> Array:
        """The columns of J (n, k) without their means: (k, n)."""
        J = wide(J)
        return (J - namespace(J).mean(J, axis=0)[None, :]).T

    def _times(self, v: Array) -> Array:
        """The product with v (…, n)."""
        spread = self._at_risk.spread(self._deaths * self._at_risk.means(v))
        return self._diagonal * v - wide(self.factor)[..., 0] * spread

    @cached_property
    def _at_risk(self) -> AtRisk:
        return self.loss.at_risk(self.activations)

    @cached_property
    def _deaths(self) -> Array:
        return moved(self.loss.deaths, self.activations)

    @cached_property
    def _diagonal(self) -> Array:
        return wide(self.factor)[..., 0] * self._at_risk.spread(self._deaths)
