"""Proofs about a fit: its certificate, the constants of the theorem, admissible weights."""

from typing import TYPE_CHECKING, Any

from superfactor._deprecated import warn_deprecated
from superfactor.theory.certificate import Certificate, certify
from superfactor.theory.constants import TheoremConstants, theorem_constants
from superfactor.theory.regions import (
    Interval,
    RegionPiece,
    admissible_lambda,
    admissible_pieces,
    admissible_xi,
    is_admissible,
    loss_curvature,
    problem_lambda,
    profiled_lambda,
)
from superfactor.theory.stationarity import gradient_mapping, lifted_gradient, stationarity

__all__ = [
    "Certificate",
    "Interval",
    "RegionPiece",
    "TheoremConstants",
    "admissible_lambda",
    "admissible_pieces",
    "admissible_xi",
    "certify",
    "gradient_mapping",
    "is_admissible",
    "lifted_gradient",
    "loss_curvature",
    "problem_lambda",
    "profiled_lambda",
    "stationarity",
    "theorem_constants",
]


if not TYPE_CHECKING:  # type checkers report the old name

    def __getattr__(name: str) -> Any:
        """Return `loss_curvature` by its name in superfactor 1.0."""
        if name == "bends":
            warn_deprecated("superfactor.theory.bends", "superfactor.theory.loss_curvature")
            return loss_curvature
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
