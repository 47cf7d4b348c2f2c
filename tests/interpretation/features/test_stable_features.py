"""`stable_features` against planted features, refits written out, and labels that mean nothing."""

from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.interpretation.data import LAM, classifier, pipeline, regressor, table

from superfactor import SMFClassifier, SMFClassifierCV, SMFSurvival
from superfactor.interpretation import factor_view, stable_features
from superfactor.interpretation.features.complementary import complementary_halves
from superfactor.interpretation.refits import progress
from superfactor.interpretation.refits.refitting import Refit

# As few halves as there can be.
QUICK = {"n_pairs": 2, "threshold": 1.0}
COLUMNS = ["feature", "share", "share_shuffled", "selected", "correlation", "low", "high"]


def planted(n=80, p=200, k=6, strength=1.5, seed=0):
    """The first k of p features differ between two classes; the next k vary most, which means nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, p))
    X[:, :k] += strength * y[:, None] * np.where(np.arange(k) % 2, 1, -1)
    X[:, k : 2 * k] += 2 * rng.standard_normal((n, 1))
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(p)]), np.where(y, "ill", "well")


@pytest.fixture(scope="module")
def wide():
    X, y = planted()
    return (X, y, make_pipeline(StandardScaler(), classifier(rank=2, xi="auto", lam="auto")).fit(X, y))


@pytest.fixture(scope="module")
def small():
    """Strong effects, few features, and a model of them."""
    X, y = planted(n=60, p=40, strength=3)
    return X, y, pipeline(rank=2).fit(X, y)


@pytest.fixture(scope="module")
def found(wide):
    X, y, fit = wide
    return stable_features(fit, X, y, n_pairs=20, random_state=0)


def test_planted_features_are_selected_and_others_are_not(wide, found):
    assert set(found.selected) == {f"g{j}" for j in range(6)} and found.n_selected == 6
    assert list(found.table.columns) == COLUMNS and len(found.table) == 200
    assert found.table["selected"].tolist() == [True] * 6 + [False] * 194
    assert found.table["share"][:6].is_monotonic_decreasing
    expected = (found.table["share"] >= 0.75) & (found.table["share_shuffled"] < 13 / 200 + 0.25)
    assert found.table["selected"].equals(expected)
    assert found.n_top == 13  # ⌊√(200/1.05)⌋
    assert found.bound_without_assumption == pytest.approx(13**2 / 200 / 0.5)
    view = factor_view(wide[2])
    table = found.table.set_index("feature").loc[view.features]
    np.testing.assert_array_equal(table["correlation"], view.correlations[0])
    assert (table["low"] <= table["high"]).all()
    chosen = table[table["selected"]]
    assert (np.sign(chosen["low"]) == np.sign(chosen["correlation"])).all()
    assert table["correlation"].between(table["low"], table["high"]).mean() > 0.9


def test_statements(found):
    top = "among the top 13 in at least"
    assert found.statement == (
        f"6 features were {top} three quarters of 40 half-samples; at most 1 of them is expected by chance."
    )
    other = replace(found, threshold=0.9, expected_false=0.5)
    assert f"{top} 90 percent of 40 half-samples; at most 0.5 of them are" in other.statement
    first = found.table.index == 0
    one = found.table.assign(selected=first, share=found.table["share"].where(first, 0.0))
    assert replace(found, table=one).statement == (
        f"1 feature was {top} three quarters of 40 half-samples; at most 1 is expected by chance."
    )
    none = found.table.assign(selected=False, share=0.0)
    assert replace(found, table=none).statement == (
        f"No feature was {top} three quarters of 40 half-samples."
    )


def test_random_labels_select_almost_nothing(wide):
    X, y, fit = wide
    count = []
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(y)
        again = clone(fit).set_params(smfclassifier__certify=None).fit(X, shuffled)
        count.append(stable_features(again, X, shuffled, n_pairs=4, random_state=seed).n_selected)
    assert np.mean(count) <= 1


def test_features_stable_with_any_labels_are_left_out():
    """One factor that follows the variance of X is the same whatever the labels are."""
    X, y = planted(strength=0)
    fit = classifier(rank=1, xi=100.0, lam=1.0).fit(X, y)
    found = stable_features(fit, X, y, n_pairs=5)
    often = found.table[found.table["share"] >= 0.75]
    assert set(often["feature"]) == {f"g{j}" for j in range(6, 12)}
    assert (often["share_shuffled"] > 0.9).all()
    assert found.n_selected == 0 and found.n_without_labels == 6
    end = "half-samples. Left out: 6 features that fits to shuffled labels select too."
    other = "half-samples. Left out: 6 features that fits to shuffled outcomes select too."
    assert replace(found, shuffled="outcomes").statement.endswith(other)
    assert found.statement.endswith(end)


def one_by_one(fit, X, y, n_pairs, q, seed):
    """Shares of halves the slow way, from scores and NumPy's correlations."""
    rng = np.random.default_rng(seed)
    codes = np.unique(y, return_inverse=True)[1]
    pairs = [complementary_halves(codes, None, rng) for _ in range(n_pairs)]
    count, values = np.zeros(X.shape[1]), []
    for rows in (rows for pair in pairs for rows in pair):
        Z = StandardScaler().fit_transform(X[rows])
        # Weighted up to all samples, so that ξ and λ that are numbers mean the same.
        again = clone(fit).fit(Z, y[rows], sample_weight=np.full(len(rows), len(y) / len(rows)))
        scores = again.decision_function(Z).reshape(len(rows), -1)
        if scores.shape[1] > 1:
            scores = scores - scores.mean(axis=1, keepdims=True)
            U, s, _ = np.linalg.svd(scores - scores.mean(axis=0), full_matrices=False)
            scores = U[:, s > 1e-8 * s[0]]
        each = [[np.corrcoef(x, t)[0, 1] for x in Z.T] for t in scores.T]
        size = np.abs(each).max(axis=0)
        count[np.argsort(-size)[:q]] += 1
        values.append(np.array(each)[0] if len(each) == 1 else size)
    return count / (2 * n_pairs), np.array(values)


