"""`held_out_scores` against refits written out, scipy's rotations and scikit-learn's measures."""

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import minimize
from scipy.stats import pearsonr
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import patients
from tests.interpretation.data import loss, table

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import factor_view, feature_effects, held_out_scores

# Parameters that refits do not use.
QUIET = {"certify": None, "search": "off", "tol": 1e-5}


def answers(model, X, covariates=None):
    """Predictions (n, outputs)."""
    given = {} if covariates is None else {"covariates": covariates}
    ask = getattr(model, "decision_function", model.predict)
    return ask(X, **given).reshape(len(X), -1)


def null_model(again, y, covariates, train, test):
    """Predictions of the test part (m, outputs) without factors: class frequencies, means, or Cox's model."""
    if covariates is not None:
        Z, rho = covariates - covariates[train].mean(axis=0), again.lam_covariates_
        cost = lambda g: loss(again, y[train], Z[train] @ g[:, None]) + rho @ g**2  # noqa: E731
        return Z[test] @ minimize(cost, np.zeros(len(rho)), tol=1e-12).x[:, None]
    if not hasattr(again, "classes_") and not hasattr(again, "steps"):
        return np.tile(y[train].mean(axis=0), (len(test), 1))
    size = np.array([np.sum(y[train] == c) for c in again.classes_])
    odds = np.log(size[1:] / size[0]) if len(size) == 2 else np.log(size / size[0])
    return np.tile(odds, (len(test), 1))


def one_by_one(model, X, y, fold, covariates=None, changed=lambda share: {}):
    """Scores, and the loss without factors, with all and without each, fold after fold from plain fits."""
    final = factor_view(model)
    own = final.scores_of(model.transform(X))
    carries = final.coef.any(axis=0)
    scores, parts, base, inside = np.zeros_like(own), [], [], []
    for k in np.unique(fold):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        again = clone(model).set_params(**changed(len(train) / len(y)))
        given = {} if covariates is None else {"covariates": covariates[train]}
        again.fit(X[train], y[train], **given)
        view = factor_view(again)
        t = view.scores_of(again.transform(X))
        turn = np.zeros((t.shape[1],) * 2)
        for kind in (True, False):
            left, right = (np.flatnonzero(c == kind) for c in (view.coef.any(axis=0), carries))
            if len(left):
                turn[np.ix_(left, right)], _ = orthogonal_procrustes(t[train][:, left], own[train][:, right])
        without = None if covariates is None else 0 * covariates
        effect = LinearRegression().fit(t, answers(again, X, without)).coef_ @ turn
        scores[test] = t[test] @ turn
        parts.append(np.einsum("ij,cj->jic", scores[test], effect))
        base.append(null_model(again, y, covariates, train, test))
        fit = answers(again, X, covariates)
        fit -= (fit[train].mean(axis=0) if hasattr(again, "event_times_") else 0) + t @ (effect @ turn.T).T
        inside.append(fit[test])
    order = np.argsort(np.concatenate([np.flatnonzero(fold == k) for k in np.unique(fold)]))
    return (
        scores,
        *(np.concatenate(x)[order] for x in (base, inside)),
        np.concatenate(parts, axis=1)[:, order],
    )


def use_of(model, y, base, inside, parts):
    """What is explained, and the share of it lost without each factor, after shrinking if that helps.

    With factors and without them the constant may lie between those of both fits.
    """
    fitted = model[-1] if hasattr(model, "steps") else model

    def cost(x, used):
        return loss(fitted, y, base + x[0] * (inside - base) + x[1] * used)

    def least(used, most):
        options = {"ftol": 1e-15, "gtol": 1e-9}
        starts = ([0.0, 0.0], [0.5, 0.5 * most], [1.0, most])
        found = [
            minimize(cost, x, (used,), "L-BFGS-B", bounds=[(0, 1), (0, most)], options=options)
            for x in starts
        ]
        return min(found, key=lambda one: one.fun)

    whole = parts.sum(axis=0)
    none, best = least(whole, 0).fun, least(whole, 1)
    lost = [cost(best.x, whole - own) - best.fun for own in parts]
    return (none - best.fun) / none, np.array(lost) / (none - best.fun)


def concordance(y, risk):
    """Of pairs whose order is known, the share with the higher risk first; events come before losses."""
    event, time = y.T
    later = (time[:, None] < time) | ((time[:, None] == time) & (event == 0))
    known = (event[:, None] == 1) & later
    higher = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    return higher[known].mean()


