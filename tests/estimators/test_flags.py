"""Several yes/no labels at once: forms of y, missing entries, and comparisons with other fits."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, label_ranking_loss, roc_auc_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import scale

from superfactor import SMFClassifier
from superfactor.estimators.fitted.record import from_record, to_record
from superfactor.losses import FlagsLoss, resolve_link
from superfactor.problem import state
from superfactor.solvers.newton import solve


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(120, 12, n_classes=3, random_state=0)
    return scale(X), Y


@pytest.fixture(scope="module")
def incomplete(data):
    X, Y = data
    Y = Y.astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    return X, Y


def test_full_rank_without_reconstruction_is_logistic_regression_of_each_label(data):
    X, Y = data
    model = SMFClassifier(12, xi=1e-12, lam=0.5, tol=1e-14).fit(X, Y)
    for c in range(3):
        # λ‖A‖² is ½‖A‖²/C.
        one = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(X, Y[:, c])
        np.testing.assert_allclose(model.coef_[c], one.coef_[0], atol=1e-6)
        np.testing.assert_allclose(model.intercept_[c], one.intercept_[0], atol=1e-6)
    assert model.certificate_.is_global


def test_one_complete_flag_equals_two_classes(data):
    X, Y = data
    for name in ("filter", "feature"):
        fits = [
            solve(state(name, X, targets, loss, xi=0.02, lam=0.1, rank=2), 2)
            for targets, loss in ((Y[:, :1] * 1.0, FlagsLoss()), (Y[:, 0], resolve_link("logistic", 1)))
        ]
        assert fits[0].objective == pytest.approx(fits[1].objective, rel=1e-10)
        np.testing.assert_allclose(fits[0].factors.gamma, fits[1].factors.gamma, rtol=1e-5)


def test_missing_entries_are_left_out_of_the_loss(incomplete):
    """F of the known entries by a general minimiser over A."""
    X, Y = incomplete
    lam, p, kappa = 0.7, X.shape[1], Y.shape[1]
    model = SMFClassifier(p, xi=1e-10, lam=lam, tol=1e-14).fit(X, Y)
    rows, labels = np.nonzero(~np.isnan(Y))

    def objective(v):
        A, b = v[: p * kappa].reshape(p, kappa), v[p * kappa :]
        a, y = (X @ A + b)[rows, labels], Y[rows, labels]
        slope = np.zeros_like(Y)
        slope[rows, labels] = 1 / (1 + np.exp(-a)) - y
        value = np.sum(np.logaddexp(0, a) - y * a) + lam * np.sum(A**2)
        return value, np.concatenate([(X.T @ slope + 2 * lam * A).ravel(), slope.sum(axis=0)])

    found = minimize(objective, np.zeros((p + 1) * kappa), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert model.objective_ == pytest.approx(found.fun, rel=1e-8)
    np.testing.assert_allclose(model.coef_.T.ravel(), found.x[: p * kappa], atol=1e-5)


def test_value_and_form_of_missing_entries_do_not_matter(incomplete):
    X, Y = incomplete
    plain = SMFClassifier(2).fit(X, Y)
    table = pd.DataFrame(Y, columns=["a", "b", "c"]).astype("boolean")
    written = [
        np.where(np.isnan(Y), None, Y.astype(object)),
        table,
        table.astype(object).where(table.notna(), None),
    ]
    for y in written:
        np.testing.assert_allclose(SMFClassifier(2).fit(X, y).coef_, plain.coef_, rtol=1e-10)
    marked = SMFClassifier(2, unlabeled=-1).fit(X, np.where(np.isnan(Y), -1, Y).astype(int))
    np.testing.assert_allclose(marked.coef_, plain.coef_, rtol=1e-10)
    both = table.astype(object).mask(table.isna() & (np.arange(len(Y)) % 2 == 0)[:, None], -1)
    marked = SMFClassifier(2, unlabeled=-1).fit(X, both)
    np.testing.assert_allclose(marked.coef_, plain.coef_, rtol=1e-10)
    assert SMFClassifier(2).fit(X, table).classes_.tolist() == ["a", "b", "c"]
    assert plain.classes_.tolist() == [0, 1, 2]


def test_a_sample_without_entries_has_no_label(data):
    X, Y = data
    Y = Y.astype(float)
    Y[:10] = np.nan
    model = SMFClassifier(2, xi=0.01, lam=0.1).fit(X, Y)
    assert model.n_labeled_ == 110
    none = model.objective_ - model.fit(X[10:], Y[10:]).objective_
    assert none >= -1e-9  # what is more is the reconstruction of ten samples
    weight = np.r_[np.zeros(10), np.ones(110)]
    Y[:10] = 1
    np.testing.assert_allclose(
        SMFClassifier(2).fit(X, Y, sample_weight=weight).coef_,
        SMFClassifier(2).fit(X[10:], Y[10:]).coef_,
        atol=1e-8,
    )


def test_shapes_and_values(data):
    X, Y = data
    model = SMFClassifier(2).fit(X, Y)
    assert (
        model.factor_coef_.shape == (3, 2) and model.coef_.shape == (3, 12) and model.intercept_.shape == (3,)
    )
    odds = model.decision_function(X)
    np.testing.assert_allclose(odds, X @ model.coef_.T + model.intercept_, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), 1 / (1 + np.exp(-odds)), rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)
    predicted = model.predict(X)
    assert predicted.dtype.kind == "i"
    np.testing.assert_array_equal(predicted, odds > 0)
    assert model.score(X, Y) == accuracy_score(Y, predicted)
    np.testing.assert_allclose(model.class_count_, Y.sum(axis=0))


def test_score_uses_complete_samples(incomplete):
    X, Y = incomplete
    model = SMFClassifier(2).fit(X, Y)
    complete = ~np.isnan(Y).any(axis=1)
    assert model.score(X, Y) == accuracy_score(Y[complete], model.predict(X)[complete])
    Y = Y.copy()
    Y[:, 0] = np.nan
    with pytest.raises(ValueError, match="no sample has all of its labels"):
        model.score(X, Y)


def test_columns_in_another_order_are_recognised_by_name(data):
    X, Y = data
    table = pd.DataFrame(Y, columns=["a", "b", "c"])
    model = SMFClassifier(2).fit(X, table)
    assert model.score(X, table[["c", "a", "b"]]) == model.score(X, Y)
    with pytest.raises(
        ValueError, match=re.escape("y: the columns ['a', 'b', 'd'] are not the labels of the model")
    ):
        model.score(X, table.rename(columns={"c": "d"}))


@pytest.mark.parametrize("prediction", ["exact", "fast"])
def test_feature_model_compares_both_values_of_a_label(incomplete, prediction):
    X, Y = incomplete
    model = SMFClassifier(2, model="feature", xi=0.3, lam=0.05, prediction=prediction).fit(X, Y)
    W, beta, b = model.components_.T, model.factor_coef_.T, model.intercept_
    found = model.decision_function(X[:4])
    codes = model.transform(X[:4])
    if prediction == "fast":
        np.testing.assert_allclose(found, codes @ beta + b, rtol=1e-10)
        return
    for x, h0, odds in zip(X[:4], codes, found, strict=True):
        for c in range(3):
            energy = []
            for y in (0, 1):

                def of(h, y=y, x=x, c=c):
                    a = h @ beta
                    own = a[c] + b[c]
                    return np.logaddexp(0, own) - y * own + 0.05 * a @ a + 0.3 * np.sum((x - W @ h) ** 2)

                energy.append(minimize(of, h0, method="BFGS", options={"gtol": 1e-9}).fun)
            assert odds[c] == pytest.approx(energy[0] - energy[1], abs=1e-6)


def test_scikit_learns_metrics_and_cross_validation(data):
    X, Y = data
    model = SMFClassifier(2).fit(X, Y)
    assert 0.5 < f1_score(Y, model.predict(X), average="macro") <= 1
    assert roc_auc_score(Y, model.predict_proba(X)) > 0.7
    assert label_ranking_loss(Y, model.decision_function(X)) < 0.3
    for labels in (3, 2):
        own = Y[:, :labels]
        scores = cross_val_score(SMFClassifier(2), X, own, scoring="roc_auc", cv=KFold(3))
        expected = [
            roc_auc_score(own[test], SMFClassifier(2).fit(X[train], own[train]).predict_proba(X[test]))
            for train, test in KFold(3).split(X)
        ]
        np.testing.assert_allclose(scores, expected)


def test_forms_of_y(data):
    X, Y = data
    plain = SMFClassifier(2).fit(X, Y).coef_
    for y in (sp.csr_matrix(Y), Y.astype(bool), Y.tolist(), Y.astype(float)):
        np.testing.assert_allclose(SMFClassifier(2).fit(X, y).coef_, plain, rtol=1e-10)
    one = SMFClassifier(2).fit(X, pd.DataFrame({"only": Y[:, 0]}))  # one column is one label, of classes
    assert one.classes_.tolist() == [0, 1] and one.predict(X).shape == (120,)


def test_errors_have_one_line(data):
    X, Y = data
    always = Y.copy()
    always[:, 1] = 1
    with pytest.raises(
        ValueError, match=re.escape("y: label 1 has only 1; samples with 0 and samples with 1")
    ):
        SMFClassifier(2).fit(X, always)
    with pytest.raises(ValueError, match=re.escape("y: label 'b' has no value at all")):
        SMFClassifier(2).fit(X, pd.DataFrame({"a": Y[:, 0], "b": np.full(len(Y), np.nan)}))
    with pytest.raises(
        ValueError, match=r"y: 2(\.0)? in column 0; each of several columns is a yes/no label"
    ):
        SMFClassifier(2).fit(X, Y + 1)
    with pytest.raises(ValueError, match="y: 'yes' in column 'a'"):
        SMFClassifier(2).fit(X, pd.DataFrame({"a": ["yes", "no"] * 60, "b": Y[:, 1]}))
    with pytest.raises(ValueError, match="class_weight='balanced': several yes/no labels take None only"):
        SMFClassifier(2, class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match="link='probit': several yes/no labels take 'logistic' only"):
        SMFClassifier(2, link="probit").fit(X, Y)
    with pytest.raises(ValueError, match="y: one column for each yes/no label is required"):
        SMFClassifier(2).fit(X, Y).score(X, Y[:, 0])


def test_checkpoint_with_missing_entries(incomplete, tmp_path):
    X, Y = incomplete
    path = tmp_path / "state"
    first = SMFClassifier(2, checkpoint=path).fit(X, Y)
    again = SMFClassifier(2, checkpoint=path).fit(X, Y)
    assert again.objective_ == pytest.approx(first.objective_, rel=1e-10)
    other = Y.copy()
    other[np.argwhere(~np.isnan(Y))[0][0]] = np.nan
    with pytest.raises(ValueError, match="other y"):
        SMFClassifier(2, checkpoint=path).fit(X, other)


def test_weights_equal_repeated_samples(incomplete):
    X, Y = incomplete
    weight = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), weight)
    one, other = SMFClassifier(2).fit(X, Y, sample_weight=weight), SMFClassifier(2).fit(X[rows], Y[rows])
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)
    np.testing.assert_allclose(one.class_count_, other.class_count_)


@pytest.mark.parametrize("name", ["filter", "feature"])
def test_record_predicts_the_same(incomplete, name):
    X, Y = incomplete
    model = SMFClassifier(2, model=name).fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    again = from_record(to_record(model))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    assert again.classes_.tolist() == ["a", "b", "c"]
