"""`unsupervised` against NumPy's SVD and scikit-learn's regressions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from tests.interpretation.data import activations, classifier, pipeline, reconstruction, regressor, table

from superfactor.interpretation import unsupervised
from superfactor.interpretation.comparison import svd as module


def two_classes(shape, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * np.linspace(3, 1, shape[1])
    return X, X[:, 0] + rng.standard_normal(shape[0]) > 0


@pytest.mark.parametrize(("shape", "kind"), [((40, 12), "dense"), ((12, 40), "sparse"), ((20, 20), "dense")])
def test_factors_and_shares_are_those_of_the_svd(shape, kind):
    X, y = two_classes(shape)
    X = X - X.mean(axis=0)
    fit = classifier(rank=3).fit(X, y)
    view = unsupervised(fit, X if kind == "dense" else sp.csr_array(X), y)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    U, s, Vt, n = U[:, :3], s[:3], Vt[:3], shape[0]
    assert (view.model, view.supervised, view.classes) == ("svd", False, ("False", "True"))
    order = np.argsort(-view.share)
    np.testing.assert_allclose(view.share[order], s**2 / np.sum(X**2), rtol=1e-8)
    cosine = view.scores[:, order].T @ U / np.sqrt(n)
    np.testing.assert_allclose(np.abs(cosine), np.eye(3), atol=1e-8)
    signs = np.sign(np.diag(cosine))[:, None]
    np.testing.assert_allclose(view.patterns[order] * signs, Vt * s[:, None] / np.sqrt(n), atol=1e-8)
    np.testing.assert_allclose(view.weights[order] * signs, Vt / s[:, None] * np.sqrt(n), atol=1e-8)


def test_scores_of_uncentred_data_are_rotated_to_the_variance():
    X, y = two_classes((40, 12))
    X = X + 5
    view = unsupervised(classifier(rank=3).fit(X, y), X, y)
    codes = X @ np.linalg.svd(X)[2][:3].T
    np.testing.assert_allclose(np.cov(view.scores.T, ddof=0), np.eye(3), atol=1e-9)
    fit = LinearRegression().fit(codes, X).predict(codes)
    np.testing.assert_allclose(X.mean(axis=0) + reconstruction(view), fit, atol=1e-8)
    axes = PCA(3).fit(fit)
    shares = axes.explained_variance_ratio_ * fit.var(axis=0).sum() / X.var(axis=0).sum()
    np.testing.assert_allclose(np.sort(view.share)[::-1], shares)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_large_data_needs_few_products(kind, monkeypatch):
    X, y = two_classes((40, 12))
    fit = classifier(rank=3).fit(X, y)
    expected = unsupervised(fit, X, y)
    monkeypatch.setattr(module.Options, "compressed_side", 5)
    monkeypatch.setattr(module, "compress", lambda data: None)
    view = unsupervised(fit, X if kind == "dense" else sp.csc_array(X), y)
    for name in ("correlations", "weights", "coef", "share", "scores"):
        np.testing.assert_allclose(getattr(view, name), getattr(expected, name), atol=1e-6)


def test_sparse_data_that_cannot_be_compressed_stay_sparse(monkeypatch):
    X, y = two_classes((40, 12))
    X[:, 11] *= 1e-6  # a singular value that a Gram matrix would not show
    fit = classifier(rank=3).fit(X, y)
    expected = unsupervised(fit, X, y)
    monkeypatch.setattr(module, "truncated_svd", lambda *_: pytest.fail("densified"))
    view = unsupervised(fit, sp.csr_array(X), y)
    np.testing.assert_allclose(view.weights, expected.weights, atol=1e-8)
    np.testing.assert_allclose(view.share, expected.share, rtol=1e-8)


def svd_codes(X):
    return X @ np.linalg.svd(X, full_matrices=False)[2][:3].T


def assert_predicts(view, prediction):
    """As (n, outputs) does, and each coefficient is what one standard deviation adds."""
    np.testing.assert_allclose(activations(view), prediction - prediction.mean(axis=0), rtol=1e-4, atol=1e-5)
    fitted = LinearRegression().fit(view.scores, prediction)
    np.testing.assert_allclose(view.coef, fitted.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("model", "balanced"), [("filter", "balanced"), ("feature", None)])
def test_coefficients_are_those_of_logistic_regression_on_the_codes(model, balanced):
    X, y = two_classes((60, 8))
    fit = classifier(model, rank=3, lam=0.3, class_weight=balanced).fit(X, y)
    codes = svd_codes(X)
    if model == "feature":  # which has the ridge on activations
        codes = codes / np.linalg.norm(codes, axis=0)
    peer = LogisticRegression(C=1 / (2 * 0.3), class_weight=balanced, tol=1e-10, max_iter=10_000)
    assert_predicts(unsupervised(fit, X, y, positive=True), codes @ peer.fit(codes, y).coef_.T)


def test_regression_coefficients_are_those_of_ridge():
    X, _ = two_classes((60, 8))
    Y = X[:, :2] @ [[1.0, 2.0], [0.0, 1.0]] + 3
    codes = svd_codes(X)
    peer = Ridge(alpha=0.7).fit(codes, Y)
    assert_predicts(unsupervised(regressor(rank=3, lam=0.7).fit(X, Y), X, Y), codes @ peer.coef_.T)


def test_axes_are_kept_unless_the_predictive_rotation_is_requested():
    X, y = table()
    fit = pipeline(rank=3).fit(X, y)
    plain = unsupervised(fit, X, y)
    assert plain.coef.all()
    turned = unsupervised(fit, X, y, rotation="predictive")
    assert list(turned.predictive) == [True, False, False] and not turned.coef[:, 1:].any()
    np.testing.assert_allclose(activations(turned), activations(plain), atol=1e-10)
    np.testing.assert_allclose(reconstruction(turned), reconstruction(plain), atol=1e-10)


def test_preprocessing_and_covariates_are_those_of_the_model():
    X, y = table()
    extra = np.random.default_rng(3).standard_normal((len(y), 2))
    fit = pipeline(rank=2, covariate_columns=[2]).fit(X, y, smfclassifier__covariates=extra)
    view = unsupervised(fit, X, y, covariates=extra)
    Z = np.delete(StandardScaler().fit_transform(X), 2, axis=1)
    s = np.linalg.svd(Z, compute_uv=False)
    np.testing.assert_allclose(np.sort(view.share)[::-1], s[:2] ** 2 / np.sum(s**2), rtol=1e-8)
    assert list(view.features) == ["gene0", "gene1", "gene3", "gene4", "gene5", "gene6"]
    with pytest.raises(ValueError, match="covariates=None: the model was fitted with 2"):
        unsupervised(fit, X, y)


def test_unused_rank_is_shown_as_zeros():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 8))
    y = X[:, 0] > 0
    view = unsupervised(classifier("feature", rank=4).fit(X, y), X, y)
    assert view.weights.shape == (4, 8)
    assert not view.weights[2:].any()
    assert not view.coef[:, 2:].any()
    np.testing.assert_allclose(view.share.sum(), 1)


def test_bad_rank():
    X, y = two_classes((30, 8))
    fit = classifier(rank=2).fit(X, y)
    for rank, error in ((0, ValueError), (1.5, TypeError), (9, ValueError)):
        with pytest.raises(error, match=f"n_components={rank}: an integer"):
            unsupervised(fit, X, y, n_components=rank)


def test_leading_directions_of_a_large_tall_table(monkeypatch):
    X = np.random.default_rng(0).standard_normal((60, 8)) * np.geomspace(1, 1e-5, 8)
    monkeypatch.setattr(module, "_MANY_VALUES", X.size)
    assert module._leading(X, 8) is None  # the last ones are lost in rounding
    for rank in (3, 8):
        values, V = module._svd(X, rank)
        np.testing.assert_allclose(values, np.linalg.svd(X, compute_uv=False)[:rank], rtol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(X @ V, axis=0), values, atol=1e-12)
        np.testing.assert_allclose(V.T @ V, np.eye(rank), atol=1e-9)
