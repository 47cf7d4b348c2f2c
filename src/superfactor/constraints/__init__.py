"""Convex sets ``Θ`` on the lifted variables: projection and membership.

============== ================================ ==========================================
set            points                           compression by X's SVD is exact
============== ================================ ==========================================
WholeSpace     all                              yes
FrobeniusBall  ``‖Z‖_F ≤ radius``               yes
Box            ``lower ≤ Z ≤ upper``            no
NonNegative    ``Z ≥ 0``                        no
UserSet        the range of ``project``         no
Product        one set for each of A, B and γ   if it is for all three
============== ================================ ==========================================
"""

from superfactor.constraints.base import ConvexSet, Point, norm
from superfactor.constraints.sets import (
    Box,
    FrobeniusBall,
    NonNegative,
    Product,
    UserSet,
    WholeSpace,
    resolve_constraint,
)

__all__ = [
    "Box",
    "ConvexSet",
    "FrobeniusBall",
    "NonNegative",
    "Point",
    "Product",
    "UserSet",
    "WholeSpace",
    "norm",
    "resolve_constraint",
]
