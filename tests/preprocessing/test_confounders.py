"""Adjustment compared with scikit-learn's regressions and pandas' group means."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from superfactor import SMFClassifier
from superfactor.preprocessing import Adjuster, BlockScaler, confounders


def table(n=30, p=5, seed=0):
    """Features with an effect of batch and age, and the batch and age."""
    rng = np.random.default_rng(seed)
    batch, age = rng.choice(list("ABC"), n), rng.normal(60, 9, n)
    X = rng.standard_normal((n, p)) + (batch == "B")[:, None] * 2 + age[:, None] * np.arange(p) / 9
    names = [f"g{j}" for j in range(p)]
    return pd.DataFrame(X, columns=names).assign(batch=batch, age=age)


@parametrize_with_checks([Adjuster([-1], keep=[-1]), Adjuster([-1], spare_y=True, shrink=True)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_category_leaves_group_means_equal():
    X = table()
    out = Adjuster("batch").set_output(transform="pandas").fit_transform(X.drop(columns="age"))
    genes = X.filter(like="g").drop(columns=["age"])
    expected = genes - genes.groupby(X["batch"]).transform("mean") + genes.mean()
    pd.testing.assert_frame_equal(out, expected)


def test_categories_and_numbers_equal_a_linear_regression():
    X, new = table(), table(10, seed=1)
    adjuster = Adjuster(["batch", "age"]).fit(X)
    encoder = OneHotEncoder(sparse_output=False).fit(X[["batch"]])

    def Z(T):
        return np.hstack([encoder.transform(T[["batch"]]), T[["age"]]])

    regression = LinearRegression().fit(Z(X), X.filter(like="g").iloc[:, :5])
    genes = X.columns[:5]
    for T in (X, new):
        expected = T[genes] - regression.predict(Z(T)) + X[genes].mean().to_numpy()
        np.testing.assert_allclose(adjuster.transform(T), expected)
    residual = X[genes].to_numpy() - regression.predict(Z(X))
    share = 1 - np.sum(residual**2) / np.sum((X[genes] - X[genes].mean()).to_numpy() ** 2)
    assert adjuster.explained_ == pytest.approx(share)
    assert adjuster.levels_ == {"batch": ["A", "B", "C"]}
    assert adjuster.confounder_names_ == ["batch=A", "batch=B", "batch=C", "age"]
    np.testing.assert_array_equal(np.hstack(adjuster.confounder_parts(new)), Z(new))
    np.testing.assert_array_equal(adjuster.unadjusted(new), new[genes])


def test_collinear_and_constant_confounders():
    X = table()
    more = X.assign(again=X["batch"].str.lower(), old=X["age"] * 1e6 + 3, one=0.1)
    plain = Adjuster(["batch", "age"]).fit(X)
    doubled = Adjuster(["batch", "age", "again", "old", "one"]).fit(more)
    np.testing.assert_allclose(doubled.transform(more), plain.transform(X))
    assert doubled.explained_ == pytest.approx(plain.explained_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_feature_explained_by_the_batch_becomes_constant(dtype):
    X = table().drop(columns="age")
    X["only"] = X["batch"].map({"A": 0.1, "B": -0.7, "C": 1 / 3}).astype(dtype)
    X["only"] -= X["only"].mean()
    X["same"] = 0.1
    X = X.astype(dict.fromkeys([*X.columns[:5], "only", "same"], dtype))
    out = make_pipeline(Adjuster("batch"), StandardScaler()).fit_transform(X)
    assert np.abs(out[:, 5:]).max() < 1e-6  # and not 1
    np.testing.assert_allclose(out[:, :5].std(axis=0), 1, rtol=1e-5)
    new = X[:3].assign(only=X["only"][:3] + 5, same=2.0)
    moved = Adjuster("batch").fit(X).transform(new)
    np.testing.assert_allclose(moved[:, 5], 5, atol=1e-6)
    np.testing.assert_allclose(moved[:, 6], 2)


def test_types_of_categorical_columns():
    X = table().drop(columns="age")
    expected = Adjuster("batch").fit_transform(X)
    for kind in ("category", "string", object):
        np.testing.assert_array_equal(Adjuster("batch").fit_transform(X.astype({"batch": kind})), expected)
    codes = X["batch"].map({"A": 3, "B": 1, "C": 2}).astype("category")
    np.testing.assert_allclose(Adjuster("batch").fit_transform(X.assign(batch=codes)), expected)
    flag = X.assign(batch=X["batch"] == "B")
    number = X.assign(batch=(X["batch"] == "B") * 7.5)
    assert Adjuster("batch").fit(flag).levels_ == {"batch": ["False", "True"]}
    assert Adjuster("batch").fit(number).levels_ == {}
    np.testing.assert_allclose(Adjuster("batch").fit_transform(flag), Adjuster("batch").fit_transform(number))


@pytest.mark.parametrize("kind", [int, object])
def test_few_whole_numbers_are_codes(kind):
    X = table().drop(columns="age")
    expected = Adjuster("batch").fit_transform(X)
    codes = X["batch"].map({"A": 3, "B": 1, "C": 2}).astype(kind)
    adjuster = Adjuster("batch")
    np.testing.assert_allclose(adjuster.fit_transform(X.assign(batch=codes)), expected)
    assert adjuster.levels_ == {"batch": ["1", "2", "3"]}
    # Of new samples a number may have become another type, or be one that was not there.
    others = X.assign(batch=codes.astype(float))
    np.testing.assert_allclose(adjuster.transform(others), expected)
    others.loc[0, "batch"] = 4
    with pytest.warns(UserWarning, match="'batch' in 1 of 30 samples"):
        assert np.array_equal(adjuster.transform(others)[0], X.iloc[0, :5].to_numpy(float))
    ages = X.assign(batch=np.arange(30) // 2)  # fifteen, which is more than codes
    halves = X.assign(batch=codes.astype(float) + 0.5)
    for numbers in (ages, halves):
        assert Adjuster("batch").fit(numbers).levels_ == {}


def test_frames_of_polars_and_arrays_of_objects():
    X = table().drop(columns="age")
    expected = Adjuster("batch").fit_transform(X)
    np.testing.assert_allclose(Adjuster([5]).fit_transform(X.to_numpy(dtype=object)), expected)
    polars = pytest.importorskip("polars")
    own = polars.DataFrame({name: X[name].to_list() for name in X})
    np.testing.assert_array_equal(Adjuster("batch").fit_transform(own), expected)
    y = np.where(np.arange(30) < 5, np.nan, np.arange(30) % 2)
    spared = [Adjuster("batch", spare_y=True).fit(T, y).coef_ for T in (own, X)]
    np.testing.assert_array_equal(*spared)


def test_kept_columns_stay_in_place():
    X = table()[["g0", "age", "g1", "batch", "g2"]]
    X.loc[2, "age"] = np.nan
    out = Adjuster("batch", keep="age").set_output(transform="pandas").fit_transform(X)
    assert list(out) == ["g0", "age", "g1", "g2"]
    pd.testing.assert_series_equal(out["age"], X["age"])
    alone = Adjuster("batch").fit_transform(X.drop(columns="age"))
    np.testing.assert_array_equal(out[["g0", "g1", "g2"]], alone)
    numbers = Adjuster("batch", keep="age").fit_transform(X)
    np.testing.assert_array_equal(numbers, out)


def test_categorical_columns_may_be_kept():
    X = table()[["g0", "age", "g1", "batch", "g2"]]
    expected = Adjuster(["batch", "age"]).fit_transform(X)
    adjuster = Adjuster(["batch", "age"], keep=["batch"])
    out = adjuster.fit_transform(X)
    assert list(out) == ["g0", "g1", "batch", "g2"] == list(adjuster.get_feature_names_out())
    assert out["batch"].tolist() == X["batch"].tolist()
    np.testing.assert_array_equal(out[["g0", "g1", "g2"]].to_numpy(float), expected)
    array = Adjuster([3, 1], keep=[3]).fit_transform(X.to_numpy(dtype=object))
    assert array[:, 2].tolist() == X["batch"].tolist()
    np.testing.assert_allclose(array[:, [0, 1, 3]].astype(float), expected)
    y = np.arange(len(X)) % 2
    both = make_pipeline(adjuster, SMFClassifier(1, covariate_columns=["batch"])).fit(X, y)
    assert both[-1].covariate_names_[0].startswith("batch=")


def test_missing_confounders_remove_nothing():
    X, new = table(), table(6, seed=1)
    adjuster = Adjuster(["batch", "age"]).fit(X)
    new.loc[0, "batch"], new.loc[1, "batch"] = "D", None
    new.loc[2, ["batch", "age"]] = [None, np.nan]
    with pytest.warns(UserWarning, match="'batch' in 3 of 6, 'age' in 1 of 6 samples") as caught:
        out = adjuster.transform(new)
    assert len(caught) == 1
    genes = X.columns[:5]
    np.testing.assert_array_equal(out[2], new.loc[2, genes].astype(float))
    slope = adjuster.coef_[adjuster.confounder_names_.index("age")]
    for i in (0, 1):
        moved = new.loc[i, genes].astype(float) - (new.loc[i, "age"] - X["age"].mean()) * slope
        np.testing.assert_allclose(out[i], moved)


def test_rows_with_missing_confounders_are_ignored_at_fit():
    X = table().drop(columns="age")
    gaps = X.copy()
    gaps.loc[[0, 4, 9], "batch"] = None
    with pytest.warns(UserWarning, match="'batch' in 3 of 30"):
        out = Adjuster("batch").set_output(transform="pandas").fit_transform(gaps)
    known = gaps["batch"].notna()
    genes = X.columns[:5]
    pd.testing.assert_frame_equal(out[~known], X.loc[~known, genes])
    shift = (out - X[genes])[known].groupby(X["batch"])
    np.testing.assert_allclose(shift.std(), 0, atol=1e-12)  # the same for all of a batch
    means = out[known].groupby(X["batch"]).mean()
    assert np.ptp(means, axis=0).max() < np.ptp(X[genes].groupby(X["batch"]).mean(), axis=0).max()


@pytest.mark.parametrize("kind", [object, "category", float])
def test_a_confounder_that_is_always_missing_removes_nothing(kind):
    X = table().drop(columns="age")
    genes = X.columns[:5]
    gaps = X.assign(batch=pd.Series([None] * 30, dtype=kind))
    adjuster = Adjuster("batch").fit(gaps)
    with pytest.warns(UserWarning, match="'batch' in 30 of 30"):
        np.testing.assert_array_equal(adjuster.transform(gaps), X[genes])
    if kind is not float:
        with pytest.warns(UserWarning, match="'batch' in 30 of 30"):
            np.testing.assert_array_equal(adjuster.transform(X), X[genes])


@pytest.mark.parametrize("labels", ["words", "codes", "numbers", "gaps"])
def test_y_is_spared_as_in_a_joint_regression(labels):
    X = table()
    rng = np.random.default_rng(3)
    tumour = rng.random(30) < np.where(X["batch"] == "B", 0.8, 0.3)
    y = {
        "words": np.where(tumour, "tumour", "normal"),
        "codes": tumour.astype(int),
        "numbers": tumour + rng.normal(size=30),
        "gaps": np.where(tumour, 1.0, 0.0),
    }[labels]
    Y = (tumour if labels != "numbers" else y).astype(float)[:, None]
    known = np.ones(30, dtype=bool)
    if labels == "gaps":
        y[:6], known[:6] = np.nan, False
    genes = X.columns[:5]
    X.loc[tumour, genes] += 3
    Z = np.hstack([pd.get_dummies(X["batch"]).to_numpy(float)[:, 1:], X[["age"]]])
    Z = Z - Z[known].mean(axis=0)
    B = LinearRegression().fit(np.hstack([Z, Y])[known], X.loc[known, genes]).coef_[:, :3]
    adjuster = Adjuster(["batch", "age"], spare_y=True)
    out = adjuster.fit(X, y).transform(X)
    np.testing.assert_allclose(out, X[genes] - Z @ B.T)
    left = np.var(out[known], axis=0).sum() / np.var(X.loc[known, genes].to_numpy(), axis=0).sum()
    assert adjuster.explained_ == pytest.approx(1 - left)


@pytest.mark.parametrize("kind", ["objects", "pandas"])
def test_differences_of_unlabelled_samples_are_spared(kind):
    rng = np.random.default_rng(0)
    n = 2000
    tumour = rng.random(n) < 0.5
    batch = np.where(rng.random(n) < np.where(tumour, 0.8, 0.2), "A", "B")
    X = pd.DataFrame({"gene": 3.0 * tumour + 0.1 * rng.standard_normal(n), "batch": batch})
    gone = rng.random(n) < 0.7
    y = pd.Series(tumour.astype(float)).mask(gone)
    if kind == "objects":
        y = np.where(gone, None, np.where(tumour, "tumour", "normal"))
    elif kind == "pandas":
        y = (2 * y).astype("Int64")
    adjuster = Adjuster("batch", spare_y=True).fit(X, y)
    assert abs(np.ptp(adjuster.coef_)) < 0.05  # and not 1.4
    assert adjuster.transform(X).shape == (n, 1)  # those without a label are adjusted too


def test_effects_confounded_with_y_are_kept():
    X = table().drop(columns="age")
    out = Adjuster("batch", spare_y=True).fit(X, X["batch"]).transform(X)
    np.testing.assert_allclose(out, X.iloc[:, :5])
    with pytest.raises(ValueError, match="none of the 30 samples has a label"):
        Adjuster("batch", spare_y=True).fit(X, [None] * 30)
    with pytest.raises(ValueError, match="spare_y=True requires y"):
        Adjuster("batch", spare_y=True).fit(X)
    with pytest.raises(ValueError, match="y: 29 samples, but X has 30"):
        Adjuster("batch", spare_y=True).fit(X, np.arange(29))


@pytest.mark.parametrize("spare_y", [False, True])
def test_removed_effects_are_shrunk(spare_y):
    """The reference is the James–Stein formula with explicit sums of squares."""
    rng = np.random.default_rng(0)
    n, y = 40, np.arange(40) % 2
    batch = np.where(np.arange(n) < 20, "A", "B")
    X = rng.standard_normal((n, 50)) + (batch == "A")[:, None] * np.where(np.arange(50) < 5, 6, 0)
    frame = pd.DataFrame(X).add_prefix("g").assign(batch=batch)
    full = Adjuster("batch", spare_y=spare_y).fit(frame, y)
    shrunk = Adjuster("batch", spare_y=spare_y, shrink=True).fit(frame, y)
    between = n / 4 * (X[batch == "A"].mean(0) - X[batch == "B"].mean(0)) ** 2
    known = between + (n / 4 * (X[y == 1].mean(0) - X[y == 0].mean(0)) ** 2 if spare_y else 0)
    within = (n * X.var(axis=0) - known) / (n - 2 - spare_y)
    factor = np.clip(1 - within / between, 0, 1)
    np.testing.assert_allclose(shrunk.coef_, full.coef_ * factor, atol=1e-12)
    assert factor[:5].min() > 0.95 and (factor == 0).sum() > 20


def test_single_precision_is_kept():
    X = table().astype(dict.fromkeys([f"g{j}" for j in range(5)], np.float32))
    out = Adjuster(["batch", "age"]).fit_transform(X)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, Adjuster(["batch", "age"]).fit_transform(table()), atol=1e-4)


def test_adjustment_needs_less_memory_than_a_copy(monkeypatch):
    """Columns are processed in blocks, and the size of the blocks does not matter."""
    options = {"spare_y": True, "shrink": True}
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 20_001), dtype=np.float32), np.arange(100) % 2
    X[:, -1] = rng.integers(3, size=100)
    whole = Adjuster([-1], **options).fit(X, y)
    expected = whole.transform(X)
    monkeypatch.setattr(confounders, "_BLOCK", 100_000)
    tracemalloc.start()
    try:
        adjuster = Adjuster([-1], **options).fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < X.nbytes
        tracemalloc.reset_peak()
        out = adjuster.transform(X)
        assert tracemalloc.get_traced_memory()[1] < 2 * X.nbytes
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(adjuster.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert adjuster.explained_ == pytest.approx(whole.explained_)


def test_confounders_that_explain_everything():
    X = table().assign(patient=[f"p{i}" for i in range(30)])
    with pytest.raises(ValueError, match=r"'patient'.*n_samples=30.*one level per sample"):
        Adjuster(["patient"]).fit(X.drop(columns=["batch", "age"]))
    with pytest.raises(ValueError, match="at least one feature to adjust is required"):
        Adjuster(["batch", "age"], keep=[f"g{j}" for j in range(5)]).fit(table())


def test_features_with_missing_values_or_text():
    X = table()
    X.loc[:1, "g2"] = 1e200, -1e200
    with pytest.raises(ValueError, match=r"column 'g2' holds values of size 1e\+200"):
        Adjuster(["batch", "age"]).fit(X)
    X.loc[3, "g2"] = np.nan
    with pytest.raises(ValueError, match=r"column 'g2' contains NaN.*LowRankImputer"):
        Adjuster(["batch", "age"]).fit(X)
    with pytest.raises(ValueError, match="features must be numbers, and column 'batch' is not"):
        Adjuster(["age"]).fit(table())
    with pytest.raises(ValueError, match="X has no column 'site'"):
        Adjuster(["site"]).fit(table())
    adjuster = Adjuster(["batch", "age"]).fit(table())
    with pytest.raises(ValueError, match="column 'age': numbers are required, as at fit"):
        adjuster.transform(table().assign(age="old"))
    with pytest.raises(ValueError, match="column 'age' contains infinity"):
        adjuster.transform(table().assign(age=np.inf))


def test_pipeline_with_all_transformers():
    """Adding a batch effect and adjusting for it leaves the model as it was."""
    rng = np.random.default_rng(0)
    n, p = 60, 30
    y = np.arange(n) % 2
    clean = rng.standard_normal((n, p)) + 0.8 * y[:, None] * (np.arange(p) < 5)
    batch = np.where(np.arange(n) % 4 < 2, "one", "two")  # as often in either class
    shifted = clean + 5 * (batch == "two")[:, None] * (rng.random(p) < 0.3)
    steps = StandardScaler(), BlockScaler({"a": slice(0, 10), "b": slice(10, p)})
    frame = pd.DataFrame(shifted).add_prefix("g").assign(batch=batch)
    own = make_pipeline(Adjuster("batch"), *steps, SMFClassifier(2)).fit(frame, y)
    by_hand = pd.DataFrame(clean) - pd.DataFrame(clean).groupby(batch).transform("mean")
    other = make_pipeline(*steps, SMFClassifier(2)).fit(by_hand, y)
    assert own[-1].objective_ == pytest.approx(other[-1].objective_, rel=1e-7)
