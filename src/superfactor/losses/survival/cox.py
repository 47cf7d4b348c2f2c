"""Cox's partial likelihood: survival times, some of them censored.

With times ``t``, events ``δ``, weights ``ω`` and ``d = ωδ``, the sums ``S_i = Σ_{t_j≥t_i} ω_j e^{a_j}`` over
those at risk and ``D_i = Σ_{t_j=t_i} d_j`` over events of one time, half the partial-likelihood deviance is

    ``Σ_i ω_i ℓ_i,   ℓ_i = δ_i (log(S_i/D_i) − a_i)``.

Let ``P_ij = ω_j e^{a_j} 1{t_j≥t_i}/S_i``, the probability that the event of ``i`` happens to ``j``. Then

    ``E = Pᵀd − d,   ∇² = diag(Pᵀd) − Pᵀ diag(d) P``.

The rows of ``P`` sum to one, so ``ΣE = 0``, and adding a constant to all activations changes nothing. The
usual partial likelihood omits the constants ``D_i``. With them, the loss is 0 if every event was certain, and
doubles if every sample appears twice.

**The conjugate.** ``E = ∇`` can be solved for ``a``, since risk sets are nested: with the tails
``T_i = Σ_{t_j≥t_i} E_j`` the sums shrink by ``T_{k+1}/(T_k + D_k)`` from one event time ``k`` to the next.
With ``m = E + d``, this gives

    ``ℓ*(E) = Σ_j m_j log(m_j/ω_j) − Σ_k [(T_k + D_k) log(T_k + D_k) − T_k log T_k − D_k log D_k]``

over the event times ``k``, for ``m ≥ 0``, ``T ≥ 0`` and ``ΣE = 0``; infinite elsewhere.

**Efron's ties.** The l-th of ``q`` events at time ``k``, ``l = 0, …, q − 1``, has a risk set without the
share ``f_l = l/q`` of these events: ``S_kl = S_k − f_l U_k``, ``U_k`` their part of ``S_k``, and ``D_kl = (1
− f_l)D_k``; each has weight ``D_k/q``. ``P`` has the factor ``1 − f_l`` for tied events; the rest is the
same. The conjugate needs one number per time, ``x = U_k/S_k``, the root in [0, 1] of ``x(T_k + e(x)) = M_k``,
with ``M_k`` the sum of ``m`` over these events, and

    ``h(x) = Σ_l (D_k/q)/(1 − f_l x),   e(x) = Σ_l (D_k/q)(1 − f_l)/(1 − f_l x)``.

In the term of ``k`` in ``ℓ*``, ``(T_k + D_k) log(T_k + D_k)`` is then replaced by ``M_k log(T_k + e) + (T_k +
D_k − M_k) log(T_k + h) + Σ_l (D_k/q) log((1 − f_l x)/(1 − f_l))``. Its derivative in ``x`` is 0 at the root,
so a small error of the root has no effect.

**Strata.** Samples are compared within a stratum only. Losses and conjugates of the strata add up, and
``ΣE = 0`` in each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, moved, namespace, wide
from superfactor._deprecated import renamed_attributes
from superfactor.losses.base import Loss, check_radius
from superfactor.losses.classes.entropy import times_own_log
from superfactor.losses.survival.risk_sets import AtRisk, RiskSets, TiedTimes, Ties

# Dual points may leave the domain by this share of all events, because of rounding.
_ROUNDING = 1e-10
# Most Newton steps for the share of tied events; from above they converge without overshooting.
_MOST_STEPS = 60


#: Treatments of several events at one time.
TIES = ("breslow", "efron")


@renamed_attributes(cumulative_hazard=("log_cumulative_hazard", lambda loss: loss._cumulative_hazard))
class CoxPartialLikelihood(Loss):
    """Half the partial-likelihood deviance, with Breslow's or Efron's ties.

    The loss compares samples with each other. It is made for given samples, all of them in memory. The
    targets ``Y`` of its methods are the events, shape ``(n, 1)``.

    Parameters
    ----------
    times : array of shape (n,)
        Time of the event, or of censoring.
    events : array of shape (n,)
        1 for an event, 0 for none.
    weights : array of shape (n,), optional
        A weight of 2 is equivalent to the sample twice, except that it makes no tie for Efron's method.
        Samples of weight 0 are never at risk; their times are ignored.
    ties : {"breslow", "efron"}, default="breslow"
        With "breslow", all events at one time are in each other's risk sets. With "efron", their share in
        the risk set decreases from one event to the next.
    strata : array of shape (n,), optional
        Samples are compared within their stratum only.

    Examples
    --------
    The first of three patients dies when all are at risk, the second when two are at risk:

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
    # Measured on eight tables.
    feature_xi = 0.01
    feature_ridge = 300.0

    def __init__(
        self, times: Any, events: Any, weights: Any = None, ties: str = "breslow", strata: Any = None
    ) -> None:
        times, events = np.asarray(times, dtype=float), np.asarray(events, dtype=float)
        if ties not in TIES:
            raise ValueError(f"ties={ties!r}: 'breslow' or 'efron' is required")
        self.weights: Any = np.ones(len(times)) if weights is None else np.asarray(weights, dtype=float)
        deaths = self.weights * events
        happened = deaths > 0
        self.times, self.strata = times, strata
        self.risk_sets: RiskSets = RiskSets.of(times, self.weights > 0, strata)
        self.ties = Ties.of(self.risk_sets, happened) if ties == "efron" else None
        self.tied: Any = np.where(happened, self.risk_sets.tied(deaths), 1.0)
        # Each of several events at one time has their mean weight.
        self.deaths: Any = deaths if self.ties is None else self.ties.means(deaths)
        self._log_tied = np.log(self.tied)
        if self.ties is not None:
            self._log_tied += np.log1p(-self.ties.fraction)

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
        compared = at_risk.log_sums - log_tied
        if at_risk.ties is not None:
            compared = at_risk.ties.means(compared)
        value = wide(Y)[:, 0] * (compared - wide(a)[..., 0])
        return cast(value, a), cast(at_risk.spread(deaths)[..., None], a) - Y

    def curvature(self, a: Array, Y: Array) -> RiskCurvature:
        return self.curvature_of((a, namespace(a).ones_like(a)))

    def curvature_of(self, numbers: tuple[Array, Array]) -> RiskCurvature:
        return RiskCurvature(self, *numbers)

    def at_risk(self, a: Array) -> AtRisk:
        """Return the risk sets at activations of shape ``(…, n, 1)``."""
        return self.risk_sets.at(a[..., 0], self.weights, self.ties)

    def log_cumulative_hazard(self, a: Any) -> tuple[Any, Any]:
        """Return the distinct event times and the log of Breslow's cumulative hazard of ``a = 0`` at them.

        ``log Σ_k D_k/S_k`` over event times ``k`` until then: finite for finite ``a``, even if risks differ
        widely. ``a`` are the activations of all samples, NumPy, shape ``(n, 1)``. With strata the result has
        one row per stratum, in order, and is −inf before its first event. Ties are always Breslow's.
        """
        sums = self.risk_sets.at(a[..., 0], self.weights).log_sums
        happened = self.deaths > 0
        hazard = np.log(self.tied) - sums
        times = np.unique(self.times[happened])
        strata = np.zeros(len(self.times)) if self.strata is None else self.strata
        found = []
        for stratum in np.unique(strata[self.weights > 0]):
            own = np.full(len(times), -np.inf)
            here = happened & (strata == stratum)
            own[np.searchsorted(times, self.times[here])] = hazard[here]
            found.append(np.logaddexp.accumulate(own))
        return times, found[0] if self.strata is None else np.array(found)

    def _cumulative_hazard(self, a: Any) -> tuple[Any, Any]:
        """Return `log_cumulative_hazard` without the log, as in superfactor 1.0."""
        times, logs = self.log_cumulative_hazard(a)
        return times, np.exp(logs)

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``α⁺ = Σd/(2·min ω)``: for one event, no eigenvalue of ``diag(p) − ppᵀ`` exceeds ½."""
        check_radius(radius)
        return 0.0, float(self.deaths.sum() / (2 * self.weights[self.weights > 0].min()))

    def informative(self, Y: Array) -> Array:
        """Return the events: a sample without one contributes to the risk sets of others only."""
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
        balance = xp.where(weights > 0, self.risk_sets.totals(weights * g), xp.zeros_like(g))
        inside = inside & (weights * share >= -noise) & (xp.max(xp.abs(balance)) <= noise)
        tails = xp.clip(tails, float(xp.finfo(g.dtype).smallest_normal) ** 0.5, None)
        split = tails * xp.log1p(tied / tails) / tied + xp.log1p(tails / tied)
        if self.ties is not None:
            ties = self.ties.there(g)
            found = xp.concat(
                [self._split_of_ties(ties, some, tails, weights * share) for some in ties.times]
            )
            split = xp.where(ties.group < ties.count, ties.of_each(found), split)
        found = times_own_log(share) - events * split
        return xp.where(inside, found, xp.full_like(found, math.inf))

    def _split_of_ties(self, ties: Ties, some: TiedTimes, tails: Array, mass: Array) -> Array:
        """Return `split` with Efron's ties at g times with several events each (g,)."""
        xp, deaths = namespace(tails), moved(self.deaths, tails)
        tail, each = (xp.max(some.of(x), axis=-1) for x in (tails, deaths))
        total = each * xp.sum(some.filled, axis=-1)
        held = xp.clip(xp.sum(some.of(mass), axis=-1), 0.0, None)
        held = xp.minimum(held, tail + total)
        fraction, weigh = some.of(ties.fraction), each[:, None] * some.filled

        def sums(x: Array) -> tuple[Array, Array, Array]:
            """Return h, e and e' at x (g,)."""
            left = 1.0 / (1.0 - fraction * x[:, None])
            e = weigh * (1.0 - fraction) * left
            return xp.sum(weigh * left, axis=-1), xp.sum(e, axis=-1), xp.sum(e * fraction * left, axis=-1)

        x = xp.ones_like(tail)
        for _ in range(_MOST_STEPS):
            _, e, slope = sums(x)
            step = (x * (tail + e) - held) / (tail + e + x * slope)
            x = xp.clip(x - step, 0.0, 1.0)
            if float(xp.max(xp.abs(step))) <= 1e-15:
                break
        h, e, _ = sums(x)
        logs = xp.log((1.0 - fraction * x[:, None]) / (1.0 - fraction))
        whole = held * xp.log1p(e / tail) + (tail + total - held) * xp.log1p(h / tail)
        whole = whole + total * xp.log(tail / total) + xp.sum(weigh * logs, axis=-1)
        return whole / total

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        return (namespace(G).sum(weights[:, None] * G),)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        """Return ``G``: its weighted sum is zero if the conjugate is finite."""
        return G


