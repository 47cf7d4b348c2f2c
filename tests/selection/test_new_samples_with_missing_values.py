"""Models of complete samples complete new ones: from their factors, with one warning."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.impute import KNNImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import (
    SMFClassifier,
    SMFClassifierCV,
    SMFRegressor,
    SMFRegressorCV,
    SMFSurvival,
    SMFSurvivalCV,
    load,
    save,
)
from superfactor.datasets import load_prostate
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer
from superfactor.selection import external_scores

ONE = {"n_components": 2, "xi": 0.1, "lam": 1.0, "certify": None}
DATA = load_prostate()
X, NEW = DATA.X[::2, :200], DATA.X[1::2, :200]
Y, TRUTH = DATA.y[::2], DATA.y[1::2]
RNG = np.random.default_rng(0)
AGE = RNG.normal(60, 10, len(X))
TIMES = np.column_stack([RNG.random(len(X)) < 0.7, RNG.exponential(size=len(X))])
CELLS = np.where(RNG.random(NEW.shape) < 0.07, np.nan, NEW)
COLUMNS = np.where(np.isin(np.arange(200), RNG.permutation(200)[:15]), np.nan, NEW)
NAMES = [f"g{j}" for j in range(200)]
KINDS = {
    "classes": (SMFClassifierCV, Y, ("predict", "predict_proba", "decision_function", "transform")),
    "numbers": (SMFRegressorCV, X[:, :50].sum(axis=1), ("predict", "transform")),
    "times": (SMFSurvivalCV, TIMES, ("predict", "transform", "predict_survival_function")),
}


def caught(call, *given):
    """The result of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call(*given)
    return result, [str(warning.message) for warning in found]