@pytest.mark.parametrize(
    ("model", "classes", "numbers"), [("filter", 2, True), ("feature", 2, False), ("filter", 3, False)]
)
def test_same_as_refits_one_by_one(model, classes, numbers):
    X, y = table(n=41, p=30, classes=classes)
    weights = {"xi": 0.01, "lam": LAM[model]} if numbers else {"xi": "auto", "lam": "auto"}
    estimator = classifier(model, rank=3, search="off", tol=1e-10, **weights)
    fit = make_pipeline(StandardScaler(), estimator).fit(X, y)
    found = stable_features(fit, X, y, n_pairs=4, random_state=7)
    again = found.table.set_index("feature").loc[X.columns]
    share, values = one_by_one(estimator, X.to_numpy(), y, 4, found.n_top, 7)
    np.testing.assert_allclose(again["share"], share)
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    ends = again[["low", "high"]].to_numpy()
    if classes > 2:
        ends = np.sort(np.abs(ends), axis=1)
    elif factor_view(fit).outputs[0] != np.unique(y)[1]:
        low, high = -high, -low
    np.testing.assert_allclose(ends, np.column_stack([low, high]), atol=1e-4)


# --- other models and data ----------------------------------------------------------------------------


def test_numbers_and_times():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 60))
    risk = X[:, :3] @ [1.0, -1.0, 1.0]
    Y = np.column_stack([X[:, 4] + 0.3 * risk, X[:, 5]])
    both = make_pipeline(StandardScaler(), regressor(rank=3, xi="auto", lam="auto")).fit(X, Y)
    assert {"x4", "x5"} <= set(stable_features(both, X, Y, n_pairs=5).selected)
    times = np.column_stack([rng.uniform(size=90) < 0.8, rng.exponential(np.exp(-2 * risk))])
    cox = SMFSurvival(2).fit(X, times)
    assert set(stable_features(cox, X, times, n_pairs=14).selected) == {"x0", "x1", "x2"}


def test_sparse_covariates_unlabelled_and_a_constant():
    X, y = planted(n=100, p=60)
    X["g50"] = 1.0
    labels = y.astype(object)
    labels[:15] = None
    sex = pd.DataFrame({"sex": np.where(np.arange(100) % 3, "f", "m")})
    fit, dense = classifier(rank=2, xi="auto", lam="auto"), X.to_numpy()
    tables = [
        stable_features(
            fit.fit(data, labels, covariates=sex), data, labels, covariates=sex, n_pairs=5
        ).table.set_index("feature")
        for data in (sp.csr_array(dense), dense)
    ]
    assert tables[0].loc[[f"x{j}" for j in range(4)], "selected"].all()
    assert not tables[0].loc["x50", ["share", "correlation", "low"]].any()
    np.testing.assert_array_equal(tables[0]["share"], tables[1]["share"])
    X.insert(3, "age", np.random.default_rng(1).uniform(20, 80, len(X)))
    inside = pipeline(rank=2, covariate_columns=[3]).fit(X, y)
    assert "age" not in set(stable_features(inside, X, y, **QUICK).table["feature"])
    with pytest.raises(ValueError, match="covariates=None: the model was fitted with 1"):
        stable_features(fit, dense, labels)


