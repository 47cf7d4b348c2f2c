"""Extreme eigenvalues of the design against dense decompositions: valid bounds, and tight."""

import numpy as np
import pytest
from tests.problems import example

from superfactor.losses import SquaredError
from superfactor.options import Options
from superfactor.problem import state
from superfactor.theory.constants import _lanczos_bound, design_extremes


def extremes(problem, **given):
    given = {"covariates": True, "lower": True, "softening": np.zeros(problem.n_covariates)} | given
    return design_extremes(
        problem.compact.arrays(), problem.shape[1], problem.scale, problem.options, **given
    )


def weighted_design(P):
    root = np.sqrt(P.weight * P.class_weight)[:, None]
    return root * P.X.T, root * P.aux.T


@pytest.mark.parametrize(
    ("weighted", "sparse", "shape"), [(True, False, (30, 6)), (False, True, (8, 6)), (True, True, (6, 20))]
)
def test_both_bounds_are_those_of_the_matrix(weighted, sparse, shape):
    problem, P = example("filter", *shape, 1, weighted=weighted, sparse=sparse)
    X, C = weighted_design(P)
    for covariates, Phi in ((True, np.hstack([X, C])), (False, X)):
        values = np.linalg.eigvalsh(Phi.T @ Phi)
        low, high = extremes(problem, covariates=covariates, lower=covariates)
        np.testing.assert_allclose(high, values[-1], rtol=1e-9)
        assert high >= values[-1] * (1 - 1e-13)
        expected = values[0] if covariates and Phi.shape[1] <= len(Phi) else 0.0
        assert low <= expected + 1e-12 * values[-1]
        np.testing.assert_allclose(low, expected, atol=1e-9 * values[-1])


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_without_covariates_the_lower_bound_is_that_of_the_regression_on_them(ridge):
    problem, P = example("filter", 30, 5, 1, weighted=True)
    X, C = weighted_design(P)
    low, high = extremes(problem, covariates=False, softening=np.full(C.shape[1], ridge))
    inner = np.linalg.inv(C.T @ C + ridge * np.eye(C.shape[1]))
    left = X.T @ X - X.T @ C @ inner @ C.T @ X
    assert low == pytest.approx(np.linalg.eigvalsh(left)[0], rel=1e-9)
    assert high == pytest.approx(np.linalg.norm(X, 2) ** 2, rel=1e-9)


@pytest.mark.parametrize(("covariates", "seed"), [(False, 0), (True, 1)])
def test_lanczos_is_never_below_and_close(covariates, seed):
    options = Options(gram_operations=1.0, largest_gram=1)
    problem, P = example("filter", 120, 90, 1, seed=seed, weighted=True, options=options)
    X, C = weighted_design(P)
    true = np.linalg.norm(np.hstack([X, C]) if covariates else X, 2) ** 2
    low, high = extremes(problem, covariates=covariates)
    assert low == 0.0
    assert true <= high <= 1.05 * true
    assert high == _lanczos_bound(problem.arrays(), problem.scale, problem.n_covariates if covariates else 0)


def test_compressed_data_have_the_same_extremes():
    """Compressed X has the same largest eigenvalue, and the smallest of all p features is zero."""
    X = np.random.default_rng(0).standard_normal((5, 40)) * 1e3
    problem = state("filter", X, X[:, :1], SquaredError(), xi=1.0, lam=1.0, fit_intercept=False)
    assert problem.compact.shape == (5, 5)
    low, high = extremes(problem)
    assert low == 0.0
    assert high == pytest.approx(np.linalg.norm(X, 2) ** 2, rel=1e-10)
