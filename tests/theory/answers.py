"""Any point as the solution of a solver, for certificates of arbitrary points."""

from types import SimpleNamespace

import numpy as np
from tests import naive

from superfactor.samples import Block
from superfactor.subspace import leading_basis


def answer(problem, rank, a, gamma, objective, searched=None):
    """The parts of a `Solution` that a certificate needs, for activations a (n, κ), γ (q, κ) and F."""
    signal = np.asarray(a) - problem.arrays().covariates @ gamma

    def basis():
        size = 6 * rank + 20
        return leading_basis(problem.compact, size, size, np.random.default_rng(0), 8)

    return SimpleNamespace(
        factors=SimpleNamespace(gamma=gamma),
        objective=objective,
        signal=problem.samples.keep(Block.given, signal),
        basis=basis,
        searched=searched,
    )


def naive_answer(problem, P, rank, A, B, gamma, searched=None):
    """The same for A, B, γ of the reference."""
    value = naive.lifted_objective(P, A, B, gamma)
    return answer(problem, rank, naive.activations(P, A, gamma).T, gamma, value, searched)
