"""The default solver: joint Newton in a growing subspace (docs/method.md §11).

=============== =============================================================================
file            idea
=============== =============================================================================
``solve``       the search from begin to finish, and its answer in the user's units
``state``       where a search stands: a value
``beginning``   how it begins, and goes on from a checkpoint
``descent``     Newton and proximal steps inside a subspace
``rounds``      descent, a bound on what lies outside, growth
``starts``      other places to start from (``directions``), side by side (``fleet``)
``path``        many weights, each from where the one before ended
``ladder``      directions that all of these share, where the loss is a parabola
``checkpoint``  the file
=============== =============================================================================
"""

from superfactor.solvers.newton.path import solve_path
from superfactor.solvers.newton.solve import solve
from superfactor.solvers.solver import Solver

SOLVER = Solver("lifted-newton", solve, takes=frozenset({"search", "checkpoint", "codes"}), in_passes=True)

__all__ = ["solve", "solve_path"]
