"""The designs of ridge regression: one asked of blocks, one in memory, and what share of samples curves."""

import numpy as np
import pytest
from scipy.optimize import minimize
from superfactor.lifting import ArrayDesign, GrowingBasis, SampledDesign, design, fit_ridge, ridge
from superfactor.lifting.design import curvature_share
from tests.lifting.cutting import cut
from tests.solvers.examples import MODELS, example

CASES = {
    "binary": {"kappa": 1},
    "three outputs": {"kappa": 3, "weighted": True},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "nothing but X": {"kappa": 2, "covariates": None, "fit_intercept": False},
}
every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)
views = pytest.mark.parametrize("viewed", [False, True], ids=["design", "view"])


def both(model, case, viewed, blocks=3, n=23):
    """The same design as blocks see it and as one array; θ (m, κ)."""
    problem, _ = example(model, n, 6, **CASES[case])
    sampled = cut(problem, blocks)
    basis = GrowingBasis.of(sampled)
    basis.extend(basis.random(np.random.default_rng(0), 4))
    S = basis.vectors(np.eye(4))
    J = np.hstack([problem.features(S, problem.image(S)), problem.covariates])
    (mass,) = sampled.samples.sum("mass")
    rng = np.random.default_rng(1)
    V = rng.standard_normal((J.shape[1], 3)) if viewed else None
    J = J if V is None else J @ V
    theta = 0.5 * rng.standard_normal((J.shape[1], problem.n_outputs))
    found = SampledDesign(sampled, float(mass), J.shape[1], V)
    return problem, found, ArrayDesign(problem, J), J, theta