def example(name):
    """A fitted model, X, y and covariates, and how parameters change with the share of the samples."""
    X, y = table(n=60, classes=4 if name == "four" else 2)
    X, Z, unchanged = X.to_numpy(), None, lambda share: {}
    last = SMFClassifier(3, prediction="fast", **QUIET)
    if name == "pipeline":
        return make_pipeline(StandardScaler(), last).fit(X, y), X, y, Z, unchanged
    if name == "numbers":  # a ridge that does not grow with the samples is lighter for fewer of them
        last.set_params(xi=0.01, lam=7.0)
        unchanged = lambda share: {"lam": 7.0 * share}  # noqa: E731
    elif name == "targets":
        y = np.c_[5 * X[:, 1], X[:, 0] - 10 * X[:, 3]] + np.random.default_rng(0).standard_normal((60, 2))
        last = SMFRegressor(3, **QUIET)
    elif name == "survival":
        X, y, Z = patients(n=80)
        last = SMFSurvival(3, **QUIET)
    given = {} if Z is None else {"covariates": Z}
    return last.fit(X, y, **given), X, y, Z, unchanged


def test_counts_are_compared_with_factors_beyond_their_exposures():
    """Exposures fall as the rate rises, so that counts alone say the reverse."""
    X = pd.DataFrame(np.random.default_rng(1).standard_normal((150, 4))).add_prefix("gene")
    rate = np.exp(0.8 * X["gene0"])
    X["years"] = 20 * np.exp(-1.6 * X["gene0"])
    y = np.random.default_rng(0).poisson(X["years"] * rate).astype(float)
    y[:5] = np.nan
    model = SMFRegressor(1, loss="poisson", exposure_column="years", xi=1e-3, certify=None).fit(X, y)
    found = held_out_scores(model, X, y)
    assert found.own_name == "correlation with count beyond exposure"
    known, years = ~np.isnan(y), X["years"].to_numpy()
    expected = years * y[known].sum() / years[known].sum()
    beyond = ((y - expected) / np.sqrt(expected))[known]
    np.testing.assert_allclose(found.own, np.corrcoef(beyond, found.scores[known, 0])[0, 1])
    assert found.own[0] > 0.5 > 0 > np.corrcoef(np.log1p(y[known]), found.scores[known, 0])[0, 1]
    effects = feature_effects(model, X, y).set_index("feature").loc["gene0"]
    assert (effects["outcome_correlation"], effects["p"]) == pytest.approx(
        tuple(pearsonr(X["gene0"][known], beyond))
    )
    plain = SMFRegressor(1, loss="poisson", certify=None).fit(X, y)
    assert held_out_scores(plain, X, y).own_name == "correlation with log(1 + count)"


