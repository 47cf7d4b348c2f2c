"""Counts in the search and in nested scores, with and without exposures, against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_absolute_error, mean_poisson_deviance
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFRegressor, SMFRegressorCV
from superfactor.outcomes import outcome_named
from superfactor.preprocessing.scaling import ColumnScaler
from superfactor.selection import external_scores, nested_scores

N, P = 90, 8
SETTING = {"loss": "poisson", "xi": 0.1, "lam": 1.0}


def samples(seed=0):
    """X, exposures over two orders of magnitude, and counts whose rate the first columns of X know."""
    rng = np.random.default_rng(seed)
    X, exposure = 3 * rng.standard_normal((N, P)) + 1, 10 ** rng.uniform(-0.5, 1.5, N)
    return X, exposure, rng.poisson(exposure * np.exp(0.2 * X[:, 0] - 0.2 * X[:, 1])).astype(float)


X, EXPOSURE, Y = samples()
SEEN = np.column_stack([X[:, :3], EXPOSURE, X[:, 3:]])  # in the middle
NAMES = [f"g{j}" for j in range(3)] + ["hours"] + [f"g{j}" for j in range(3, P)]


def d2(y, expected, exposure):
    return d2_tweedie_score(y / exposure, expected / exposure, power=1, sample_weight=exposure)


def test_the_score_of_a_search_is_that_of_pipelines_fold_by_fold():
    cv = KFold(3, shuffle=True, random_state=0)
    search = SMFRegressorCV(2, exposure_column=3, cv=cv, **SETTING).fit(SEEN, Y)
    scores = []
    for train, test in cv.split(SEEN):
        model = make_pipeline(ColumnScaler([3]), SMFRegressor(2, exposure_column=3, **SETTING))
        expected = model.fit(SEEN[train], Y[train]).predict(SEEN[test])
        scores.append(d2(Y[test], expected, EXPOSURE[test]))
    found = [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)]
    np.testing.assert_allclose(found, scores, rtol=1e-3)
    assert search.score(SEEN, Y) == pytest.approx(d2(Y, search.predict(SEEN), EXPOSURE))


def test_beside_covariates_too_the_score_is_that_of_rates():
    beside = X[:, :1] > 1
    search = SMFRegressorCV(2, exposure_column=3, cv=3, **SETTING).fit(SEEN, Y, covariates=beside)
    expected = search.predict(SEEN, covariates=beside)
    assert search.score(SEEN, Y, covariates=beside) == pytest.approx(d2(Y, expected, EXPOSURE))


@pytest.mark.parametrize("column", [3, "hours"])
@pytest.mark.parametrize("gaps", [False, True])
def test_by_name_and_position_the_exposure_passes_as_it_is(column, gaps):
    table = pd.DataFrame(SEEN, columns=NAMES).assign(sex=np.where(np.arange(N) % 3, "f", "m"))
    if gaps:
        table.loc[::7, "g1"] = np.nan
    search = SMFRegressorCV(2, exposure_column=column, covariate_columns=["sex"], cv=3, **SETTING)
    with pytest.warns(UserWarning) if gaps else np.errstate():
        search.fit(table, Y)
    made = search.best_estimator_[:-1].transform(table)
    np.testing.assert_array_equal(made["hours"], EXPOSURE)
    doubled = table.assign(hours=2 * table["hours"])
    np.testing.assert_allclose(search.predict(doubled), 2 * search.predict(table))


def test_a_scaler_of_ones_own_that_leaves_the_exposure_alone():
    by_name = SMFRegressorCV(2, exposure_column=3, cv=3, **SETTING).fit(SEEN, Y)
    own = SMFRegressorCV(2, exposure_column=3, cv=3, preprocess=ColumnScaler([3]), **SETTING).fit(SEEN, Y)
    np.testing.assert_allclose(own.predict(SEEN), by_name.predict(SEEN), rtol=1e-6)
    assert own.best_score_ == pytest.approx(by_name.best_score_, rel=1e-4)


def test_the_unit_of_the_exposure_does_not_matter():
    found = []
    for unit in (1.0, 60.0):
        seen = SEEN * np.where(np.arange(P + 1) == 3, unit, 1.0)
        search = SMFRegressorCV(2, loss="poisson", exposure_column=3, cv=2)
        found.append(nested_scores(search, seen, Y, n_splits=3, n_repeats=1))
    one, other = found
    for method in one.baselines:
        d2 = other.baselines[method]["d2"]["mean"]
        assert one.baselines[method]["d2"]["mean"] == pytest.approx(d2, rel=1e-3)
    # Fits in outer folds have three digits of the objective.
    assert one.summary["d2"]["mean"] == pytest.approx(other.summary["d2"]["mean"], rel=1e-2)


@pytest.mark.parametrize("exposed", [False, True])
def test_nested_figures_are_those_of_scikit_learn(exposed):
    y = Y if exposed else samples(1)[2].clip(max=20)
    seen, column = (SEEN, 3) if exposed else (X, None)
    exposure = EXPOSURE if exposed else np.ones(N)
    search = SMFRegressorCV(2, exposure_column=column, **SETTING)
    found = nested_scores(search, seen, y, n_splits=3, n_repeats=1, random_state=0)
    assert found.outcome == "counts" and found.headline == "d2"
    splits = outer_splits(y)
    rows = found.predictions[:, 0]
    for name, figure in {
        "d2": lambda at: d2(y[at], rows[at], exposure[at]),
        "mean_deviance": lambda at: mean_poisson_deviance(y[at], rows[at]),
        "mean_absolute_error": lambda at: mean_absolute_error(y[at], rows[at]),
    }.items():
        np.testing.assert_allclose(found.folds["model"][name][0], [figure(test) for _, test in splits])
    guess = found.folds["always the mean rate"]["mean_deviance"][0]
    for k, (train, test) in enumerate(splits):
        rate = y[train].sum() / exposure[train].sum()
        assert guess[k] == pytest.approx(mean_poisson_deviance(y[test], exposure[test] * rate))


def outer_splits(y):
    return outcome_named("counts").splits(y, None, 3, 0)


def test_the_ridge_rival_is_a_tuned_poisson_regression_of_rates():
    found = nested_scores(SMFRegressorCV(2, exposure_column=3, **SETTING), SEEN, Y, n_splits=3, n_repeats=1)
    best = []
    for train, test in outer_splits(Y):
        scaler = StandardScaler().fit(X[train])
        each = []
        for alpha in np.logspace(-4, 1, 6):
            model = PoissonRegressor(alpha=alpha, max_iter=1000)
            model.fit(scaler.transform(X[train]), Y[train] / EXPOSURE[train], sample_weight=EXPOSURE[train])
            expected = EXPOSURE[test] * model.predict(scaler.transform(X[test]))
            each.append(d2(Y[test], expected, EXPOSURE[test]))
        best.append(max(each))
    assert found.baselines["ridge Poisson regression"]["d2"]["mean"] == pytest.approx(np.mean(best), abs=0.03)
    blind = nested_scores(SMFRegressorCV(2, **SETTING), X, Y, n_splits=3, n_repeats=1)
    worse = blind.baselines["ridge Poisson regression"]["mean_deviance"]["mean"]
    assert found.baselines["ridge Poisson regression"]["mean_deviance"]["mean"] < worse / 2


def test_counts_are_shuffled_with_their_exposures():
    search = SMFRegressorCV(2, exposure_column=3, **SETTING)
    found = nested_scores(search, SEEN, Y, n_splits=3, n_repeats=1, baselines=False, permutations=5)
    assert found.chance < 0.01
    assert np.all(found.permutation.scores < found.permutation.score)


def test_long_hours_are_no_knowledge():
    counts = outcome_named("counts")
    truth = counts.out_of(Y, EXPOSURE[:, None])
    rng = np.random.default_rng(11)
    noise = [np.exp(0.3 * rng.standard_normal((N, 1))) for _ in range(20)]
    found = [counts.chance("d2", truth, EXPOSURE[:, None] * rates) for rates in noise]
    # One of twenty is expected; five and more happen three times in a thousand.
    assert np.count_nonzero(np.array(found) < 0.05) < 5
    assert counts.chance("d2", truth, EXPOSURE[:, None] * np.exp(0.2 * X[:, :1])) < 0.01
    # Counts without stated exposures depend on the hours.
    assert counts.chance("d2", Y, EXPOSURE[:, None] * noise[0]) < 0.01


def test_models_without_a_search_and_samples_from_elsewhere():
    model = SMFRegressor(2, exposure_column=3, **SETTING)
    found = nested_scores(model, SEEN, Y, n_splits=3, n_repeats=1)
    assert found.folds["model"]["d2"].mean() > 0.2
    with pytest.raises(ValueError, match="permutations: SMFRegressor with an exposure_column cannot"):
        nested_scores(model, SEEN, Y, permutations=2)
    pipeline = make_pipeline(ColumnScaler([3]), model)
    with pytest.raises(TypeError, match="search=Pipeline: with exposure_column"):
        nested_scores(pipeline, SEEN, Y)
    outside = external_scores(pipeline.fit(SEEN[::2], Y[::2]), SEEN[1::2], Y[1::2])
    expected = pipeline.predict(SEEN[1::2])
    assert outside.summary["d2"]["mean"] == pytest.approx(d2(Y[1::2], expected, EXPOSURE[1::2]))


def test_several_counts_and_samples_without_any():
    y = np.column_stack([Y, np.roll(Y, 1) + 1])
    y[:5] = np.nan
    search = SMFRegressorCV(2, exposure_column=3, cv=3, **SETTING).fit(SEEN, y)
    assert search.predict(SEEN).shape == (N, 2)
    found = nested_scores(search, SEEN, y, n_splits=3, n_repeats=1)
    assert found.predictions.shape == (N - 5, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "squared"}, "exposure_column=3: loss='poisson' is required"),
        ({"exposure_column": 0}, "exposures > 0 are required, sample"),
        ({"exposure_column": "hours"}, "hours"),
    ],
)
def test_invalid_input(parameters, message):
    with pytest.raises(ValueError, match=message):
        SMFRegressorCV(2, **{**SETTING, "exposure_column": 3, **parameters}).fit(SEEN, Y)
