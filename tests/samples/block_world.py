"""A block of samples and everything it holds as plain arrays, with the paper's losses sample by sample."""

from dataclasses import dataclass

import numpy as np
from superfactor.lifting import SampleBlock
from tests import naive
from tests.lifting.cutting import blocks_of
from tests.solvers.examples import example

from superfactor.spectrum import DataMatrix

N, FIRST, LAST = 17, 3, 14  # a block in the midst of others
K = 4  # columns of `main`
CASES = {
    "binary": {"kappa": 1},
    "three outputs": {"kappa": 3},
    "weighted": {"kappa": 3, "weighted": True},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "no weights, no covariates": {"kappa": 2, "covariates": None, "fit_intercept": False},
    "sparse": {"kappa": 1, "sparse": True, "weighted": True},
}


@dataclass
class World:
    """A block, and everything it holds as plain arrays (n_b = 11)."""

    block: SampleBlock
    P: naive.Problem
    X: np.ndarray  # X̃ (n_b, p)
    main: np.ndarray  # (n_b, K)

    @property
    def own(self):
        return slice(FIRST, LAST)

    @property
    def root(self):
        return np.sqrt(self.P.weight[self.own])[:, None]

    @property
    def omega(self):
        return (self.P.weight * self.P.class_weight)[self.own]

    @property
    def targets(self):
        return self.P.Y.T[self.own]

    @property
    def covariates(self):
        return self.P.aux.T[self.own]

    @property
    def J(self):
        return np.hstack([self.main / self.root, self.covariates])

    def gradients(self, a):
        """∇ℓ (n_b, κ), without weights."""
        rows = zip(self.targets, a, strict=True)
        return np.array([naive.loss_gradient(self.P.loss, y, x) for y, x in rows])

    def residuals(self, a):
        return self.gradients(a) * self.omega[:, None]

    def value(self, a):
        rows = zip(self.targets, a, strict=True)
        return self.omega @ [naive.loss_value(self.P.loss, y, x) for y, x in rows]

    def hessians(self, a, h=1e-5):
        """ω∇²ℓ (n_b, κ, κ) by differences of the gradients."""
        kappa = a.shape[1]
        H = np.zeros((len(a), kappa, kappa))
        for c, e in enumerate(np.eye(kappa) * h):
            H[:, :, c] = (self.residuals(a + e) - self.residuals(a - e)) / (2 * h)
        return H


def world(case, start=FIRST, stop=LAST, dtype=np.float64):
    problem, P = example("filter", N, 6, **CASES[case])
    if dtype != np.float64:
        weight = None if problem.root_weight is None else P.weight
        problem = problem.with_data(DataMatrix(P.X.T.astype(dtype), weight))
    (block,) = blocks_of(problem, [start, stop])
    M = np.random.default_rng(1).standard_normal((N, K))
    block.identity("main", N)
    block.combine("main", [("main", M)])
    X = (P.X * np.sqrt(P.weight)).T[start:stop] / problem.data.scale
    return World(block, P, X, M[start:stop])


def coefficients(w, viewed, seed=2):
    """θ, V (or None) and J as the block should see it."""
    rng, kappa = np.random.default_rng(seed), w.P.kappa
    V = rng.standard_normal((w.J.shape[1], 3)) if viewed else None
    J = w.J if V is None else w.J @ V
    return 0.7 * rng.standard_normal((J.shape[1], kappa)), V, J
