"""`factor_view` against explicit matrices, scikit-learn's regressions and the estimators' own predictions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.interpretation.data import PAIRS, case, classifier, pipeline, regressor, table

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor
from superfactor.constraints import NonNegative
from superfactor.interpretation import factor_view, stability

ROTATIONS = ("predictive", "variance", "varimax")
ARRAYS = ("correlations", "patterns", "weights", "coef", "share", "contribution", "scores", "turn")
every_pair = pytest.mark.parametrize(("name", "model"), PAIRS)
every_rotation = pytest.mark.parametrize("rotation", ROTATIONS)


def view_of(c, **options):
    """With the second of two classes up, as decision_function has it."""
    two = len(getattr(c.fit, "classes_", ())) == 2
    return factor_view(c.fit, positive=c.fit.classes_[1] if two else None, **options)


def close(found, expected, name, **how):
    """Up to rounding: that of single precision, or of a fit whose codes are ill-conditioned."""
    tol = 3e-5 if name == "float32" else 1e-8
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol * np.abs(expected).max(), **how)


# --- the mathematics ------------------------------------------------------------------------------------


@every_pair
def test_shown_values_are_regressions_on_uncorrelated_scores(name, model):
    c = case(name, model)
    views = [view_of(c, rotation=rotation) for rotation in ROTATIONS]
    for view in views:
        check_regressions(name, c, view)
    for other in views[1:]:  # all reconstruct and predict the same
        close(other.scores @ other.patterns, views[0].scores @ views[0].patterns, name)
        close(other.scores @ other.coef.T, views[0].scores @ views[0].coef.T, name)


def check_regressions(name, c, view):
    t, w = view.scores_of(c.codes()), c.weight
    r = t.shape[1]
    close(1 + np.average(t, axis=0, weights=w), np.ones(r), name)
    close(np.cov(t.T, aweights=w, ddof=0), np.eye(r), name)
    close(t, c.X @ view.weights.T - np.average(c.X @ view.weights.T, axis=0, weights=w), name)
    of_X = LinearRegression().fit(t, c.X, w)
    close(view.patterns, of_X.coef_.T, name)

    def explained(k):
        fit = LinearRegression().fit(t[:, k], c.X, w).predict(t[:, k])
        return r2_score(c.X, fit, sample_weight=w, multioutput="variance_weighted")

    close(view.share, [explained([j]) for j in range(r)], name)
    close(view.share.sum(), explained(slice(None)), name)
    varies = np.ptp(c.X, axis=0) > 0
    both = np.repeat(np.hstack([t, c.X[:, varies]]), w.astype(int), axis=0)
    expected = np.zeros((r, c.X.shape[1]))
    expected[:, varies] = np.corrcoef(both.T)[:r, r:]
    close(view.correlations, expected, name)
    of_outputs = LinearRegression().fit(t, c.outputs(), w)
    close(view.coef, of_outputs.coef_, name)
    # Nothing of the prediction is lost.
    close(of_outputs.predict(t), c.outputs(), name)
    assert all(np.isfinite(getattr(view, field)).all() for field in ARRAYS)


def by_hand(c, rank):
    """Scores (n, r) from explicit matrices: axes of the activations, then of what else codes explain."""
    kept = c.weight > 0
    D = c.weight[kept] / c.weight.sum()
    X, S, A = ((M - D @ M) * np.sqrt(D)[:, None] for M in (x[kept] for x in (c.X, c.codes(), c.outputs())))
    U, values, _ = np.linalg.svd(A, full_matrices=False)
    first = U[:, values > 1e-4 * values[0]]
    S = S / np.linalg.norm(S, axis=0)
    rest, _, _ = np.linalg.svd(S - first @ (first.T @ S), full_matrices=False)
    rest = rest[:, : rank - first.shape[1]]
    axes, _, _ = np.linalg.svd(rest.T @ X, full_matrices=False)
    return np.hstack([first, rest @ axes]) / np.sqrt(D)[:, None], first.shape[1], kept, D


@every_pair
def test_predictive_scores_come_first_and_explain_the_activations(name, model):
    c, view = case(name, model), view_of(case(name, model))
    expected, k, kept, D = by_hand(c, len(view.share))
    t = view.scores_of(c.codes())[kept]
    close(np.abs((expected.T * D) @ t), np.eye(len(view.share)), name)
    outputs = len(view.outputs) - (name == "four")  # against the mean of all classes
    assert k == min(outputs, len(view.share))
    assert np.all(np.any(view.coef != 0, axis=0) == (np.arange(len(view.share)) < k))  # exactly
    assert np.all(np.diff(np.linalg.norm(view.coef, axis=0)[:k]) < 0)
    assert np.all(np.diff(view.share[k:]) < 0)


def test_varimax_makes_patterns_simple():
    view = view_of(case("four"), rotation="varimax")

    def criterion(patterns):
        return np.var(patterns**2, axis=1).sum()

    best = criterion(view.patterns)
    for rotation in ("predictive", "variance"):
        assert criterion(view_of(case("four"), rotation=rotation).patterns) < best
    for seed in range(20):
        assert criterion(ortho_group.rvs(4, random_state=seed) @ view.patterns) <= best


# --- order, sign, size ------------------------------------------------------------------------------------


@every_rotation
@pytest.mark.parametrize("name", ["two", "four", "targets", "survival"])
def test_order_and_sign(name, rotation):
    view = factor_view(case(name, "filter" if rotation == "varimax" else "feature").fit, rotation=rotation)
    assert np.all(np.diff(np.linalg.norm(view.coef, axis=0)) <= 0)
    leading = np.take_along_axis(view.coef, np.abs(view.coef).argmax(axis=0)[None], axis=0)[0]
    strongest = np.take_along_axis(view.correlations, np.abs(view.correlations).argmax(axis=1)[:, None], 1)
    assert np.all((leading > 0) | ((leading == 0) & (strongest[:, 0] > 0)))


def test_disagreement_and_shown_values():
    view = factor_view(case("wide").fit)
    expected = np.sign(view.weights) * np.sign(view.correlations) == -1
    np.testing.assert_array_equal(view.disagree, expected)
    assert expected[0].any() and not expected.all()
    np.testing.assert_array_equal(view.shown(), view.correlations)
    largest = np.abs(view.weights).max(axis=1, keepdims=True)
    np.testing.assert_allclose(view.shown("weight"), view.weights / largest)
    with pytest.raises(ValueError, match="by='size': 'correlation' or 'weight'"):
        view.shown("size")


# --- hard cases -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "rotation", "dtype", "offset"),
    [
        ("filter", "predictive", "float32", 30),
        ("feature", "variance", "float64", 0),
        ("filter", "varimax", "float64", 30),
        ("feature", "predictive", "float32", 0),
    ],
)
def test_unused_rank_is_shown_as_zeros(model, rotation, dtype, offset):
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((30, 2)) @ rng.standard_normal((2, 8)) + offset).astype(dtype)
    fit = classifier(model, rank=5).fit(X, X[:, 0] > offset)
    view = factor_view(fit, rotation=rotation)
    for rows in (view.correlations, view.patterns, view.weights, view.coef.T, view.turn.T):
        assert not rows[2:].any() and rows[:2].any()
    np.testing.assert_allclose(view.share.sum(), 1, rtol=1e-5)
    t = view.scores_of(fit.transform(X))
    np.testing.assert_allclose(t @ view.patterns, X - X.mean(axis=0), atol=1e-3)
    assert not view.contribution[2:].any()


def test_constants_have_no_effect():
    view = factor_view(classifier(rank=2).fit(np.full((20, 3), 5.0), np.arange(20) % 2))
    assert not any(getattr(view, field).any() for field in (*ARRAYS, "predictive"))
    X = pd.DataFrame({"constant": np.full(30, 2.0), "other": np.linspace(-1, 1, 30)})
    view = factor_view(SMFRegressor(2, xi=100.0, lam=1e-3).fit(X, X["other"]))
    assert view.coef[0, 0] > 0.1 and view.coef[0, 1] == 0
    np.testing.assert_allclose(view.share, [1, 0], atol=1e-9)
    np.testing.assert_allclose(view.correlations, [[0, 1], [0, 0]], atol=1e-9)


def test_factors_without_effect_have_their_strongest_feature_up():
    X, _ = table()
    view = factor_view(regressor(lam=1e12).fit(X, np.ones(len(X))))
    assert not view.coef.any() and not view.predictive.any() and not view.contribution.any()
    assert np.all(np.diff(view.share) < 0)
    assert np.all(np.abs(view.correlations).max(axis=1) == view.correlations.max(axis=1))


def test_parts_are_not_rotated():
    X, _ = table()
    X = (X - X.min()).to_numpy()
    # The first class is the one with more of gene1: the other way round the coefficient is negative.
    y = np.where(X[:, 1] > np.median(X[:, 1]), "a", "b")
    fit = SMFClassifier(2, xi=0.1, lam=0.1, solver="bcd", constraint=NonNegative()).fit(X, y)
    view = factor_view(fit)
    assert view.weights.min() >= 0 and view.coef.min() < 0
    codes = fit.transform(X)
    spread = codes.std(axis=0)
    order = np.argsort(-np.abs(fit.factor_coef_[0] * spread))
    np.testing.assert_allclose(view.scores_of(codes), ((codes - codes.mean(0)) / spread)[:, order])
    np.testing.assert_allclose(view.coef, (fit.factor_coef_ * spread)[:, order])
    correlations = np.corrcoef(np.hstack([codes[:, order], X]).T)[:2, 2:]
    np.testing.assert_allclose(view.correlations, correlations)
    np.testing.assert_array_equal(view.weights, factor_view(fit, rotation="variance").weights)
    assert stability(fit, X, y, 2, shuffles=0).similarity.shape == (2, 2)
    for model in (fit, view):
        for rotation in ("predictive", "varimax"):
            with pytest.raises(ValueError, match=f"rotation='{rotation}': .* non-negative parts"):
                factor_view(model, rotation=rotation)


# --- names ----------------------------------------------------------------------------------------


GENES = [f"gene{j}" for j in range(7)]


def _names_log(X):
    return np.log(np.asarray(X) ** 2 + 1)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(["passthrough", StandardScaler()], GENES, id="passthrough"),
        pytest.param([StandardScaler().set_output(transform="pandas")], GENES, id="pandas"),
        pytest.param([FunctionTransformer(_names_log), StandardScaler()], GENES, id="nameless"),
        pytest.param([StandardScaler(), PCA(3)], ["pca0", "pca1", "pca2"], id="other-features"),
        pytest.param([SelectKBest(k=2), StandardScaler()], ["gene1", "gene3"], id="selection"),
    ],
)
def test_names_are_those_of_the_table(before, expected):
    X, y = table(n=200)
    fit = make_pipeline(*before, classifier(rank=2)).fit(X, y)
    assert list(factor_view(fit).features) == expected
    if expected == GENES:  # without those that are covariates
        fit[-1].set_params(covariate_columns=[1, 4])
        assert list(factor_view(fit.fit(X, y)).features) == [GENES[j] for j in (0, 2, 3, 5, 6)]


def test_names_and_classes_are_strings():
    X, y = table(p=4)
    X, names = X.to_numpy()[:, 1:], ["µ", "", "<b>"]
    for columns, expected in ((None, ["x0", "x1", "x2"]), ([10, 20, 30], ["x0", "x1", "x2"]), (names, names)):
        given = X if columns is None else pd.DataFrame(X, columns=columns)
        features = factor_view(classifier(rank=2).fit(given, y)).features
        assert list(features) == expected and all(type(name) is str for name in features)
    for labels, classes in (
        ([1, 2], ("1", "2")),
        ([False, True], ("False", "True")),
        ([0.0, 1.0], ("0.0", "1.0")),
    ):
        view = factor_view(classifier(rank=2).fit(X, np.array(labels)[(y == "normal").astype(int)]))
        assert view.classes == classes and view.outputs == classes[1:]  # as many of both: the second


# --- what counts as a model -------------------------------------------------------------------------


def test_a_search_is_shown_by_its_best_estimator():
    X, y = table(n=60)
    search = SMFClassifierCV([2], xi=[0.1], lam=[0.1, 1.0], preprocess="standardize", cv=3)
    view = factor_view(search.fit(X, y))
    np.testing.assert_array_equal(view.scores, factor_view(search.best_estimator_).scores)
    assert list(view.features) == GENES
    inner = GridSearchCV(classifier(rank=2), {"lam": [0.1, 1.0]}, cv=3)
    nested = make_pipeline(StandardScaler(), inner).fit(X, y)
    assert list(factor_view(nested).features) == GENES


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        pytest.param(classifier(), NotFittedError, "not fitted", id="unfitted"),
        pytest.param(pipeline(), NotFittedError, "not fitted", id="unfitted-pipeline"),
        pytest.param(SMFClassifierCV(), NotFittedError, "refit=True", id="unfitted-search"),
        pytest.param(LogisticRegression(), TypeError, "LogisticRegression: ", id="other"),
        pytest.param(None, TypeError, "NoneType: ", id="none"),
    ],
)
def test_errors_name_what_is_not_a_model(model, error, words):
    with pytest.raises(error, match=words):
        factor_view(model)
    with pytest.raises(ValueError, match="rotation='promax': None, 'predictive', 'variance'"):
        factor_view(model, rotation="promax")


def test_a_view_is_accepted_and_can_be_pickled():
    X, y = table()
    fit = pipeline().fit(X, y)
    view = factor_view(fit)
    assert factor_view(view) is view
    for first in ROTATIONS:
        for second in ROTATIONS:
            turned = factor_view(factor_view(fit, rotation=first), rotation=second)
            direct = factor_view(fit, rotation=second)
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(turned, name), getattr(direct, name))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view)).coef, view.coef)


def test_arrays_of_another_library():
    torch = pytest.importorskip("torch")
    X, y = table()
    here = factor_view(classifier().fit(X.to_numpy(), y))
    there = factor_view(classifier().fit(torch.asarray(X.to_numpy(copy=True)), y))
    for name in ARRAYS:
        assert type(getattr(there, name)) is np.ndarray
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), atol=1e-6)
