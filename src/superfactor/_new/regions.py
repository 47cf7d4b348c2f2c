"""Which weights (ξ, λ) satisfy the theorem's hypothesis L/μ < 3.

The loss adds a curvature between `low` and `high` to the 2λ of the coefficients:

=========================== ======================= =========================================
model                       low                     high
=========================== ======================= =========================================
filter                      nμ* = nδ⁻α⁻             nL* = nδ⁺α⁺
feature                     0                       α⁺(1 + λ_max(X'ᵀX'))
=========================== ======================= =========================================

With μ = min(2ξ, 2λ + low) and L = max(2ξ, 2λ + high), the hypothesis consists of three inequalities:

    2ξ < 3(2λ + low),    2λ + high < 6ξ,    2λ + high < 3(2λ + low).

All numbers are totals over the samples, as in F. The paper's ξ', λ', μ*, L* are these divided by n; they can
be used here too, since the inequalities are homogeneous. With an unpenalised intercept μ is zero (see
`theorem_constants`) and no weights are admissible. With γ profiled out and the blocks rescaled, only the
third inequality remains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from superfactor._new.constants import problem_loss_curvature
from superfactor._new.problem import Problem


@dataclass(frozen=True)
class Interval:
    """An interval of numbers.

    It contains the lower end only if `closed`, and never the upper one.

    Attributes
    ----------
    lower, upper : float
        The ends.
    closed : bool
        Whether it contains `lower`.

    Examples
    --------
    >>> from superfactor.theory import Interval
    >>> weights = Interval(2.5, 22.0)
    >>> 3 in weights, 2.5 in weights
    (True, False)
    """

    lower: float
    upper: float
    closed: bool = False

    def __contains__(self, x: float) -> bool:
        return self.lower < x < self.upper or (self.closed and x == self.lower < self.upper)


def loss_curvature(
    model: str,
    alpha_high: float,
    *,
    alpha_low: float = 0.0,
    design: tuple[float, float] = (0.0, 0.0),
    covariate_factor: float = 0.0,
) -> tuple[float, float]:
    """Return bounds of the loss's part of the curvature of the coefficients.

    nδ⁻α⁻ and nδ⁺α⁺ for the filter model, 0 and α⁺(1 + λ_max(X'ᵀX')) for the feature model.

    Parameters
    ----------
    model : {"filter", "feature"}
        The model.
    alpha_high : float
        α⁺, the largest curvature of the loss.
    alpha_low : float, default=0
        α⁻, the smallest curvature of the loss.
    design : tuple of two floats
        For the filter model: (nδ⁻, nδ⁺), the extreme eigenvalues of ΦᵀΦ, Φ = [X, X'].
    covariate_factor : float, default=0
        For the feature model: λ_max(X'ᵀX'); 0 without covariates.

    Returns
    -------
    low, high : float
        Lower and upper bound.

    Examples
    --------
    >>> from superfactor.theory import loss_curvature
    >>> loss_curvature("filter", 0.25, alpha_low=0.1, design=(10.0, 40.0))
    (1.0, 10.0)
    """
    if model not in ("filter", "feature"):
        raise ValueError(f"model={model!r}: 'filter' or 'feature' is required")
    if model == "feature":
        return 0.0, alpha_high * (1 + covariate_factor)
    return design[0] * alpha_low, design[1] * alpha_high


def is_admissible(xi: float, lam: float, low: float, high: float) -> bool:
    """Return whether L/μ < 3 for Algorithm 1 as printed.

    Parameters
    ----------
    xi, lam : float
        ξ and λ.
    low, high : float
        Bounds of the loss's part of the curvature of the coefficients, next to 2λ (`loss_curvature`).

    Returns
    -------
    admissible : bool

    Examples
    --------
    >>> from superfactor.theory import is_admissible
    >>> is_admissible(xi=9, lam=3, low=1, high=10)
    True
    """
    _check(low, high)
    bottom, top = 2 * lam + low, 2 * lam + high
    return xi > 0 and lam >= 0 and 2 * xi < 3 * bottom and top < 6 * xi and top < 3 * bottom


def admissible_lambda(xi: float, low: float, high: float) -> Interval | None:
    """Return all λ that are admissible with this ξ, or None.

    Parameters
    ----------
    xi : float
        ξ > 0.
    low, high : float
        Bounds of the loss's part of the curvature of the coefficients, next to 2λ (`loss_curvature`).

    Returns
    -------
    lam : Interval or None
        None if no λ is admissible.

    Examples
    --------
    >>> from superfactor.theory import admissible_lambda
    >>> admissible_lambda(xi=9, low=1, high=10)
    Interval(lower=2.5, upper=22.0, closed=False)
    """
    _check(low, high)
    if not xi > 0:
        raise ValueError(f"xi={xi!r}: a positive number is required")
    return _from(max((2 * xi - 3 * low) / 6, (high - 3 * low) / 4), (6 * xi - high) / 2)


def admissible_xi(lam: float, low: float, high: float) -> Interval | None:
    """Return all ξ that are admissible with this λ, or None.

    At λ = 0 these are nL*/6 < ξ < 3nμ*/2.

    Parameters
    ----------
    lam : float
        λ ≥ 0.
    low, high : float
        Bounds of the loss's part of the curvature of the coefficients, next to 2λ (`loss_curvature`).

    Returns
    -------
    xi : Interval or None
        None if no ξ is admissible.

    Examples
    --------
    >>> from superfactor.theory import admissible_xi
    >>> admissible_xi(lam=3, low=1, high=10)
    Interval(lower=2.6666666666666665, upper=10.5, closed=False)
    >>> admissible_xi(lam=1, low=1, high=10) is None
    True
    """
    _check(low, high)
    if not lam >= 0:
        raise ValueError(f"lam={lam!r}: a non-negative number is required")
    bottom, top = 2 * lam + low, 2 * lam + high
    return Interval(top / 6, 1.5 * bottom) if top < 3 * bottom else None


def profiled_lambda(low: float, high: float) -> Interval | None:
    """Return all λ with L_A/m_A < 3. With γ profiled out, ξ and the covariates have no effect.

    Parameters
    ----------
    low, high : float
        Bounds of the loss's part of the curvature of the coefficients, next to 2λ (`loss_curvature`).

    Returns
    -------
    lam : Interval or None
        All λ > (high − 3·low)/4.

    Examples
    --------
    >>> from superfactor.theory import profiled_lambda
    >>> profiled_lambda(low=1, high=10)
    Interval(lower=1.75, upper=inf, closed=False)
    """
    _check(low, high)
    return _from((high - 3 * low) / 4, math.inf)


def problem_lambda(problem: Problem, *, profiled: bool = False, radius: float = math.inf) -> Interval | None:
    """Return all λ for which the theorem applies to this problem, with everything else unchanged.

    Parameters
    ----------
    problem : Problem
        Data, model, loss and ξ.
    profiled : bool, default=False
        As in `theorem_constants`.
    radius : float, default=inf
        As in `theorem_constants`.

    Returns
    -------
    lam : Interval or None
        None if there is no such λ, as with an intercept that is not profiled out.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Logistic, Multinomial
    >>> from superfactor.problem import state
    >>> from superfactor.theory import problem_lambda
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]) / 2
    >>> y = np.array([1, 1, 0, 0])
    >>> problem = state("feature", X, y, Multinomial(Logistic()), xi=0.5, lam=0.5)
    >>> problem_lambda(problem) is None
    True
    >>> problem_lambda(problem, profiled=True)
    Interval(lower=0.0625, upper=inf, closed=False)
    """
    low, high = problem_loss_curvature(problem, profiled=profiled, radius=radius, any_lam=True)
    if math.isinf(low) or math.isinf(high):
        return None
    if profiled:
        return profiled_lambda(low, high)
    xi, _ = problem.users_weights
    if problem.has_intercept:
        # The intercept's curvature is `low` for every λ; the largest curvature is 2λ + high.
        return _from(-1.0, min(6 * xi - high, 3 * low - high) / 2) if 2 * xi < 3 * low else None
    return admissible_lambda(xi, low, high)


@dataclass(frozen=True)
class RegionPiece:
    """A part of the admissible region: ξ in an interval, and λ between two lines in ξ.

    Attributes
    ----------
    xi : Interval
        The ξ of this part.
    lower, upper : tuple of two floats
        (slope, offset) of the lines: slope·ξ + offset.
    closed : bool
        Whether it contains the lower line.

    Examples
    --------
    >>> from superfactor.theory import admissible_pieces
    >>> first, second = admissible_pieces(low=1.0, high=10.0)
    >>> second.xi
    Interval(lower=6.75, upper=inf, closed=True)
    >>> second.lam(9.0)
    Interval(lower=2.5, upper=22.0, closed=False)
    """

    xi: Interval
    lower: tuple[float, float]
    upper: tuple[float, float]
    closed: bool = False

    def lam(self, xi: float) -> Interval:
        """Return the admissible λ at this ξ."""
        (a, b), (c, d) = self.lower, self.upper
        return Interval(a * xi + b, c * xi + d, self.closed)


def admissible_pieces(low: float, high: float) -> tuple[RegionPiece, RegionPiece]:
    """Return the admissible region in the two parts of the paper's appendix, with the second case corrected.

    - high < 3·low: λ from 0 for high/6 < ξ < 3·low/2, from (2ξ − 3·low)/6 for larger ξ
    - high ≥ 3·low: λ from (high − 3·low)/4 for (high − low)/4 < ξ < 3(high − low)/4, and from
      (2ξ − 3·low)/6 for larger ξ (in the paper this part starts at 3(high − low)/2)

    and always λ < (6ξ − high)/2. At the ξ where the parts meet, both formulas agree.

    Parameters
    ----------
    low, high : float
        Bounds of the loss's part of the curvature of the coefficients, next to 2λ (`loss_curvature`).

    Returns
    -------
    first, second : RegionPiece
        The parts for smaller and for larger ξ.

    Examples
    --------
    >>> from superfactor.theory import admissible_pieces
    >>> for piece in admissible_pieces(low=1.0, high=10.0):
    ...     print(piece.xi.lower, piece.xi.upper)
    2.25 6.75
    6.75 inf
    """
    _check(low, high)
    upper = (3.0, -high / 2)
    beyond = (1 / 3, -low / 2)
    if high < 3 * low:
        start, meet = high / 6, 1.5 * low
        first = RegionPiece(Interval(start, meet), (0.0, 0.0), upper, closed=True)
    else:
        start, meet = (high - low) / 4, 0.75 * (high - low)
        first = RegionPiece(Interval(start, meet), (0.0, (high - 3 * low) / 4), upper)
    return first, RegionPiece(Interval(meet, math.inf, closed=True), beyond, upper)


def _from(lower: float, upper: float) -> Interval | None:
    """Return the non-negative part of (lower, upper)."""
    interval = Interval(max(lower, 0.0), upper, closed=lower < 0)
    return interval if interval.lower < upper else None


def _check(low: float, high: float) -> None:
    if not low <= high < math.inf:
        raise ValueError(f"low={low!r}, high={high!r}: finite with low ≤ high is required")