@dataclass(frozen=True)
class RiskCurvature:
    """``diag(Pᵀd) − Pᵀ diag(d) P`` of all samples, see `superfactor.losses.AnyCurvature`."""

    loss: CoxPartialLikelihood  # has the risk sets
    activations: Array  # (…, n, 1)
    factor: Array  # (…, n, 1), factor of each sample's row: ω if weighted, otherwise 1

    @property
    def numbers(self) -> tuple[Array, Array]:
        return self.activations, self.factor

    def weighted(self, weights: Array) -> RiskCurvature:
        """Return the curvature of ``Σ_i ω_i ℓ_i``; the weights must be those that the loss was made with."""
        return replace(self, factor=self.factor * weights)

    def times(self, v: Array) -> Array:
        return cast(self._times(wide(v)[..., 0])[..., None], v)

    def matrices(self) -> Array:
        raise TypeError(f"{self.loss!r}: samples are coupled and have no curvature of their own")

    def total(self) -> Array:
        """Return the sum of the diagonal of ``diag(Pᵀd)``, shape ``(…, 1, 1)``."""
        total = namespace(self._diagonal).sum(self._diagonal, axis=-1)
        return cast(total[..., None, None], self.activations)

    def take(self, index: Array) -> RiskCurvature:
        raise TypeError(f"{self.loss!r}: samples are coupled and have no curvature of their own")

    def by_row(self, directions: Array) -> Array:
        """``b_j²`` times the diagonal of ``diag(Pᵀd)``, shape ``(…, n, m)``."""
        return cast(self._diagonal[..., None], self.activations) * directions**2

    def row_matrices(self, directions: Array) -> Array:
        """``diag(Pᵀd)_i·bᵀb``, shape ``(n, m, m)``."""
        return cast(self._diagonal[:, None, None], self.activations) * (directions.T @ directions)

    def row_solve(self, v: Array) -> Array:
        """``v_i`` over the diagonal of ``diag(Pᵀd)``."""
        h = self._diagonal[..., None]
        return v / cast(namespace(h).clip(h, min=1e-8 * float(namespace(h).max(h)) + 1e-300), v)

    def gram(self, J: Array, convex: bool) -> Array:
        """``Jᵀ∇²J``, shape ``(k, k)``."""
        # Centring J does not change the product, and reduces the cancellation in it.
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
        """Return the columns of J (n, k) minus their means: (k, n)."""
        J = wide(J)
        return (J - namespace(J).mean(J, axis=0)[None, :]).T

    def _times(self, v: Array) -> Array:
        """Return the product with v (…, n)."""
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
