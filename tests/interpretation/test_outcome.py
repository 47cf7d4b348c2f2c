"""What factors do for the outcome: contributions against plain code, roles by size, the class that is up."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight
from tests.interpretation.data import PAIRS, case, classifier, loss, pipeline, regressor, table

from superfactor import SMFRegressor
from superfactor.interpretation import factor_view, supervised_factors, top_features, unsupervised

# --- contributions and roles ------------------------------------------------------------------------------


def deviance(c, outputs):
    """The loss of predictions (n, outputs) of the samples that have a label, up to a constant factor."""
    if not hasattr(c.fit, "classes_"):
        return loss(c.fit, c.y, outputs, c.weight)
    known = np.array([label is not None for label in c.y.tolist()])
    y = c.y[known].astype(str)
    weight = c.weight[known] * compute_sample_weight(c.fit.class_weight, y)
    return loss(c.fit, y, outputs[known], weight)


@pytest.mark.parametrize(("name", "model"), PAIRS)
def test_contributions_are_the_deviance_lost_without_each_factor(name, model):
    """Each factor at its mean in turn, nothing refitted; if all are too sure, at their best power of ½."""
    c = case(name, model)
    two = len(getattr(c.fit, "classes_", ())) == 2
    view = factor_view(c.fit, positive=c.fit.classes_[1] if two else None)
    t = view.scores_of(c.codes())
    full = c.outputs(c.covariates)
    part = [np.outer(t[:, j], view.coef[:, j]) for j in range(t.shape[1])]
    none = full - sum(part)
    losses = {s: deviance(c, none + s * sum(part)) for s in 0.5 ** np.arange(8)}
    share = min(losses, key=losses.get)
    assert share == 1 or model == "feature"
    whole = losses[share]
    lost = np.array([deviance(c, none + share * (sum(part) - own)) for own in part]) - whole
    expected = np.clip(lost / (deviance(c, none) - whole), 0, 1)
    tol = 1e-4 if name == "float32" else 1e-7
    np.testing.assert_allclose(view.contribution, expected, atol=tol)
    np.testing.assert_array_equal(view.predictive, expected >= 0.01)
    assert view.predictive[0]


@pytest.mark.parametrize(
    ("name", "rotation"), [("two", "variance"), ("four", "varimax"), ("targets", "varimax")]
)
def test_in_other_rotations_they_are_shares_of_the_activations(name, rotation):
    c = case(name)
    view = factor_view(c.fit, rotation=rotation)
    alone = [np.outer(t, b).var(axis=0).sum() for t, b in zip(view.scores.T, view.coef.T, strict=True)]
    np.testing.assert_allclose(view.contribution, alone / c.outputs().var(axis=0).sum(), rtol=1e-8)


def test_a_factor_of_tiny_effect_is_background():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)) * [5, 4, 3, 2, 1, 1]
    for size, role in ((1.0, "predictive"), (0.05, "background")):
        Y = np.c_[X[:, 4], size * X[:, 5]] + 0.01 * rng.standard_normal((80, 2))
        shown = supervised_factors(SMFRegressor(4, xi=1e-4, lam=1e-4).fit(X, Y))
        assert list(shown["role"]) == ["predictive", role, "background", "background"]
        assert abs(shown["coef[y1]"][2]) > 0.01  # which is not nothing, only too little
        assert shown["direction"][2] == "higher → larger y1"
        assert not shown[["coef[y0]", "coef[y1]"]][2:].any(axis=None)


# --- the class that is up ---------------------------------------------------------------------------------


def unequal(rare):
    """Two classes with one rarer than the other."""
    X, y = table(n=60)
    keep = np.flatnonzero((y != rare) | (np.cumsum(y == rare) % 2 == 0))
    return X.iloc[keep], y[keep]


@pytest.mark.parametrize(("rare", "rotation"), [("normal", "predictive"), ("tumoral", "varimax")])
def test_the_rarer_of_two_classes_is_positive(rare, rotation):
    X, y = unequal(rare)
    fit = pipeline().fit(X, y)
    view = factor_view(fit, rotation=rotation)
    assert view.outputs == (rare,)
    assert view.classes == ("normal", "tumoral")
    assert np.all(view.coef >= 0)
    chance = fit.predict_proba(X)[:, list(fit.classes_).index(rare)]
    assert np.corrcoef(view.scores[:, 0], chance)[0, 1] > 0
    shown = supervised_factors(fit, rotation=rotation)
    assert shown["direction"][1] == f"higher → {rare}"
    np.testing.assert_array_equal(shown[f"coef[{rare}]"], view.coef[0])


@pytest.mark.parametrize("positive", ["normal", "tumoral"])
def test_the_user_chooses_the_positive_class(positive):
    X, y = table()
    fit = pipeline().fit(X, y)
    view = factor_view(fit, positive=positive)
    other = factor_view(factor_view(fit), positive=positive)
    assert view.outputs == other.outputs == (positive,)
    for name in ("correlations", "weights", "coef", "scores", "turn"):
        np.testing.assert_allclose(getattr(view, name), getattr(other, name), atol=1e-12)
    assert view.coef[0, 0] > 0
    sign = 1 if positive == "tumoral" else -1
    usual = factor_view(fit)
    np.testing.assert_allclose(view.correlations[0], sign * usual.correlations[0])
    np.testing.assert_allclose(view.correlations[1:], usual.correlations[1:])  # background stays
    top = top_features(fit, 1, positive=positive)
    assert top["feature"][0] == view.features[np.argmax(view.correlations[0])]
    assert unsupervised(fit, X, y, positive=positive).outputs == (positive,)


def test_every_class_has_a_row_and_any_can_be_positive():
    X, y = table(classes=3)
    fit = pipeline().fit(X, y)
    for positive in fit.classes_:
        view = factor_view(fit, positive=positive)
        assert view.outputs == view.classes == ("normal", "tumoral", "unclear") and view.positive is None
        np.testing.assert_allclose(view.coef.sum(axis=0), 0, atol=1e-12)
        assert np.all(view.coef[view.outputs.index(positive), :2] > 0)


def test_numeric_labels_weights_and_an_unknown_class():
    X, y = table()
    weight = np.where(y == "normal", 1.0, 2.0)
    assert factor_view(classifier().fit(X, y, sample_weight=weight)).outputs == ("normal",)
    assert factor_view(classifier().fit(X, np.where(y == "normal", 3, 7)), positive=3).outputs == ("3",)
    fit = pipeline().fit(X, y)
    line = "positive='cured': one of the classes 'normal', 'tumoral' is required"
    with pytest.raises(ValueError, match=line):
        factor_view(fit, positive="cured")
    with pytest.raises(ValueError, match=line):
        factor_view(factor_view(fit), positive="cured")
    with pytest.raises(ValueError, match="positive='a': a regression has no classes"):
        factor_view(regressor().fit(X, X["gene0"]), positive="a")
