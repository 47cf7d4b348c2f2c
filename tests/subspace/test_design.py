"""The loss as a function of coefficients, by blocks, against explicit sums."""

from dataclasses import replace

import numpy as np
import pytest
from tests.problems import MODELS
from tests.subspace.designs import CASES, World

from superfactor.options import Options
from superfactor.subspace import fit_ridge

every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)
KINDS = ("basis", "ready", "offset")
one_kind_each = pytest.mark.parametrize(
    ("case", "kind"), [(case, KINDS[i % 3]) for i, case in enumerate(CASES)]
)


@one_kind_each
@every_model
def test_blocks_give_the_results_of_one_array(model, case, kind):
    w = World(model, case, kind)
    value, gradient = w.loss.evaluate(w.coef)
    expected = w.evaluate(w.coef)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-11)
    omega = w.arrays.loss_weight
    np.testing.assert_allclose(w.loss.gram, w.J.T @ (omega * w.J), atol=1e-11)
    assert w.loss.epsilon == np.finfo(float).eps


def hessian(w, h=1e-5):
    """(κm, κm), class-major, by differences of the gradient written out."""
    (m, kappa), columns = w.coef.shape, []
    for e in np.eye(m * kappa):
        step = h * e.reshape(kappa, m).T
        up, down = (w.evaluate(w.coef + sign * step)[1] for sign in (1, -1))
        columns.append(((up - down) / (2 * h)).T.ravel())
    return np.array(columns).T


@one_kind_each
def test_curvature_is_that_of_the_gradient(case, kind):
    """Differences of the gradient, the matrix and products agree."""
    w = World("filter", case, kind)
    m, kappa = w.coef.shape
    H, bent = w.loss.curvature(w.coef), w.loss.bent(w.coef)
    size = np.abs(H).max()
    np.testing.assert_allclose(H, hessian(w), atol=1e-7 * size)
    for i, e in enumerate(np.eye(m * kappa)):
        product = bent.times(e.reshape(kappa, m).T)
        np.testing.assert_allclose(product.T.ravel(), H[:, i], atol=1e-12 * size)


@every_case
def test_the_preconditioner_is_the_inverse(case):
    """(mean ⊗ gram + diag(ridge))⁻¹ against the dense matrix."""
    w = World("filter", case, "basis")
    (m, kappa), rng = w.coef.shape, np.random.default_rng(8)
    bent, ridge, x = w.loss.bent(w.coef), rng.uniform(0.1, 1, m), rng.standard_normal((m, kappa))
    dense = np.kron(bent.mean, w.loss.gram) + np.kron(np.eye(kappa), np.diag(ridge))
    expected = np.linalg.solve(dense, x.T.ravel())
    found = bent.solver(w.loss.gram, ridge)(x).T.ravel()
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def test_a_mean_with_negative_eigenvalues_is_made_positive():
    """Preconditioners are positive if the loss is not convex, and unchanged if it is."""
    w = World("filter", "three outputs", "basis")
    bent, Q = w.loss.bent(w.coef), np.linalg.qr(np.random.default_rng(9).standard_normal((3, 3)))[0]
    np.testing.assert_allclose(bent.mean_above_zero, bent.mean, atol=1e-13)
    for values in ([2.0, 1e-9, -3.0], [0.0, 0.0, 0.0], [-1.0, -2.0, -1e-3]):
        lifted = replace(bent, mean=(Q * values) @ Q.T)
        found = np.linalg.eigvalsh(lifted.mean_above_zero)
        most = np.max(np.abs(values))
        assert np.all(lifted.outputs[0] > 0)
        assert np.all(found >= -1e-15 * most)
        kept = [v for v in values if v > 1e-6 * most]
        np.testing.assert_allclose(found[len(values) - len(kept) :], sorted(kept), rtol=1e-12)
        assert np.all(found[: len(values) - len(kept)] <= 1.0001e-6 * most + 1e-150)
        x = lifted.solver(w.loss.gram, np.full(w.coef.shape[0], 0.1))(w.coef)
        assert np.all(np.isfinite(x))
        assert np.sum(x * w.coef) > 0


# --- rows in single precision ------------------------------------------------------------------------------


@one_kind_each
@every_model
def test_products_in_single_precision(model, case, kind):
    """Values and gradients are exact all the same; products are close, and in the solver's own type."""
    w = World(model, case, kind, options=Options(values_worth_coarse=1))
    exact = World(model, case, kind)
    assert w.loss.coarse.coarse
    assert not w.loss.few.coarse
    assert exact.loss.coarse is exact.loss.design
    for one, other in zip(w.loss.evaluate(w.coef), w.evaluate(w.coef), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(w.loss.curvature(w.coef), exact.loss.curvature(w.coef), rtol=1e-12)
    direction = np.random.default_rng(3).standard_normal(w.coef.shape)
    found, expected = (each.loss.bent(w.coef).times(direction) for each in (w, exact))
    assert found.dtype == np.float64
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=1e-5 * size)
    assert np.abs(found - expected).max() > 1e-12 * size  # it was another type
    gram, expected = w.loss.gram, exact.loss.gram
    assert gram.dtype == np.float64
    np.testing.assert_allclose(gram, expected, atol=1e-5 * np.abs(expected).max())


# --- cost of calls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "case", "way"),
    [
        ("filter", "binary", "dense"),
        ("feature", "three outputs", "products"),
        ("filter", "squared", "products"),
    ],
)
def test_curvature_from_a_subsample_gives_the_same_minimum(model, case, way):
    """Ridge regression with curvature from a third of the samples: the same minimum."""
    most = 150 if case != "binary" else 60  # a row counts once for each output
    few = Options(
        rows_a_column=0,
        fewest_curvature_rows=most,
        curvature_gradients=0,
        largest_system=0 if way == "products" else 2400,
    )
    w, whole = (World(model, case, "basis", n=200, options=o) for o in (few, None))
    assert 0.2 < w.loss.share < 0.4
    assert whole.loss.share == 1.0
    exact = whole.loss.curvature(w.coef)
    H = w.loss.curvature(w.coef)
    assert 1e-4 < np.abs(H - exact).max() / np.abs(exact).max() < 0.5
    assert w.loss.dense_pays == (way == "dense")
    # Products are those of the same samples.
    product = w.loss.bent(w.coef).times(w.coef).T.ravel()
    np.testing.assert_allclose(product, H @ w.coef.T.ravel(), atol=1e-11 * np.abs(H).max())
    ridge = np.full(w.coef.shape[0], 0.3)
    found, value, pulled = fit_ridge(w.loss, ridge, 0 * w.coef, max_iter=100)
    expected, least, _ = fit_ridge(whole.loss, ridge, 0 * w.coef)
    np.testing.assert_allclose(value, least, rtol=1e-10)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    gradient = pulled + 2 * ridge[:, None] * found
    assert np.abs(gradient).max() < 1e-4 * w.problem.null_loss
