"""LPGD, low-rank projected gradient descent: Algorithm 1 of the paper as printed.

    θ ← Π_r(Π_Θ(θ − τ∇_θF)),      γ ← γ − τ∇_γF

=============== ===============================================================================
file            content
=============== ===============================================================================
``dense``       the loop; a state with a dense θ; `minimize`, for any smooth f(θ, γ) and any Θ
``compressed``  a state without arrays of the size of X (Θ: none, or Frobenius balls)
``gram``        the leading singular vectors of its steps, from the smaller Gram matrix
``lifted``      `solve`: the algorithm for the filter and feature models, with either state
=============== ===============================================================================
"""

from superfactor.constraints import ConvexSet
from superfactor.solvers.lpgd.dense import LowRankSolution, minimize
from superfactor.solvers.lpgd.lifted import solve
from superfactor.solvers.solver import Solver

SOLVER = Solver("lpgd", solve, takes=frozenset({"step_size"}), constraints=(ConvexSet,))

__all__ = ["LowRankSolution", "minimize", "solve"]
