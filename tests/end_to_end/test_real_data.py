"""Whole fits on scikit-learn's bundled data, against independent evaluations in plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, scale

from superfactor import SMFClassifier, SMFRegressor

MODELS = ("filter", "feature")
LAM = {"filter": 1.0, "feature": 0.05}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:300] / 16, y[:300]


def paper_objective(fitted, X, targets, covariates, w):
    """F of docs/method.md §1 from fitted attributes alone; targets are labels or real values."""
    W, H, beta = fitted.components_.T, fitted.codes_.T, fitted.factor_coef_.T
    gamma = fitted.covariate_coef_.T
    inner = X @ W @ beta if fitted.model == "filter" else H.T @ beta
    a = inner + covariates @ gamma + fitted.intercept_
    if isinstance(fitted, SMFClassifier):
        scores = np.c_[np.zeros(len(X)), a] if a.shape[1] == 1 else a
        own = scores[np.arange(len(X)), np.searchsorted(fitted.classes_, targets)]
        loss = np.logaddexp.reduce(scores, axis=1) - own
    else:
        loss = np.sum((targets.reshape(len(X), -1) - a) ** 2, axis=1)
    value = np.sum(w * (loss + fitted.xi * np.sum((X - (W @ H).T) ** 2, axis=1)))
    if fitted.model == "filter":
        ridge = np.sum((W @ beta) ** 2)
    else:
        ridge = np.sum(w[:, None] * (H.T @ beta) ** 2)
    return value + fitted.lam * (ridge + np.sum(gamma**2))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", ["cancer", "digits", "diabetes"])
def test_objective_is_the_papers(data, model, cancer, digits):
    X, y = {"cancer": cancer, "digits": digits}.get(data) or load_diabetes(return_X_y=True)
    if data == "diabetes":
        X, y = scale(X), scale(y)
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((len(X), 2))
    weight = rng.uniform(0.5, 2, len(X))
    estimator = SMFRegressor if data == "diabetes" else SMFClassifier
    fitted = estimator(3, model=model, xi=0.3, lam=LAM[model], lam_covariates=None)
    fitted.fit(X, y, covariates=Z, sample_weight=weight)
    expected = paper_objective(fitted, X, y, Z, weight)
    assert fitted.objective_ == pytest.approx(expected, rel=1e-9)
    assert fitted.certificate_.lower_bound <= expected * (1 + 1e-9)


@pytest.mark.parametrize(
    ("model", "prediction"), [("filter", "exact"), ("feature", "exact"), ("feature", "fast")]
)
def test_accuracy_on_patients_not_seen(model, prediction):
    X, y = load_breast_cancer(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    scaler = StandardScaler().fit(train)
    clf = SMFClassifier(3, model=model, lam=LAM[model], prediction=prediction)
    clf.fit(scaler.transform(train), y_train)
    assert clf.score(scaler.transform(test), y_test) > 0.88


def test_exact_coding_sample_by_sample(digits):
    """predict_proba of the feature model against one scipy problem per sample and label."""
    X, y = digits
    clf = SMFClassifier(4, model="feature", xi=0.2, lam=0.05).fit(X, y)
    W, beta = clf.components_.T, clf.factor_coef_.T
    pinv = np.linalg.pinv(W)
    for i in (0, 7, 31):
        start, energies = pinv @ X[i], []
        for label in range(4):

            def energy(h, start=start, label=label):
                inner = beta.T @ h
                scores = inner + clf.intercept_
                loss = np.logaddexp.reduce(scores) - scores[label]
                return loss + 0.05 * inner @ inner + 0.2 * np.sum((W @ (h - start)) ** 2)

            energies.append(minimize(energy, start, method="BFGS", options={"gtol": 1e-8}).fun)
        expected = np.exp(-np.asarray(energies))
        np.testing.assert_allclose(clf.predict_proba(X[i : i + 1])[0], expected / expected.sum(), atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_kinds_of_arrays_agree(model, digits):
    X, y = digits
    parameters = {"n_components": 4, "model": model, "lam": LAM[model]}
    dense = SMFClassifier(**parameters).fit(X, y)
    proba = dense.predict_proba(X)
    for kind in (sp.csr_array, sp.csc_array):
        sparse = SMFClassifier(**parameters).fit(kind(X), y)
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-9)
        np.testing.assert_allclose(sparse.predict_proba(kind(X)), proba, rtol=1e-4, atol=1e-6)
    single = SMFClassifier(**parameters).fit(X.astype(np.float32), y)
    assert single.objective_ == pytest.approx(dense.objective_, rel=1e-4)
    np.testing.assert_allclose(single.predict_proba(X.astype(np.float32)), proba, atol=5e-3)


@pytest.mark.parametrize("model", MODELS)
def test_torch_agrees_with_numpy(model, digits):
    torch = pytest.importorskip("torch")
    X, y = digits
    parameters = {"n_components": 4, "model": model, "lam": LAM[model]}
    reference = SMFClassifier(**parameters).fit(X, y)
    tensor = torch.asarray(X)
    clf = SMFClassifier(**parameters).fit(tensor, torch.asarray(y))
    assert clf.objective_ == pytest.approx(reference.objective_, rel=1e-9)
    for name in ("components_", "codes_", "factor_coef_", "intercept_"):
        assert isinstance(getattr(clf, name), torch.Tensor), name
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        result = getattr(clf, name)(tensor)
        assert isinstance(result, torch.Tensor), name
        np.testing.assert_allclose(
            result.numpy(), getattr(reference, name)(X), rtol=1e-4, atol=1e-6, err_msg=name
        )
    named = SMFClassifier(**parameters).fit(tensor, np.array(list("abcd"))[y])
    assert named.predict(tensor).dtype.kind == "U"
