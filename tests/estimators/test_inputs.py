"""Covariates, weights, names and types, and what they have to be equal to."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.estimators.data import ESTIMATORS, MODELS, small

from superfactor import SMFClassifier, SMFRegressor
from superfactor.constraints import Box, FrobeniusBall, NonNegative
from superfactor.estimators.inputs import covariate_indices, split_columns
from superfactor.estimators.targets import check_class_weight

both = pytest.mark.parametrize(("estimator", "model"), [(e, m) for e in ESTIMATORS for m in MODELS])


def assert_same_fit(one, other, rtol=1e-6):
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    for name in ("components_", "factor_coef_", "covariate_coef_", "intercept_"):
        scale = np.max(np.abs(getattr(other, name)), initial=0.0)
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol * scale, err_msg=name
        )


@both
def test_covariate_columns_are_covariates(estimator, model):
    X, y, Z = small()
    by_array = estimator(model=model).fit(X, y, covariates=Z)
    wide = np.c_[X[:, :2], Z[:, :1], X[:, 2:], Z[:, 1:]]
    by_index = estimator(model=model, covariate_columns=[2, -1]).fit(wide, y)
    frame = pd.DataFrame(wide, columns=["a", "b", "age", "c", "d", "e", "f", "sex"])
    by_name = estimator(model=model, covariate_columns=["age", "sex"]).fit(frame, y)
    swapped = estimator(model=model, covariate_columns=["sex", "age"]).fit(frame, y)
    for fitted in (by_index, by_name):
        assert_same_fit(fitted, by_array)
        assert fitted.n_features_in_ == 8
        assert fitted.components_.shape == (2, 6)
    np.testing.assert_allclose(
        swapped.covariate_coef_, by_name.covariate_coef_[:, ::-1], rtol=1e-6, atol=1e-9
    )
    assert list(by_name.feature_names_in_) == list(frame.columns)
    np.testing.assert_allclose(by_name.predict(frame), by_array.predict(X, Z), rtol=1e-6)
    np.testing.assert_allclose(by_name.transform(frame), by_array.transform(X), atol=1e-6)


@both
def test_columns_and_array_together(estimator, model):
    X, y, Z = small()
    by_array = estimator(model=model).fit(X, y, covariates=Z)
    mixed = estimator(model=model, covariate_columns=0)
    mixed.fit(np.c_[Z[:, 0], X], y, covariates=Z[:, 1])
    assert_same_fit(mixed, by_array)
    np.testing.assert_allclose(
        mixed.predict(np.c_[Z[:, 0], X], covariates=Z[:, 1:]), by_array.predict(X, Z), rtol=1e-6
    )


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
    rest, part = split_columns(X, [])
    assert rest is X
    assert part is None


def test_covariate_positions():
    names = np.array(["a", "b", "c"], dtype=object)
    assert covariate_indices(None, 3, names) == []
    assert covariate_indices([], 3, names) == []
    assert covariate_indices("b", 3, names) == [1]
    assert covariate_indices(["c", "a"], 3, names) == [2, 0]
    assert covariate_indices(np.array([0, 2]), 3, None) == [0, 2]
    assert covariate_indices(np.int64(1), 3, None) == [1]
    assert covariate_indices(-1, 3, names) == [2]
    assert covariate_indices([True, False, True], 3, None) == [0, 2]
    assert covariate_indices(np.array([False, True, False]), 3, names) == [1]
    assert covariate_indices(np.zeros(3, dtype=bool), 3, names) == []


@both
def test_weight_two_is_twice_and_weight_zero_is_never(estimator, model):
    X, y, Z = small()
    times = np.random.default_rng(0).integers(0, 3, 40)
    times[:2] = 1
    weighted = estimator(model=model).fit(X, y, covariates=Z, sample_weight=times)
    repeated = estimator(model=model).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times), covariates=np.repeat(Z, times, axis=0)
    )
    assert_same_fit(weighted, repeated)
    assert weighted.codes_.shape == (40, 2)
    first = np.concatenate([[0], np.cumsum(times)[:-1]])[times > 0]
    np.testing.assert_allclose(weighted.codes_[times > 0], repeated.codes_[first], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weighted.codes_[times == 0], weighted.transform(X)[times == 0], rtol=1e-10)


def test_weights_of_one_are_no_weights():
    X, y, _ = small()
    plain = SMFClassifier().fit(X, y)
    for weight in (1.0, np.ones(40), [1] * 40, pd.Series(np.ones(40))):
        fitted = SMFClassifier().fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(fitted.components_, plain.components_)


@pytest.mark.parametrize("model", MODELS)
def test_class_weights_multiply_the_loss(model):
    X, y, _ = small()
    by_dict = SMFClassifier(model=model, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    assert by_dict.predict_proba(X)[:, 1].mean() > (
        SMFClassifier(model=model).fit(X, y).predict_proba(X)[:, 1].mean() + 0.05
    )
    share = np.bincount(y) / 40
    balanced = SMFClassifier(model=model, class_weight="balanced").fit(X, y)
    same = SMFClassifier(model=model, class_weight=dict(enumerate(0.5 / share))).fit(X, y)
    assert_same_fit(balanced, same)


def test_balanced_counts_with_sample_weights():
    classes, codes = np.array(["a", "b"]), np.array([0, 0, 1])
    by_weight = check_class_weight("balanced", classes, codes, np.array([1.0, 2.0, 1.0]))
    repeated = check_class_weight("balanced", classes, np.array([0, 0, 0, 1]), None)
    np.testing.assert_allclose(by_weight, [repeated[0], repeated[0], repeated[3]])
    partial = check_class_weight({"b": 5.0}, classes, codes, None)
    np.testing.assert_array_equal(partial, [1.0, 1.0, 5.0])


@both
def test_x_is_neither_copied_nor_changed(estimator, model, monkeypatch):
    X, y, _ = small()
    seen = []
    from superfactor.estimators import base

    def state(name, data, *args, **kwargs):
        seen.append(data)
        return original(name, data, *args, **kwargs)

    original = base.state
    monkeypatch.setattr(base, "state", state)
    for data in (X, np.asfortranarray(X), X.astype(np.float32)):
        before = data.copy()
        data.flags.writeable = False
        estimator(model=model).fit(data, y)
        assert np.shares_memory(seen[-1], data)
        np.testing.assert_array_equal(data, before)


@both
def test_float32_stays_float32(estimator, model):
    X, y, Z = small()
    single = estimator(model=model).fit(X.astype(np.float32), y, covariates=Z)
    double = estimator(model=model).fit(X, y, covariates=Z)
    for name in ("components_", "codes_", "factor_coef_", "covariate_coef_", "intercept_"):
        assert getattr(single, name).dtype == np.float32, name
        assert getattr(double, name).dtype == np.float64, name
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    if estimator is SMFClassifier:
        proba = single.predict_proba(X.astype(np.float32), covariates=Z)
        assert proba.dtype == np.float32
        np.testing.assert_allclose(proba, double.predict_proba(X, covariates=Z), atol=2e-3)
    else:
        predicted = single.predict(X.astype(np.float32), covariates=Z)
        assert predicted.dtype == np.float32
        np.testing.assert_allclose(predicted, double.predict(X, covariates=Z), atol=2e-3)


def test_without_intercept():
    X, y, _ = small()
    clf = SMFClassifier(fit_intercept=False).fit(X, y)
    assert np.all(clf.intercept_ == 0)
    assert clf.intercept_.shape == (1,)
    assert clf.covariate_coef_.shape == (1, 0)
    reg = SMFRegressor(6, lam=1e-8, fit_intercept=False).fit(X, X @ np.ones(6) + 3)
    assert np.all(reg.intercept_ == 0)


def test_unfitted():
    with pytest.raises(NotFittedError):
        SMFClassifier().predict(np.ones((2, 3)))
    with pytest.raises(NotFittedError):
        SMFRegressor().inverse_transform(np.ones((2, 3)))


@both
def test_too_few_iterations_warn(estimator, model):
    X, y, _ = small(n=60, classes=3)
    with pytest.warns(ConvergenceWarning, match=r"SMF\w+ has not converged: .*max_iter"):
        estimator(model=model, max_iter=1, tol=1e-15, lam=1e-4).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(model=model).fit(X, y)


def test_warnings_show_the_line_of_the_user_and_the_limit_in_force():
    X, y, _ = small(n=60, classes=3)
    short = SMFClassifier(max_iter=1, tol=1e-15, lam=1e-4)
    with pytest.warns(ConvergenceWarning, match=r"max_iter \(now 1\)") as seen:
        short.fit(X, y)
    assert [warning.filename for warning in seen] == [__file__]
    with pytest.warns(ConvergenceWarning, match=r"limit of 500 .*max_iter or tol \(now 0\.0\)"):
        SMFClassifier(solver="bcd", lam=1e-4, tol=0, certify=None).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_a_proof_is_as_good_as_convergence():
    X, y, _ = small()
    fitted = SMFRegressor(solver="bcd", xi=1.0, lam=10.0, max_iter=20, tol=1e-300).fit(X, y)
    assert fitted.n_iter_ == 20
    assert fitted.certificate_.is_global


@both
def test_leaving_the_constraint_is_said(estimator, model):
    X, y, _ = small()
    X = np.abs(X)
    fitted = estimator(model=model, constraint=Box(-0.5, 0.5), tol=0, max_iter=50)
    with pytest.warns(UserWarning, match=r"outside its constraint by up to .*violation_") as seen:
        fitted.fit(X, y)
    assert {warning.filename for warning in seen} == {__file__}
    B = fitted.codes_ @ fitted.components_
    assert fitted.violation_ >= np.max(np.abs(B)) - 0.5 - 1e-9
    assert fitted.violation_ > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        inside = [
            estimator(model=model).fit(X, y),
            estimator(model=model, constraint=NonNegative(), solver="bcd").fit(X, y),
            estimator(model=model, constraint=FrobeniusBall(3.0)).fit(X, y),
        ]
    assert [fit.violation_ for fit in inside] == [0.0, 0.0, 0.0]
    # Codes of new samples are plain projections, whatever the constraint.
    nmf = inside[1]
    assert nmf.codes_.min() >= 0
    assert nmf.components_.min() >= 0
    assert np.max(np.abs(nmf.transform(X) - nmf.codes_)) > 1e-3


@both
def test_the_same_data_gives_the_same_fit(estimator, model):
    X, y, _ = small()
    one, other = (estimator(model=model, lam=1e-3).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.factor_coef_, other.factor_coef_)


@both
def test_history_and_certificate(estimator, model):
    X, y, _ = small()
    fitted = estimator(model=model).fit(X, y)
    assert set(fitted.history_) >= {"objective", "seconds", "step"}
    assert {len(values) for values in fitted.history_.values()} == {fitted.n_iter_}
    assert np.all(np.diff(fitted.history_["seconds"]) >= 0)
    objective = np.asarray(fitted.history_["objective"])
    assert fitted.objective_ <= objective[0] * (1 + 1e-12)
    certificate = fitted.certificate_
    assert certificate.lower_bound <= fitted.objective_ * (1 + 1e-9)
    assert certificate.gap == pytest.approx(fitted.objective_ - certificate.lower_bound, abs=1e-6)
    for name in ("relative_gap", "is_global", "mu", "L", "condition_number", "step_window", "rate"):
        assert hasattr(certificate, name)
    assert certificate.statement.endswith(".")
    assert estimator(model=model, certify=None).fit(X, y).certificate_ is None
    tight = estimator(model=model, certify="ascent", lam=1e-2).fit(X, y).certificate_
    loose = estimator(model=model, certify="residual", lam=1e-2).fit(X, y).certificate_
    assert tight.lower_bound >= loose.lower_bound - 1e-9 * abs(loose.lower_bound)


def test_covariate_columns_with_numpy_strings_as_names():
    """An object index of NumPy strings, as scikit-learn's own data sets give it without PyArrow."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = pd.Index([np.str_(name) for name in "abcd"], dtype=object)
    X, y = rng.standard_normal((20, 4)), np.arange(20) % 2
    named = SMFClassifier(covariate_columns=["b"]).fit(pd.DataFrame(X, columns=names), y)
    indexed = SMFClassifier(covariate_columns=[1]).fit(X, y)
    np.testing.assert_allclose(named.covariate_coef_, indexed.covariate_coef_)
