"""Samples without a label (docs/method.md §13) are reconstructed, and do not contribute to the loss."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from tests.problems import MODELS, example
from tests.solvers.restarts import best_of
from tests.theory.naive import random_problem
from tests.theory.test_constants import points

from superfactor import SMFClassifier
from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.theory import certify, theorem_constants

every_model = pytest.mark.parametrize("model", MODELS)


def table(n=60, p=9, seed=0):
    """X (n, p), centred, and labels 0, 1, 2 that depend on it."""
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((n, 3))
    X = 2 * H @ rng.standard_normal((3, p)) + rng.standard_normal((n, p))
    scores = H + 0.5 * rng.standard_normal((n, 3))
    return X - X.mean(axis=0), scores.argmax(axis=1)


def hidden(y, every=3):
    """Every third label; the others are missing."""
    return np.where(np.arange(len(y)) % every == 0, y.astype(float), np.nan)


def half_labelled(n, seed=0):
    return (np.random.default_rng(seed).random(n) < 0.5).astype(float)


# --- F ---------------------------------------------------------------------------------------------------


@every_model
def test_F_is_the_sum_without_the_terms_that_have_no_label(model):
    X, y = table()
    given = hidden(y)
    fit = SMFClassifier(2, model=model, xi=0.3, lam=0.4, lam_covariates=None).fit(X, given)
    known = ~np.isnan(given)
    assert fit.n_labeled_ == known.sum()
    activations = fit.codes_ @ fit.factor_coef_.T + fit.intercept_
    if model == "filter":
        activations = X @ fit.components_.T @ fit.factor_coef_.T + fit.intercept_
    scores = activations[known]
    loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(known.sum()), y[known]]
    rows = fit.components_.T if model == "filter" else fit.codes_
    A = rows @ fit.factor_coef_.T
    # The filter model's codes are projections; B is the best reconstruction in the span of the atoms.
    W = np.linalg.qr(fit.components_.T)[0]
    H = np.linalg.qr(fit.codes_)[0]
    B = X @ W @ W.T if model == "filter" else H @ H.T @ X
    expected = loss.sum() + 0.3 * np.sum((X - B) ** 2) + 0.4 * np.sum(A**2)
    assert fit.objective_ == pytest.approx(expected, rel=1e-9)


# --- the certificate -------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize(("loss", "seed"), [("logistic", 0), ("probit", 1), ("squared", 2)])
def test_the_bound_is_below_all_restarts(model, loss, seed):
    labelled = half_labelled(10, seed)
    problem, P = example(model, 10, 5, 1, seed, loss=loss, lam=10.0 ** (-seed), class_weight=labelled)
    found = newton.solve(problem, 2)
    proof = certify(problem, 2, found)
    best = best_of(P, 2, 5, seed, max_iter=150)
    assert proof.lower_bound <= min(best, found.objective) * (1 + 1e-9)
    if proof.is_global:
        assert best >= found.objective * (1 - 1e-6)


@every_model
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("profiled", [False, True])
def test_samples_without_a_label_have_no_curvature(model, intercept, profiled):
    """α⁻ = 0 on samples without a label: μ and L enclose the curvature of the labelled ones' loss."""
    rng = np.random.default_rng(1)
    P = random_problem(rng, model, 10, 3, 1, 2, 0.4, 0.2, 3.0, intercept)
    labelled = half_labelled(10)
    problem = state(
        model,
        P.X,
        P.Y,
        resolve_link("logistic", 2),
        xi=P.xi,
        lam=P.lam,
        covariates=P.C[:, :1],
        fit_intercept=intercept,
        class_weight=labelled,
    )
    assert problem.smallest_weight == 0
    constants = theorem_constants(problem, profiled=profiled)
    # The loss of the labelled samples alone, in all unknowns.
    P.J = P.J * labelled[:, None]
    for U in points(rng, P, 10):
        H = P.profiled_hessian(U) if profiled else P.hessian(U)
        values = np.linalg.eigvalsh(H)
        assert constants.mu <= values.min() + 1e-9
        assert values.max() <= constants.L + 1e-9


# --- limits that are standard methods --------------------------------------------------------------------


def test_a_large_xi_is_pca_of_all_samples_and_logistic_regression_on_the_labelled():
    X, y = table()
    given = np.where(np.isnan(hidden(y)), np.nan, y > 0)
    known = ~np.isnan(given)
    fit = SMFClassifier(2, xi=1e6, lam=0.5, tol=1e-12).fit(X, given)
    codes = X @ np.linalg.svd(X, full_matrices=False)[2][:2].T
    plain = LogisticRegression(C=1 / (2 * 0.5), tol=1e-10, max_iter=1000)
    plain.fit(codes[known], given[known])
    expected = expit(plain.decision_function(codes))
    np.testing.assert_allclose(fit.predict_proba(X)[:, 1], expected, atol=1e-4)
    # Not that of the labelled samples: theirs has other components.
    own = X @ np.linalg.svd(X[known], full_matrices=False)[2][:2].T
    plain.fit(own[known], given[known])
    assert np.abs(plain.predict_proba(own)[:, 1] - expected).max() > 1e-2
