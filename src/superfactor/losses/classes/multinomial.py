"""The multinomial log-likelihood loss, which every classifier of the package uses.

    ``ℓ(y, a) = log(1 + Σ_c h(a_c)) − Σ_c 1{y=c} log h(a_c)``

With ``p_c = h(a_c)/(1 + Σh)``, ``u = (log h)'`` and ``d_c = p_c − Y_c``:

    ``∇_c = d_c u_c``,
    ``∇²_cd = 1{c=d} (d_c u'_c + p_c u_c²) − p_c p_d u_c u_d``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from superfactor._arrays import Array, namespace
from superfactor.losses.base import Loss
from superfactor.losses.classes import entropy, inversion
from superfactor.losses.classes.links import Link, Logistic, Probit
from superfactor.losses.curvature import Curvature


class Multinomial(Loss):
    """Negative log-likelihood of ``n_outputs + 1`` classes whose scores come from a link.

    Parameters
    ----------
    link : Link
        The score function.
    n_outputs : int, default 1
        κ, the number of classes minus one. Convexity and the conjugate depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Logistic, Multinomial
    >>> loss = Multinomial(Logistic(), n_outputs=2)
    >>> a, Y = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> loss.probabilities(a).round(2)
    array([[0.33, 0.33, 0.33],
           [0.11, 0.79, 0.11]])
    >>> loss.value(a, Y).round(2)
    array([1.1 , 0.24])
    """

    # Measured: a fixed share predicts best if only the order of the activations matters.
    estimates_ridge = False
    dispersion = 1.0

    def __init__(self, link: Link, n_outputs: int = 1) -> None:
        self.link = link
        self.n_outputs = n_outputs
        self.convex: bool = link.convex(n_outputs)
        self.has_conjugate: bool = self.convex and (link.linear or n_outputs == 1)

    def __repr__(self) -> str:
        return f"Multinomial({self.link!r}, n_outputs={self.n_outputs})"

    # ---------------------------------------------------------------- primal side

    def value(self, a: Array, Y: Array) -> Array:
        return _value_and_excess(self.link.log_h(a), Y)[0]

    def residual(self, a: Array, Y: Array) -> Array:
        return self.value_and_residual(a, Y)[1]

    def value_and_residual(self, a: Array, Y: Array) -> tuple[Array, Array]:
        if self.link.linear:  # u = 1
            return _value_and_excess(self.link.log_h(a), Y)
        log_h, slope = self.link.log_h_and_slope(a)
        value, excess = _value_and_excess(log_h, Y)
        return value, excess * slope

    def curvature(self, a: Array, Y: Array) -> Curvature:
        if self.link.linear:
            p, rest = _probability_and_complement(self.link.log_h(a))
            return Curvature(p * rest, p)
        log_h, slope = self.link.log_h_and_slope(a)
        p, rest = _probability_and_complement(log_h)
        # In this order, 0·u·u does not become 0·inf for a huge slope u.
        diagonal = (p * slope) * (rest * slope)
        diagonal = diagonal + _value_and_excess(log_h, Y)[1] * self.link.d2_log_h(a)
        return Curvature(diagonal, p * slope)

    def probabilities(self, a: Array) -> Array:
        """Return class probabilities, shape ``(n, κ+1)``, class 0 first; rows sum to 1."""
        xp = namespace(a)
        base, scores = _scaled_scores(self.link.log_h(a))
        scores = xp.concat([base, scores], axis=1)
        return scores / xp.sum(scores, axis=1, keepdims=True)

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        return self.link.curvature_bounds(n_outputs, radius)

    # ---------------------------------------------------------------- dual side

    def conjugate(self, G: Array, Y: Array) -> Array:
        self._require_conjugate()
        if self.link.linear:
            return entropy.conjugate(G, Y)
        return inversion.conjugate(self, G, Y)

    def imbalance(self, G: Array, Y: Array, weights: Array) -> tuple[Array, ...]:
        self._require_conjugate()
        if self.link.linear:
            return entropy.imbalance(G, Y, weights)
        return inversion.imbalance(G, Y, weights)

    def rebalanced(self, G: Array, Y: Array, steps: Sequence[tuple[Array, ...]]) -> Array:
        self._require_conjugate()
        if self.link.linear:
            return entropy.rebalanced(G, Y, steps)
        return inversion.rebalanced(G, Y, steps)

    def _require_conjugate(self) -> None:
        if not self.has_conjugate:
            raise TypeError(
                f"link={self.link!r} has no usable conjugate with {self.n_outputs} output(s): "
                "the loss must be convex, and with two or more outputs logistic"
            )


def _value_and_excess(log_h: Array, Y: Array) -> tuple[Array, Array]:
    """Return ``ℓ``, shape ``(n,)``, and ``d = p − Y``, shape ``(n, κ)``, from ``log h`` and one-hot ``Y``.

    Scores are relative to the sample's own class, so that a loss or a ``1 − p`` near zero is not a
    difference of two large numbers.
    """
    xp = namespace(log_h, Y)
    if log_h.shape[-1] == 1:
        # ℓ = log(1 + e^z), d = ±1/(1 + e^{−z}), z = log h of the other class minus that of the own class.
        sign = 1.0 - 2.0 * Y
        z = sign * log_h
        size = xp.abs(z)
        e = xp.exp(-size)
        value = 0.5 * (z + size) + xp.log1p(e)
        excess = sign * xp.where(z > 0, xp.ones_like(e), e) / (1.0 + e)
        return value[..., 0], excess
    not_own = 1.0 - Y
    own = xp.sum(Y * log_h, axis=-1, keepdims=True)
    z = log_h - own
    top = xp.maximum(xp.max(z, axis=-1, keepdims=True), -own)  # ≥ 0: the own class has z = 0
    e = xp.exp(z - top) * not_own
    others = xp.sum(e, axis=-1, keepdims=True)
    others = others + xp.exp(-own - top) * xp.sum(Y, axis=-1, keepdims=True)  # class 0, if not own
    # log Σ e^z = top + log(e^{−top} + others), exact to the last digit if top = 0.
    value = top + xp.log1p(others + xp.expm1(-top))
    excess = (e - Y * others) / (others + xp.exp(-top))
    return value[..., 0], excess


def _scaled_scores(log_h: Array) -> tuple[Array, Array]:
    """Return scores of class 0, ``(n, 1)``, and of the others, ``(n, κ)``, divided by the row's largest."""
    xp = namespace(log_h)
    top = xp.max(log_h, axis=-1, keepdims=True)
    top = 0.5 * (top + xp.abs(top))
    return xp.exp(-top), xp.exp(log_h - top)


