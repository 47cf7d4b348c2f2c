"""Losses ``ℓ(y, a)`` on activations: value, residual, curvature, conjugate.

===================== ==========================================================================
file                  content
===================== ==========================================================================
``base``              the interface of every loss, and the notation
``curvature``         second derivatives, and sums of them for the solvers
``multinomial``       the classification loss for any link
``links``             the score functions: logistic, probit, custom
``hazard``            normal tails without overflow, for probit
``entropy``           the dual side of the logistic loss
``inversion``         the dual side of any other convex loss of one activation
``squared``           the regression loss
``flags``             several yes/no labels at once, some of them missing
``poisson``           the loss of counts
``cox``               the partial likelihood of survival times, which couples the samples
``anchored``          Cox's loss with an anchor, for problems with an intercept
``side_by_side``      a sum of losses, each over its own columns: mixed outcomes
``risk_sets``         sums over the samples at risk, for ``cox``
===================== ==========================================================================
"""

from superfactor.losses.base import Loss
from superfactor.losses.classes.links import CustomLink, Link, Logistic, Probit
from superfactor.losses.classes.multinomial import Multinomial, resolve_link
from superfactor.losses.curvature import AnyCurvature, Curvature
from superfactor.losses.flags import FlagsLoss
from superfactor.losses.poisson import PoissonLoss
from superfactor.losses.side_by_side import Part, SideBySide
from superfactor.losses.squared import SquaredError
from superfactor.losses.survival.anchored import Anchored
from superfactor.losses.survival.cox import CoxPartialLikelihood

__all__ = [
    "Anchored",
    "AnyCurvature",
    "CoxPartialLikelihood",
    "Curvature",
    "CustomLink",
    "FlagsLoss",
    "Link",
    "Logistic",
    "Loss",
    "Multinomial",
    "Part",
    "PoissonLoss",
    "Probit",
    "SideBySide",
    "SquaredError",
    "resolve_link",
]
