"""What the estimators say about their factors: shares of X and names of the atoms' columns."""

import numpy as np
import pandas as pd
import pytest

from superfactor import SMFClassifier, SMFRegressor


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 12)) * np.linspace(3, 1, 12)
    return X, (X[:, 2] + 0.3 * rng.standard_normal(40) > 0).astype(int)


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("unit", [1.0, 1e6], ids=["unit", "million"])
def test_shares_add_up_to_what_all_factors_reconstruct(data, model, unit):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    lam = 0.1 * (unit**2 if model == "filter" else 1.0)  # the same problem in other units
    fit = SMFClassifier(3, model=model, xi=0.1 / unit**2, lam=lam).fit(unit * X, y, sample_weight=weight)
    root = np.sqrt(weight)[:, None]
    left = np.linalg.norm(root * (unit * X - fit.codes_ @ fit.components_)) ** 2
    whole = np.linalg.norm(root * unit * X) ** 2
    assert fit.explained_variance_ratio_.shape == (3,)
    np.testing.assert_allclose(fit.explained_variance_ratio_.sum(), 1 - left / whole, rtol=1e-8)


def test_shares_without_supervision_are_those_of_the_svd(data):
    X, y = data
    fit = SMFRegressor(3, xi=1e6).fit(X, y)
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(fit.explained_variance_ratio_, sigma[:3] ** 2 / (sigma**2).sum(), rtol=1e-6)


def test_names_of_the_atoms_leave_out_covariates(data):
    X, y = data
    names = [f"gene{j}" for j in range(12)]
    table = pd.DataFrame(X, columns=names)
    fit = SMFClassifier(2, covariate_columns=["gene3", "gene7"]).fit(table, y)
    kept = [name for name in names if name not in ("gene3", "gene7")]
    assert list(fit.component_names_) == kept
    assert fit.components_.shape[1] == len(kept)
    unnamed = SMFClassifier(2, covariate_columns=[0]).fit(X, y)
    assert list(unnamed.component_names_[:2]) == ["x1", "x2"]
