"""Losses ``ℓ(y, a)`` on activations: value, residual, curvature, conjugate.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``base``              the contract every loss keeps, and the notation
``curvature``         second derivatives, and the sums that are asked of them
``multinomial``       the classification loss for any link
``links``             the score functions: logistic, probit, one's own
``hazard``            normal tails without overflow, for probit
``entropy``           the dual side of the logistic loss
``inversion``         the dual side of any other convex loss of one activation
``squared``           the regression loss
``cox``               the partial likelihood of survival times, which couples the samples
``risk_sets``         sums over the samples at risk, for it
===================== ==========================================================================
"""

from superfactor.losses.base import Loss
from superfactor.losses.cox import CoxPartialLikelihood
from superfactor.losses.curvature import AnyCurvature, Curvature
from superfactor.losses.links import CustomLink, Link, Logistic, Probit
from superfactor.losses.multinomial import Multinomial, resolve_link
from superfactor.losses.squared import SquaredError

__all__ = [
    "AnyCurvature",
    "CoxPartialLikelihood",
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
