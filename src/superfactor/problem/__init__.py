"""The problem: F over matrices of rank at most r, stated once for an array, a file and a cluster.

    F(A, B, γ) = Σ_i ω_i ℓ(y_i, a_i) + ξ‖X̃ − B̃‖² + λ‖Ã‖² + Σ_j ρ_j‖γ_j‖²

=========== =================================================================================
file        idea
=========== =================================================================================
``problem`` the problem as a value: sizes, units, the same problem seen otherwise
``posing``  how it is made: `state` of a user's arrays or rows, `pose` of samples
``whole``   the arrays of a problem that is in memory, and wide ones in fewer features
=========== =================================================================================

The default solver and the certificate ask the samples; Algorithm 1, block coordinate descent and dual ascent
take the problem's `arrays`.
"""

from superfactor.problem.posing import pose, state
from superfactor.problem.problem import Problem

__all__ = ["Problem", "pose", "state"]
