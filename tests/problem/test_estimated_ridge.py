"""λ = "auto" of numbers and times: two criteria of linear regression, here by dense formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.losses import SquaredError
from superfactor.options import Options
from superfactor.problem import state


def by_dense_formulas(X, y, weight):
    """The geometric mean of the λ of marginal likelihood and of generalized cross-validation, y (n, κ)."""
    n = weight.sum()
    root = np.sqrt(weight)[:, None]
    A = root * (X - np.average(X, axis=0, weights=weight))
    B = root * (y - np.average(y, axis=0, weights=weight))
    grid = np.geomspace(1e-5, 1e3, 81) * 2 * np.linalg.norm(A, 2) ** 2
    evidence, error = np.zeros(len(grid)), np.zeros(len(grid))
    for k, lam in enumerate(grid):
        # ‖y − Xθ‖² + λ‖θ‖²; A Aᵀ/λ + I is the covariance of y up to its size.
        S = A @ A.T / lam + np.eye(len(A))
        H = A @ np.linalg.solve(A.T @ A + lam * np.eye(A.shape[1]), A.T)
        for b in B.T:
            evidence[k] += (n - 1) * np.log(b @ np.linalg.solve(S, b)) + np.linalg.slogdet(S)[1]
            error[k] += n * np.log(np.sum((b - H @ b) ** 2) / (n - 1 - np.trace(H)) ** 2)
    return np.sqrt(grid[evidence.argmin()] * grid[error.argmin()])


def table(n, p, noise, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n, 3))
    X = factors @ rng.standard_normal((3, p)) + rng.standard_normal((n, p)) + 2.0
    return X, factors[:, :outputs] + noise * rng.standard_normal((n, outputs)) + 5.0


@pytest.mark.parametrize("shape", [(60, 10), (40, 90)])
def test_the_noise_of_labels_is_known(shape):
    """Marginal likelihood with variances p(1 − p) of the residuals, and cross-validation, densely."""
    X, y = table(*shape, 2.0, 2)
    Y = (y > 5.0).astype(float)
    Y[1, 0] = np.nan
    n, A = len(X), X - X.mean(axis=0)
    bends = [np.nanmean(c) * (1 - np.nanmean(c)) for c in Y.T]
    known = [~np.isnan(c) for c in Y.T]
    # Labels are known for a share of the samples; M uses the mean curvature of all.
    grams = [h * k.sum() / n * A @ A.T for h, k in zip(bends, known, strict=True)]
    grid = np.geomspace(1e-6, 1e3, 91) * max(np.linalg.norm(G, 2) for G in grams)
    evidence, error = np.zeros(len(grid)), np.zeros(len(grid))
    for c, h, k, G in zip(Y.T, bends, known, grams, strict=True):
        E = np.where(k, np.nan_to_num(c) - np.mean(c[k]), 0.0)
        m, V = np.linalg.eigh(G)
        V, m = V[:, m > 1e-10 * m.max()], m[m > 1e-10 * m.max()]
        z = (V.T @ E) ** 2 / (h * k.sum() / n)
        rest = np.sum(E**2) * k.sum() / (h * k.sum()) - z.sum()
        for i, lam in enumerate(grid):
            d = m / (m + 2 * lam)
            evidence[i] += np.sum(np.log1p(m / (2 * lam))) - z @ d
            free = k.sum() - 1 - d.sum()
            left = max(rest, 1e-9 * z.sum()) + z @ (1 - d) ** 2
            error[i] += k.sum() * np.log(left / free**2) if free > 1e-3 * k.sum() else np.inf
    expected = np.sqrt(grid[evidence.argmin()] * grid[error.argmin()])
    assert SMFClassifier(1, search="off").fit(X, Y).lam_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("shape", [(60, 10), (40, 90)])
@pytest.mark.parametrize("noise", [0.3, 3.0])
@pytest.mark.parametrize("outputs", [1, 2])
def test_it_agrees_with_dense_formulas(shape, noise, outputs):
    X, y = table(*shape, noise, outputs)
    fitted = SMFRegressor(2, certify=None, search="off").fit(X, y)
    assert fitted.lam_ == pytest.approx(by_dense_formulas(X, y, np.ones(len(X))), rel=1e-6)


def test_weights_sparse_x_and_samples_without_a_value():
    X, y = table(60, 10, 1.0)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = SMFRegressor(2, certify=None, search="off")
    lam = model.fit(X, y, sample_weight=weight).lam_
    kept = weight > 0
    assert lam == pytest.approx(by_dense_formulas(X[kept], y[kept], weight[kept]), rel=1e-6)
    again = [np.repeat(values, weight.astype(int), axis=0) for values in (X, y)]
    assert model.fit(*again).lam_ == pytest.approx(lam, rel=1e-8)
    assert model.fit(sp.csr_array(X), y, sample_weight=weight).lam_ == pytest.approx(lam, rel=1e-8)
    unknown = np.where(np.arange(60)[:, None] < 20, np.nan, y)
    alone = model.fit(X[20:], y[20:]).lam_
    assert 0.2 < model.fit(X, unknown).lam_ / alone < 5


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_wide_x_gives_the_same_without_compression(weighted, intercept):
    X, y = table(40, 90, 1.0)
    weight = np.random.default_rng(2).uniform(0.5, 2, len(X)) if weighted else None
    found = [
        state(
            *("filter", sp.csr_array(X), y, SquaredError()),
            **{"xi": 1.0, "lam": "auto", "sample_weight": weight, "fit_intercept": intercept},
            options=Options(products_a_sparse_value=operations),
        )
        for operations in (0.0, 1e9)
    ]
    assert [problem.compact is problem for problem in found] == [True, False]
    np.testing.assert_allclose(*(problem.users_weights for problem in found), rtol=1e-6)


def test_units_have_no_effect():
    X, y = table(40, 90, 1.0)
    model = SMFRegressor(2, certify=None, search="off")
    lam = model.fit(X, y).lam_
    assert model.fit(1e3 * X, 1e-4 * y).lam_ == pytest.approx(1e6 * lam, rel=1e-6)
    assert model.fit(X + 3.0, y - 8.0).lam_ == pytest.approx(lam, rel=1e-4)


def test_the_unit_of_exposures_has_no_effect():
    """Nor has the distance of the rate from one, where the search for the null model begins."""
    X, y = table(60, 10, 0.3)
    rng = np.random.default_rng(1)
    exposure = rng.uniform(0.5, 4, len(y))
    counts = rng.poisson(exposure * np.exp(0.5 * (y[:, 0] - 5.0)))
    model = SMFRegressor(2, loss="poisson", exposure_column=10, certify=None, search="off")
    lam = model.fit(np.column_stack([X, exposure]), counts).lam_
    for unit in (1e-9, 1e-3, 1e3, 1e9):
        found = model.fit(np.column_stack([X, unit * exposure]), counts).lam_
        assert found == pytest.approx(lam, rel=1e-6)


def test_noise_excludes_what_covariates_explain():
    X, y = table(80, 20, 0.3)
    age = np.random.default_rng(2).standard_normal((80, 1))
    model = SMFRegressor(2, certify=None, search="off")
    lam = model.fit(X, y).lam_
    beside = model.fit(X, y + 20 * age, covariates=age).lam_
    assert beside == pytest.approx(lam, rel=0.5)
    assert model.fit(X, y + 20 * age).lam_ > 5 * lam


def test_noise_is_shrunk_to_zero_and_signal_is_not():
    X, y = table(60, 300, 0.1)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(y)
    for kind, shape in ((SMFRegressor, lambda y: y), (SMFSurvival, lambda y: np.hstack([y < 8, np.exp(-y)]))):
        model = kind(2, certify=None, search="off")
        assert np.std(model.fit(X, shape(shuffled)).predict(X)) < 0.3 * np.std(
            model.fit(X, shape(y)).predict(X)
        )


def test_predictions_are_near_those_of_tuned_ridge_regression():
    for shape, noise in (((60, 60), 2.0), ((60, 60), 0.3), ((50, 400), 1.0)):
        X, y = table(*shape, noise)
        X, y = X - X.mean(axis=0), y[:, 0]
        own, tuned = [], []
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            alphas = np.geomspace(1e-4, 1e4, 25) * np.linalg.norm(X[train], 2) ** 2
            for model, found in ((SMFRegressor(2), own), (RidgeCV(alphas), tuned)):
                found.append(np.sum((y[test] - model.fit(X[train], y[train]).predict(X[test])) ** 2))
        assert np.sum(own) < np.sum(tuned) + 0.03 * np.sum((y - y.mean()) ** 2)
