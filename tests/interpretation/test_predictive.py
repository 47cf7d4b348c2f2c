"""The predictive rotation against what defines it, and the class that is up."""

from dataclasses import replace

import numpy as np
import pytest
from tests.interpretation.data import (
    MODELS,
    activations,
    classifier,
    pipeline,
    reconstruction,
    regressor,
    table,
)

from superfactor import SMFClassifier
from superfactor.constraints import NonNegative
from superfactor.interpretation import (
    factor_view,
    stability,
    supervised_factors,
    top_features,
    unsupervised,
)


def classifier_matrix(fit):
    """A with one column per class, the mean over classes taken off: (p, c) filter, (n, c) feature."""
    side = fit.components_.T if fit.model == "filter" else fit.codes_
    A = side @ fit.coef_.T
    A = np.hstack([np.zeros((len(A), 1)), A])
    return A - A.mean(axis=1, keepdims=True)


def orthonormal_side(view, model):
    side = view.weights.T if model == "filter" else view.codes
    return side / np.linalg.norm(side, axis=0)


# --- the rotation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_predictive_factors_are_the_singular_vectors_of_the_classifier(model, classes):
    X, y = table(classes=classes)
    fit = classifier(model, rank=5).fit(X, y)
    view = factor_view(fit, rotation="predictive")
    k = classes - 1
    assert list(view.predictive) == [True] * k + [False] * (5 - k)
    U, _, _ = np.linalg.svd(classifier_matrix(fit), full_matrices=False)
    cosine = np.abs(U[:, :k].T @ orthonormal_side(view, model)[:, :k])
    np.testing.assert_allclose(np.sort(cosine.max(axis=0)), 1, atol=1e-8)
    assert not view.coef[:, k:].any()  # exactly


@pytest.mark.parametrize("model", MODELS)
def test_background_is_the_principal_axes_of_what_is_left(model):
    X, y = table(p=9)
    fit = classifier(model, rank=5).fit(X, y)
    view = factor_view(fit, rotation="predictive")
    left = view.codes[:, 1:] @ view.weights[1:]
    U, values, Vt = np.linalg.svd(left, full_matrices=False)
    np.testing.assert_allclose(view.share[1:], values[:4] ** 2 / (X**2).to_numpy().sum(), rtol=1e-8)
    axes = Vt[:4].T if model == "filter" else U[:, :4]
    cosine = np.sum(axes * orthonormal_side(view, model)[:, 1:], axis=0)
    np.testing.assert_allclose(np.abs(cosine), 1, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_shares_add_up_to_what_is_reconstructed(model):
    X, y = table(classes=3)
    fit = classifier(model, rank=4).fit(X, y)
    view = factor_view(fit, rotation="predictive")
    whole = (reconstruction(view) ** 2).sum() / (X**2).to_numpy().sum()
    np.testing.assert_allclose(view.share.sum(), whole, rtol=1e-9)
    side = orthonormal_side(view, model)
    np.testing.assert_allclose(side.T @ side, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_with_as_many_outputs_as_factors_all_are_predictive(model):
    X, y = table(classes=4)
    for rank in (2, 3):
        assert factor_view(pipeline(model, rank=rank).fit(X, y)).predictive.all()
    one = factor_view(pipeline(model, rank=1).fit(X, y))
    assert one.predictive.all() and one.coef.shape == (4, 1)


def test_it_does_not_depend_on_the_rotation_of_the_fit():
    X, y = table(classes=3)
    fit = classifier(rank=4).fit(X, y)
    before = factor_view(fit)
    R, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))
    fit.components_, fit.codes_, fit.coef_ = R.T @ fit.components_, fit.codes_ @ R, fit.coef_ @ R
    fit.explained_variance_ratio_ = np.sum(fit.codes_**2, axis=0) / (X**2).to_numpy().sum()
    after = factor_view(fit)
    for name in ("weights", "scaled", "coef", "share", "codes"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-9)


