"""The loss as a function of coefficients: asked of blocks, against the sums written out."""

import numpy as np
import pytest
from tests.problems import MODELS
from tests.subspace.designs import CASES, World

from superfactor.options import Options
from superfactor.subspace import LossOn, fit_ridge

every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)
KINDS = ("basis", "ready", "offset")
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_model
@every_case
@every_kind
def test_blocks_see_the_design_that_is_one_array(model, case, kind):
    w = World(model, case, kind)
    value, gradient = w.loss.evaluate(w.coef)
    assert isinstance(value, float)
    expected = w.evaluate(w.coef)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-11)
    omega = w.arrays.loss_weight
    np.testing.assert_allclose(w.loss.mass, np.sum(omega * w.J**2), rtol=1e-12)
    assert w.loss.epsilon == np.finfo(float).eps


@every_case
@every_kind
def test_curvature_is_that_of_the_gradient(case, kind):
    """Differences of the gradient, and three ways to the same matrix."""
    w = World("filter", case, kind)
    m, kappa = w.coef.shape
    H, h = w.loss.curvature(w.coef), 1e-5
    for i, e in enumerate(np.eye(m * kappa)):
        step = h * e.reshape(kappa, m).T
        up, down = (w.evaluate(w.coef + sign * step)[1] for sign in (1, -1))
        column = ((up - down) / (2 * h)).T.ravel()
        np.testing.assert_allclose(H[:, i], column, atol=1e-7 * np.abs(H).max())
        product = w.loss.curvature_product(w.coef, e.reshape(kappa, m).T)
        np.testing.assert_allclose(product.T.ravel(), H[:, i], atol=1e-11 * np.abs(H).max())
    diagonal = w.loss.curvature_diagonal(w.coef)
    np.testing.assert_allclose(diagonal.T.ravel(), np.diag(H), rtol=1e-11)
    if kind == "basis":
        turn = np.linalg.qr(np.random.default_rng(4).standard_normal((m, m)))[0]
        turned = np.kron(np.eye(kappa), turn)
        found = w.loss.curvature_diagonal(turn.T @ w.coef, turn)
        np.testing.assert_allclose(
            found.T.ravel(), np.diag(turned.T @ H @ turned), atol=1e-11 * np.abs(H).max()
        )


@every_model
@pytest.mark.parametrize("case", ["binary", "three outputs", "squared"])
def test_floor_is_nothing_beside_the_curvature_but_not_zero(model, case):
    w = World(model, case, "basis")
    top = np.linalg.eigvalsh(w.loss.curvature(0 * w.coef))[-1]
    assert 0 < w.loss.floor() < 1e-10 * top
    none = LossOn(w.problem, w.loss.design, w.loss.columns, mass=0.0)
    assert none.floor() > 0


def test_a_mass_that_is_known_is_not_asked_for():
    w = World("filter", "binary", "basis")
    summed, asked = w.problem.samples.summed, []
    w.problem.samples.summed = lambda call, *rest: (asked.append(call.name), summed(call, *rest))[1]
    assert LossOn(w.problem, w.loss.design, w.loss.columns, mass=3.0).mass == 3.0
    assert asked == []
    LossOn(w.problem, w.loss.design, w.loss.columns)
    assert asked == ["mass"]


@pytest.mark.parametrize(
    ("options", "pays"),
    [
        pytest.param({}, True, id="few unknowns"),
        pytest.param({"largest_system": 0}, False, id="no system so large"),
        pytest.param({"expected_products": 0}, False, id="products for nothing"),
    ],
)
def test_when_a_dense_system_pays(options, pays):
    w = World("filter", "three outputs", "basis", options=Options(**options))
    assert w.loss.dense_pays == pays


@every_model
@pytest.mark.parametrize("case", ["binary", "three outputs", "squared"])
def test_some_of_the_samples_curve_and_all_of_them_count(model, case):
    """Ridge regression with curvature from a third of the samples: the same minimum."""
    few = Options(rows_a_column=0, fewest_curvature_rows=60, curvature_gradients=0)
    if case != "binary":  # a row counts once for each output
        few = Options(rows_a_column=0, fewest_curvature_rows=150, curvature_gradients=0)
    w, whole = (World(model, case, "basis", n=200, options=o) for o in (few, None))
    assert 0.2 < w.loss.share < 0.4
    assert whole.loss.share == 1.0
    exact = whole.loss.curvature(w.coef)
    error = np.abs(w.loss.curvature(w.coef) - exact).max() / np.abs(exact).max()
    assert 1e-4 < error < 0.5
    ridge = np.full(w.coef.shape[0], 0.3)
    found, value, pulled = fit_ridge(w.loss, ridge, 0 * w.coef, max_iter=100)
    expected, least, _ = fit_ridge(whole.loss, ridge, 0 * w.coef)
    np.testing.assert_allclose(value, least, rtol=1e-10)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    gradient = pulled + 2 * ridge[:, None] * found
    assert np.abs(gradient).max() < 1e-4 * w.problem.null_loss
