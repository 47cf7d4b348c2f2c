"""Covariates, weights, names and types, compared with equivalent inputs."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.estimators.data import ESTIMATORS, MODELS, outcome, small

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.constraints import Box, FrobeniusBall, NonNegative
from superfactor.estimators import base
from superfactor.estimators.inputs import covariate_indices, split_columns
from superfactor.estimators.targets import check_class_weight

every = pytest.mark.parametrize("estimator", ESTIMATORS)
both = pytest.mark.parametrize(("estimator", "model"), [(e, m) for e in ESTIMATORS for m in MODELS])


def assert_same_fit(one, other, rtol=1e-6):
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    for name in ("components_", "factor_coef_", "covariate_coef_", "intercept_"):
        scale = np.max(np.abs(getattr(other, name)), initial=0.0)
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol * scale, err_msg=name
        )


@both
def test_covariate_columns_equal_covariates(estimator, model):
    X, y, Z = small()
    y, given = outcome(estimator, y), {"model": model, "lam": 1.0}
    by_array = estimator(**given).fit(X, y, covariates=Z)
    wide = np.c_[X[:, :2], Z[:, :1], X[:, 2:], Z[:, 1:]]
    by_index = estimator(covariate_columns=[2, -1], **given).fit(wide, y)
    frame = pd.DataFrame(wide, columns=["a", "b", "age", "c", "d", "e", "f", "sex"])
    by_name = estimator(covariate_columns=["age", "sex"], **given).fit(frame, y)
    for fitted in (by_index, by_name):
        assert_same_fit(fitted, by_array)
        assert fitted.n_features_in_ == 8
        assert fitted.components_.shape == (2, 6)
    assert list(by_name.feature_names_in_) == list(frame.columns)
    np.testing.assert_allclose(by_name.predict(frame), by_array.predict(X, Z), rtol=1e-6)
    np.testing.assert_allclose(by_name.transform(frame), by_array.transform(X), atol=1e-6)
    mixed = estimator(covariate_columns=0, **given)
    mixed.fit(np.c_[Z[:, 0], X], y, covariates=Z[:, 1])
    assert_same_fit(mixed, by_array)
    found = mixed.predict(np.c_[Z[:, 0], X], covariates=Z[:, 1:])
    np.testing.assert_allclose(found, by_array.predict(X, Z), rtol=1e-6)


def test_columns_of_a_sparse_matrix():
    X, y, Z = small()
    X[np.abs(X) < 0.5] = 0
    wide = np.c_[Z, X]
    dense = SMFClassifier(covariate_columns=[0, 1]).fit(wide, y)
    for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix):
        sparse = SMFClassifier(covariate_columns=[0, 1]).fit(kind(wide), y)
        assert_same_fit(sparse, dense)
        np.testing.assert_allclose(sparse.predict_proba(kind(wide)), dense.predict_proba(wide), rtol=1e-6)


def test_columns_at_an_edge_are_split_without_a_copy():
    X = np.arange(12.0).reshape(3, 4)
    rest, part = split_columns(X, [3])
    assert np.shares_memory(rest, X)
    np.testing.assert_array_equal(part, X[:, 3:])
    rest, part = split_columns(X, [2, 0])
    np.testing.assert_array_equal(rest, X[:, [1, 3]])
    np.testing.assert_array_equal(part, X[:, [2, 0]])
    assert split_columns(X, []) == (X, None)


@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        (None, []),
        ([], []),
        ("b", [1]),
        (["c", "a"], [2, 0]),
        (np.array([0, 2]), [0, 2]),
        (np.int64(1), [1]),
        (-1, [2]),
        ([True, False, True], [0, 2]),
        (np.zeros(3, dtype=bool), []),
    ],
)
def test_covariate_positions(columns, positions):
    assert covariate_indices(columns, 3, np.array(["a", "b", "c"], dtype=object)) == positions


def test_numpy_strings_are_names():
    """An object index of NumPy strings, as in scikit-learn's data sets without PyArrow."""
    X, y, _ = small()
    names = pd.Index([np.str_(name) for name in "abcdef"], dtype=object)
    named = SMFClassifier(covariate_columns=["b"]).fit(pd.DataFrame(X, columns=names), y)
    indexed = SMFClassifier(covariate_columns=[1]).fit(X, y)
    np.testing.assert_allclose(named.covariate_coef_, indexed.covariate_coef_)


