"""A growing subspace of the search side, the problem inside it, and its Newton model.

================ ==============================================================================
file             content
================ ==============================================================================
``basis``        an immutable orthonormal basis that can be extended
``design``       the loss as a function of coefficients on the rows of a design
``ridge``        ridge regression with any loss: the small problem inside every step
``geometry``     points, frames, the retraction
``inside``       F restricted to the subspace: points, proximal steps, the duality gap
``conjugate``    conjugate gradients inside a trust region, for several systems at once
``step``         a joint step in (W, β, γ)
``truncated``    the Newton step by conjugate gradients
``newton_model`` the Newton step by elimination, and the choice between the two
================ ==============================================================================
"""

from superfactor.subspace.basis import Added, Basis, leading_basis, selector
from superfactor.subspace.conjugate import conjugate_gradients
from superfactor.subspace.design import LossOn
from superfactor.subspace.geometry import Frame, Point
from superfactor.subspace.inside import Inside
from superfactor.subspace.ridge import fit_ridge

__all__ = [
    "Added",
    "Basis",
    "Frame",
    "Inside",
    "LossOn",
    "Point",
    "conjugate_gradients",
    "fit_ridge",
    "leading_basis",
    "selector",
]