@pytest.mark.parametrize("name", ["pipeline", "numbers", "four", "targets", "survival"])
def test_same_as_refits_one_by_one(name):
    model, X, y, Z, changed = example(name)
    found = held_out_scores(model, X, y, covariates=Z, cv=4, random_state=2)
    assert set(np.bincount(found.fold)) <= {len(y) // 4 - 1, len(y) // 4, len(y) // 4 + 1}
    scores, *between, parts = one_by_one(model, X, y, found.fold, Z, changed)
    np.testing.assert_allclose(found.scores, scores, atol=1e-6)
    explained, contribution = use_of(model, y, *between, parts)
    np.testing.assert_allclose(found.explained, explained, rtol=1e-5)
    np.testing.assert_allclose(found.contribution, contribution, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(found.predictive, contribution >= 0.01)
    assert found.predictive[0] and not found.predictive[-1]
    assert found.own_name == {"targets": "correlation", "survival": "concordance"}.get(name, "AUC")
    view = factor_view(model)
    for own, of, t in zip(found.own, found.own_of, found.scores.T, strict=True):
        if name == "survival":
            expected = concordance(y, t)
        elif name == "targets":
            expected = np.corrcoef(t, y[:, view.outputs.index(of)])[0, 1]
        else:
            expected = roc_auc_score(y.astype(str) == of, t)
        np.testing.assert_allclose(own, expected, rtol=1e-10)
    if name == "four":  # the class with the largest coefficient
        assert found.own_of[0] == view.outputs[view.coef[:, 0].argmax()]


def noise(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 100))
    if kind == "numbers":
        return X, rng.standard_normal(40)
    if kind == "times":
        return X[:, :5], np.c_[rng.random(40) < 0.7, rng.exponential(1.0, 40)]
    return X, np.arange(40) % 2


MADE = {"classes": SMFClassifier, "numbers": SMFRegressor, "times": SMFSurvival}


@pytest.mark.parametrize("kind", MADE)
def test_random_labels_have_no_predictive_factors(kind):
    shown = 0
    for seed in range(3):
        X, y = noise(seed, kind)
        model = MADE[kind](2, **QUIET).fit(X, y)
        assert factor_view(model).predictive[0]  # in sample they seem to
        found = held_out_scores(model, X, y, cv=3)
        shown += bool(found.predictive.any())
        assert not found.predictive[1]
    assert shown <= 1


def uneven(rng):
    X = rng.standard_normal((90, 40))
    return SMFClassifier(2, **QUIET), X, (np.arange(90) < 12).astype(int), {}


def overdispersed(rng):
    """Variance 9 times the mean."""
    X = rng.standard_normal((120, 10))
    return (
        SMFRegressor(2, loss="poisson", xi=1e-3, **QUIET),
        X,
        rng.negative_binomial(0.375, 1 / 9, 120) * 1.0,
        {},
    )


def exposed(rng):
    """The variance grows faster than the expected count."""
    X, years = rng.standard_normal((110, 10)), np.exp(rng.normal(0, 1.5, 110))
    y = rng.negative_binomial(1.0, 1 / (1 + 5 * years)) * 1.0
    return SMFRegressor(2, loss="poisson", xi=1e-3, exposure_column=10, **QUIET), np.c_[X, years], y, {}


def in_strata(rng):
    """Hazards and features differ between strata, and the risk does not depend on the features."""
    stratum = rng.integers(0, 3, 90)
    X = rng.standard_normal((90, 40)) + rng.standard_normal((3, 40))[stratum]
    time = rng.exponential(np.array([1, 5, 25.0])[stratum])
    return SMFSurvival(2, **QUIET), X, np.c_[rng.random(90) < 0.7, time, stratum], {}


def unequal_weights(rng):
    X, weight = rng.standard_normal((90, 40)), np.exp(rng.normal(0, 1.5, 90))
    return SMFClassifier(2, **QUIET), X, rng.integers(0, 2, 90), {"sample_weight": weight}


def confounded(rng):
    """Labels depend on a covariate that features go with as well."""
    X, Z = rng.standard_normal((90, 40)), rng.standard_normal((90, 1))
    X[:, :10] += 0.7 * Z
    y = (1.5 * Z[:, 0] - 1.5 + rng.logistic(size=90) > 0).astype(int)
    return SMFClassifier(2, **QUIET), X, y, {"covariates": Z}


@pytest.mark.parametrize(
    "draw", [uneven, overdispersed, exposed, in_strata, unequal_weights, confounded], ids=lambda f: f.__name__
)
def test_noise_is_not_called_predictive(draw):
    shown = 0
    for seed in range(12):
        model, X, y, given = draw(np.random.default_rng(seed))
        shown += held_out_scores(model.fit(X, y, **given), X, y, **given).predictive.any()
    assert shown <= 1


def test_repeated_measurements_are_no_further_evidence():
    """Groups of eight equal samples: three of ten groups with a label by chance look like 24 samples."""
    shown = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(12), 8)
        X, y = rng.standard_normal((12, 6))[groups], rng.permutation(np.arange(12) % 2)[groups]
        X += 0.3 * rng.standard_normal(X.shape)
        model = SMFClassifier(2, **QUIET).fit(X, y)
        shown += held_out_scores(model, X, y, groups=groups).predictive.any()
    assert shown <= 1


def test_neither_the_unit_of_weights_nor_that_of_exposures_matters():
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((60, 8)), rng.uniform(0.5, 2, 60)
    y = (X[:, 0] + 0.7 * rng.standard_normal(60) > 0).astype(int)
    found = [
        held_out_scores(SMFClassifier(2, **QUIET).fit(X, y, sample_weight=w), X, y, sample_weight=w)
        for w in (weight, 10 * weight)
    ]
    years = np.exp(rng.standard_normal(60))
    y = rng.poisson(years * np.exp(X[:, 0])) * 1.0
    for unit in (1, 100):
        both = np.c_[X, unit * years]
        model = SMFRegressor(2, loss="poisson", exposure_column=8, **QUIET).fit(both, y)
        found.append(held_out_scores(model, both, y))
    for one, other in (found[:2], found[2:]):
        assert one.predictive[0]
        np.testing.assert_array_equal(one.predictive, other.predictive)
        np.testing.assert_allclose(one.explained, other.explained, rtol=1e-3)


