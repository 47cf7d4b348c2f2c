"""Links: the score functions ``h`` that turn activations into class scores.

The probability of class ``c ≥ 1`` is ``h(a_c)/(1 + Σ_d h(a_d))``; class 0 has score 1. A link is
strictly increasing and twice differentiable with ``h(0) = 1``. It enters the loss through ``log h``
only, since ``h`` itself can overflow where ``log h`` is moderate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from superfactor._arrays import Array, namespace
from superfactor.losses.base import check_radius
from superfactor.losses.classes.hazard import hazard_slope, normal_tail


class Link(ABC):
    """A score function ``h``, given by ``log h`` and its first two derivatives.

    All three work elementwise on an array of any shape and keep shape and dtype. Subclass this, or
    use :class:`CustomLink` with three functions.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Link, Logistic
    >>> link = Logistic()
    >>> isinstance(link, Link), link.convex(n_outputs=3)
    (True, True)
    >>> link.log_h_and_slope(np.array([0.0, 2.0]))
    (array([0., 2.]), array([1., 1.]))
    """

    #: Whether ``log h(a) = a``; the loss then skips the chain rule.
    linear: bool = False

    @abstractmethod
    def log_h(self, a: Array) -> Array:
        """Return ``log h(a)``, finite for finite values."""

    @abstractmethod
    def d_log_h(self, a: Array) -> Array:
        """Return ``u(a) = (log h)'(a) = h'(a)/h(a) > 0``."""

    @abstractmethod
    def d2_log_h(self, a: Array) -> Array:
        """Return ``u'(a) = (log h)''(a)``."""

    def log_h_and_slope(self, a: Array) -> tuple[Array, Array]:
        """Return ``(log h(a), u(a))``; override this if the two share work."""
        return self.log_h(a), self.d_log_h(a)

    @abstractmethod
    def convex(self, n_outputs: int) -> bool:
        """Return whether the loss is convex in its ``n_outputs`` activations, for every label.

        With one output it is convex if and only if ``log(h/(1+h))`` and ``−log(1+h)`` are concave. With
        more outputs, hardly any link but ``exp`` is convex.
        """

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """Return ``(α⁻, α⁺)`` for ``‖a‖ ≤ radius``; by default ``α⁺ = inf`` and ``α⁻`` is 0 or −inf."""
        check_radius(radius)
        return (0.0 if self.convex(n_outputs) else -math.inf), math.inf


