"""One set for each of the lifted variables ``(A, B, γ)``."""

from __future__ import annotations

from superfactor._arrays import Array
from superfactor.constraints.base import ConvexSet, Point
from superfactor.constraints.whole import WholeSpace


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
        self.A = _factor("A", A)
        self.B = _factor("B", B)
        self.gamma = _factor("gamma", gamma)
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
        # Each part against its own size: a small A is not excused by a large B.
        return all(factor.contains(part, tol) for factor, part in zip(self.factors, _triple(Z), strict=True))


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