@both
def test_weights_equal_repeated_or_removed_samples(estimator, model):
    X, y, Z = small()
    y, given = outcome(estimator, y), {"model": model, "lam": 1.0, "tol": 1e-12}
    times = np.random.default_rng(0).integers(0, 3, 40)
    times[:2] = 1
    weighted = estimator(**given).fit(X, y, covariates=Z, sample_weight=times)
    repeated = estimator(**given).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times, axis=0), covariates=np.repeat(Z, times, axis=0)
    )
    assert_same_fit(weighted, repeated, rtol=1e-5)
    first = np.concatenate([[0], np.cumsum(times)[:-1]])[times > 0]
    np.testing.assert_allclose(weighted.codes_[times > 0], repeated.codes_[first], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weighted.codes_[times == 0], weighted.transform(X)[times == 0], rtol=1e-10)


def test_weights_of_one_equal_none():
    X, y, _ = small()
    plain = SMFClassifier().fit(X, y)
    for weight in (1.0, [1] * 40, pd.Series(np.ones(40))):
        fitted = SMFClassifier().fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(fitted.components_, plain.components_)


def test_class_weights_multiply_the_loss():
    X, y, _ = small()
    plain, heavy = (SMFClassifier(class_weight=w).fit(X, y) for w in (None, {0: 1.0, 1: 3.0}))
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.05
    share = np.bincount(y) / 40
    balanced = SMFClassifier(class_weight="balanced").fit(X, y)
    assert_same_fit(balanced, SMFClassifier(class_weight=dict(enumerate(0.5 / share))).fit(X, y))


def test_balanced_counts_with_sample_weights():
    classes, codes = np.array(["a", "b"]), np.array([0, 0, 1])
    by_weight = check_class_weight("balanced", classes, codes, np.array([1.0, 2.0, 1.0]))
    repeated = check_class_weight("balanced", classes, np.array([0, 0, 0, 1]), None)
    np.testing.assert_allclose(by_weight, [repeated[0], repeated[0], repeated[3]])
    np.testing.assert_array_equal(check_class_weight({"b": 5.0}, classes, codes, None), [1.0, 1.0, 5.0])


@every
def test_x_is_neither_copied_nor_changed(estimator, monkeypatch):
    X, y, _ = small()
    seen, original = [], base.state

    def state(name, data, *args, **kwargs):
        seen.append(data)
        return original(name, data, *args, **kwargs)

    monkeypatch.setattr(base, "state", state)
    for data in (X, np.asfortranarray(X), X.astype(np.float32)):
        before = data.copy()
        data.flags.writeable = False
        estimator().fit(data, outcome(estimator, y))
        assert np.shares_memory(seen[-1], data)
        np.testing.assert_array_equal(data, before)


@both
def test_float32_stays_float32(estimator, model):
    X, y, Z = small()
    y, single = outcome(estimator, y), X.astype(np.float32)
    one, other = (estimator(model=model, lam=1.0).fit(data, y, covariates=Z) for data in (single, X))
    for name in ("components_", "codes_", "factor_coef_", "covariate_coef_", "intercept_"):
        assert getattr(one, name).dtype == np.float32, name
        assert getattr(other, name).dtype == np.float64, name
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-4)
    assert one.transform(single).dtype == np.float32
    method = "predict_proba" if estimator is SMFClassifier else "predict"
    found = getattr(one, method)(single, covariates=Z)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, getattr(other, method)(X, covariates=Z), atol=5e-3)


