"""Three solvers of F over rank ≤ r, each of which returns a `Solution`.

`newton.solve` is the default. `lpgd.solve` is Algorithm 1 as printed, `lpgd.minimize` the same for any smooth
f(θ, γ). `bcd.solve` is block coordinate descent over the factors. Import the one you need.
`SOLVERS` lists what each supports, so that callers need not test for names.
"""

from superfactor.solvers import bcd, lpgd, newton
from superfactor.solvers.solver import Solver

#: Solvers by public name. The default for a constraint is the first one that allows it.
SOLVERS: dict[str, Solver] = {each.name: each for each in (newton.SOLVER, lpgd.SOLVER, bcd.SOLVER)}

__all__ = ["SOLVERS", "Solver", "bcd", "lpgd", "newton"]
