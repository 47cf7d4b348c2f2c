"""Roles and names of columns: attributes and methods that tables, plots and reports use."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from tests.estimators.data import ESTIMATORS, MODELS, outcome, small

from superfactor import SMFClassifier, SMFRegressor

X, y, Z = small(n=60)
NAMES = list("abcdef")
every = pytest.mark.parametrize("estimator", ESTIMATORS)


@every
def test_positions_and_names(estimator):
    target = outcome(estimator, y)
    unfitted = estimator()
    for name in ("covariate_columns_", "n_covariates_in_", "covariate_names_", "column_names_"):
        assert not hasattr(unfitted, name)
    with pytest.raises(NotFittedError):
        unfitted.set_feature_names(NAMES)

    plain = unfitted.fit(X, target)
    assert (plain.covariate_columns_, plain.n_covariates_in_) == ([], 0)
    assert plain.covariate_names_.tolist() == []
    assert plain.column_names_ is None

    both = estimator(covariate_columns=[4, 1]).fit(X, target, covariates=Z)
    assert (both.covariate_columns_, both.n_covariates_in_) == ([4, 1], 2)
    assert both.covariate_names_.tolist() == ["x4", "x1", "covariate 0", "covariate 1"]
    assert both.covariate_coef_.shape[1] == len(both.covariate_names_)
    assert both.component_names_.tolist() == ["x0", "x2", "x3", "x5"]

    table, beside = pd.DataFrame(X, columns=NAMES), pd.DataFrame(Z, columns=["age", "sex"])
    named = estimator(covariate_columns=["e"]).fit(table, target, covariates=beside)
    assert named.covariate_columns_ == [4]
    assert named.covariate_names_.tolist() == ["e", "age", "sex"]
    assert named.column_names_.tolist() == NAMES
    assert named.component_names_.tolist() == list("abcdf")


def test_names_given_later():
    fitted = SMFClassifier(covariate_columns=[4]).fit(X, y)
    before = fitted.predict(X)
    assert fitted.set_feature_names(NAMES) is fitted
    assert fitted.component_names_.tolist() == list("abcdf")
    assert fitted.covariate_names_.tolist() == ["e"]
    assert fitted.column_names_.tolist() == NAMES
    np.testing.assert_array_equal(fitted.predict(X), before)  # without a word about names
    with pytest.raises(ValueError, match="names: 5 are given, but X had 6 columns"):
        fitted.set_feature_names(NAMES[:5])
    with pytest.raises(TypeError, match="names: strings are required"):
        fitted.set_feature_names(range(6))
    assert fitted.fit(X, y).column_names_ is None  # new data, new names


@every
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_split_columns(estimator, kind):
    fitted = estimator(covariate_columns=[4, 1]).fit(kind(X), outcome(estimator, y), covariates=Z)
    seen, covariates = fitted.split_columns(kind(X), Z)
    assert sp.issparse(seen) == sp.issparse(kind(X))
    seen = seen.toarray() if sp.issparse(seen) else seen
    np.testing.assert_array_equal(seen, X[:, [0, 2, 3, 5]])
    np.testing.assert_array_equal(covariates, np.c_[X[:, [4, 1]], Z])
    assert fitted.inverse_transform(fitted.transform(kind(X))).shape == seen.shape
    # What is factorized can be had without them.
    assert fitted.split_columns(kind(X))[1] is None
    with pytest.raises(ValueError, match="fitted with 2"):
        fitted.split_columns(kind(X), Z[:, :1])
    with pytest.raises(ValueError, match="6 features"):
        fitted.split_columns(kind(X[:, :5]), Z)


def test_without_covariates_nothing_is_copied():
    seen, covariates = SMFClassifier().fit(X, y).split_columns(X)
    assert np.shares_memory(seen, X)
    assert covariates is None


# --- shares ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("unit", [1.0, 1e6], ids=["unit", "million"])
def test_shares_add_up(model, unit):
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    lam = 0.1 * (unit**2 if model == "filter" else 1.0)  # the same problem in other units
    fit = SMFClassifier(3, model=model, xi=0.1 / unit**2, lam=lam).fit(unit * X, y, sample_weight=weight)
    root = np.sqrt(weight)[:, None]
    left = np.linalg.norm(root * (unit * X - fit.codes_ @ fit.components_)) ** 2
    whole = np.linalg.norm(root * unit * X) ** 2
    assert fit.explained_variance_ratio_.shape == (3,)
    np.testing.assert_allclose(fit.explained_variance_ratio_.sum(), 1 - left / whole, rtol=1e-8)


def test_shares_without_supervision_equal_the_svd():
    fit = SMFRegressor(3, xi=1e6).fit(X, y)
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(fit.explained_variance_ratio_, sigma[:3] ** 2 / (sigma**2).sum(), rtol=1e-6)