def test_without_intercept():
    X, y, _ = small()
    clf = SMFClassifier(fit_intercept=False).fit(X, y)
    assert clf.intercept_.tolist() == [0.0]
    assert clf.covariate_coef_.shape == (1, 0)
    reg = SMFRegressor(6, lam=1e-8, fit_intercept=False).fit(X, X @ np.ones(6) + 3)
    assert np.all(reg.intercept_ == 0)


@every
def test_unfitted(estimator):
    for method in ("predict", "transform", "inverse_transform", "split_columns"):
        with pytest.raises(NotFittedError):
            getattr(estimator(), method)(np.ones((2, 3)))


# --- what a fit says of itself ----------------------------------------------------------------------------


@both
def test_too_few_iterations_warn(estimator, model):
    X, y, _ = small(n=60, classes=3)
    y = outcome(estimator, y)
    with pytest.warns(ConvergenceWarning, match=r"SMF\w+ has not converged: .*max_iter \(now 1\)") as seen:
        estimator(model=model, max_iter=1, tol=1e-15, lam=1e-4).fit(X, y)
    assert {warning.filename for warning in seen} == {__file__}  # the line of the user
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(model=model).fit(X, y)


def test_warning_names_max_iter():
    X, y, _ = small(n=24, p=6, classes=3)
    with pytest.warns(ConvergenceWarning, match=r"limit of 500 .*max_iter or tol \(now 0\.0\)"):
        SMFClassifier(solver="bcd", lam=1e-4, tol=0, certify=None).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_no_warning_with_a_proof():
    X, y, _ = small()
    fitted = SMFRegressor(solver="bcd", xi=1.0, lam=10.0, max_iter=20, tol=1e-300).fit(X, y)
    assert fitted.n_iter_ == 20
    assert fitted.certificate_.is_global


@pytest.mark.parametrize("model", MODELS)
def test_warning_for_violated_constraint(model):
    X, y, _ = small()
    X = np.abs(X)
    fitted = SMFClassifier(model=model, constraint=Box(-0.5, 0.5), tol=0, max_iter=50)
    with pytest.warns(UserWarning, match=r"violates its constraint by up to .*violation_"):
        fitted.fit(X, y)
    B = fitted.codes_ @ fitted.components_
    assert fitted.violation_ >= np.max(np.abs(B)) - 0.5 - 1e-9
    assert fitted.violation_ > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        nmf = SMFClassifier(model=model, constraint=NonNegative(), solver="bcd").fit(X, y)
        ball = SMFClassifier(model=model, constraint=FrobeniusBall(3.0)).fit(X, y)
    assert nmf.violation_ == ball.violation_ == 0.0
    # Codes of new samples are plain projections, whatever the constraint.
    assert nmf.codes_.min() >= 0
    assert nmf.components_.min() >= 0
    assert np.max(np.abs(nmf.transform(X) - nmf.codes_)) > 1e-3


@both
def test_history_and_certificate(estimator, model):
    X, y, _ = small()
    y = outcome(estimator, y)
    fitted, again = (estimator(model=model, lam=0.1).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(fitted.components_, again.components_)  # the same data, the same fit
    assert set(fitted.history_) >= {"objective", "seconds", "step"}
    assert {len(values) for values in fitted.history_.values()} == {fitted.n_iter_}
    assert np.all(np.diff(fitted.history_["seconds"]) >= 0)
    assert fitted.objective_ <= fitted.history_["objective"][0] * (1 + 1e-12)
    certificate = fitted.certificate_
    assert certificate.lower_bound <= fitted.objective_ * (1 + 1e-9)
    assert certificate.gap == pytest.approx(fitted.objective_ - certificate.lower_bound, abs=1e-6)
    for name in ("relative_gap", "is_global", "mu", "L", "condition_number", "step_window", "rate"):
        assert hasattr(certificate, name)
    assert estimator(model=model, lam=0.1, certify=None).fit(X, y).certificate_ is None
    if estimator is not SMFSurvival:
        tight = estimator(model=model, certify="ascent", lam=0.1).fit(X, y).certificate_
        assert tight.lower_bound >= certificate.lower_bound - 1e-9 * abs(certificate.lower_bound)
