"""Problems inside a subspace, points of them, and their values by the naive objective."""

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS

from superfactor.subspace import Basis, Inside, Point

CASES = {
    "binary": {"kappa": 1},
    "two outputs": {"kappa": 2, "weighted": True},
    "three outputs": {"kappa": 3, "covariates": None},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared"},
    "no intercept": {"kappa": 1, "fit_intercept": False, "covariates": None},
}
one_model_each = pytest.mark.parametrize(
    ("case", "model"), [(case, MODELS[i % 2]) for i, case in enumerate(CASES)]
)


def subspace(problem, rank, size=None):
    """The problem on its whole search side, or on a random part of it."""
    model, side = problem.model, problem.side
    rng, whole = np.random.default_rng(9), model.side(problem.shape)
    vectors = model.everything(side, whole) if size is None else model.random(side, rng, size)
    return Inside(Basis.empty(problem).extended(vectors)[0], rank)


def paper_value(inside, P, W, beta, gamma):
    """F by the naive objective at the point W (k, r), β, γ: best B for the span of W."""
    root, S = np.sqrt(P.weight), inside.basis.S.array()
    W = S @ np.linalg.qr(W)[0], S @ W
    if P.model == "filter":
        X = P.X * root
        A, B = W[1] @ beta / inside.problem.scale, W[0] @ (W[0].T @ X) / root
        return naive.lifted_objective(P, A, B, gamma)
    X = (P.X * root).T
    A, B = W[1] @ beta / root[:, None], W[0] @ (W[0].T @ X) / root[:, None]
    return naive.lifted_objective(P, A.T, B.T, gamma)


def near_optimum(inside, seed=0):
    """A point with a convex model and slopes far from zero."""
    rng = np.random.default_rng(seed)
    point = inside.polish(inside.leading())
    for _ in range(8):
        W = inside.proximal_subspace(point, 0.1, inside.gradient(point))
        point = inside.polish(W)
    W = np.linalg.qr(point.W + 0.02 * rng.standard_normal(point.W.shape))[0]
    beta = W.T @ point.W @ point.beta
    return inside.at(
        W,
        beta + 0.05 * rng.standard_normal(beta.shape),
        point.gamma + 0.05 * rng.standard_normal(point.gamma.shape),
    )


def random_point(inside, seed=0, size=1.0):
    """A random point."""
    rng = np.random.default_rng(seed)
    r, kappa = inside.rank, inside.problem.n_outputs
    W = np.linalg.qr(rng.standard_normal((inside.basis.size, r)))[0]
    gamma = size * rng.standard_normal((inside.problem.n_covariates, kappa))
    return inside.at(W, size * rng.standard_normal((r, kappa)), gamma)


def moved_value(inside, P, frame, point, T, v, g):
    W = frame.W + frame.complement @ T
    return paper_value(inside, P, W, frame.beta + v, point.gamma + g)


def together(points):
    """Several points as one object."""
    names = ("W", "beta", "gamma", "F", "loss", "pulled")
    return Point(*(np.array([getattr(point, name) for point in points]) for name in names))
