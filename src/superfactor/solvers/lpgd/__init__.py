"""LPGD, low-rank projected gradient descent: Algorithm 1 of the paper as printed.

    θ ← Π_r(Π_Θ(θ − τ∇_θF)),      γ ← γ − τ∇_γF

=============== ===============================================================================
file            idea
=============== ===============================================================================
``iteration``   one loop for every kind of state: history, stopping, divergence
``lifted``      `solve`: the algorithm for the filter and feature models
``compressed``  a state that holds nothing of the size of X (Θ: none, or Frobenius balls)
``coordinates`` the two sides of X it lives on, the blocks of θ and the loss there
``gram``        the leading singular vectors of a step, from the smaller Gram matrix
``long_side``   vectors on the longer side of X, known through their inner products
``dense``       a state that holds θ itself; `minimize`, for any smooth f(θ, γ) and any Θ
``explicit``    the two models as an f(θ, γ) for ``dense``, with Θ on the user's variables
=============== ===============================================================================
"""

from superfactor.constraints import ConvexSet
from superfactor.solvers.lpgd.dense import LowRankSolution, minimize
from superfactor.solvers.lpgd.lifted import solve
from superfactor.solvers.solver import Solver

SOLVER = Solver("lpgd", solve, takes=frozenset({"step_size"}), constraints=(ConvexSet,))

__all__ = ["SOLVER", "LowRankSolution", "minimize", "solve"]