def test_groups_stay_together(monkeypatch):
    X, _ = planted(n=60, p=40)
    groups, y = np.repeat(np.arange(15), 4), np.repeat(["ill", "well"], [28, 32])
    X.loc[y == "ill", "g0"] += 3
    seen, fit = [], Refit.fit

    def watched(self, X, y, rows, covariates=None, groups=None, weight=None):
        seen.append(set(groups[rows]))
        return fit(self, X, y, rows, covariates, groups, weight)

    monkeypatch.setattr(Refit, "fit", watched)
    stable_features(pipeline(rank=2).fit(X, y), X, y, groups=groups, **QUICK)
    assert len(seen) == 6
    for a, b in zip(seen[:4:2], seen[1:4:2], strict=True):
        assert not a & b and a | b == set(range(15))


# --- searches -----------------------------------------------------------------------------------------


def test_a_search_is_used_with_its_choice_or_repeated(small):
    X, y, _ = small
    cv, groups = StratifiedGroupKFold(3), np.arange(60)
    weights = {"xi": [0.001, 0.1], "lam": [1.0, 100.0]}
    search = SMFClassifierCV([2], **weights, preprocess="standardize", cv=cv, certify=None)
    search.fit(X, y, groups=groups)
    chosen = stable_features(search, X, y, **QUICK)
    best = stable_features(search.best_estimator_, X, y, **QUICK)
    pd.testing.assert_frame_equal(chosen.table, best.table)
    again = stable_features(search, X, y, **QUICK, search_again=True, groups=groups)
    assert not np.allclose(again.table["high"], chosen.table["high"])
    assert set(again.table.nlargest(3, "share")["feature"]) <= {f"g{j}" for j in range(6)}


@pytest.mark.parametrize("kind", ["own", "around", "inside", "both"])
def test_searches_inside_and_around_pipelines(small, kind):
    """Covariates and groups reach the fit through every step."""
    X, y, _ = small
    cv, groups = StratifiedGroupKFold(2), np.arange(60)
    age = np.random.default_rng(0).uniform(20, 80, 60)
    own = SMFClassifierCV([2], xi=[0.1], lam=[1.0], cv=cv)
    # scikit-learn's own scoring would predict without the covariates
    grid = {"smfclassifier__lam": [1.0]}
    around = GridSearchCV(pipeline(rank=2), grid, cv=cv, scoring=lambda *at: 0.0)
    search, given, grouped = {
        "own": (own, "", ""),
        "around": (around, "smfclassifier__", ""),
        "inside": (make_pipeline(StandardScaler(), own), *["smfclassifiercv__"] * 2),
        "both": (make_pipeline(StandardScaler(), around), "gridsearchcv__smfclassifier__", "gridsearchcv__"),
    }[kind]
    search.fit(X, y, **{f"{given}covariates": age, f"{grouped}groups": groups})
    for again in (False, True):
        found = stable_features(search, X, y, covariates=age, groups=groups, search_again=again, **QUICK)
        assert set(found.table.nlargest(3, "share")["feature"]) <= {f"g{j}" for j in range(6)}


def test_fixed_splits_cannot_be_repeated(small):
    X, y, _ = small
    splits = list(StratifiedKFold(3).split(X, y))
    search = SMFClassifierCV([2], xi=[0.1], lam=[1.0], cv=splits).fit(X, y)
    with pytest.raises(ValueError, match="search_again=True: the cv of the search is a list of fixed splits"):
        stable_features(search, X, y, search_again=True)
    with pytest.raises(ValueError, match="search_again=True: Pipeline is not a search"):
        stable_features(search.best_estimator_, X, y, search_again=True)


# --- how it runs --------------------------------------------------------------------------------------


def test_steps_that_select_features(small):
    X, y, _ = small
    X = X.assign(g39=0.0)
    X.loc[0, "g39"] = 1.0  # constant in the other half
    found = stable_features(make_pipeline(VarianceThreshold(), classifier(rank=2)).fit(X, y), X, y, **QUICK)
    assert len(found.table) == 40 and "g39" not in found.selected
    by_labels = make_pipeline(SelectKBest(k=10), classifier(rank=2)).fit(X, y)
    with pytest.raises(ValueError, match="model: a step before it selected other features in a half"):
        stable_features(by_labels, X, y)