def _probability_and_complement(log_h: Array) -> tuple[Array, Array]:
    """Return ``p`` and ``1 − p``, both ``(n, κ)`` and both accurate near zero."""
    xp = namespace(log_h)
    base, scores = _scaled_scores(log_h)
    others_sum = xp.sum(scores, axis=-1, keepdims=True)
    total = base + others_sum
    if log_h.shape[-1] == 1:
        return scores / total, base / total
    # For the class with the largest score 1, 1 − p is Σ − 1; the others lose no digits in total − score.
    rest = base + (others_sum - scores)
    return scores / total, rest / total


def resolve_link(link: str | Link, n_outputs: int) -> Multinomial:
    """Return the loss for a link given by name or as an object.

    Parameters
    ----------
    link : {"logistic", "probit"} or Link
    n_outputs : int
        κ, the number of classes minus one. ``"probit"`` requires two classes: with more, its loss is
        not convex and the model is not a probit model.

    Returns
    -------
    loss : Multinomial
        The loss of classes whose scores come from this link.

    Examples
    --------
    >>> from superfactor.losses import resolve_link
    >>> resolve_link("logistic", n_outputs=2)
    Multinomial(Logistic(), n_outputs=2)
    """
    if isinstance(link, str):
        names: dict[str, Link] = {"logistic": Logistic(), "probit": Probit()}
        if link not in names:
            raise ValueError(f"link={link!r} is unknown; allowed are 'logistic', 'probit' and Link objects")
        resolved = names[link]
    elif isinstance(link, Link):
        resolved = link
    else:
        raise TypeError(f"link={link!r}: allowed are 'logistic', 'probit' and Link objects")
    if n_outputs < 1:
        raise ValueError(f"n_outputs={n_outputs!r}: at least one output (two classes) is required")
    if isinstance(resolved, Probit) and n_outputs > 1:
        raise ValueError(f"link={link!r} allows two classes, got {n_outputs + 1}; use 'logistic' for more")
    return Multinomial(resolved, n_outputs)