@dataclass(frozen=True)
class Logistic(Link):
    """``h = exp``: multinomial logistic regression, convex for any number of classes.

    Examples
    --------
    >>> from superfactor import SMFClassifier
    >>> from superfactor.losses import Logistic
    >>> SMFClassifier(link=Logistic())  # the same as link="logistic"
    SMFClassifier(link=Logistic())
    >>> Logistic().curvature_bounds(n_outputs=1)
    (0.0, 0.25)
    """

    linear = True

    def log_h(self, a: Array) -> Array:
        return a

    def d_log_h(self, a: Array) -> Array:
        return namespace(a).ones_like(a)

    def d2_log_h(self, a: Array) -> Array:
        return namespace(a).zeros_like(a)

    def convex(self, n_outputs: int) -> bool:
        return True

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``α⁺ = 1/4`` (κ=1) or ``1/2`` (Böhning); ``α⁻ = e^{−M}/(1+e^{−M}+(κ−1)e^{M})²``.

        The Hessian ``diag(p) − ppᵀ`` is a diagonally dominant M-matrix, so its smallest eigenvalue
        is at least its smallest row sum ``min_c p_c p_0``. Over ``|a_c| ≤ M`` the minimum is at
        ``a_c = −M`` with all others ``M``.
        """
        radius = check_radius(radius)
        upper = 0.25 if n_outputs == 1 else 0.5
        if n_outputs == 1:
            decay = math.exp(-radius)
            return decay / (1.0 + decay) ** 2, upper
        # Multiplied by e^{−2M}, so that a large radius underflows to 0 instead of overflowing.
        one, two, three = (math.exp(-k * radius) for k in (1, 2, 3))
        return three / (one + two + (n_outputs - 1)) ** 2, upper


@dataclass(frozen=True)
class Probit(Link):
    """``h(a) = Φ(a)/Φ(−a)``: for two classes ``P(y=1) = Φ(a)``.

    ``log h`` is odd, its slope ``u = r(a) + r(−a)`` even (``r`` the normal hazard), so everything
    is evaluated at ``|a|``, where :mod:`superfactor.losses.classes.hazard` is accurate. Finite for
    ``|a| ≤ 1e150``.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Multinomial, Probit
    >>> loss = Multinomial(Probit())
    >>> loss.probabilities(np.array([[0.0], [1.96]])).round(3)
    array([[0.5  , 0.5  ],
           [0.025, 0.975]])
    >>> Probit().convex(n_outputs=2)  # only with two classes
    False
    """

    def log_h(self, a: Array) -> Array:
        return self.log_h_and_slope(a)[0]

    def d_log_h(self, a: Array) -> Array:
        return self.log_h_and_slope(a)[1]

    def log_h_and_slope(self, a: Array) -> tuple[Array, Array]:
        xp = namespace(a)
        tail = normal_tail(xp.abs(a))
        return xp.sign(a) * (tail.log_lower - tail.log_upper), tail.hazard + tail.reverse

    def d2_log_h(self, a: Array) -> Array:
        xp = namespace(a)
        x = xp.abs(a)
        tail = normal_tail(x)
        slope_reverse = tail.reverse * (tail.reverse + x)
        return xp.sign(a) * (hazard_slope(x, tail.hazard) - slope_reverse)

    def convex(self, n_outputs: int) -> bool:
        return n_outputs == 1

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        """``α⁺ = 1``; ``α⁻ = r'(−M)``, because the curvature ``r'`` is increasing."""
        radius = check_radius(radius)
        if n_outputs != 1:
            return -math.inf, math.inf
        if math.isinf(radius):
            return 0.0, 1.0
        density = math.exp(-0.5 * radius * radius) / math.sqrt(2.0 * math.pi)
        reverse = density / (0.5 * math.erfc(-radius / math.sqrt(2.0)))
        return reverse * (reverse + radius), 1.0


class CustomLink(Link):
    """A link from three elementwise functions.

    Parameters
    ----------
    log_h, d_log_h, d2_log_h : callables
        ``log h``, ``h'/h`` and the derivative of the latter. They get an array of shape ``(n, κ)``
        and return one of the same shape and dtype.
    convex : bool or callable, default False
        Whether the loss is convex. ``True`` applies to two classes only, since with more classes hardly any
        ``h`` but ``exp`` gives a convex loss; for these, pass a callable ``n_outputs -> bool``. With False,
        fits carry no certificate. If True is wrong, the certificate is wrong.
    curvature_bounds : callable, optional
        ``(n_outputs, radius) -> (α⁻, α⁺)``; without it the upper bound is ``inf``.

    Examples
    --------
    The softplus link ``h(a) = log(1 + e^a)/log 2``. Its loss is *not* convex: its smallest curvature
    is −0.060. So `convex` stays False.

    >>> import numpy as np
    >>> from superfactor.losses import CustomLink, resolve_link
    >>> def softplus(a):
    ...     return np.logaddexp(0.0, a)
    >>> def sigmoid(a):
    ...     return np.exp(-softplus(-a))
    >>> def slope(a):
    ...     return sigmoid(a) / softplus(a)
    >>> def bend(a):
    ...     return slope(a) * (sigmoid(-a) - slope(a))
    >>> link = CustomLink(lambda a: np.log(softplus(a) / np.log(2.0)), slope, bend)
    >>> loss = resolve_link(link, n_outputs=1)
    >>> loss.convex, loss.has_conjugate
    (False, False)
    >>> float(loss.value(np.zeros((1, 1)), np.ones((1, 1)))[0] / np.log(2.0))
    1.0
    """

    def __init__(
        self,
        log_h: Callable[[Array], Array],
        d_log_h: Callable[[Array], Array],
        d2_log_h: Callable[[Array], Array],
        *,
        convex: bool | Callable[[int], bool] = False,
        curvature_bounds: Callable[[int, float], tuple[float, float]] | None = None,
    ) -> None:
        for name, function in (("log_h", log_h), ("d_log_h", d_log_h), ("d2_log_h", d2_log_h)):
            if not callable(function):
                raise TypeError(f"{name}={function!r}: a function of one array is required")
        self._log_h = log_h
        self._d_log_h = d_log_h
        self._d2_log_h = d2_log_h
        self._convex = convex
        self._curvature_bounds = curvature_bounds

    def log_h(self, a: Array) -> Array:
        return self._log_h(a)

    def d_log_h(self, a: Array) -> Array:
        return self._d_log_h(a)

    def d2_log_h(self, a: Array) -> Array:
        return self._d2_log_h(a)

    def convex(self, n_outputs: int) -> bool:
        if callable(self._convex):
            return bool(self._convex(n_outputs))
        return self._convex and n_outputs == 1

    def curvature_bounds(self, n_outputs: int, radius: float = math.inf) -> tuple[float, float]:
        if self._curvature_bounds is None:
            return super().curvature_bounds(n_outputs, radius)
        lower, upper = self._curvature_bounds(n_outputs, check_radius(radius))
        return float(lower), float(upper)