def test_names_that_were_given_after_the_fit(small):
    X, y, fit = small
    named = pipeline(rank=2).fit(X.to_numpy(), y)
    named[-1].set_feature_names(list(X.columns))
    found = stable_features(named, X.to_numpy(), y, **QUICK)
    pd.testing.assert_frame_equal(found.table, stable_features(fit, X, y, **QUICK).table)


def test_optional_work_has_a_time_limit(small, monkeypatch):
    X, y, fit = small
    clock = iter(range(0, 1000, 5))  # each fit takes five seconds
    monkeypatch.setattr(progress.time, "process_time", lambda: next(clock))
    heard = []
    with pytest.raises(progress.TooLong):
        stable_features(fit, X, y, **QUICK, progress=progress.time_limited(lambda *at: heard.append(at)))
    assert heard == [(0, 6), (1, 6), (2, 6)]  # three are timed
    assert progress.is_quick((60, 40), 2) and not progress.is_quick((10_000, 9_000), 1)


def test_random_state_jobs_and_progress(small):
    X, y, fit = small
    before, params, heard = fit[-1].components_.copy(), fit[-1].get_params(), []
    first = stable_features(fit, X, y, **QUICK, progress=lambda *at: heard.append(at))
    assert heard == [(k, 6) for k in range(7)]
    other = stable_features(fit, X, y, **QUICK, random_state=5)
    assert not first.table.equals(other.table)
    with joblib.parallel_config("threading"):  # processes are slow to start
        jobs = stable_features(fit, X, y, **QUICK, n_jobs=2)
    pd.testing.assert_frame_equal(first.table, jobs.table)
    np.testing.assert_array_equal(fit[-1].components_, before)
    assert fit[-1].get_params() == params


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"expected_false": 0}, ValueError, "expected_false=0: a number > 0"),
        ({"expected_false": 1e-5}, ValueError, "expected_false=1e-05: for 40 features a number >="),
        ({"threshold": 0.5}, ValueError, "threshold=0.5: a number above 0.5"),
        ({"threshold": "x"}, ValueError, "threshold='x': a number above 0.5"),
        ({"n_pairs": 0}, ValueError, "n_pairs=0: an integer >= 1"),
        ({"n_pairs": 3}, ValueError, "n_pairs=3: with threshold=0.75 at least 4"),
        ({"n_pairs": 9, "threshold": 0.6}, ValueError, "n_pairs=9: with threshold=0.6 at least 10"),
        ({"groups": [1, 2]}, ValueError, "groups: 2 samples, but X has 60"),
        ({"groups": np.zeros(60)}, ValueError, "class 'ill' has 1 of the 2 groups"),
        ({"progress": 3}, TypeError, "progress=3: None, True or"),
        ({"random_state": "x"}, TypeError, "random_state='x'"),
    ],
)
def test_bad_options(small, options, error, words):
    X, y, fit = small
    with pytest.raises(error, match=words):
        stable_features(fit, X, y, **options)


def test_too_few_samples():
    X, y = table(n=12)
    with pytest.raises(ValueError, match="X: halves of 6 samples are too small for 7 factors"):
        stable_features(classifier(rank=7).fit(X, y), X, y)
    y = np.where(np.arange(12) == 0, "tumoral", "normal")
    with pytest.raises(ValueError, match="y: class 'tumoral' has 1 of the 2 samples that two halves"):
        stable_features(classifier(rank=2).fit(X, y), X, y)
    times = np.column_stack([np.arange(12) == 3, np.arange(12.0)])
    with pytest.raises(ValueError, match="y: the outcome has 1 of the 2 samples"):
        stable_features(SMFSurvival(2).fit(X, times), X, times)


def test_groups_are_read_by_position():
    rng = np.random.default_rng(0)
    X, groups = rng.standard_normal((40, 30)), np.arange(40) // 2
    y = np.where(X[:, 0] > 0, "a", "b")[groups * 2]
    model = SMFClassifier(n_components=1, lam=1).fit(X, y)
    named = pd.Series(groups, index=rng.permutation(40))
    tables = [
        stable_features(model, X, y, groups=own, n_pairs=5, random_state=0).table for own in (groups, named)
    ]
    pd.testing.assert_frame_equal(*tables)
