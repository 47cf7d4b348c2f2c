"""From what a user passes as ``constraint`` to a convex set."""

from __future__ import annotations

from superfactor.constraints.base import ConvexSet
from superfactor.constraints.whole import WholeSpace


def resolve_constraint(constraint: ConvexSet | None) -> ConvexSet:
    """``None`` is the whole space, a convex set is itself, anything else a ``TypeError``.

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
