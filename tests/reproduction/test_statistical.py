"""Theorem 2's experiment: errors against closed forms and scikit-learn, and constants."""

import math

import numpy as np
import pytest
from scipy.stats import linregress
from sklearn.linear_model import LogisticRegression

from reproduction import statistical as experiment
from reproduction.fits import activations, solve, theorem_constants
from reproduction.statistical import P, Q, Regime
from superfactor.datasets import simulate


def regime(model="filter", variance=1e-2, lam=0.1, **changes):
    return Regime(model, "a regime", lambda n: variance, lambda n, xi: lam, **changes)


def truth_of(given, n, seed):
    """The draw that `measure` makes with this seed."""
    noise = math.sqrt(given.variance(n))
    sizes = {"n_covariates": Q, "noise": noise, "signal": given.signal}
    return simulate(given.model, n, P, given.rank, random_state=seed, **sizes)


def ridge_regression(features, y, lam):
    """Coefficients of scikit-learn's logistic regression with λ‖·‖², a sum over samples."""
    plain = LogisticRegression(C=1 / (2 * lam), fit_intercept=False, tol=1e-10, max_iter=1000)
    return plain.fit(features, y).coef_.T


def test_without_a_rank_constraint_the_errors_are_those_of_noise_and_logistic_regression():
    """r = p: then B̂ = X, and (A, γ) is a ridge regression on all features."""
    given, n = regime(variance=0.3, rank=P), 120
    found, truth = experiment.measure(given, n, 3), truth_of(given, n, 3)
    coefficients = ridge_regression(np.hstack([truth.X, truth.covariates]), truth.y, 0.1)
    assert found["error_B"] == pytest.approx(np.linalg.norm(truth.X - truth.B), rel=1e-9)
    for part, estimate, true in (("A", coefficients[:P], truth.A), ("gamma", coefficients[P:], truth.gamma)):
        error = np.linalg.norm(estimate - true)
        assert found[f"error_{part}"] == pytest.approx(error, rel=1e-4)
        size = np.linalg.norm(true)
        assert found[f"relative_error_{part}"] == pytest.approx(error / size, rel=1e-4)


def test_with_vanishing_noise_the_filter_model_is_a_regression_on_the_true_factors():
    given, n = regime(variance=1e-10), 200
    found, truth = experiment.measure(given, n, 1), truth_of(given, n, 1)
    codes = truth.X @ truth.W
    coefficients = ridge_regression(np.hstack([codes, truth.covariates]), truth.y, 0.1)
    expected = np.linalg.norm(truth.W @ coefficients[: truth.W.shape[1]] - truth.A)
    assert found["error_A"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_gradients_at_the_truth_agree_with_finite_differences(model):
    truth = simulate(model, 7, 4, 2, n_covariates=2, noise=0.5, random_state=0)
    shapes = [truth.A.shape, truth.B.shape, truth.gamma.shape]
    ends = np.cumsum([0] + [math.prod(shape) for shape in shapes])

    def parts(z):
        return [z[a:b].reshape(s) for a, b, s in zip(ends, ends[1:], shapes, strict=False)]

    def objective(z):
        A, B, gamma = parts(z)
        a = (truth.X @ A if model == "filter" else A) + truth.covariates @ gamma
        loss = np.sum(np.logaddexp(0, a) - truth.y[:, None] * a)
        fit = 2.0 * np.sum((truth.X - B) ** 2)  # ξ = 1/(2σ²) = 2
        return loss + fit + 0.7 * (np.sum(A**2) + np.sum(gamma**2))

    z = np.concatenate([truth.A.ravel(), truth.B.ravel(), truth.gamma.ravel()])
    h = 1e-5 * np.eye(len(z))
    slope = np.array([(objective(z + e) - objective(z - e)) / 2e-5 for e in h])
    A, B, gamma = parts(slope)
    found = experiment.gradients(truth, 0.7)
    theta = np.hstack([A, B.T]) if model == "filter" else np.hstack([A, B])
    assert found["A"] == pytest.approx(np.linalg.norm(A, 2), rel=1e-6)
    assert found["B"] == pytest.approx(np.linalg.norm(B, 2), rel=1e-6)
    assert found["theta"] == pytest.approx(np.linalg.norm(theta, 2), rel=1e-6)
    assert found["gamma"] == pytest.approx(np.linalg.norm(gamma), rel=1e-6)


def test_where_the_condition_holds_algorithm_1_tends_to_the_same_estimate():
    given, n = experiment.REGIMES[1], 100
    truth = truth_of(given, n, 4)
    lam = given.ridge(n, truth.xi)
    problem = experiment.stated(truth, lam)
    constants = theorem_constants(problem)
    assert constants.applies
    exact = solve(problem, given.rank, tol=1e-12)
    iterated = solve(problem, given.rank, "lpgd", step_size=constants.best_step, max_iter=400, tol=0.0)
    assert iterated.objective == pytest.approx(exact.objective, rel=1e-9)
    a, b = (activations(found, truth.covariates) for found in (iterated, exact))
    np.testing.assert_allclose(a, b, atol=1e-5)


def test_exponents_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    n = np.repeat([50, 100, 200, 400], 5)
    values = n**-0.5 * np.exp(0.1 * rng.standard_normal(len(n)))
    expected = linregress(np.log(n), np.log(values))
    assert experiment.exponent(n, values) == pytest.approx((expected.slope, expected.stderr))
    assert experiment.exponent([10, 100, 1000], [1, 10, 100]) == pytest.approx((1.0, 0.0))


@pytest.mark.slow
def test_a_quick_run_follows_every_regime(quick_run, data_dir):
    table = quick_run("statistical", data_dir)[0].tables[""]
    counts = table.groupby(["model", "regime"]).size()
    assert len(counts) == len(experiment.REGIMES)
    assert counts.nunique() == 1
    errors = table[["error_A", "error_B", "error_gamma"]]
    np.testing.assert_allclose(table["error_all"], np.linalg.norm(errors, axis=1))
    np.testing.assert_allclose(table["xi"], 1 / (2 * table["variance"]))
    assert np.all(np.isfinite(errors))
    np.testing.assert_array_equal(table["holds"], table["L"] < 3 * table["mu"])


@pytest.mark.slow
def test_where_the_condition_holds_so_does_the_general_theorem(quick_run, data_dir):
    table = quick_run("statistical", data_dir)[0].tables[""]
    covered = table[table["holds"]]
    assert set(covered["model"]) == {"filter", "feature"}
    assert np.all(covered["error_all"] <= covered["general_bound"])
