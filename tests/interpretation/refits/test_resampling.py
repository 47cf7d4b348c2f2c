"""`stability` against planted factors, and against refits written out."""

import sys
from itertools import permutations

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.estimators.data import patients
from tests.interpretation.data import classifier, pipeline, regressor, table

from superfactor import SMFClassifier, SMFClassifierCV, SMFSurvival
from superfactor.constraints import Box
from superfactor.interpretation import factor_view, stability, top_features
from superfactor.interpretation.models import fitted_model, model_data
from superfactor.interpretation.refits import resampling


def planted(n=60, p=100, k=4, noise=0.3, seed=0):
    """Two factors of 2k features each, high ones and low ones, in noise; labels from the first."""
    rng = np.random.default_rng(seed)
    codes = rng.standard_normal((n, 2)) * [3.0, 4.0]
    atoms = np.zeros((2, p))
    for j in range(2):
        atoms[j, 2 * k * j : 2 * k * j + k] = 1
        atoms[j, 2 * k * j + k : 2 * k * (j + 1)] = -1
    X = codes @ atoms + noise * rng.standard_normal((n, p))
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(p)]), np.where(codes[:, 0] > 0, "b", "a")


def one_by_one(fit, reference, X, y, parts, weight, rotation, by, n):
    """How often each top feature returns, {(factor, end, rank): frequency}, and similarities, the slow way.

    Refits to the raw rows, every matching of factors of the same kind tried.
    """
    r, tops = len(reference.share), top_features(reference, n, by=by)
    counts = {key: 0.0 for key in tops[["factor", "end", "rank"]].itertuples(index=False, name=None)}
    similarity = []
    for rows in parts:
        refit = clone(fit).set_params(certify=None)
        refit.fit(X[rows], y[rows], sample_weight=weight[rows] * weight.sum() / weight[rows].sum())
        again = factor_view(refit, rotation=rotation)
        unit, other = (
            v.correlations / np.linalg.norm(v.correlations, axis=1, keepdims=True) for v in (reference, again)
        )
        orders = [list(order) for order in permutations(range(r))]
        if rotation == "predictive":
            kinds = reference.coef.any(axis=0), again.coef.any(axis=0)
            orders = [order for order in orders if np.array_equal(kinds[0], kinds[1][order])]
        best = max(orders, key=lambda order: np.abs((unit * other[order]).sum(axis=1)).sum())
        cosine = (unit * other[best]).sum(axis=1)
        similarity.append(np.abs(cosine))
        shown = again.shown(by)[best] * np.sign(cosine)[:, None]
        for row in tops.itertuples():
            order = np.argsort(shown[row.factor - 1])
            after = order[-n:] if row.end == "high" else order[:n]
            back = row.feature in reference.features[after]
            counts[row.factor, row.end, row.rank] += back / len(parts)
    return counts, np.array(similarity)


@pytest.fixture(scope="module")
def wide():
    X, y = planted()
    return X, y, pipeline(rank=2).fit(X, y)


def test_planted_features_recur_and_others_do_not(wide):
    X, y, fit = wide
    found = stability(fit, X, y, 10, n=8, fraction=0.5, random_state=0, shuffles=0)
    assert found.n_resamples == 10 and found.similarity.shape == (10, 2) and found.similarity.min() > 0.8
    noise = ~found.table["feature"].isin([f"g{j}" for j in range(16)])
    assert noise.sum() > 5 and found.table.loc[noise, "frequency"].mean() < 0.5
    assert set(found.table.loc[found.table["rank"] <= 4, "frequency"]) == {1.0}
    pd.testing.assert_frame_equal(found.table.iloc[:, :-2], top_features(fit, 8))
    assert found.table["frequency_shuffled"].isna().all()


