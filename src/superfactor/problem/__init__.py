"""The problem: F over matrices of rank at most r, the same for an array, a file and a cluster.

    F(A, B, γ) = Σ_i ω_i ℓ(y_i, a_i) + ξ‖X̃ − B̃‖² + λ‖Ã‖² + Σ_j ρ_j‖γ_j‖²

=========== =================================================================================
file        content
=========== =================================================================================
``problem`` the immutable problem: sizes, units, versions at other weights or in fewer features
``posing``  how to make one: `state` from a user's arrays or rows, `pose` from samples
``whole``   arrays of a problem in memory, also compressed to fewer features
=========== =================================================================================

The default solver and the certificate use the samples. Algorithm 1, block coordinate descent and dual ascent
use the problem's `arrays`.
"""

from superfactor.problem.posing import pose, state
from superfactor.problem.problem import Problem

__all__ = ["Problem", "pose", "state"]
