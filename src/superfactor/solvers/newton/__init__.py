"""The default solver: joint Newton in a growing subspace (docs/method.md §11).

==================== ========================================================================
file                 content
==================== ========================================================================
``solve``            the search from start to finish, and the solution in the user's units
``state``            the state of a search
``beginning``        how a search starts, or continues from a checkpoint
``descent``          Newton and proximal steps inside a subspace
``rounds``           descent, a bound on what lies outside, growth
``starts``           other starts (from ``directions``) that descend together (``batch``)
``path``             many weights, each from the solution at the one before
``ridge_directions`` directions for all weights of a path, where the loss is quadratic
``checkpoint``       the file that stores an interrupted search
==================== ========================================================================
"""

from superfactor.solvers.newton.path import solve_path
from superfactor.solvers.newton.solve import solve
from superfactor.solvers.solver import Solver

SOLVER = Solver("lifted-newton", solve, takes=frozenset({"search", "checkpoint", "codes"}), in_passes=True)

__all__ = ["solve", "solve_path"]
