"""LowRankImputer: filled values, unchanged values, and the rules of a scikit-learn transformer."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer
from sklearn.utils.estimator_checks import parametrize_with_checks

from superfactor.preprocessing import LowRankImputer, completion


def table(n=40, p=60, rank=3, noise=0.1, seed=0):
    """A table of a few factors and noise, with columns of different units, and which entries are missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    X = (X + noise * rng.standard_normal((n, p))) * 10.0 ** rng.integers(-3, 4, p) + rng.normal(size=p)
    gone = rng.random((n, p)) < 0.15
    return X, gone


def rms(filled, X, gone):
    return float(np.sqrt(np.mean(((filled - X) / X.std(axis=0))[gone] ** 2)))


def naive(X, rank, iterations=500):
    """Naive fixed point of docs/method.md §14: standardise, fill, SVD, shrink, fill again."""
    gone = np.isnan(X)
    mean, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    Z = np.where(gone, 0.0, (X - mean) / scale)
    for _ in range(iterations):
        mu = Z.mean(axis=0)
        U, sigma, Vt = np.linalg.svd(Z - mu, full_matrices=False)
        s2 = np.mean(sigma[rank : min(len(X) - 1, X.shape[1])] ** 2) / (1 - gone.mean())
        shrunk = np.maximum(sigma - s2 / sigma, 0)[:rank]
        Z = np.where(gone, mu + (U[:, :rank] * shrunk) @ Vt[:rank], Z)
    return mean + Z * scale


@parametrize_with_checks([LowRankImputer()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("shape", [(40, 60), (60, 40)])
def test_fixed_point_equals_the_naive_iteration(shape):
    X, gone = table(*shape)
    X[gone] = np.nan
    filled = LowRankImputer(3, tol=1e-10, max_iter=2000).fit_transform(X)
    expected = naive(X, 3)
    scale = np.nanstd(X, axis=0)
    np.testing.assert_allclose(filled / scale, expected / scale, rtol=0, atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 60), (60, 40)])
def test_large_tables_by_subspace_iteration(shape, monkeypatch):
    X, gone = table(*shape, noise=0.5)
    X[gone] = np.nan
    by_gram = LowRankImputer(3, tol=1e-9, max_iter=2000).fit_transform(X)
    monkeypatch.setattr(completion, "_SMALL", 0)
    iterated = LowRankImputer(3, tol=1e-9, max_iter=2000).fit_transform(X)
    scale = np.nanstd(X, axis=0)
    np.testing.assert_allclose(iterated / scale, by_gram / scale, rtol=0, atol=1e-5)


def test_finds_the_rank_and_is_better_than_means_and_neighbours():
    X, gone = table()
    holes = np.where(gone, np.nan, X)
    imputer = LowRankImputer()
    filled = imputer.fit_transform(holes)
    assert imputer.n_components_ == 3
    neighbours = KNNImputer().fit_transform(holes / X.std(axis=0)) * X.std(axis=0)
    assert rms(filled, X, gone) < 0.15 < 0.5 < rms(neighbours, X, gone)
    assert 0.5 < imputer.rms_error_ / rms(filled, X, gone) < 2
    assert imputer.rms_errors_[0] == pytest.approx(1, abs=0.15)
    given = LowRankImputer(3).fit_transform(holes)
    np.testing.assert_array_equal(given, filled)  # the path to the rank leaves no trace


def test_noise_has_no_factors():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 30))
    gone = rng.random(X.shape) < 0.1
    imputer = LowRankImputer().fit(np.where(gone, np.nan, X))
    assert imputer.n_components_ == 0
    filled = imputer.transform(np.where(gone, np.nan, X))
    np.testing.assert_allclose(filled[gone], np.broadcast_to(imputer.mean_, X.shape)[gone])


def test_new_samples_by_the_formula():
    X, gone = table(60, 40)
    imputer = LowRankImputer(3, tol=1e-10, max_iter=2000).fit(np.where(gone, np.nan, X)[:50])
    new = np.where(gone, np.nan, X)[50:]
    filled = imputer.transform(new)
    # By ridge regression of the observed entries on the components.
    for row, full in zip(new, filled, strict=True):
        o = ~np.isnan(row)
        z = (row - imputer.mean_) / imputer.scale_
        V = imputer.components_.T
        A = np.vstack([V[o], np.diag(np.sqrt(imputer._factors.ridge))])
        h, *_ = np.linalg.lstsq(A, np.concatenate([z[o], np.zeros(3)]), rcond=None)
        expected = imputer.mean_ + (V @ h) * imputer.scale_
        np.testing.assert_allclose(full[~o], expected[~o], rtol=1e-6)
        np.testing.assert_array_equal(full[o], row[o])
    assert rms(filled, X[50:], gone[50:]) < 0.3