@pytest.mark.parametrize(
    ("model", "shape", "rotation", "by", "weighted"),
    [
        ("filter", (30, 60), "predictive", "correlation", True),
        ("feature", (30, 60), "variance", "weight", False),
        ("filter", (60, 12), "varimax", "correlation", False),
    ],
)
def test_same_as_refits_one_by_one(model, shape, rotation, by, weighted, monkeypatch):
    X, y = planted(*shape, k=2, noise=2.0)
    X, weight = X.to_numpy(), np.ones(len(y))
    if weighted:
        weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    fit = classifier(model, rank=3, tol=1e-10).fit(X, y, sample_weight=weight)
    asked, views = [], resampling._Refits.views
    monkeypatch.setattr(resampling._Refits, "views", lambda *args: asked.append(args[1:3]) or views(*args))
    how = {"rotation": rotation, "by": by, "n": 3}
    found = stability(fit, X, y, 3, shuffles=2, sample_weight=weight, random_state=3, **how)
    asked = [(y[order], parts) for order, parts in asked]
    (labels, parts), *shuffled = asked
    np.testing.assert_array_equal(labels, y)
    assert [len(rows) for rows in parts] == [round(0.8 * len(y))] * 3
    reference = factor_view(fit, rotation=rotation)
    frequency, similarity = one_by_one(fit, reference, X, y, parts, weight, **how)
    np.testing.assert_allclose(found.similarity, similarity, atol=1e-5)
    null, alike = [], []
    for labels, parts in shuffled:
        assert sorted(labels) == sorted(y) and np.any(labels != y)
        again = clone(fit).set_params(certify=None).fit(X, labels, sample_weight=weight)
        reference = factor_view(again, rotation=rotation, positive=reference.outputs[0])
        counts, one = one_by_one(fit, reference, X, labels, parts, weight, **how)
        null.append(counts)
        alike.append(one)
    assert [len(parts) for _, parts in shuffled] == [2, 1]
    np.testing.assert_allclose(found.similarity_shuffled, np.concatenate(alike), atol=1e-5)
    for row in found.table.itertuples():
        place = row.factor, row.end, row.rank
        np.testing.assert_allclose(row.frequency, frequency[place])
        there = [counts[place] for counts in null if place in counts]
        np.testing.assert_allclose(row.frequency_shuffled, np.mean(there) if there else np.nan)


def test_real_labels_differ_from_shuffled_ones():
    X = np.random.default_rng(0).standard_normal((200, 60))
    y = X[:, :3].sum(axis=1) > 0
    found = stability(classifier(rank=1).fit(X, y), X, y, 10, n=3, positive=True, random_state=0)
    first = found.table.query("end == 'high'")
    assert list(first["frequency"]) == [1, 1, 1] and first["frequency_shuffled"].mean() < 0.8
    assert found.similarity.mean() > found.similarity_shuffled.mean() + 0.05


@pytest.mark.parametrize("kind", ["sparse", "constraint"])
def test_other_inputs_give_the_same_result(wide, kind):
    X, y, _ = wide
    X = X.to_numpy() / 10
    # A box that no entry touches: the same problem, which may not be compressed.
    params = {"constraint": Box(-1e6, 1e6), "tol": 1e-4} if kind == "constraint" else {}
    fit = classifier(rank=2, **params).fit(X, y)
    found = stability(fit, sp.csr_array(X) if kind == "sparse" else X, y, 2, n=4, shuffles=0)
    assert set(found.table["frequency"]) == {1.0}


def test_random_state_and_jobs_and_progress(wide, capsys, monkeypatch):
    X, y, fit = wide
    heard = []
    first = stability(fit, X, y, 3, shuffles=2, random_state=1, progress=lambda *at: heard.append(at))
    assert heard == [(0, 7), (1, 7), (2, 7), (3, 7), (5, 7), (7, 7)]
    other = stability(fit, X, y, 3, shuffles=0, random_state=2, progress=False)
    assert not np.allclose(first.similarity, other.similarity)
    with joblib.parallel_config("threading"):  # processes are slow to start
        jobs = stability(fit, X, y, 3, shuffles=2, random_state=1, n_jobs=2)
    pd.testing.assert_frame_equal(first.table, jobs.table)
    assert capsys.readouterr() == ("", "")
    pytest.importorskip("rich")
    stability(fit, X, y, 2, shuffles=0, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "Refitting on resamples" in err
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match="requires rich"):
        stability(fit, X, y, 2, progress=True)


def test_resamples_keep_every_class_and_no_sample_of_weight_zero():
    strata, weight = np.repeat(["a", "b", "c"], [20, 10, 1]), np.ones(31)
    weight[:10] = 0
    how = {"weight": weight, "fraction": 0.7, "rank": 2, "rng": np.random.default_rng(0)}
    for rows in resampling._resamples(strata, 20, **how):
        assert len(set(rows)) == len(rows) and rows.min() >= 10
        assert list(np.unique(strata[rows], return_counts=True)[1]) == [7, 7, 1]


