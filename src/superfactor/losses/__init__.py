"""Losses ``ℓ(y, a)`` on activations: value, residual, curvature, conjugate.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``base``              the contract every loss keeps, and the notation
``multinomial``       the classification loss for any link
``links``             the score functions: logistic, probit, one's own
``hazard``            normal tails without overflow, for probit
``entropy``           the dual side of the logistic loss
``inversion``         the dual side of any other convex loss of one activation
``squared``           the regression loss
===================== ==========================================================================
"""

from superfactor.losses.base import Curvature, Loss
from superfactor.losses.links import CustomLink, Link, Logistic, Probit
from superfactor.losses.multinomial import Multinomial, resolve_link
from superfactor.losses.squared import SquaredError

__all__ = [
    "Curvature",
    "CustomLink",
    "Link",
    "Logistic",
    "Loss",
    "Multinomial",
    "Probit",
    "SquaredError",
    "resolve_link",
]
