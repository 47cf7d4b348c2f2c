"""How the solvers converge: the studies, their curves and figures, and the release they are compared with."""
