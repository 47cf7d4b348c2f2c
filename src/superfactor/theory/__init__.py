"""Proofs about a fit: its certificate, the constants of the theorem, admissible weights."""

from superfactor.theory.certificate import Certificate, certify
from superfactor.theory.constants import TheoremConstants, theorem_constants
from superfactor.theory.regions import (
    Interval,
    RegionPiece,
    admissible_lambda,
    admissible_pieces,
    admissible_xi,
    bends,
    is_admissible,
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
    "bends",
    "certify",
    "gradient_mapping",
    "is_admissible",
    "lifted_gradient",
    "problem_lambda",
    "profiled_lambda",
    "stationarity",
    "theorem_constants",
]