@pytest.mark.parametrize("share", [0.1, 0.7])
def test_new_samples_of_narrow_tables_are_solved_many_at_a_time(share, monkeypatch):
    X, _ = table(1000, 12)
    X[np.random.default_rng(0).random(X.shape) < share] = np.nan
    X[3] = np.nan
    imputer = LowRankImputer(4).fit(X)
    solve, calls = np.linalg.solve, []
    monkeypatch.setattr(np.linalg, "solve", lambda *args: calls.append(1) or solve(*args))
    together = imputer.transform(X)
    assert len(calls) == 1
    monkeypatch.setattr(completion, "_BLOCK", 0)  # as in wide tables
    monkeypatch.setattr(completion, "_NEW_BLOCK", 0)
    one_by_one = imputer.transform(X)
    assert len(calls) == 1 + np.isnan(X).any(axis=1).sum()
    np.testing.assert_allclose(together / imputer.scale_, one_by_one / imputer.scale_, rtol=0, atol=1e-10)


def test_observed_values_and_inputs_are_unchanged():
    X, gone = table()
    gone[0], gone[1, :30] = True, True  # a sample without values, and one without half of them
    holes = np.where(gone, np.nan, X)
    kept = holes.copy()
    imputer = LowRankImputer(3).fit(holes)
    filled = imputer.transform(holes)
    np.testing.assert_allclose(filled[0], imputer.mean_)
    assert np.sqrt(np.mean(((filled - X) / X.std(axis=0))[1, :30] ** 2)) < 0.3
    np.testing.assert_array_equal(holes, kept)
    np.testing.assert_array_equal(filled[~gone], X[~gone])
    assert np.isfinite(filled).all()
    whole = imputer.transform(X)
    np.testing.assert_array_equal(whole, X)
    assert not np.shares_memory(whole, X)


def test_constant_columns_and_columns_of_one_value():
    X, gone = table()
    holes = np.where(gone, np.nan, X)
    holes[:, 5] = np.where(gone[:, 5], np.nan, 0.1)
    holes[:, 6] = np.nan
    holes[3, 6] = 1e6
    filled = LowRankImputer().fit_transform(holes)
    np.testing.assert_allclose(filled[:, 5], 0.1)
    np.testing.assert_allclose(filled[:, 6], 1e6)


def test_columns_without_a_value_are_named_and_left_out():
    X, gone = table(p=5)
    frame = pd.DataFrame(np.where(gone, np.nan, X), columns=list("abcde"))
    frame["c"] = np.nan
    with pytest.warns(UserWarning, match=r"1 column\(s\) without any value left out: 'c'"):
        imputer = LowRankImputer(1).set_output(transform="pandas").fit(frame)
    filled = imputer.transform(frame)
    assert list(filled.columns) == list(imputer.get_feature_names_out()) == list("abde")
    assert not filled.isna().any(axis=None)
    with pytest.raises(ValueError, match="no column has a value"):
        LowRankImputer().fit(frame[["c"]])


def test_passthrough_columns_keep_their_missing_values():
    X, gone = table(p=8)
    holes = np.where(gone, np.nan, X)
    frame = pd.DataFrame(holes, columns=list("abcdefgh"))
    frame["b"] = np.nan  # empty, but not the imputer's business
    imputer = LowRankImputer(2, passthrough_columns=["b", "h"])
    filled = imputer.fit_transform(frame)
    np.testing.assert_array_equal(filled[:, [1, 7]], frame[["b", "h"]])
    others = [0, 2, 3, 4, 5, 6]
    alone = LowRankImputer(2).fit_transform(holes[:, others])
    np.testing.assert_array_equal(filled[:, others], alone)
    by_position = LowRankImputer(2, passthrough_columns=[1, -1]).fit_transform(frame.to_numpy())
    np.testing.assert_array_equal(by_position, filled)
    with pytest.raises(ValueError, match=r"passthrough_columns=\['z'\]"):
        LowRankImputer(2, passthrough_columns=["z"]).fit(frame)


def test_single_precision_is_kept():
    X, gone = table(noise=0.3)
    holes = np.where(gone, np.nan, X)
    single = LowRankImputer(3).fit_transform(holes.astype(np.float32))
    assert single.dtype == np.float32
    double = LowRankImputer(3).fit_transform(holes)
    np.testing.assert_allclose(single / X.std(axis=0), double / X.std(axis=0), atol=2e-3)


def test_fits_are_reproducible_and_pickle():
    X, gone = table()
    holes = np.where(gone, np.nan, X)
    first = LowRankImputer(random_state=3).fit(holes)
    again = clone(first).fit(holes)
    copy = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(first.transform(holes), again.transform(holes))
    np.testing.assert_array_equal(first.transform(holes), copy.transform(holes))
    assert LowRankImputer(random_state=4).fit(holes).rms_errors_ != first.rms_errors_