@pytest.fixture(scope="module")
def searches():
    return {kind: search(**ONE, cv=2).fit(X, y) for kind, (search, y, _) in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_completes_with_one_warning(kind, searches):
    search = searches[kind]
    for name in KINDS[kind][2]:
        for model in (search, search.best_estimator_):
            if not hasattr(model, name):
                continue
            for new in (CELLS, COLUMNS):
                count, rows = np.isnan(new).sum(), np.isnan(new).any(axis=1).sum()
                found, told = caught(getattr(model, name), new)
                whole, silence = caught(getattr(model, name), NEW)
                assert told == [
                    f"X: {count} of {NEW.size} values are missing, in {rows} of {len(NEW)} samples; "
                    f"{type(search.best_estimator_[-1]).__name__} completes them from its factors"
                ]
                assert silence == []
                assert found.shape == whole.shape
                assert name == "predict" or np.isfinite(found).all()


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
@pytest.mark.parametrize("new", [CELLS, COLUMNS], ids=["cells", "columns"])
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_close_to_those_of_complete_samples(new, kind, searches):
    search = searches[kind]
    ask = search.predict_proba if kind == "classes" else search.predict
    assert np.corrcoef(ask(new).ravel(), ask(NEW).ravel())[0, 1] > 0.97


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
@pytest.mark.parametrize("shift", [0.0, 5.0], ids=["centred", "not-centred"])
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_completion_is_the_mean_of_a_normal_distribution(model, shift):
    train, new = (
        StandardScaler().fit_transform(X[:, :30]) + shift,
        StandardScaler().fit(X).transform(NEW)[:, :30] + shift,
    )
    smf = SMFClassifier(2, model=model, xi=0.1, lam=1.0, impute="factors", certify=None).fit(train, Y)
    gone = RNG.random(new.shape) < 0.4
    codes = smf.transform(train)
    slopes = np.linalg.lstsq(codes - codes.mean(axis=0), train - train.mean(axis=0), rcond=None)[0]
    explained = slopes.T @ np.cov(codes.T, bias=True) @ slopes
    noise = np.maximum(train.var(axis=0) - np.diag(explained), 0.01 * train.var(axis=0))
    covariance, mean = explained + np.diag(noise), train.mean(axis=0)
    by_hand = new.copy()
    for row, hidden in zip(by_hand, gone, strict=True):
        weights = np.linalg.solve(covariance[np.ix_(~hidden, ~hidden)], (row - mean)[~hidden])
        row[hidden] = mean[hidden] + covariance[np.ix_(hidden, ~hidden)] @ weights
    found = smf.predict_proba(np.where(gone, np.nan, new))
    np.testing.assert_allclose(found, smf.predict_proba(by_hand), rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
def test_samples_are_completed_one_by_one(searches):
    search = searches["classes"]
    everyone = search.predict_proba(CELLS)
    np.testing.assert_allclose(
        np.vstack([search.predict_proba(row[None]) for row in CELLS]), everyone, rtol=1e-9
    )
    nothing = np.full((1, 200), np.nan)
    mean = X.mean(axis=0)[None]
    np.testing.assert_allclose(search.predict_proba(nothing), search.predict_proba(mean), rtol=1e-6)


def test_complete_samples_are_predicted_as_without_completion(searches):
    other = SMFClassifierCV(**ONE, cv=2, impute=None).fit(X, Y)
    for name in KINDS["classes"][2]:
        np.testing.assert_array_equal(getattr(searches["classes"], name)(NEW), getattr(other, name)(NEW))
    assert [name for name, _ in searches["classes"].best_estimator_.steps] == ["scaler", "smf"]


@pytest.mark.parametrize(
    "model",
    [
        SMFClassifier(2),
        SMFRegressor(2),
        SMFSurvival(2),
        make_pipeline(StandardScaler(), SMFClassifier(2)),
        SMFClassifierCV(**ONE, cv=2, impute=None),
    ],
    ids=lambda model: type(model).__name__,
)
def test_others_refuse_missing_values(model):
    y = {SMFRegressor: AGE, SMFSurvival: TIMES}.get(type(model), Y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"contains NaN; .*LowRankImputer"):
        model.predict(CELLS)


def test_infinity_and_sparse_missing_values_are_refused(searches):
    wrong = CELLS.copy()
    wrong[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        searches["classes"].predict(wrong)
    counts = sp.csr_array(np.maximum(X - X.mean(axis=0), 0))
    search = SMFClassifierCV(**ONE, cv=2).fit(counts, Y)
    stored = counts.copy()
    stored.data[:5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        search.predict(stored)
    assert search.predict(counts).shape == Y.shape  # zeros that are not stored are zeros


def test_absent_names_are_an_error_that_names_the_way_out():
    table, new = pd.DataFrame(X, columns=NAMES), pd.DataFrame(NEW, columns=NAMES)
    search = SMFClassifierCV(**ONE, cv=2).fit(table, Y)
    imputing = make_pipeline(LowRankImputer(2), StandardScaler(), SMFClassifier(2)).fit(table, Y)
    alone = SMFClassifier(2, impute="factors").fit(table, Y)
    fewer = new.drop(columns=NAMES[:15])
    for model in (search, imputing, alone):
        with pytest.raises(
            ValueError, match=r"missing:\n- g0\n(.*\n)+X\.reindex\(columns=model\.feature_names_in_\)"
        ):
            model.predict(fewer)
        found, told = caught(model.predict_proba, fewer.reindex(columns=model.feature_names_in_))
        assert np.corrcoef(found[:, 0], model.predict_proba(new)[:, 0])[0, 1] > 0.97
        assert len(told) == (model is not imputing)  # a pipeline has an imputer to impute


@pytest.mark.parametrize("impute", ["lowrank", "mean", KNNImputer()], ids=str)
def test_searches_with_gaps_in_fit_warn_of_those_in_predict(impute):
    gaps = np.where(RNG.random(X.shape) < 0.05, np.nan, X)
    data = np.column_stack([AGE, gaps]) if isinstance(impute, str) else gaps
    new = np.column_stack([AGE[: len(CELLS)], CELLS]) if isinstance(impute, str) else CELLS
    columns = [0] if isinstance(impute, str) else None
    with pytest.warns(UserWarning, match="every fold completes them"):
        search = SMFClassifierCV(**ONE, cv=2, impute=impute, covariate_columns=columns).fit(data, Y)
    step = type(search.best_estimator_.named_steps["imputer"]).__name__
    _, told = caught(search.predict_proba, new)
    rows = np.isnan(CELLS).any(axis=1).sum()
    assert told == [
        f"X: {np.isnan(CELLS).sum()} of {CELLS.size} values are missing, in {rows} of {len(CELLS)} samples; "
        f"{step} completes them"
    ]


def test_only_features_are_completed():
    table = pd.DataFrame(X, columns=NAMES).assign(age=AGE, hours=1 + RNG.random(len(X)))
    new = table.assign(g3=np.nan)
    counts = RNG.poisson(table["hours"])
    search = SMFRegressorCV(**ONE, cv=2, loss="poisson", exposure_column="hours", covariate_columns=["age"])
    search.fit(table, counts)
    found, told = caught(search.predict, new.assign(age=new["age"].where(new.index > 0)))
    count = f"X: {len(X)} of {X.size} values are missing, in {len(X)} of {len(X)} samples"
    assert sorted(line.split(";")[0] for line in told) == [
        count,
        "X: column 'age': the median replaces missing values",
    ]
    assert np.isfinite(found).all()
    assert len(caught(search.score, new, counts)[1]) == 1
    with pytest.raises(ValueError, match="exposures > 0 are required, sample 0 has nan"):
        search.predict(new.assign(hours=new["hours"].where(new.index > 0)))
    for name in ("age", "hours"):
        with pytest.raises(ValueError, match=f"missing:\n- {name}"):
            search.predict(new.drop(columns=name))


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
def test_a_whole_block_and_batches():
    table = pd.DataFrame(X, columns=NAMES).assign(batch=np.where(RNG.random(len(X)) < 0.5, "a", "b"))
    new = pd.DataFrame(NEW, columns=NAMES).assign(batch="a")
    steps = make_pipeline(
        Adjuster("batch", keep_missing=True),
        StandardScaler(),
        BlockScaler({"one": NAMES[:120], "two": NAMES[120:]}, keep_missing=True),
    ).set_output(transform="pandas")
    search = SMFClassifierCV(**ONE, cv=2, preprocess=steps).fit(table, Y)
    for block in (NAMES[:120], NAMES[120:]):
        found = search.predict_proba(new.drop(columns=block).reindex(columns=search.feature_names_in_))
        assert np.corrcoef(found[:, 0], search.predict_proba(new)[:, 0])[0, 1] > 0.9
    strict = make_pipeline(StandardScaler(), BlockScaler({"one": slice(0, 120)})).fit(X)
    with pytest.raises(ValueError, match="block 'one' must have none"):
        strict.transform(CELLS)
    with pytest.raises(ValueError, match="block 'one' must have none"):
        BlockScaler({"one": slice(0, 120)}, keep_missing=True).fit(CELLS)


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
def test_saved_models_complete_too_and_grow_little(tmp_path, searches):
    search = searches["classes"]
    save(search, tmp_path / "m.skops")
    np.testing.assert_array_equal(
        load(tmp_path / "m.skops").predict_proba(CELLS), search.predict_proba(CELLS)
    )
    # As version 1.1 wrote it: without the parameter and the means.
    older = copy.deepcopy(search)
    for name in ("impute", "feature_mean_"):
        delattr(older.best_estimator_[-1], name)
    save(older, tmp_path / "old.skops")
    old = load(tmp_path / "old.skops")
    np.testing.assert_array_equal(old.predict_proba(NEW), search.predict_proba(NEW))
    with pytest.raises(ValueError, match="contains NaN"):
        old.predict(CELLS)
    old.best_estimator_.set_params(smf__impute="factors")
    with pytest.raises(ValueError, match=r"of an earlier version lacks feature_mean_.*fit it again"):
        old.predict(CELLS)
    grown = (tmp_path / "m.skops").stat().st_size - (tmp_path / "old.skops").stat().st_size
    assert grown < 20 * 200


@pytest.mark.filterwarnings("ignore:X. .* values are missing:UserWarning")
def test_external_scores_and_score_of_samples_with_gaps(searches):
    search = searches["classes"]
    found, told = caught(external_scores, search, CELLS, TRUTH)
    assert len(told) == 1
    assert found.summary["accuracy"]["mean"] == pytest.approx(search.score(CELLS, TRUTH))
