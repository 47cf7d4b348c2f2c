"""Covariates beside out-of-fold scores: against scipy and scikit-learn, and simulated truths."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, logsumexp, ndtri
from sklearn.linear_model import LinearRegression

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import covariate_effects, held_out_scores


def planted(kind, seed=0, n=100, p=1000):
    """X with a factor, y, and a covariate (n, 1) whose true coefficient is 1."""
    rng = np.random.default_rng(seed)
    z, age = rng.standard_normal((2, n))
    X = 0.4 * np.outer(z, rng.standard_normal(p)) + rng.standard_normal((n, p))
    a = age + 1.5 * z
    if kind == "two":
        y = (rng.random(n) < expit(a)).astype(int)
    elif kind == "three":
        y = (np.column_stack([np.zeros(n), a, -a]) + rng.gumbel(size=(n, 3))).argmax(axis=1)
    elif kind == "numbers":
        y = a + rng.standard_normal(n)
    else:
        death, end = rng.exponential(np.exp(-a)), rng.exponential(2.0, n)
        y = np.column_stack([death <= end, np.minimum(death, end)]).astype(float)
    return X, y, age[:, None]


ESTIMATOR = {"two": SMFClassifier, "three": SMFClassifier, "numbers": SMFRegressor, "times": SMFSurvival}


def naive_loss(kind, y, a):
    """Minus the log-likelihood at activations a (n, κ), in loops and textbook form."""
    if kind == "times":
        event, time = y.T
        return sum(logsumexp(a[time >= time[i], 0]) - a[i, 0] for i in range(len(y)) if event[i])
    full = np.column_stack([np.zeros(len(a)), a])
    return float(np.sum(logsumexp(full, axis=1) - full[np.arange(len(y)), y]))


@pytest.mark.parametrize("kind", ["two", "three", "times"])
def test_estimates_and_errors_are_those_of_a_naive_regression(kind):
    X, y, age = planted(kind)
    model = ESTIMATOR[kind](2).fit(X, y, covariates=age)
    held = held_out_scores(model, X, y, covariates=age)
    options = {"positive": 1} if kind == "two" else {}
    table = covariate_effects(model, X, y, age, out_of_fold=held, **options)
    s = held.signal if held.signal.shape[1] == 1 else held.signal[:, 1:] - held.signal[:, :1]
    kappa = s.shape[1]

    def objective(theta):
        gamma, slope, intercept = theta.reshape(3, kappa)
        a = age * gamma + s * slope + (0 if kind == "times" else intercept)
        prior = 0.08 * (age.var() * np.sum(gamma**2) + np.sum(s.var(axis=0) * slope**2))
        return naive_loss(kind, y, a) + prior + (0.5 * np.sum(intercept**2) if kind == "times" else 0)

    found = minimize(objective, np.zeros(3 * kappa), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(table["coef"], found.x[:kappa], atol=2e-4)
    H = approx_fprime(found.x, lambda t: approx_fprime(t, objective, 1e-5), 1e-4)
    error = np.sqrt(np.diag(np.linalg.inv((H + H.T) / 2)))[:kappa]
    np.testing.assert_allclose(table["standard_error"], error, rtol=0.02)
    reach = ndtri(0.975) * table["standard_error"]
    np.testing.assert_allclose(np.log(table["high"]), table["coef"] + reach)
    assert table.attrs["note"].startswith("The estimates are adjusted")


def test_for_numbers_it_is_linear_regression_on_the_signal():
    X, y, age = planted("numbers")
    model = SMFRegressor(2, lam_covariates=1e-9).fit(X, y, covariates=age)
    held = held_out_scores(model, X, y, covariates=age)
    held = dataclasses.replace(held, signal=1e4 * held.signal)  # its unit does not matter
    (row,) = covariate_effects(model, X, y, age, out_of_fold=held).to_dict("records")
    D = np.hstack([age, held.signal])
    plain = LinearRegression().fit(D, y)
    np.testing.assert_allclose(row["coef"], plain.coef_[0], rtol=1e-3)
    D = np.hstack([D, np.ones((len(y), 1))])
    sigma2 = np.sum((y - plain.predict(D[:, :2])) ** 2) / (len(y) - 3)
    error = np.sqrt(sigma2 * np.linalg.inv(D.T @ D)[0, 0])
    np.testing.assert_allclose(row["standard_error"], error, rtol=1e-2)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_wide_tables_inflate_the_fit_and_not_the_estimate_out_of_fold(model):
    inside, outside, covered = [], [], 0
    for seed in range(8):
        X, y, age = planted("two", seed)
        fit = SMFClassifier(2, model=model).fit(X, y, covariates=age)
        inside.append(covariate_effects(fit, positive=1)["coef"][0])
        row = covariate_effects(fit, X, y, age, positive=1, out_of_fold=True).iloc[0]
        outside.append(row["coef"])
        covered += row["low"] < np.e < row["high"]
    assert np.mean(inside) > (1.25 if model == "filter" else 1)
    assert 0.8 < np.mean(outside) < 1.2
    assert covered >= 6


def test_many_features_give_a_note():
    X, y, age = planted("two", p=100)
    for p, many in ((10, False), (100, True)):
        fit = SMFClassifier(2).fit(X[:, :p], y, covariates=age)
        assert bool(covariate_effects(fit, X[:, :p], y, age).attrs["note"]) == many
    assert covariate_effects(fit).attrs["note"] == ""


def test_samples_without_label_or_weight_are_ignored():
    X, y, age = planted("two", p=50)
    y = y.astype(object)
    y[:7] = None
    weight = np.ones(len(y))
    weight[7:9] = 0
    fit = SMFClassifier(2).fit(X, y, covariates=age, sample_weight=weight)
    held = held_out_scores(fit, X, y, covariates=age, sample_weight=weight)
    np.testing.assert_array_equal(np.isnan(held.signal[:, 0]), np.arange(len(y)) < 9)
    first = covariate_effects(fit, X, y, age, weight, out_of_fold=held)
    moved = age.copy()
    moved[:9] += 1
    # Ridges are in units of the data at fit: the same.
    second = covariate_effects(fit, X, y, moved, weight, out_of_fold=held)
    np.testing.assert_allclose(first["coef"], second["coef"], rtol=1e-9)


def test_errors():
    X, y, age = planted("two", p=20)
    fit = SMFClassifier(2).fit(X, y, covariates=age)
    held = held_out_scores(fit, X, y, covariates=age)
    with pytest.raises(ValueError, match="out_of_fold='yes'"):
        covariate_effects(fit, X, y, age, out_of_fold="yes")
    with pytest.raises(ValueError, match="X=None"):
        covariate_effects(fit, None, y, age, out_of_fold=True)
    with pytest.raises(ValueError, match="y=None"):
        covariate_effects(fit, out_of_fold=held)
    with pytest.raises(ValueError, match="earlier version"):
        covariate_effects(fit, X, y, age, out_of_fold=dataclasses.replace(held, signal=None))
    with pytest.raises(ValueError, match=r"signal of shape \(99, 1\)"):
        covariate_effects(fit, X, y, age, out_of_fold=dataclasses.replace(held, signal=held.signal[1:]))
