"""Sums over samples, and the regressions that start from them."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.libraries import LIBRARIES

from superfactor._new.newton import fit_ridge
from superfactor._new.problem import state
from superfactor.losses import resolve_link

CONTAINERS = [pytest.param(np.asarray, id="numpy"), pytest.param(sp.csr_array, id="sparse"), *LIBRARIES]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", CONTAINERS)
def test_gram_matrices_are_those_of_weighted_rows(container, dtype, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 5)).astype(dtype)
    w, ours = rng.uniform(0.5, 2, (2, 7))
    stated = {"xi": 1.0, "lam": 1.0, "sample_weight": w if weighted else None, "class_weight": ours}
    rows = state("filter", container(X), np.arange(7) % 2, resolve_link("logistic", 1), **stated).rows
    of_loss = ours * w if weighted else ours
    for weight, given in ((w if weighted else np.ones(7), None), (of_loss, rows.loss_weight)):
        rooted = np.sqrt(weight)[:, None] * X.astype(float) / rows.scale
        tol = 1e-6 if dtype is np.float32 else 1e-13
        np.testing.assert_allclose(rows.gram(given), rooted.T @ rooted, atol=tol)
        np.testing.assert_allclose(rows.sample_gram(given), rooted @ rooted.T, atol=tol)


def confused(link):
    """Rows whose classes are the sign of their feature, but for one in six; a problem without a ridge."""
    sign = np.where(np.arange(60) % 2, 1.0, -1.0)
    y = (np.where(np.arange(60) % 6, sign, -sign) > 0).astype(int)
    J = np.column_stack([sign, np.random.default_rng(0).standard_normal(60)])
    return state("filter", J, y, resolve_link(link, 1), xi=1.0, lam=1.0, fit_intercept=False).rows, J


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("size", [50.0, 1e10, 1e150, 1e200])
def test_ridge_regression_leaves_saturated_activations(size, ridge, link):
    """At activations of ±50 with wrong signs a logistic loss has no curvature; squares of 1e200 overflow."""
    rows, J = confused(link)
    ridges, zero = np.full(2, ridge), np.zeros((2, 1))
    expected = fit_ridge(rows, J, ridges, zero, tol=1e-12)
    found = fit_ridge(rows, J, ridges, np.array([[-size], [0.0]]), tol=1e-12)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(expected).max() < 5


def test_ridge_regression_keeps_a_good_start():
    rows, J = confused("logistic")
    best = fit_ridge(rows, J, np.full(2, 0.1), np.zeros((2, 1)), tol=1e-14)
    np.testing.assert_allclose(fit_ridge(rows, J, np.full(2, 0.1), best, steps=1), best, atol=1e-10)