def test_searches_covariates_and_other_outcomes():
    X, y = table(n=60)
    search = SMFClassifierCV([2], xi=[0.01], lam=[10.0], preprocess="standardize", cv=3).fit(X, y)
    assert stability(search, X, y, 2, shuffles=0).similarity.shape == (2, 2)
    extra = np.random.default_rng(3).standard_normal((60, 2))
    fit = classifier(rank=2, covariate_columns="gene2").fit(X, y, covariates=extra)
    assert "gene2" not in set(stability(fit, X, y, 2, n=9, shuffles=0, covariates=extra).table["feature"])
    Y = X[["gene0", "gene1"]].to_numpy()
    assert stability(regressor(rank=2).fit(X, Y), X, Y, 3, shuffles=1).similarity.min() > 0.5
    X, y, Z = patients(n=90)
    y[:5] = np.nan
    times = SMFSurvival(2, certify=None, xi=0.1, lam=1.0).fit(X, y, covariates=Z)
    found = stability(times, X, y, covariates=Z, n_resamples=3, shuffles=1)
    assert np.all(found.similarity[:, 0] > 0.5) and found.shuffled == "outcomes"


def test_unused_rank_does_no_harm():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 50))
    y = X[:, 0] > 0
    found = stability(classifier(rank=4).fit(X, y), X, y, 3, n=2, rotation="varimax", shuffles=0)
    np.testing.assert_array_equal(found.similarity[:, 2:], 0)
    assert found.similarity[:, :2].min() > 0.9


def test_places_without_a_feature_in_any_shuffle_are_nan():
    """One of four features goes with low scores: other places of the low end are empty, shuffled or not."""
    rng = np.random.default_rng(0)
    common = 3 * rng.standard_normal(60)
    X = common[:, None] * [1, 1, 1, -1] + 0.1 * rng.standard_normal((60, 4))
    y = np.where(common > 0, "b", "a")
    model = classifier(rank=1, xi=100.0).fit(X, y)
    table = stability(model, X, y, n_resamples=3, n=3, shuffles=5, positive="b").table
    low, high = (table[table["end"] == end] for end in ("low", "high"))
    assert low["feature"].tolist() == ["x3"] and len(high) == 3
    # All variance is one factor, whatever the labels are: both ends return, if in the other place.
    for end in (low, high):
        assert (end["frequency"] == 1).all() and set(end["frequency_shuffled"].dropna()) == {1.0}
    assert low["frequency_shuffled"].notna().all()


def test_refits_do_not_use_samples_that_are_left_out():
    """To the last bit, whatever stands in their rows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 90)), np.arange(30) % 2
    fitted, found = fitted_model(SMFClassifier(2).fit(X, y)), []
    for factor in (1.0, 1e7, 1e100):
        Z = X.copy()
        Z[24:] *= factor
        data = model_data(fitted, Z, y, None, "stability")
        found.append(resampling._Refits(fitted, data, np.ones(30), None, None).view(y, np.arange(24)))
    for name in ("weights", "correlations", "coef"):
        for other in found[1:]:
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_resamples": 0}, ValueError, "n_resamples=0: an integer"),
        ({"shuffles": -1}, ValueError, "shuffles=-1: an integer >= 0"),
        ({"by": "size"}, ValueError, "by='size': 'correlation' or"),
        ({"n": 0}, ValueError, "n=0: an integer"),
        ({"fraction": 1.0}, ValueError, "fraction=1.0: a number"),
        ({"fraction": 0.001}, ValueError, "1 samples are too small"),
        ({"progress": 3}, TypeError, "progress=3: None, True or"),
        ({"random_state": "x"}, TypeError, "random_state='x'"),
        ({"sample_weight": [1.0]}, ValueError, "sample_weight: 1 samples"),
        ({"y": np.zeros(39)}, ValueError, "y: 39 samples, but X has 40"),
        ({"X": table()[0].iloc[:, 1:]}, ValueError, "feature names"),
    ],
)
def test_bad_options(options, error, words, numbers):
    X, fit = numbers
    with pytest.raises(error, match=words):
        stability(fit, **{"X": X, "y": X["gene0"]} | options)


@pytest.fixture(scope="module")
def numbers():
    X, _ = table()
    return X, regressor(rank=2).fit(X, X["gene0"])