@every_model
@every_case
@views
def test_blocks_see_the_design_that_is_one_array(model, case, viewed):
    problem, blocks, array, J, theta = both(model, case, viewed)
    value, gradient = blocks.evaluate(theta)
    assert isinstance(value, float)
    np.testing.assert_allclose(value, array.evaluate(theta)[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, array.evaluate(theta)[1], atol=1e-11)
    np.testing.assert_allclose(array.a, J @ theta, atol=1e-12)
    np.testing.assert_allclose(array.E, problem.loss_terms(J @ theta)[1], atol=1e-12)
    direction = np.random.default_rng(2).standard_normal(theta.shape)
    for question in ("curvature", "curvature_diagonal"):
        found, expected = (getattr(each, question)(theta) for each in (blocks, array))
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    found, expected = (each.curvature_product(theta, direction) for each in (blocks, array))
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    assert blocks.epsilon == array.epsilon == np.finfo(float).eps


@every_case
@pytest.mark.parametrize("offset", [False, True])
def test_curvature_of_an_array_is_that_of_its_gradient(case, offset):
    """Differences of the gradient, with and without an offset, and three ways to the same matrix."""
    problem, _ = example("filter", 23, 6, **CASES[case])
    rng = np.random.default_rng(3)
    J, kappa = rng.standard_normal((23, 4)), problem.n_outputs
    added = rng.standard_normal((23, kappa)) if offset else None
    found = ArrayDesign(problem, J, added)
    theta = 0.5 * rng.standard_normal((4, kappa))
    H, h = found.curvature(theta), 1e-5
    for i, e in enumerate(np.eye(4 * kappa)):
        step = h * e.reshape(kappa, 4).T
        up, down = (found.evaluate(theta + sign * step)[1] for sign in (1, -1))
        column = ((up - down) / (2 * h)).T.ravel()
        np.testing.assert_allclose(H[:, i], column, atol=1e-7 * np.abs(H).max())
        product = found.curvature_product(theta, e.reshape(kappa, 4).T)
        np.testing.assert_allclose(product.T.ravel(), H[:, i], atol=1e-11 * np.abs(H).max())
    diagonal = found.curvature_diagonal(theta)
    np.testing.assert_allclose(diagonal.T.ravel(), np.diag(H), rtol=1e-11)


@every_model
@pytest.mark.parametrize("case", ["binary", "three outputs", "squared"])
def test_floor_is_nothing_beside_the_curvature_but_not_zero(model, case):
    _, blocks, array, _, theta = both(model, case, False)
    top = np.linalg.eigvalsh(array.curvature(0 * theta))[-1]
    for each in (blocks, array):
        assert 0 < each.floor() < 1e-10 * top


# --- the share of samples whose curvature is summed up -----------------------------------------------


@pytest.mark.parametrize(
    ("n", "columns", "outputs", "expected"),
    [
        pytest.param(100, 10, 1, 1.0, id="few samples: all"),
        pytest.param(16_000, 10, 1, 1.0, id="not yet twice the fewest rows"),
        pytest.param(10**6, 1000, 1, 64_000 / 10**6, id="64 rows a column"),
        pytest.param(10**6, 1000, 20, 64_000 / 10**6, id="however many outputs"),
        pytest.param(10**7, 100, 10, 0.016, id="sixteen gradients' worth of rows"),
        pytest.param(10**6, 2, 3, 1.0, id="few unknowns: as cheap as gradients"),
        pytest.param(10**6, 0, 1, 1.0, id="no columns"),
        pytest.param(10**5, 20, 60, 2048 / 10**5, id="many outputs: never fewer rows than 2048"),
    ],
)
def test_share(n, columns, outputs, expected):
    assert curvature_share(n, columns, outputs) == pytest.approx(expected, rel=1e-12)


def test_share_falls_with_the_samples_and_its_work_is_bounded():
    columns, outputs, before = 60, 9, 1.0
    for n in np.logspace(3, 9, 40).astype(int):
        share = curvature_share(int(n), columns, outputs)
        assert 0 < share <= before * (1 + 1e-12)
        before = share
        # The curvature of all samples, or that of 8192 of them, or the work of 16 gradients.
        unknowns = columns * outputs
        work = share * n * unknowns**2
        assert share == 1 or work <= max(8192 * unknowns**2, 16 * n * unknowns) * (1 + 1e-9)
    assert before < 0.05


@every_model
@pytest.mark.parametrize("case", ["binary", "three outputs", "squared"])
def test_some_of_the_samples_curve_and_all_of_them_count(model, case, monkeypatch):
    """Ridge regression with curvature from a third of the samples: the same minimum."""
    monkeypatch.setattr(design, "curvature_share", lambda *sizes: 0.3)
    problem, blocks, array, _, theta = both(model, case, False, n=200)
    assert blocks.share == 0.3
    exact = array.curvature(theta)
    error = np.abs(blocks.curvature(theta) - exact).max() / np.abs(exact).max()
    assert 1e-4 < error < 0.5
    weights = np.full(theta.shape[0], 0.3)
    found, value, pulled = fit_ridge(blocks, weights, 0 * theta, max_iter=100)
    expected, least, _ = fit_ridge(array, weights, 0 * theta)
    np.testing.assert_allclose(value, least, rtol=1e-10)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    gradient = pulled + 2 * weights[:, None] * found
    assert np.abs(gradient).max() < 1e-4 * problem.loss_terms(np.zeros_like(problem.targets))[0]


@every_model
@every_case
def test_conjugate_gradients_reach_the_same_minimum(model, case, monkeypatch):
    """What ridge regression does with more unknowns than a dense system may have, against SciPy."""
    _, blocks, array, _, theta = both(model, case, False)
    weights = np.linspace(0.1, 1.0, theta.shape[0])
    monkeypatch.setattr(ridge, "DENSE_UNKNOWNS", 0)

    def objective(x):
        t = x.reshape(theta.shape)
        value, gradient = array.evaluate(t)
        column = weights[:, None]
        return value + np.sum(column * t**2), (gradient + 2 * column * t).ravel()

    best = minimize(objective, 0 * theta.ravel(), jac=True, options={"gtol": 1e-9})
    for each in (blocks, array):
        found, value, _ = fit_ridge(each, weights, 0 * theta)
        np.testing.assert_allclose(value, best.fun, rtol=1e-9)
        np.testing.assert_allclose(found.ravel(), best.x, atol=1e-4)