def test_samples_without_a_label_or_weight_are_never_held_out():
    X, y = table(n=60)
    X, y, weight = X.to_numpy(), y.astype(object), np.ones(60)
    y[::5], weight[1::10] = None, 0
    model = SMFClassifier(3, **QUIET).fit(X, y, sample_weight=weight)
    found = held_out_scores(model, X, y, sample_weight=weight)
    aside = np.array([label is None for label in y]) | (weight == 0)
    np.testing.assert_array_equal(found.fold == -1, aside)
    own = factor_view(model).scores_of(model.transform(X))
    np.testing.assert_array_equal(found.scores[aside], own[aside])
    # A sample of weight zero changes nothing for the others; one without a label does.
    fewer = held_out_scores(
        SMFClassifier(3, **QUIET).fit(X[weight > 0], y[weight > 0]), X[weight > 0], y[weight > 0]
    )
    np.testing.assert_allclose(found.scores[weight > 0], fewer.scores, atol=1e-6)
    np.testing.assert_allclose(found.explained, fewer.explained, rtol=1e-6)
    known = np.array([label is not None for label in y])
    alone = held_out_scores(SMFClassifier(3, **QUIET).fit(X[known], y[known]), X[known], y[known])
    assert alone.explained != pytest.approx(found.explained, rel=1e-3)


def test_groups_stay_together():
    X, y = table(n=60, classes=3)
    for target, kind in ((y, SMFClassifier), (X["gene0"].to_numpy(), SMFRegressor)):
        groups = np.random.default_rng(1).integers(0, 12, 60)
        found = held_out_scores(kind(2, **QUIET).fit(X, target), X, target, groups=groups)
        assert all(len(set(found.fold[groups == g])) == 1 for g in groups)
        assert len(set(found.fold)) == 5


@pytest.mark.parametrize("missing", ["normal", "unclear"], ids=["first", "last"])
def test_a_class_that_a_fold_has_no_sample_of(missing):
    """All samples of a class are in one group: a fit without it gives it next to no chance."""
    X, y = table(n=60, classes=3)
    groups = np.where(y == missing, 100, np.arange(60) % 6)
    model = SMFClassifier(3, **QUIET).fit(X, y)
    found = held_out_scores(model, X, y, groups=groups, cv=3, positive=missing)
    # A loss of at least 28 for each of these 20 leaves little that can be explained.
    assert 0 <= found.explained < 40 * np.log(3) / (20 * 28)
    assert np.isfinite(found.scores).all() and np.isfinite(found.own).all()
    # One sample of a class is enough for the others to be judged.
    y = np.where((y == missing) & (np.arange(60) != np.flatnonzero(y == missing)[0]), "tumoral", y)
    found = held_out_scores(SMFClassifier(3, **QUIET).fit(X, y), X, y)
    assert found.explained > 0 and np.all(np.bincount(found.fold) == 30)


def test_other_inputs_give_the_same_result():
    X, y = table(n=60)
    X = pd.DataFrame(np.where(X > 1, X, 0), columns=X.columns)
    model = SMFClassifier(3, **QUIET).fit(X, y)
    found, heard = held_out_scores(model, X, y, random_state=1), []
    sparse = SMFClassifier(3, **QUIET).fit(sp.csr_array(X), y)
    with joblib.parallel_config("threading"):
        others = [
            held_out_scores(model, X, y, random_state=1, n_jobs=2, progress=lambda *at: heard.append(at)),
            held_out_scores(sparse, sp.csr_array(X), y, random_state=1),
        ]
    assert heard == [(k, 5) for k in range(6)]
    for other in others:
        np.testing.assert_array_equal(other.fold, found.fold)
        np.testing.assert_allclose(other.scores, found.scores, atol=1e-4)
        np.testing.assert_allclose(other.contribution, found.contribution, atol=1e-4)
    assert np.any(held_out_scores(model, X, y, random_state=2).fold != found.fold)
    turned = held_out_scores(model, X, y, random_state=1, rotation="varimax")
    own = factor_view(model, rotation="varimax").scores
    assert np.all([np.corrcoef(a, b)[0, 1] > 0.9 for a, b in zip(own.T, turned.scores.T, strict=True)])
    down = held_out_scores(model, X, y, random_state=1, positive="normal")
    up = held_out_scores(model, X, y, random_state=1, positive="tumoral")
    np.testing.assert_allclose(down.scores[:, 0], -up.scores[:, 0])
    np.testing.assert_allclose(down.own[0], up.own[0])  # of the class that is up


def test_bad_options():
    X, y = table()
    model = SMFClassifier(2, **QUIET).fit(X, y)
    for options, words in (
        ({"cv": 1}, "cv=1: an integer >= 2"),
        ({"cv": 2.5}, "cv=2.5: an integer >= 2"),
        ({"groups": [1, 2]}, "groups: 2 samples"),
        ({"positive": "cured"}, "positive='cured': one of the classes"),
    ):
        with pytest.raises(ValueError, match=words):
            held_out_scores(model, X, y, **options)
