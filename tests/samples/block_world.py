"""A block of samples, its data as plain arrays, and the paper's losses sample by sample."""

from dataclasses import dataclass

import numpy as np
from tests import naive
from tests.problems import example
from tests.samples.cutting import blocks_of

from superfactor.samples import Block, Design, Place

N, FIRST, LAST = 17, 3, 14  # a block between others
P, K = 6, 4  # features, and columns of the tall matrix
TALL = Place(0, K)
CASES = {
    "binary": {"kappa": 1},
    "weighted": {"kappa": 3, "weighted": True},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "no weights, no covariates": {"kappa": 2, "covariates": None, "fit_intercept": False},
    "sparse": {"kappa": 1, "sparse": True, "weighted": True},
}


@dataclass
class World:
    """A block, and its data as plain arrays (n_b = 11)."""

    block: Block
    P: naive.Problem
    X: np.ndarray  # X̃ (n_b, p)
    tall: np.ndarray  # (n_b, K), the matrix at TALL
    start: int

    @property
    def own(self):
        return slice(self.start, self.start + self.block.n_samples)

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

    def matrix(self, kind):
        """J of the kinds of `designs`."""
        if kind == "covariates":
            return self.covariates
        if kind == "ready":
            return self.tall
        return np.hstack([self.tall / self.root, self.covariates])

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


def world(case, start=FIRST, stop=LAST, dtype=float):
    problem, reference = example("filter", N, P, **CASES[case], dtype=dtype)
    (block,) = blocks_of(problem, [start, stop])
    M = np.random.default_rng(1).standard_normal((N, K))
    block.put(TALL.key, M[start:stop].astype(dtype))
    X = (reference.X * np.sqrt(reference.weight)).T[start:stop] / problem.scale
    return World(block, reference, X, M[start:stop], start)


KINDS = ("usual", "ready", "covariates", "offset")


def design_of(w, kind, seed=2):
    """A design, coefficients c (m, κ), the expected J, and its offset (0 for none)."""
    rng, kappa = np.random.default_rng(seed), w.P.kappa
    offset, place = 0.0, None
    if kind == "offset":
        offset, place = rng.standard_normal((w.block.n_samples, kappa)), Place(9, kappa)
        w.block.put(place.key, offset.astype(w.block.rows_of(TALL).dtype))
    design = Design(None if kind == "covariates" else TALL, kind == "ready", place)
    J = w.matrix(kind)
    return design, 0.7 * rng.standard_normal((J.shape[1], kappa)), J, offset


def big_curvature(J, H):
    """Σ_i H_i ⊗ j_i j_iᵀ, class-major."""
    return sum(np.kron(h, np.outer(j, j)) for j, h in zip(J, H, strict=True))


def bent_at(w, design, coef, key=7):
    """The place of the curvature that a block stores, and the sums."""
    made = w.block.bent(design, coef)
    (rows,) = made.rows
    w.block.put(key, rows)
    return Place(key, rows.shape[1]), made.sums
