"""The sets: all points, a ball, bounds, a user's function, and one set for each variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, namespace, to_numpy
from superfactor.constraints.base import ConvexSet, Point, norm, parts_of, same_form


@dataclass(frozen=True)
class WholeSpace(ConvexSet):
    """Every finite point; the projection is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import WholeSpace
    >>> WholeSpace().project(np.array([1.0, -2.0]))
    array([ 1., -2.])
    """

    rotation_invariant = True

    def project(self, Z: Point) -> Point:
        return Z

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        return math.isfinite(norm(Z))


@dataclass(frozen=True)
class FrobeniusBall(ConvexSet):
    """``{Z : ‖Z‖_F ≤ radius}``; for a tuple, the norm is that of all parts together.

    Parameters
    ----------
    radius : float
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import FrobeniusBall
    >>> FrobeniusBall(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    radius: float

    rotation_invariant = True

    def __post_init__(self) -> None:
        # In this form NaN fails too.
        if not self.radius > 0.0:
            raise ValueError(f"radius={self.radius!r}: a positive number is required")

    def project(self, Z: Point) -> Point:
        size = norm(Z)
        if size <= self.radius:
            return Z
        factor = self.radius / size
        return same_form(Z, tuple(part * factor for part in parts_of(Z)))


class Box(ConvexSet):
    """``{Z : lower ≤ Z ≤ upper}`` entry by entry.

    Parameters
    ----------
    lower, upper : float or array
        Bounds that broadcast against the point; ``-inf`` and ``inf`` leave a side open. For a tuple
        they apply to each part, so arrays are for single parts (see ``Product``).

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import Box
    >>> Box(-1.0, [1.0, 5.0]).project(np.array([3.0, 3.0]))
    array([1., 3.])
    """

    def __init__(self, lower: float | Array = -math.inf, upper: float | Array = math.inf) -> None:
        # Small and independent of the data: stored as NumPy, moved to the point's library on use.
        low, high = _bound("lower", lower), _bound("upper", upper)
        if np.any(low > high):
            raise ValueError(f"lower={lower!r}: must nowhere exceed upper={upper!r}")
        # Such a box is empty: no finite number lies at or beyond an infinite bound.
        if np.any(low == math.inf) or np.any(high == -math.inf):
            raise ValueError(f"lower={lower!r}, upper={upper!r}: the box contains no finite point")
        self.lower, self.upper = lower, upper
        self._low, self._high = low, high

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lower={self.lower!r}, upper={self.upper!r})"

    def project(self, Z: Point) -> Point:
        return same_form(Z, tuple(self._clip(part) for part in parts_of(Z)))

    def _clip(self, part: Array) -> Array:
        xp = namespace(part)
        for bound, nearest in ((self._low, xp.maximum), (self._high, xp.minimum)):
            if np.all(np.isinf(bound)):
                continue
            limit = xp.asarray(bound, dtype=part.dtype, device=device(part))
            part = nearest(part, xp.broadcast_to(limit, part.shape))
        return part


class NonNegative(Box):
    """The orthant ``{Z : Z ≥ 0}``.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor import SMFClassifier
    >>> from superfactor.constraints import NonNegative
    >>> NonNegative().project(np.array([-1.0, 2.0]))
    array([0., 2.])

    Supervised non-negative matrix factorization:

    >>> X, y = np.random.default_rng(0).random((20, 4)), np.arange(20) % 2
    >>> model = SMFClassifier(2, solver="bcd", constraint=NonNegative()).fit(X, y)
    >>> bool(model.components_.min() >= 0)
    True
    """

    def __init__(self) -> None:
        super().__init__(lower=0.0)

    def __repr__(self) -> str:
        return "NonNegative()"


