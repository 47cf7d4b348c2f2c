"""The interface of a convex set ``Θ``, and its points.

A point is one array of any shape, or a tuple of arrays such as the lifted variables ``(A, B, γ)``.
A tuple is one joint point: squared norms of its parts add up, and an empty part contributes 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TypeAlias

from superfactor._arrays import Array, namespace

#: An array, or a tuple of arrays that is one joint point.
Point: TypeAlias = Array | tuple[Array, ...]


def parts_of(Z: Point) -> tuple[Array, ...]:
    """Return the arrays of a point."""
    return Z if isinstance(Z, tuple) else (Z,)


def same_form(Z: Point, parts: tuple[Array, ...]) -> Point:
    """Return ``parts`` as a tuple or as a single array, like ``Z``."""
    return parts if isinstance(Z, tuple) else parts[0]


def norm(Z: Point) -> float:
    """Return the Frobenius norm of a joint point, without overflow for entries up to 1e300.

    Parameters
    ----------
    Z : array or tuple of arrays
        A tuple is one joint point: the squared norms of its parts add up.

    Returns
    -------
    size : float
        NaN if an entry is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import norm
    >>> norm((np.array([3.0]), np.array([[4.0]])))
    5.0
    """
    parts = [part for part in parts_of(Z) if math.prod(part.shape) > 0]
    sizes = [float(namespace(part).max(namespace(part).abs(part))) for part in parts]
    largest = max(sizes, default=0.0)
    if any(math.isnan(size) for size in sizes):
        return math.nan
    if largest == 0.0 or math.isinf(largest):
        return largest
    squares = 0.0
    for part in parts:
        scaled = part / largest
        squares += float(namespace(part).sum(scaled * scaled))
    return largest * math.sqrt(squares)


class ConvexSet(ABC):
    """A closed convex set with its Euclidean projection.

    Examples
    --------
    Your own set needs `project` only. This one has the points whose entries sum to 1:

    >>> import numpy as np
    >>> from superfactor.constraints import ConvexSet
    >>> class SumsToOne(ConvexSet):
    ...     def project(self, Z):
    ...         return Z - (Z.sum() - 1) / Z.size
    >>> SumsToOne().project(np.array([1.0, 2.0]))
    array([0., 1.])
    >>> SumsToOne().contains(np.array([0.25, 0.75]))
    True
    """

    #: Whether rotating the rows (or columns) of its points leaves the set unchanged. The solver may then
    #: use the coordinates of X's singular vectors; otherwise it needs the full matrices.
    rotation_invariant: bool = False

    @abstractmethod
    def project(self, Z: Point) -> Point:
        """Return the nearest point of the set, an array or a tuple of arrays like ``Z``."""

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        """Return whether ``‖Z − project(Z)‖ ≤ tol·‖Z‖``; False for NaN."""
        projected = parts_of(self.project(Z))
        distance = norm(tuple(z - p for z, p in zip(parts_of(Z), projected, strict=True)))
        return distance <= tol * norm(Z)