def test_feature_factors_do_not_depend_on_how_size_is_split():
    X, y = table(classes=3)
    fit = classifier("feature", rank=4).fit(X, y)
    before = factor_view(fit)
    M = np.random.default_rng(0).standard_normal((4, 4)) + 3 * np.eye(4)
    inverse = np.linalg.inv(M)
    fit.components_, fit.codes_, fit.coef_ = (
        inverse @ fit.components_,
        fit.codes_ @ M,
        fit.coef_ @ inverse.T,
    )
    sizes = np.sum(fit.components_**2, axis=1) * np.sum(fit.codes_**2, axis=0)
    fit.explained_variance_ratio_ = sizes / (X**2).to_numpy().sum()
    after = factor_view(fit)
    for name in ("scaled", "coef", "share"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("targets", [1, 2])
def test_regression(model, targets):
    X, _ = table()
    Y = np.stack([X["gene1"], X["gene0"] - X["gene3"]], axis=1)[:, :targets]
    fit = regressor(model, rank=4).fit(X - X.mean(), Y - Y.mean(axis=0))
    view = factor_view(fit)
    assert view.predictive.sum() == targets
    scores = fit.codes_ @ fit.coef_.T
    np.testing.assert_allclose(activations(view), scores, atol=1e-12 * np.abs(scores).max())


def test_factors_without_any_effect_are_all_background():
    X, y = table()
    fit = classifier(rank=3).fit(X, y)
    fit.coef_ = np.zeros_like(fit.coef_)
    view = factor_view(fit)
    assert not view.predictive.any()
    np.testing.assert_allclose(view.share, np.sort(view.share)[::-1])
    np.testing.assert_allclose(reconstruction(view), fit.codes_ @ fit.components_, atol=1e-9)


def test_parts_are_not_turned():
    X, y = table()
    fit = SMFClassifier(2, xi=0.1, lam=0.1, solver="bcd", constraint=NonNegative())
    fit.fit(X - X.min(), y)
    view = factor_view(fit)
    assert view.weights.min() >= 0 and view.codes.min() >= 0
    np.testing.assert_array_equal(view.weights, factor_view(fit, rotation="variance").weights)
    assert stability(fit, X - X.min(), y, 2).similarity.shape == (2, 2)
    for model in (fit, view):
        for rotation in ("predictive", "varimax"):
            with pytest.raises(ValueError, match=f"rotation='{rotation}': .* non-negative parts"):
                factor_view(model, rotation=rotation)


def test_plain_svd_keeps_its_axes_unless_asked():
    X, y = table()
    fit = pipeline(rank=3).fit(X, y)
    plain = unsupervised(fit, X, y)
    assert plain.predictive.all()
    turned = unsupervised(fit, X, y, rotation="predictive")
    assert list(turned.predictive) == [True, False, False]
    np.testing.assert_allclose(activations(turned), activations(plain), atol=1e-10)
    np.testing.assert_allclose(reconstruction(turned), reconstruction(plain), atol=1e-10)


# --- the class that is up ----------------------------------------------------------------------------


def unequal(rare):
    """Two classes with one rarer than the other."""
    X, y = table(n=60)
    keep = np.flatnonzero((y != rare) | (np.cumsum(y == rare) % 2 == 0))
    return X.iloc[keep], y[keep]


@pytest.mark.parametrize("rare", ["normal", "tumoral"])
@pytest.mark.parametrize("rotation", ["predictive", "variance", "varimax"])
def test_the_rarer_of_two_classes_is_up(rare, rotation):
    X, y = unequal(rare)
    fit = pipeline().fit(X, y)
    view = factor_view(fit, rotation=rotation)
    assert view.outputs == (rare,)
    assert view.classes == ("normal", "tumoral")
    assert np.all(view.coef >= 0)
    high = X + 3 * view.codes[:, 0].std() * view.weights[0] * fit[0].scale_
    column = list(fit.classes_).index(rare)
    assert np.all(fit.predict_proba(high)[:, column] > fit.predict_proba(X)[:, column])
    shown = supervised_factors(fit, rotation=rotation)
    assert shown["direction"][1] == f"higher → {rare}"
    np.testing.assert_array_equal(shown[f"coef[{rare}]"], view.coef[0])


def test_weights_count():
    X, y = table()
    weight = np.where(y == "normal", 1.0, 2.0)
    assert factor_view(classifier().fit(X, y, sample_weight=weight)).outputs == ("normal",)


@pytest.mark.parametrize("positive", ["normal", "tumoral"])
def test_the_user_says_which_class_is_up(positive):
    X, y = table()
    fit = pipeline().fit(X, y)
    view = factor_view(fit, positive=positive)
    other = factor_view(factor_view(fit), positive=positive)
    assert view.outputs == other.outputs == (positive,)
    for name in ("weights", "coef", "codes", "turn"):
        np.testing.assert_allclose(getattr(view, name), getattr(other, name), atol=1e-12)
    assert view.coef[0, 0] > 0
    sign = 1 if positive == "tumoral" else -1
    usual = factor_view(fit)
    np.testing.assert_allclose(view.weights[0], sign * usual.weights[0])
    np.testing.assert_allclose(view.weights[1:], usual.weights[1:])  # the background stays
    top = top_features(fit, 1, positive=positive)
    assert top["feature"][0] == view.features[np.argmax(view.weights[0])]
    assert unsupervised(fit, X, y, positive=positive).outputs == (positive,)


def test_a_label_need_not_be_a_string():
    X, y = table()
    fit = classifier().fit(X, np.where(y == "normal", 3, 7))
    assert factor_view(fit, positive=3).outputs == ("3",)


@pytest.mark.parametrize("positive", ["normal", "tumoral", "unclear"])
def test_every_class_has_a_row_and_one_of_several_can_be_up(positive):
    X, y = table(classes=3)
    view = factor_view(pipeline().fit(X, y), positive=positive)
    assert view.outputs == view.classes == ("normal", "tumoral", "unclear")
    np.testing.assert_allclose(view.coef.sum(axis=0), 0, atol=1e-12)
    assert np.all(view.coef[view.outputs.index(positive)] >= 0)
    assert np.all(view.coef[view.outputs.index(positive), :2] > 0)


def test_a_class_nobody_knows():
    X, y = table()
    fit = pipeline().fit(X, y)
    line = "positive='cured': one of the classes 'normal', 'tumoral' is required"
    with pytest.raises(ValueError, match=line):
        factor_view(fit, positive="cured")
    with pytest.raises(ValueError, match=line):
        factor_view(factor_view(fit), positive="cured")
    with pytest.raises(ValueError, match="positive='a': a regression has no classes"):
        factor_view(regressor().fit(X, X["gene0"]), positive="a")


def test_the_estimator_is_left_alone():
    X, y = unequal("normal")
    fit = classifier().fit(X, y)
    before = {name: getattr(fit, name).copy() for name in ("components_", "codes_", "coef_")}
    factor_view(fit, rotation="predictive", positive="normal")
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(fit, name), values)


