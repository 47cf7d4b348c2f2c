"""Factors and covariates of survival models, as those of regressions are shown."""

import numpy as np
import pandas as pd
import pytest
from tests.estimators.data import patients, structured

from superfactor import SMFSurvival
from superfactor.interpretation import covariate_effects, factor_view, supervised_factors, top_features
from superfactor.interpretation.refits.resampling import stability

GPL = "scikit-survival is not installed: it is GPL, and for the documentation only"


def example(**parameters):
    X, y, Z = patients(n=90)
    X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(5)])
    Z = pd.DataFrame(Z, columns=["age", "size"])
    return SMFSurvival(2, **parameters).fit(X, y, covariates=Z), X, y, Z


def test_factors_are_turned_towards_risk():
    model, X, _, Z = example()
    view = factor_view(model)
    assert view.outputs == ("risk",) and view.classes is None
    assert view.coef[0, 0] > 0 and view.coef[0, 1] == 0
    risk = model.predict(X, covariates=0 * Z)
    shown = view.scores_of(model.transform(X)) @ view.coef[0]
    np.testing.assert_allclose(shown, risk - risk.mean(), atol=1e-10)
    assert list(supervised_factors(model)["role"]) == ["predictive", "background"]
    top = top_features(model, n=1)
    assert list(top.loc[top.factor == 1, "feature"]) == ["gene 0", "gene 1"]


def test_covariates_are_hazard_ratios():
    model, X, y, Z = example()
    table = covariate_effects(model, X, y, Z)
    assert set(table["kind"]) == {"hazard ratio"} and set(table["output"]) == {"risk"}
    np.testing.assert_allclose(table["estimate"], np.exp(model.covariate_coef_[0]))
    assert np.all((table["low"] < table["estimate"]) & (table["estimate"] < table["high"]))


def test_intervals_are_those_of_cox_regression():
    """With all factors and hardly any ridge: the information of the partial likelihood, by differences."""
    linear = pytest.importorskip("sksurv.linear_model", reason=GPL)
    X, y, Z = patients(n=150)
    model = SMFSurvival(5, xi=0.1, lam=1e-6, lam_covariates=1e-6).fit(X, y, covariates=Z)
    found = covariate_effects(model, X, y, Z)["standard_error"]
    both = np.hstack([X, Z])
    cox = linear.CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12).fit(both, structured(y))
    from tests.losses.survival_data import chances

    P, event = chances(both @ cox.coef_, y[:, 1], y[:, 0], np.ones(150)), y[:, 0]
    information = both.T @ (np.diag(P.T @ event) - P.T @ (event[:, None] * P)) @ both
    np.testing.assert_allclose(found, np.sqrt(np.diag(np.linalg.inv(information)))[5:], rtol=1e-3)


def test_stability_refits():
    model, X, y, Z = example(certify=None, xi=0.1, lam=1.0)
    y[:5] = np.nan
    found = stability(model.fit(X, y, covariates=Z), X, y, covariates=Z, n_resamples=3)
    assert found.n_resamples == 3 and np.all(found.similarity[:, 0] > 0.5)
