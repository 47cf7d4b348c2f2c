"""A design in blocks, and the same as one array."""

import numpy as np
from tests.problems import example
from tests.samples.cutting import cut

from superfactor.samples import Block, Design
from superfactor.subspace import Basis, LossOn

CASES = {
    "binary": {"kappa": 1},
    "three outputs": {"kappa": 3, "weighted": True},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "nothing but X": {"kappa": 2, "covariates": None, "fit_intercept": False},
}


class World:
    """A design in blocks, and the same as one array; c (m, κ)."""

    def __init__(self, model, case, kind, blocks=3, n=23, **stated):
        problem, _ = example(model, n, 6, **CASES[case], **stated)
        self.arrays = arrays = problem.arrays()
        self.problem = cut(problem, blocks)
        rng, side = np.random.default_rng(0), self.problem.side
        basis = Basis.empty(self.problem)
        self.basis, _ = basis.extended(problem.model.random(side, rng, 4))
        S = self.basis.S.array()
        J = np.hstack([arrays.features(S, arrays.image(S)), arrays.covariates])
        design, self.offset = self.basis.design, 0.0
        if kind == "ready":
            V = rng.standard_normal((J.shape[1], 3))
            J = J @ V
            self.kept = self.problem.samples.keep(Block.view, design, V)
            design = Design(self.kept.place, ready=True)
        if kind == "offset":
            self.offset = rng.standard_normal((n, arrays.n_outputs))
            self.kept = self.problem.samples.keep(Block.given, self.offset)
            design = Design(design.tall, offset=self.kept.place)
        self.J, self.loss = J, LossOn(self.problem, design, J.shape[1])
        self.coef = 0.5 * rng.standard_normal((J.shape[1], arrays.n_outputs))

    def evaluate(self, coef):
        value, E = self.arrays.loss_terms(self.J @ coef + self.offset)
        return value, self.J.T @ E