# --- under resampling --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(30, 60), (60, 12)], ids=["wide", "tall"])
def test_resamples_are_turned_likewise(model, shape):
    """Against refits written out: the predictive factor of each is that of its own view."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    y = np.where(X[:, 0] + X[:, 1] > 0, "b", "a")
    fit = classifier(model, rank=3, tol=1e-10).fit(X, y)
    found = stability(fit, X, y, 4, n=3, random_state=3)
    from superfactor.interpretation import resampling

    view = factor_view(fit)
    unit = view.weights / np.linalg.norm(view.weights, axis=1, keepdims=True)
    again = []
    for rows in resampling._resamples(y, np.ones(len(y)), 4, 0.8, 3, 3):
        weight = np.full(len(rows), len(y) / len(rows))
        refit = classifier(model, rank=3, tol=1e-10).fit(X[rows], y[rows], sample_weight=weight)
        first = factor_view(refit).weights[0]
        again.append(first / np.linalg.norm(first))
    np.testing.assert_allclose(found.similarity[:, 0], np.abs(again @ unit[0]), atol=1e-5)
    assert list(found.predictive) == [True, False, False]
    top = found.table[(found.table["factor"] == 1) & (found.table["end"] == "high")]
    returned = [np.isin(np.argsort(-unit[0])[:3], np.argsort(-atom)[:3]) for atom in again]
    np.testing.assert_allclose(top["frequency"], np.mean(returned, axis=0))


def test_kinds_are_matched_among_themselves():
    from superfactor.interpretation.matching import match

    reference, atoms = np.eye(3), np.eye(3)[[1, 0, 2]]
    rows, order, _, similarity = match(reference, atoms)
    assert (list(rows), list(order)) == ([0, 1, 2], [1, 0, 2])
    first = np.array([True, False, False])
    _, order, _, similarity = match(reference, atoms, (first, first))
    assert order[0] == 0
    assert similarity[0] == 0


def test_views_of_a_part_of_the_factors_can_be_turned():
    X, y = table()
    view = factor_view(pipeline(rank=3).fit(X, y), rotation="variance")
    part = replace(
        view,
        weights=view.weights[:2],
        scaled=view.scaled[:2],
        coef=view.coef[:, :2],
        share=view.share[:2],
        codes=view.codes[:, :2],
        turn=view.turn[:, :2],
    )
    turned = factor_view(part, rotation="predictive")
    assert list(turned.predictive) == [True, False]
    np.testing.assert_allclose(reconstruction(turned), reconstruction(part), atol=1e-10)
    np.testing.assert_allclose(activations(turned), activations(part), atol=1e-10)
