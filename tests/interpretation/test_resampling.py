"""`stability` against planted factors, and against refits written out."""

import sys
from itertools import permutations

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.interpretation.data import classifier, pipeline, regressor, table

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.constraints import Box
from superfactor.interpretation import factor_view, stability, top_features
from superfactor.interpretation.models import fitted_model, model_data
from superfactor.interpretation.refits import resampling


def planted(n=80, p=300, k=4, noise=0.3, seed=0):
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


def test_planted_features_return_and_others_do_not(wide):
    X, y, fit = wide
    found = stability(fit, X, y, 20, n=4, random_state=0, shuffles=0)
    assert found.n_resamples == 20
    assert found.similarity.shape == (20, 2)
    assert found.similarity.min() > 0.8
    assert set(found.table["frequency"]) == {1.0}
    more = stability(fit, X, y, 20, n=8, fraction=0.5, random_state=0, shuffles=0).table
    noise = ~more["feature"].isin([f"g{j}" for j in range(16)])
    assert noise.sum() > 5
    assert set(more.loc[more["rank"] <= 4, "frequency"]) == {1.0}
    assert more.loc[noise, "frequency"].mean() < 0.5


def test_table_is_that_of_the_top_features(wide):
    X, y, fit = wide
    found = stability(fit, X, y, 3, n=3).table
    added = ["frequency", "frequency_shuffled"]
    pd.testing.assert_frame_equal(found.drop(columns=added), top_features(fit, 3))
    assert found["frequency"].between(0, 1).all()
    weights = stability(fit, X, y, 2, n=3, by="weight", shuffles=0).table
    pd.testing.assert_frame_equal(weights.drop(columns=added), top_features(fit, 3, by="weight"))
    assert weights["frequency_shuffled"].isna().all()


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("shape", [(30, 60), (60, 12)], ids=["wide", "tall"])
@pytest.mark.parametrize(
    ("rotation", "by", "weighted"),
    [("predictive", "correlation", True), ("variance", "weight", False), ("varimax", "correlation", False)],
)
def test_same_as_refits_one_by_one(model, shape, rotation, by, weighted, monkeypatch):
    X, y = planted(*shape, k=2, noise=2.0)
    X, weight = X.to_numpy(), np.ones(len(y))
    if weighted:
        weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    fit = classifier(model, rank=3, tol=1e-10).fit(X, y, sample_weight=weight)
    asked, views = [], resampling._Refits.views
    monkeypatch.setattr(resampling._Refits, "views", lambda *args: asked.append(args[1:]) or views(*args))
    how = {"rotation": rotation, "by": by, "n": 3}
    found = stability(fit, X, y, 4, shuffles=2, sample_weight=weight, random_state=3, **how)
    (labels, parts), *shuffled = asked
    np.testing.assert_array_equal(labels, y)
    assert [len(rows) for rows in parts] == [round(0.8 * len(y))] * 4
    reference = factor_view(fit, rotation=rotation)
    frequency, similarity = one_by_one(fit, reference, X, y, parts, weight, **how)
    np.testing.assert_allclose(found.similarity, similarity, atol=1e-5)
    null, alike = [], []
    for (labels, everyone), (same, parts) in zip(shuffled[::2], shuffled[1::2], strict=True):
        assert labels is not y and sorted(labels) == sorted(y) and np.any(labels != y)
        np.testing.assert_array_equal(labels, same)
        np.testing.assert_array_equal(everyone, [np.arange(len(y))])
        assert len(parts) == 2
        again = clone(fit).set_params(certify=None).fit(X, labels, sample_weight=weight)
        reference = factor_view(again, rotation=rotation, positive=reference.outputs[0])
        counts, one = one_by_one(fit, reference, X, labels, parts, weight, **how)
        null.append(counts)
        alike.append(one)
    np.testing.assert_allclose(found.similarity_shuffled, np.concatenate(alike), atol=1e-5)
    for row in found.table.itertuples():
        place = row.factor, row.end, row.rank
        np.testing.assert_allclose(row.frequency, frequency[place])
        there = [counts[place] for counts in null if place in counts]
        np.testing.assert_allclose(row.frequency_shuffled, np.mean(there) if there else np.nan)


def test_labels_that_mean_something_show_beside_shuffled_ones():
    X = np.random.default_rng(0).standard_normal((200, 60))
    y = X[:, :3].sum(axis=1) > 0
    model = classifier(rank=1).fit(X, y)
    found = stability(model, X, y, 10, n=3, positive=True, random_state=0)
    first = found.table.query("end == 'high'")
    assert list(first["frequency"]) == [1, 1, 1] and first["frequency_shuffled"].mean() < 0.8
    assert found.similarity.mean() > found.similarity_shuffled.mean() + 0.05


@pytest.mark.parametrize("kind", ["array", "sparse", "constraint"])
def test_other_ways_to_the_same_answer(wide, kind):
    X, y, _ = wide
    X = X.to_numpy()[:, :100] / 10
    # A box that no entry touches: the same problem, which may not be compressed.
    params = {"constraint": Box(-1e6, 1e6), "tol": 1e-4} if kind == "constraint" else {}
    fit = classifier(rank=2, **params).fit(X, y)
    found = stability(fit, sp.csr_array(X) if kind == "sparse" else X, y, 3, n=4)
    assert set(found.table["frequency"]) == {1.0}


