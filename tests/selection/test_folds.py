"""One fold: the scores of candidates along a path are those of separate fits."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import check_scoring, log_loss
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import MODELS

from superfactor import SMFClassifier
from superfactor.outcomes import Classes
from superfactor.selection.rows.coordinates import FoldRows
from superfactor.selection.search.folds import score_fold

N = 60
TRAIN, TEST = np.arange(N)[np.arange(N) % 3 != 0], np.arange(0, N, 3)
LOSS = check_scoring(SMFClassifier(), "neg_log_loss")
# In no order at all, λ far apart, so that a path goes a long way between neighbours.
POINTS = {
    "filter": [(1, 0.01, 50.0), (3, 0.001, 2000.0), (1, 0.01, 2000.0), (3, 0.01, 50.0)],
    "feature": [(1, 0.01, 0.1), (3, 0.001, 10.0), (1, 0.01, 10.0), (3, 0.01, 0.5)],
}


def genes(p):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(N) % 2, "tumour", "normal")
    X = rng.standard_normal((N, p)) * rng.uniform(0.5, 2, p) + 1
    X[:, :6] += 0.8 * (y == "tumour")[:, None]
    return X, y


def points(*models):
    names = ("n_components", "xi", "lam")
    return [
        {"model": model, **dict(zip(names, values, strict=True))}
        for values in zip(*(POINTS[model] for model in models), strict=True)
        for model, values in zip(models, values, strict=True)
    ]


def fold(rows, y, candidates, scorer=LOSS, score_weight=None, **options):
    base = SMFClassifier(**options)
    outcome = Classes()
    target = outcome.target(y, np.zeros((len(y), 0)), "search")
    return score_fold(base, rows, outcome, target, candidates, TRAIN, TEST, scorer, score_weight)


def separate(X, y, candidates, weight=None, **given):
    """−log loss of every candidate by a fit of its own, to the default tolerance."""
    scores = []
    for point in candidates:
        covariates = given.get("covariates")
        inside = {} if covariates is None else {"covariates": covariates[TRAIN]}
        outside = {} if covariates is None else {"covariates": covariates[TEST]}
        fit = SMFClassifier(**point, certify=None)
        fit.fit(X[TRAIN], y[TRAIN], sample_weight=None if weight is None else weight[TRAIN], **inside)
        probabilities = fit.predict_proba(X[TEST], **outside)
        test = None if weight is None else weight[TEST]
        scores.append(-log_loss(y[TEST], probabilities, sample_weight=test))
    return scores


@pytest.mark.parametrize("p", [12, 150], ids=["tall", "wide"])
@pytest.mark.parametrize("models", [("filter", "feature")], ids="-".join)
def test_scores_along_a_path_are_those_of_separate_fits(models, p):
    X, y = genes(p)
    candidates = points(*models)
    found = fold(FoldRows(X, None, None, None, None), y, candidates)
    assert found.shape == (len(candidates), 3)
    np.testing.assert_allclose(found[:, 0], separate(X, y, candidates), atol=1e-4)
    assert len(set(found[:, 0].round(3))) > len(candidates) // 2  # they differ by more than that
    assert (found[:, 1:] > 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_weights_reach_fits_and_scores(model):
    X, y = genes(12)
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    candidates = points(model)
    rows = FoldRows(X, None, None, weight, None)
    found = fold(rows, y, candidates, score_weight=weight)
    np.testing.assert_allclose(found[:, 0], separate(X, y, candidates, weight), atol=1e-4)
    unscored = fold(rows, y, candidates)
    assert np.abs(unscored[:, 0] - found[:, 0]).max() > 1e-3


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_covariates_come_last_and_are_not_factorized(kind):
    X, y = genes(40)
    Z = X[:, :1] + np.random.default_rng(2).standard_normal((N, 2))
    candidates = points("filter")
    data = X if kind == "dense" else sp.csr_array(X)
    beside = Z if kind == "dense" else sp.csr_array(Z)
    found = fold(FoldRows(data, None, beside, None, None), y, candidates)
    expected = separate(X, y, candidates, covariates=Z)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-4)


@pytest.mark.parametrize("preprocess", ["center", "standardize"])
def test_preprocessing_is_learned_from_the_training_part(preprocess):
    X, y = genes(90)
    X[TEST] += 3.0  # what all samples would teach is something else
    scaler = StandardScaler(with_std=preprocess == "standardize").fit(X[TRAIN])
    candidates = points("filter")
    found = fold(FoldRows(X, None, None, None, preprocess), y, candidates)
    expected = separate(scaler.transform(X), y, candidates)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-4)


def test_labels_of_the_test_part_are_not_seen():
    X, y = genes(30)
    seen = []

    def scorer(fit, X, y):
        seen.append(fit.predict_proba(X))
        return 0.0

    other = y.copy()
    other[TEST] = "normal"
    rows = FoldRows(X, None, None, None, None)
    for labels in (y, other):
        fold(rows, labels, points("filter"), scorer)
    np.testing.assert_array_equal(seen[:4], seen[4:])


def test_data_are_stated_once_a_model(monkeypatch):
    X, y = genes(30)
    asked = []
    state = SMFClassifier.state

    def watched(self, *args, **options):
        asked.append(self.model)
        return state(self, *args, **options)

    monkeypatch.setattr(SMFClassifier, "state", watched)
    fold(FoldRows(X, None, None, None, None), y, points("filter", "feature"))
    assert sorted(asked) == ["feature", "filter"]
