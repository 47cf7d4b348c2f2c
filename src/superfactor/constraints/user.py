"""A convex set given by its projection alone."""

from __future__ import annotations

from collections.abc import Callable

from superfactor.constraints.base import ConvexSet, Point


class UserSet(ConvexSet):
    """A convex set from a function.

    Parameters
    ----------
    project : callable
        ``Z -> Z'``, the Euclidean projection onto a closed convex set, for the kind of point the
        set is used with (an array, or a tuple of arrays).
    contains : callable, optional
        ``(Z, tol) -> bool``. Without it a point is inside if projecting hardly moves it.

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
        self._project = project
        self._contains = contains

    def project(self, Z: Point) -> Point:
        return self._project(Z)

    def contains(self, Z: Point, tol: float = 1e-9) -> bool:
        if self._contains is None:
            return super().contains(Z, tol)
        return bool(self._contains(Z, tol))
