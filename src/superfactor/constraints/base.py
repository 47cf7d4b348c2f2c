"""What a convex set ``Θ`` has to offer, and what a point of it looks like.

A point is one array of any shape, or a tuple of arrays such as the lifted variables ``(A, B, γ)``.
A tuple is one joint point: squared norms of its parts add up, an empty part counts as nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TypeAlias

from superfactor._arrays import Array, namespace

#: An array, or a tuple of arrays that is one joint point.
Point: TypeAlias = Array | tuple[Array, ...]


def parts_of(Z: Point) -> tuple[Array, ...]:
    """The arrays a point consists of."""
    return Z if isinstance(Z, tuple) else (Z,)


def same_form(Z: Point, parts: tuple[Array, ...]) -> Point:
    """``parts`` as a tuple or as a single array, whichever ``Z`` is."""
    return parts if isinstance(Z, tuple) else parts[0]


def norm(Z: Point) -> float:
    """Frobenius norm of a joint point, without overflow on the way (entries up to 1e300).

    Parameters
    ----------
    Z : array or tuple of arrays
        A tuple is one joint point: the squared norms of its parts add up.

    Returns
    -------
    size : float
        NaN where an entry is.

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
    A set of one's own needs `project` alone. Here the points whose entries add up to 1:

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

    #: Does the set stay the same when the rows (or columns) of a point are rotated? Then the solver
    #: may work in the coordinates of X's singular vectors; otherwise it needs the full matrices.
    rotation_invariant: bool = False

    @abstractmethod
    def project(self, Z: Point) -> Point:
        """The nearest point of the set, in the form of ``Z`` (an array or a tuple of arrays)."""

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        """Is ``‖Z − project(Z)‖ ≤ tol·‖Z‖``? NaN is in no set."""
        projected = parts_of(self.project(Z))
        distance = norm(tuple(z - p for z, p in zip(parts_of(Z), projected, strict=True)))
        return distance <= tol * norm(Z)