class UserSet(ConvexSet):
    """A convex set from a function.

    Parameters
    ----------
    project : callable
        ``Z -> Z'``, the Euclidean projection onto a closed convex set, for the kind of point the
        set is used for: an array, or a tuple of arrays.
    contains : callable, optional
        ``(Z, tol) -> bool``. Without it, a point is inside if projection changes it by no more than rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import UserSet
    >>> symmetric = UserSet(lambda Z: (Z + Z.T) / 2)
    >>> symmetric.project(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[1., 1.],
           [1., 1.]])
    >>> symmetric.contains(np.eye(2))
    True
    """

    def __init__(
        self, project: Callable[[Point], Point], contains: Callable[[Point, float], bool] | None = None
    ) -> None:
        if not callable(project):
            raise TypeError(f"project={project!r}: a function of a point is required")
        if contains is not None and not callable(contains):
            raise TypeError(f"contains={contains!r}: a function (Z, tol) -> bool or None is required")
        self._project, self._contains = project, contains

    def project(self, Z: Point) -> Point:
        return self._project(Z)

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        if self._contains is None:
            return super().contains(Z, tol)
        return bool(self._contains(Z, tol))


class Product(ConvexSet):
    """``Θ_A × Θ_B × Θ_γ``; ``None`` leaves a variable free.

    Points are tuples ``(A, B, gamma)``; the projection is the tuple of the projections.

    Parameters
    ----------
    A, B, gamma : ConvexSet, optional
        Sets of the lifted coefficients, of the reconstruction and of the coefficients of the covariates.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import FrobeniusBall, NonNegative, Product
    >>> constraint = Product(A=FrobeniusBall(1.0), B=NonNegative())
    >>> A, B, gamma = constraint.project((np.array([[2.0]]), np.array([[-1.0]]), np.array([[5.0]])))
    >>> A, B, gamma
    (array([[1.]]), array([[0.]]), array([[5.]]))
    """

    A: ConvexSet
    B: ConvexSet
    gamma: ConvexSet

    def __init__(
        self, A: ConvexSet | None = None, B: ConvexSet | None = None, gamma: ConvexSet | None = None
    ) -> None:
        self.A, self.B, self.gamma = _factor("A", A), _factor("B", B), _factor("gamma", gamma)
        self.rotation_invariant: bool = all(factor.rotation_invariant for factor in self.factors)

    def __repr__(self) -> str:
        return f"Product(A={self.A!r}, B={self.B!r}, gamma={self.gamma!r})"

    @property
    def factors(self) -> tuple[ConvexSet, ConvexSet, ConvexSet]:
        """The three sets, in the order of the variables."""
        return self.A, self.B, self.gamma

    def project(self, Z: Point) -> tuple[Array, ...]:
        return tuple(factor.project(part) for factor, part in zip(self.factors, _triple(Z), strict=True))

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        # Each part relative to its own size: a large B must not hide an error of a small A.
        return all(factor.contains(part, tol) for factor, part in zip(self.factors, _triple(Z), strict=True))


def resolve_constraint(constraint: ConvexSet | None) -> ConvexSet:
    """Return the whole space for ``None``, and a convex set unchanged; raise a ``TypeError`` otherwise.

    Parameters
    ----------
    constraint : ConvexSet, optional

    Returns
    -------
    constraint : ConvexSet

    Examples
    --------
    >>> from superfactor.constraints import resolve_constraint
    >>> resolve_constraint(None)
    WholeSpace()
    """
    if constraint is None:
        return WholeSpace()
    if not isinstance(constraint, ConvexSet):
        raise TypeError(
            f"constraint={constraint!r}: None or a set from superfactor.constraints is required "
            "(FrobeniusBall, Box, NonNegative, Product, UserSet, ...)"
        )
    return constraint


def _bound(name: str, value: float | Array) -> Any:
    bound = np.asarray(to_numpy(value) if hasattr(value, "shape") else value, dtype=np.float64)
    if np.any(np.isnan(bound)):
        raise ValueError(f"{name}={value!r}: numbers without NaN are required")
    return bound


def _triple(Z: Point) -> tuple[Array, Array, Array]:
    if not (isinstance(Z, tuple) and len(Z) == 3):
        raise TypeError(f"Z={type(Z).__name__}: a product takes a tuple (A, B, gamma) of arrays")
    return Z


def _factor(name: str, value: ConvexSet | None) -> ConvexSet:
    if value is None:
        return WholeSpace()
    if not isinstance(value, ConvexSet):
        raise TypeError(f"{name}={value!r}: a ConvexSet or None is required")
    return value
