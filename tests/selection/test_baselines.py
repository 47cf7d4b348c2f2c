"""Baselines held against scikit-learn's pipelines and searches."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from tests.selection.searches import COVARIATES, PCA_LR, RIDGE

from superfactor.outcomes import Classes, classes, ridge
from superfactor.outcomes.ridge import OFF, ridge_probabilities
from superfactor.selection.evaluation import baselines


def table(load, n=90):
    X, y = load(return_X_y=True)
    at = np.random.default_rng(0).permutation(len(y))[:n]
    X, y = X[at], y[at]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_all_strengths_at_once(load):
    X, y = table(load)
    strengths = (0.01, 1.0, 100.0)
    penalties = [np.full(X.shape[1], 1 / C) for C in strengths]
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    found = ridge_probabilities(X[:60], y[:60], X[60:], penalties, weight)
    for C, P in zip(strengths, found, strict=True):
        model = LogisticRegression(C=C, tol=1e-10, max_iter=10000).fit(X[:60], y[:60], weight)
        np.testing.assert_allclose(P, model.predict_proba(X[60:]), atol=2e-4)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_one_strength_after_another(load, monkeypatch):
    """The same as all at once; columns whose penalty is `OFF` are left out."""
    X, y = table(load)
    d = X.shape[1]
    penalties = [np.where(np.arange(d) < rank, 1 / C, OFF) for rank in (3, d) for C in (0.1, 10.0)]
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    together = ridge_probabilities(X[:60], y[:60], X[60:], penalties, weight)
    monkeypatch.setattr(ridge, "_TOGETHER", 0)
    found = ridge_probabilities(X[:60], y[:60], X[60:], penalties, weight)
    np.testing.assert_allclose(found, together, atol=1e-4)


def test_many_samples_are_tuned_until_the_likelihood_falls(monkeypatch):
    monkeypatch.setattr(classes, "LARGEST_HESSIAN", 0)
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.standard_normal((400, 30)) + 0.4 * y[:, None] * (np.arange(30) < 5)
    train, test = np.arange(300), np.arange(300, 400)
    inner = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X[train], y[train]))
    given = Classes(), X[train], X[test], 0, y[train], y[test], inner, 2
    every = baselines.baseline_rows(*given)
    monkeypatch.setattr(baselines, "MANY", 300)
    asked = []
    fit = LogisticRegression.fit
    monkeypatch.setattr(
        LogisticRegression, "fit", lambda self, *args: asked.append(self.C) or fit(self, *args)
    )
    found = baselines.baseline_rows(*given)
    for name, P in every.items():
        np.testing.assert_allclose(found[name], P, atol=2e-3)  # from another start
    assert Classes.strengths[-1] not in asked


def test_likelihoods_behind_a_lower_one_do_not_count():
    assert baselines._until_falling(iter([-3.0, -1.0, -1.0005, -2.0, -0.5]), 5) == [
        -3.0,
        -1.0,
        -1.0005,
        -2.0,
        -np.inf,
    ]


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("largest", [300, 0])
def test_tuned_on_the_inner_folds(load, largest, monkeypatch):
    monkeypatch.setattr(classes, "LARGEST_HESSIAN", largest)
    X, y = table(load)
    train, test = np.arange(60), np.arange(60, 90)
    inner = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X[train], y[train]))
    found = baselines.baseline_rows(Classes(), X[train], X[test], 0, y[train], y[test], inner, len(set(y)))
    assert set(found) == {PCA_LR, RIDGE}
    scaled = X / baselines.first_deviation(X[train])
    first = np.linalg.norm(X[train], 2) / np.sqrt(60)
    assert baselines.first_deviation(X[train]) == pytest.approx(first, rel=0.01)
    most = min(X.shape[1], 20)
    lr = LogisticRegression(tol=1e-8, max_iter=10000)
    searches = {
        RIDGE: (lr, {"C": Classes.strengths}),
        PCA_LR: (
            Pipeline([("pca", PCA()), ("lr", lr)]),
            {
                "pca__n_components": sorted({min(r, most) for r in baselines.RANKS}),
                "lr__C": Classes.few_strengths,
            },
        ),
    }
    for name, (model, grid) in searches.items():
        search = GridSearchCV(model, grid, cv=inner, scoring="neg_log_loss")
        expected = search.fit(scaled[train], y[train]).predict_proba(scaled[test])
        # Newton is exact, gradients stop at the tolerance of scikit-learn.
        np.testing.assert_allclose(found[name], expected, atol=5e-3 if largest else 5e-2)


def test_covariates_stand_beside_and_alone():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    rows = np.column_stack([rng.normal(size=(80, 6)), y + 0.1 * rng.normal(size=80)])
    train, test = np.arange(60), np.arange(60, 80)
    inner = list(StratifiedKFold(3).split(rows[train], y[train]))
    found = baselines.baseline_rows(Classes(), rows[train], rows[test], 1, y[train], y[test], inner, 2)
    for name in (PCA_LR, RIDGE, COVARIATES):
        assert np.mean(found[name].argmax(axis=1) == y[test]) == 1.0
    # Their unit does not matter.
    rows[:, -1] *= 1000
    again = baselines.baseline_rows(Classes(), rows[train], rows[test], 1, y[train], y[test], inner, 2)
    for name, P in found.items():
        np.testing.assert_allclose(P, again[name], atol=1e-8)


def test_a_class_unknown_to_a_fold_has_no_probability():
    y = np.array([0] * 10 + [1] * 10 + [2] * 2)
    rows = np.random.default_rng(0).normal(size=(22, 4))
    inner = [(np.arange(20), np.array([20, 21])), (np.arange(2, 22), np.array([0, 1]))]
    found = baselines.baseline_rows(Classes(), rows, rows, 0, y, y, inner, 3)
    assert all(P.shape == (22, 3) and np.isfinite(P).all() for P in found.values())


def test_baselines_of_a_balanced_model_are_balanced():
    """A rare class is not left to be never predicted."""
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 20 == 0).astype(int)
    X = rng.standard_normal((200, 5)) + 0.8 * y[:, None]
    train, test = np.arange(150), np.arange(150, 200)
    inner = list(StratifiedKFold(3).split(X[train], y[train]))
    given = Classes(), X[train], X[test], 0, y[train], y[test], inner, 2
    plain, fair = (baselines.baseline_rows(*given, balanced=balanced)[RIDGE] for balanced in (False, True))
    assert fair[:, 1].mean() > 3 * plain[:, 1].mean()
    weight = np.where(y[train] == 1, 150 / 2 / y[train].sum(), 150 / 2 / (150 - y[train].sum()))
    scaled = X / baselines.first_deviation(X[train])
    expected = [
        LogisticRegression(C=C, max_iter=1000)
        .fit(scaled[train], y[train], weight)
        .predict_proba(scaled[test])
        for C in Classes.strengths
    ]
    assert min(np.abs(fair - P).max() for P in expected) < 1e-3


@pytest.mark.parametrize("parts", ["folds", "shuffled", "overlapping"])
def test_axes_from_sums_are_those_of_the_rows(parts, monkeypatch):
    """Whether or not the parts asked about are all samples once, and with strangers beside them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8)) + 0.1 * rng.standard_normal((60, 8)) + 2
    strangers = rng.standard_normal((5, 8))
    positions = rng.permutation(60)
    inner = {
        "folds": [(np.setdiff1d(positions, at), at) for at in np.array_split(positions, 3)],
        "shuffled": [(positions[20:], positions[:20]), (positions[:40], positions[40:50])],
        "overlapping": [(positions[10:], positions[:20]), (positions[:40], positions[40:])],
    }[parts]
    found = baselines._spectra(X, strangers, inner)
    assert isinstance(found, baselines._SpectraOfSums)
    assert found.deviation() == pytest.approx(baselines.first_deviation(X), rel=1e-12)
    for number, rows in [(None, X), *((k, X[fit]) for k, (fit, _) in enumerate(inner))]:
        mean, axes = found.axes(number, 3)
        pca = PCA(3).fit(np.vstack([rows, strangers]))
        np.testing.assert_allclose(mean, pca.mean_)
        np.testing.assert_allclose(np.abs(pca.components_ @ axes), np.eye(3), atol=1e-9)
    monkeypatch.setattr(baselines, "_ALL_AXES", 2)
    np.testing.assert_allclose(np.abs(pca.components_ @ found.axes(number, 3)[1]), np.eye(3), atol=1e-6)


def test_sparse_rows_without_covariates():
    X, y = table(load_breast_cancer, 60)
    inner = list(StratifiedKFold(3).split(X[:40], y[:40]))
    dense = baselines.baseline_rows(Classes(), X[:40], X[40:], 0, y[:40], y[40:], inner, 2)
    rows = sp.csr_array(X[:40]), sp.csr_array(X[40:])
    found = baselines.baseline_rows(Classes(), *rows, 0, y[:40], y[40:], inner, 2)
    np.testing.assert_allclose(found[RIDGE], dense[RIDGE], atol=5e-2)
