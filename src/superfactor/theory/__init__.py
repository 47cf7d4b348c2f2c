"""What can be proven about a fit: the theorem's constants, the admissible weights, stationarity."""

from superfactor.theory.constants import TheoremConstants, theorem_constants

__all__ = ["TheoremConstants", "theorem_constants"]
