"""Counts: `SMFRegressor(loss="poisson")` compared with scikit-learn; exposures; errors."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score

from superfactor import SMFClassifier, SMFRegressor
from superfactor.estimators.targets import looks_like_counts


@pytest.fixture(scope="module")
def observed():
    rng = np.random.default_rng(0)
    X, exposure = rng.standard_normal((150, 6)), rng.uniform(0.5, 5, 150)
    return X, exposure, rng.poisson(exposure * np.exp(0.4 * X @ rng.standard_normal(6)))


def test_without_reconstruction_equals_ridge_poisson_regression(observed):
    X, exposure, y = observed
    seen, lam = np.column_stack([X[:, :2], exposure, X[:, 2:]]), 0.7
    ours = SMFRegressor(6, loss="poisson", xi=1e-8, lam=lam, exposure_column=2, tol=1e-12).fit(seen, y)
    theirs = PoissonRegressor(alpha=2 * lam / exposure.sum(), tol=1e-10, max_iter=10_000)
    theirs.fit(X, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(np.delete(ours.coef_[0], 2), theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(seen), exposure * theirs.predict(X), rtol=1e-6)
    expected = d2_tweedie_score(y / exposure, theirs.predict(X), power=1, sample_weight=exposure)
    assert ours.score(seen, y) == pytest.approx(expected, abs=1e-8)
    for weight, said in ((0.0, "at least one non-zero"), (-1.0, "Negative values")):
        with pytest.raises(ValueError, match=said):
            ours.score(seen, y, sample_weight=np.full(len(y), weight))


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("prediction", ["exact", "fast"])
def test_logarithms_of_predictions_are_linear(observed, model, prediction):
    X, exposure, y = observed
    seen = np.column_stack([X, exposure])
    fitted = SMFRegressor(loss="poisson", model=model, prediction=prediction, exposure_column=6).fit(seen, y)
    expected = seen @ fitted.coef_[0] + fitted.intercept_ + np.log(exposure)
    np.testing.assert_allclose(np.log(fitted.predict(seen)), expected, atol=1e-10)
    assert fitted.coef_[0, 6] == 0 and list(fitted.component_names_) == [f"x{j}" for j in range(6)]


def test_samples_without_weight_need_no_exposure(observed):
    X, exposure, y = observed
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    counted = weight > 0
    seen = np.column_stack([X, np.where(counted, exposure, 0.0)])
    model = SMFRegressor(2, loss="poisson", exposure_column=6, certify=None)
    fitted = clone(model).fit(seen, y, sample_weight=weight)
    assert fitted.objective_ == pytest.approx(model.fit(seen[counted], y[counted]).objective_)
    with pytest.raises(ValueError, match="sample 1 has 0"):
        model.fit(np.column_stack([X, exposure * (np.arange(len(y)) != 1)]), y, sample_weight=weight)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"loss": "squared", "exposure_column": 2}, "loss='poisson' is required"),
        ({"exposure_column": 0}, "exposures > 0 are required, sample"),
        ({"exposure_column": 6, "covariate_columns": [6]}, "a column has one role"),
    ],
)
def test_invalid_input(observed, parameters, said):
    X, exposure, y = observed
    with pytest.raises(ValueError, match=said):
        SMFRegressor(**{"loss": "poisson", **parameters}).fit(np.column_stack([X, exposure]), y)


@pytest.mark.parametrize(("y", "said"), [(-1.0, "negative"), (0.0, "all of them are 0")])
def test_invalid_counts(y, said):
    with pytest.raises(ValueError, match=said):
        SMFRegressor(loss="poisson").fit(np.eye(5), np.full(5, y))


def test_warning_for_labels_that_look_like_counts(observed):
    X, _, y = observed
    for load in (load_digits, load_wine, load_iris):
        assert not looks_like_counts(load().target)
    assert looks_like_counts(y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SMFClassifier(1, certify=None).fit(X, y)
    assert sum("y looks like counts" in str(warning.message) for warning in caught) == 1
