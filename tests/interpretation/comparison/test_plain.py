"""How near a model is to plain methods, against scikit-learn on all features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import nearness

rng = np.random.default_rng(0)
LATENT = rng.standard_normal((60, 3)) * [1.0, 4.0, 3.0]
WIDE = LATENT @ rng.standard_normal((3, 150)) + rng.standard_normal((60, 150))
LABELS = (LATENT[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int)


@pytest.mark.parametrize("p", [20, 150], ids=["tall", "wide"])
def test_the_cosine_is_that_of_the_weights_of_the_features(p):
    X = WIDE[:, :p]
    model = SMFClassifier(2, xi=1e-6, lam=1.0).fit(X, LABELS)
    found = nearness(model, X, LABELS)
    # With next to no reconstruction the model is ridge regression itself, at C = 1/(2λ).
    own = model.coef_[0]
    best = max(
        _cosine(own, LogisticRegression(C=C, max_iter=5000).fit(X, LABELS).coef_[0])
        for C in np.logspace(-6, 3, 28)
    )
    assert best > 0.999
    assert 0.5 < found.cosine <= best + 1e-3


def test_the_variance_is_relative_to_principal_components():
    X = WIDE - WIDE.mean(axis=0)
    model = SMFClassifier(2).fit(X, LABELS)
    scores = model.transform(X)
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0]
    explained = np.sum((X.T @ scores) ** 2) / np.sum(X**2)
    plain = PCA(2).fit(X).explained_variance_ratio_.sum()
    assert nearness(model, X, LABELS).variance_kept == pytest.approx(explained / plain, rel=1e-6)


def test_much_reconstruction_is_principal_components():
    X = WIDE - WIDE.mean(axis=0)
    found = nearness(SMFClassifier(3, xi=1e6, lam=1.0).fit(X, LABELS), X, LABELS)
    assert found.variance_kept == pytest.approx(1, abs=1e-6)


def test_other_outcomes_and_tables():
    y = LATENT[:, 0]
    numbers = nearness(SMFRegressor(2).fit(WIDE, y), WIDE, y)
    assert 0 < numbers.cosine <= 1
    several = np.digitize(y, np.quantile(y, [0.33, 0.67]))
    pipe = make_pipeline(StandardScaler(), SMFClassifier(3)).fit(WIDE, several)
    assert 0 < nearness(pipe, WIDE, several).cosine <= 1
    age = LATENT[:, [1]]
    beside = nearness(SMFRegressor(2).fit(WIDE, y, covariates=age), WIDE, y, covariates=age)
    assert 0 < beside.cosine <= 1
    sparse = sp.csr_array(np.where(WIDE > 1, WIDE, 0.0))
    found = nearness(SMFClassifier(2).fit(sparse, LABELS), sparse, LABELS)
    dense = nearness(SMFClassifier(2).fit(sparse.toarray(), LABELS), sparse.toarray(), LABELS)
    assert found.cosine == pytest.approx(dense.cosine, abs=1e-3)
    times = np.array([(True, t) for t in np.exp(-y)], dtype=[("event", bool), ("time", float)])
    survival = nearness(SMFSurvival(2).fit(WIDE, times), WIDE, times)
    assert 0 < survival.cosine <= 1


def _cosine(a, b):
    return abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)