def test_random_state_decides(wide):
    X, y, fit = wide
    first = stability(fit, X, y, 2, random_state=1)
    again = stability(fit, X, y, 2, random_state=1)
    other = stability(fit, X, y, 2, random_state=2)
    pd.testing.assert_frame_equal(first.table, again.table)
    np.testing.assert_array_equal(first.similarity, again.similarity)
    assert not np.allclose(first.similarity, other.similarity)
    with joblib.parallel_config("threading"):  # processes are slow to start
        jobs = stability(fit, X, y, 2, random_state=1, n_jobs=2)
    pd.testing.assert_frame_equal(first.table, jobs.table)


def test_resamples_keep_every_class_and_no_sample_of_weight_zero():
    strata = np.repeat(["a", "b", "c"], [20, 10, 1])
    weight = np.ones(31)
    weight[:10] = 0
    how = {"weight": weight, "fraction": 0.7, "rank": 2, "rng": np.random.default_rng(0)}
    for rows in resampling._resamples(strata, 20, **how):
        assert len(set(rows)) == len(rows)
        assert list(np.unique(strata[rows], return_counts=True)[1]) == [7, 7, 1]
        assert rows.min() >= 10


def test_search_covariates_and_regression():
    X, y = table(n=60)
    search = SMFClassifierCV([2], xi=[0.01], lam=[10.0], preprocess="standardize", cv=3).fit(X, y)
    assert stability(search, X, y, 2).similarity.shape == (2, 2)
    extra = np.random.default_rng(3).standard_normal((60, 2))
    fit = classifier(rank=2, covariate_columns="gene2").fit(X, y, covariates=extra)
    assert "gene2" not in set(stability(fit, X, y, 2, n=9, covariates=extra).table["feature"])
    Y = X[["gene0", "gene1"]].to_numpy()
    assert stability(regressor(rank=2).fit(X, Y), X, Y, 3).similarity.min() > 0.5


def test_spare_rank_does_no_harm():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 50))
    y = X[:, 0] > 0
    found = stability(classifier(rank=4).fit(X, y), X, y, 3, n=2, rotation="varimax")
    np.testing.assert_array_equal(found.similarity[:, 2:], 0)
    assert found.similarity[:, :2].min() > 0.9


# --- progress -----------------------------------------------------------------------------------------


def test_a_function_hears_every_step(wide):
    X, y, fit = wide
    heard = []
    stability(fit, X, y, 3, shuffles=0, progress=lambda *at: heard.append(at))
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]
    heard.clear()
    stability(fit, X, y, 3, shuffles=2, progress=lambda *at: heard.append(at))
    assert heard == [(0, 7), (1, 7), (2, 7), (3, 7), (5, 7), (7, 7)]


def test_a_bar_leaves_the_standard_output_alone(wide, capsys, monkeypatch):
    pytest.importorskip("rich")
    X, y, fit = wide
    for silent in (None, False):
        stability(fit, X, y, 2, shuffles=0, progress=silent)
        assert capsys.readouterr() == ("", "")
    stability(fit, X, y, 2, shuffles=0, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Refitting on resamples" in err
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match="needs rich"):
        stability(fit, X, y, 2, progress=True)


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        pytest.param({"n_resamples": 0}, ValueError, "n_resamples=0: an integer", id="resamples"),
        pytest.param({"shuffles": -1}, ValueError, "shuffles=-1: an integer >= 0", id="shuffles"),
        pytest.param({"by": "size"}, ValueError, "by='size': 'correlation' or", id="by"),
        pytest.param({"n": 0}, ValueError, "n=0: an integer", id="n"),
        pytest.param({"fraction": 1.0}, ValueError, "fraction=1.0: a number", id="fraction"),
        pytest.param({"fraction": 0.001}, ValueError, "1 samples are too few", id="too-few"),
        pytest.param({"progress": 3}, TypeError, "progress=3: None, True or", id="progress"),
        pytest.param({"random_state": "x"}, TypeError, "random_state='x'", id="seed"),
        pytest.param({"sample_weight": [1.0]}, ValueError, "sample_weight: 1 samples", id="weight"),
    ],
)
def test_bad_options(options, error, words):
    X, _ = table()
    fit = regressor(rank=2).fit(X, X["gene0"])
    with pytest.raises(error, match=words):
        stability(fit, X, X["gene0"], **options)


def test_data_of_another_shape(wide):
    X, y, fit = wide
    with pytest.raises(ValueError, match="y: 79 samples, but X has 80"):
        stability(fit, X, y[1:])
    with pytest.raises(ValueError, match="feature names"):
        stability(fit, X.iloc[:, 1:], y)
    with pytest.raises(TypeError, match="model=FactorView: a fitted SMFClassifier"):
        stability(factor_view(fit), X, y)


def test_places_that_no_shuffle_has_a_feature_at_are_not_counted_as_never():
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
        assert (end["frequency"] == 1).all()
        assert set(end["frequency_shuffled"].dropna()) == {1.0}
    assert low["frequency_shuffled"].notna().all()


@pytest.mark.parametrize("size", [1e7, 1e100])
def test_a_refit_does_not_see_samples_that_are_left_out(size):
    """To the last bit, whatever stands in their rows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 90)), np.arange(30) % 2
    model = SMFClassifier(2).fit(X, y)
    part, rest = np.arange(24), np.arange(24, 30)
    found = []
    for factor in (1.0, size):
        Z = X.copy()
        Z[rest] *= factor
        fitted = fitted_model(model)
        data = model_data(fitted, Z, y, None, "stability")
        work = resampling._Refits(fitted, data, np.ones(30), None, None, "correlation", 3, None)
        (view,) = work.views(y, [part])
        found.append(view)
    for name in ("weights", "correlations", "coef"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