def test_invalid_input():
    X, _ = table()
    with pytest.raises(TypeError, match="sparse"):
        LowRankImputer().fit(sp.csr_array(X))
    X[2, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        LowRankImputer().fit(X)
    with pytest.raises(ValueError, match="'n_components'"):
        LowRankImputer("many").fit(X)
    with pytest.raises(ValueError, match=r"passthrough_columns=\[0, 1, 2\]: all n_features=3"):
        LowRankImputer(passthrough_columns=[0, 1, 2]).fit(X[:, :3])
    with pytest.raises(ValueError, match="could not convert"):
        LowRankImputer(1).fit(pd.DataFrame({"a": [1.0, np.nan, 2.0], "batch": ["x", "y", "x"]}))


def test_values_whose_squares_are_out_of_range():
    dtype, size = np.float32, 1e30
    X, gone = table(p=5)
    frame = pd.DataFrame(np.where(gone, np.nan, X), columns=list("abcde")).astype(dtype)
    imputer = LowRankImputer(1).fit(frame)
    large = frame.copy()
    large["c"] = (frame["c"] / X[:, 2].std() * size).astype(dtype)
    with pytest.raises(ValueError, match=r"column 'c' holds values of size .* Rescale X"):
        LowRankImputer().fit(large)
    with pytest.raises(ValueError, match=r"column 'c' holds values of size .* Rescale X"):
        imputer.transform(large)
    handed_on = LowRankImputer(1, passthrough_columns="c").fit_transform(large)
    np.testing.assert_array_equal(handed_on[:, 2], large["c"])


def test_warns_if_not_converged():
    X, gone = table(noise=1.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        LowRankImputer(3, max_iter=2).fit(np.where(gone, np.nan, X))


def test_text_columns_are_passed_through():
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 4)), columns=list("abcd"))
    table.iloc[3, 1] = table.iloc[7, 2] = np.nan
    plain = LowRankImputer(1).fit_transform(table)
    table.insert(2, "batch", ["x", "y"] * 10)
    filled = LowRankImputer(1, passthrough_columns=["batch"]).fit_transform(table)
    assert list(filled.columns) == ["a", "b", "batch", "c", "d"]
    assert filled["batch"].tolist() == ["x", "y"] * 10
    np.testing.assert_array_equal(filled[["a", "b", "c", "d"]], plain)
    assert table.isna().to_numpy().sum() == 2  # the user's own stays as it is


# --- errors that are known beforehand ---------------------------------------------------------------------


def planted(n, p, rank, noise, share, seed=0):
    """A table of the given number of factors of size 1, and which entries are missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p)) / np.sqrt(rank)
    X += noise * rng.standard_normal((n, p))
    return X, rng.random((n, p)) < share


def estimate_and_truth(X, gone, **parameters):
    """Return the imputer, the error of the missing entries in its units, and its warnings."""
    holes = np.where(gone, np.nan, X)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        imputer = LowRankImputer(**parameters).fit(holes)
    error = ((imputer.transform(holes) - X) / imputer.scale_)[gone]
    doubt = [str(w.message) for w in said if "error of filled values is uncertain" in str(w.message)]
    return imputer, float(np.sqrt(np.mean(error**2))), doubt


@pytest.mark.parametrize(
    ("shape", "noise"), [((50, 30), 0.0), ((50, 30), 0.1), ((40, 120), 1e-2), ((40, 120), 0.1)]
)
def test_estimated_error_is_accurate(shape, noise):
    exact = 3e-3  # below this, in standard deviations, a fill is called exact
    ratios, warned = [], 0
    for rank, share in [(1, 0.2), (2, 0.02), (2, 0.4), (4, 0.1), (6, 0.2), (8, 0.1)]:
        imputer, truth, doubt = estimate_and_truth(*planted(*shape, rank, noise, share))
        warned += bool(doubt)
        if not doubt:
            ratios.append(max(imputer.rms_error_, exact) / max(truth, exact))
        if noise == 0 and share <= 0.2:
            assert truth < exact and imputer.n_components_ <= rank + 2
    assert warned <= 2
    assert min(ratios) > 1 / 1.5 and max(ratios) < 1.5


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_rank_is_exact_without_noise(tol):
    for seed in range(2):
        imputer, truth, doubt = estimate_and_truth(*planted(50, 30, 2, 0.0, 0.2, seed), tol=tol)
        assert imputer.n_components_ == 2 and not doubt
        assert max(truth, imputer.rms_error_) < 10 * max(tol, 3e-4)


def test_warns_if_the_error_is_uncertain():
    """With as many unknowns as values, the result depends on which values are hidden."""
    _, _, doubt = estimate_and_truth(*planted(50, 30, 8, 0.0, 0.4))
    assert len(doubt) == 1 and doubt == estimate_and_truth(*planted(50, 30, 8, 0.0, 0.4, 1))[2]  # said once


def test_errors_are_weighted_by_missing_values_of_columns():
    """Half of the columns are noise, which no other column predicts; all missing values are there."""
    X, gone = planted(80, 40, 2, 0.05, 0.2)
    X[:, 20:] = np.random.default_rng(1).standard_normal((80, 20))
    for part, least, most in ((slice(20), 0.8, 1.3), (slice(20, None), 0.0, 0.2)):
        kept = gone.copy()
        kept[:, part] = False
        imputer, truth, _ = estimate_and_truth(X, kept, n_components=2)
        assert least < imputer.rms_error_ < most
        assert imputer.rms_error_ == pytest.approx(truth, rel=0.3)
