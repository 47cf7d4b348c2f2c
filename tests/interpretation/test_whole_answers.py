"""Answers are shuffled as whole rows: times stay in their stratum, and counts keep their exposure."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import (
    feature_effects,
    held_out_scores,
    stability,
    stable_features,
    unsupervised,
)
from superfactor.selection import nested_scores

QUIET = {"certify": None, "search": "off"}


def in_strata(seed=0, n=120, p=60):
    """Features and hazards that follow the stratum, and no relation inside the strata."""
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, 3, n)
    X = rng.standard_normal((n, p)) + 1.5 * stratum[:, None]
    time = np.ceil(4 * rng.exponential(np.array([1.0, 4.0, 16.0])[stratum]))  # with ties
    return X, np.c_[rng.random(n) < 0.7, time, stratum]


def score_test(x, y, weight):
    """The score test of Cox's model, event after event."""
    score = information = 0.0
    for event, time, stratum, own, w in zip(*y.T, x, weight, strict=True):
        if event:
            at_risk = (y[:, 1] >= time) & (y[:, 2] == stratum)
            mean = np.average(x[at_risk], weights=weight[at_risk])
            score += w * (own - mean)
            information += w * np.average((x[at_risk] - mean) ** 2, weights=weight[at_risk])
    return score / np.sqrt(information)


def test_features_that_follow_the_stratum_do_not_go_with_the_risk():
    X, y = in_strata()
    model = SMFSurvival(2, **QUIET).fit(X, y)
    table = feature_effects(model, X, y)
    assert (table["q"] < 0.05).mean() < 0.05
    assert (feature_effects(model, X, y[:, :2])["q"] < 0.05).mean() > 0.9
    weight = np.random.default_rng(1).uniform(0.2, 3, len(X))
    for w in (np.ones(len(X)), weight):
        scaled = w * w.sum() / (w @ w)
        table = feature_effects(model, X, y, sample_weight=w)
        z = [score_test(x, y, scaled) for x in X.T]
        np.testing.assert_allclose(table["z"], z, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(table["p"], 2 * norm.sf(np.abs(z)), rtol=1e-9)


class Watched(SMFSurvival):
    """Notes whether the strata of y are those in the first column of X, and whether y was shuffled."""

    seen: ClassVar[list] = []

    def fit(self, X, y, covariates=None, sample_weight=None):
        same = np.array_equal(np.asarray(X)[:, 0], np.asarray(y)[:, 2])
        self.seen.append((same, np.array_equal(np.asarray(X)[:, 1], np.asarray(y)[:, 1])))
        return super().fit(X, y, covariates=covariates, sample_weight=sample_weight)


@pytest.fixture
def watched():
    X, y = in_strata(p=6)
    X[:, 0], X[:, 1] = y[:, 2], y[:, 1]
    Watched.seen.clear()
    return X, y


@pytest.mark.parametrize("grouped", [False, True])
def test_shuffled_times_stay_in_their_stratum(watched, grouped):
    X, y = watched
    groups = np.repeat(np.arange(40), 3) if grouped else None
    stable_features(Watched(1, **QUIET).fit(X, y), X, y, n_pairs=2, threshold=1.0, groups=groups)
    assert len(Watched.seen) == 7 and all(same for same, _ in Watched.seen)
    assert sum(own for _, own in Watched.seen) == 5
    Watched.seen.clear()
    stability(Watched(1, **QUIET).fit(X, y), X, y, 2, shuffles=2)
    assert all(same for same, _ in Watched.seen) and not all(own for _, own in Watched.seen)


def test_samples_without_a_time_have_a_stratum():
    X, y = in_strata(p=6)
    y[::5, :2] = np.nan
    model = SMFSurvival(1, **QUIET).fit(X, y)
    assert (held_out_scores(model, X, y).fold[::5] == -1).all()
    assert len(stable_features(model, X, y, n_pairs=4).table) == 6
    assert stability(model, X, y, 2, shuffles=1).n_resamples == 2
    assert unsupervised(model, X, y).share.shape == (1,)


@pytest.mark.parametrize("grouped", [False, True])
def test_permutations_stay_in_their_stratum(watched, grouped):
    X, y = watched
    groups = np.repeat(np.arange(40), 3) if grouped else None
    nested_scores(
        Watched(1, **QUIET), X, y, groups=groups, n_splits=3, n_repeats=1, permutations=2, baselines=False
    )
    assert all(same for same, _ in Watched.seen) and not all(own for _, own in Watched.seen)


def test_groups_with_one_answer_are_shuffled_as_groups():
    class Seen(SMFClassifier):
        parts: ClassVar[list] = []

        def fit(self, X, y, covariates=None, sample_weight=None):
            group = np.asarray(X)[:, 0].astype(int)
            self.parts.append(all(len(set(y[group == g])) == 1 for g in group))
            return super().fit(X, y, covariates=covariates, sample_weight=sample_weight)

    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(16), 4)
    X, y = np.c_[groups, rng.standard_normal((64, 7))], groups % 2
    stable_features(Seen(1, **QUIET).fit(X, y), X, y, n_pairs=2, threshold=1.0, groups=groups)
    assert len(Seen.parts) == 7 and all(Seen.parts)


def exposed(n=90):
    """The first feature follows the exposure, the rate follows others."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((n, 30)), columns=[f"g{j}" for j in range(30)])
    X["years"] = np.exp(X["g0"])
    return X, rng.poisson(3 * X["years"] * np.exp(0.4 * X["g10"] + 0.4 * X["g11"])).astype(float)


@pytest.mark.parametrize("form", ["table", "array", "sparse", "pipeline"])
def test_shuffled_counts_keep_their_exposure(form):
    """Counts with the exposures of others are rates that follow the exposure."""
    X, y = exposed()
    column = "years"
    if form in ("array", "sparse"):
        X, column = X.to_numpy(), 30
        X = sp.csr_array(X) if form == "sparse" else X
    model = SMFRegressor(2, loss="poisson", exposure_column=column, **QUIET)
    if form == "pipeline":
        model = make_pipeline(FunctionTransformer(), model)
    found = stable_features(model.fit(X, y), X, y, n_pairs=10, random_state=0).table
    first = found["feature"].isin(["g0", "x0"])
    assert found.loc[first, "share_shuffled"].item() < 0.5


def test_exposures_that_a_step_changes_cannot_be_shuffled():
    X, y = exposed()
    both = make_pipeline(FunctionTransformer(np.abs), SMFRegressor(2, loss="poisson", exposure_column=30))
    changed = make_pipeline(FunctionTransformer(lambda X: np.abs(X) * 2), both[-1])
    X = X.to_numpy()
    stable_features(both.fit(X, y), X, y, n_pairs=4)
    with pytest.raises(
        ValueError, match="exposure_column: exposures that steps before the model leave unchanged"
    ):
        stable_features(changed.fit(X, y), X, y, n_pairs=4)


def test_stability_with_shuffled_counts_keeps_their_exposure():
    X, y = exposed()
    model = SMFRegressor(1, loss="poisson", exposure_column="years", xi=1e-3, **QUIET).fit(X, y)
    found = stability(model, X, y, 6, shuffles=3, random_state=0)
    assert found.similarity_shuffled.mean() < 0.7
