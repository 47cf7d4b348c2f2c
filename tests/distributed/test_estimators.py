"""The estimators on a cluster, compared with those in memory."""

from __future__ import annotations

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.base import clone

from superfactor import SMFClassifier, SMFRegressor
from superfactor.constraints import NonNegative
from superfactor.distributed import DaskSMFClassifier, DaskSMFRegressor
from superfactor.distributed.samples import RemoteSamples

N, P = 240, 12
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) @ RNG.standard_normal((3, P)) + 0.7 * RNG.standard_normal((N, P))
SCORES = X[:, :3] + RNG.standard_normal((N, 3))
LABELS = np.array(["ash", "birch", "cedar"])[SCORES.argmax(axis=1)]
COVARIATES = RNG.standard_normal((N, 2))
WEIGHTS = RNG.integers(0, 3, N).astype(float)
LAZY = da.from_array(X, chunks=(50, 5))

CASES = {
    "plain": {},
    "covariates": {"covariates": COVARIATES},
    "weights": {"sample_weight": WEIGHTS},
    "class-weight": {"class_weight": "balanced", "sample_weight": WEIGHTS},
    "covariate-columns": {"covariate_columns": [0, 5], "covariates": COVARIATES[:, 0]},
    "no-intercept": {"fit_intercept": False},
    "one-weight": {"sample_weight": 2.0},
}
# Where the first start is proven optimal: others would only take time.
MODELS = {
    "filter": {"n_components": 3, "lam": 10.0, "xi": 0.3},
    "feature": {"n_components": 3, "lam": 0.3, "xi": 0.3},
}
EASY = MODELS["filter"]

FITTED = ("components_", "factor_coef_", "covariate_coef_", "intercept_")
DESCRIBING = (
    "patterns_",
    "score_mean_",
    "score_covariance_",
    "feature_scale_",
    "factor_turn_",
    "factor_contribution_",
)


def options_of(case, model):
    """Constructor's and fit's arguments of a case."""
    given = CASES[case]
    fit = {name: given[name] for name in ("covariates", "sample_weight") if name in given}
    made = {name: value for name, value in given.items() if name not in fit}
    return {"model": model, **MODELS[model], **made}, fit


def lazy(values, chunks=70):
    return da.from_array(values, chunks=chunks) if isinstance(values, np.ndarray) else values


def computed(client, values):
    return client.compute(values).result()


def assert_same_fit(client, found, expected):
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-7)
    assert found.n_features_in_ == expected.n_features_in_
    linear = ["coef_"] if hasattr(expected, "coef_") else []
    assert hasattr(found, "coef_") == bool(linear)
    for name in (*FITTED, *DESCRIBING, *linear):
        found_one, expected_one = getattr(found, name), getattr(expected, name)
        assert type(found_one) is np.ndarray
        assert found_one.dtype == expected_one.dtype
        assert found_one.shape == expected_one.shape
        if name in FITTED or name in linear:
            np.testing.assert_allclose(found_one, expected_one, atol=1e-4, err_msg=name)
    assert isinstance(found.codes_, da.Array)
    assert found.codes_.shape == expected.codes_.shape
    np.testing.assert_allclose(computed(client, found.codes_), expected.codes_, atol=1e-4)
    shares = found.explained_variance_ratio_, expected.explained_variance_ratio_
    np.testing.assert_allclose(*shares, rtol=1e-5)
    bounds = found.certificate_.lower_bound, expected.certificate_.lower_bound
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)
    assert found.certificate_.is_global == expected.certificate_.is_global


@pytest.mark.parametrize(
    ("case", "model"),
    [
        ("plain", "filter"),
        ("plain", "feature"),
        ("covariates", "feature"),
        ("class-weight", "filter"),
        ("class-weight", "feature"),
        ("covariate-columns", "filter"),
        ("no-intercept", "feature"),
        ("one-weight", "filter"),
    ],
)
def test_classifier_equals_that_in_memory(client, case, model):
    made, fit = options_of(case, model)
    expected = SMFClassifier(**made).fit(X, LABELS, **fit)
    lazily = {name: lazy(values) for name, values in fit.items()}
    found = DaskSMFClassifier(client=client, **made).fit(LAZY, lazy(LABELS, 100), **lazily)
    assert_same_fit(client, found, expected)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    assert found.recovered_ == []


@pytest.mark.parametrize(
    ("targets", "model"), [(SCORES[:, 0], "filter"), (SCORES[:, :2], "feature")], ids=["one", "two"]
)
def test_regressor_equals_that_in_memory(client, targets, model):
    made, fit = options_of("weights", model)
    made["xi"] = 1.0
    expected = SMFRegressor(**made).fit(X, targets, **fit)
    lazily = {name: lazy(values) for name, values in fit.items()}
    found = DaskSMFRegressor(client=client, **made).fit(LAZY, da.from_array(targets), **lazily)
    assert_same_fit(client, found, expected)
    predicted = found.predict(LAZY)
    assert predicted.shape == targets.shape
    np.testing.assert_allclose(computed(client, predicted), expected.predict(X), atol=1e-4)
    r2 = found.score(LAZY, da.from_array(targets), sample_weight=lazy(WEIGHTS))
    assert r2 == pytest.approx(expected.score(X, targets, sample_weight=WEIGHTS), abs=1e-5)


def test_predictions_are_lazy_and_equal_those_in_memory(client):
    made, fit = options_of("covariates", "feature")
    clf = DaskSMFClassifier(client=client, **made).fit(LAZY, LABELS, **fit)
    local = clf.to_local()
    assert type(local) is SMFClassifier
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"):
        found = getattr(clf, method)(LAZY, covariates=COVARIATES)
        expected = getattr(local, method)(X, covariates=COVARIATES)
        assert isinstance(found, da.Array)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert found.chunks[0] == LAZY.chunks[0]
        np.testing.assert_array_equal(computed(client, found), expected)
        np.testing.assert_array_equal(getattr(clf, method)(X, covariates=COVARIATES), expected)
    accuracy = clf.score(LAZY, da.from_array(LABELS), covariates=COVARIATES)
    assert accuracy == local.score(X, LABELS, covariates=COVARIATES)
    again = pickle.loads(pickle.dumps(clf))
    assert again.client is None
    np.testing.assert_array_equal(again.transform(X), local.transform(X))
    back = clf.inverse_transform(clf.codes_)
    np.testing.assert_allclose(computed(client, back), local.inverse_transform(local.codes_))


def test_dataframes(client):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    frame["kind"], frame["age"], frame["weight"] = LABELS, COVARIATES[:, 0], WEIGHTS
    table = dd.from_pandas(frame, npartitions=5)
    features = [f"x{j}" for j in range(P)]
    options = {**EASY, "covariate_columns": ["x3"]}
    expected = SMFClassifier(**options).fit(
        frame[features], LABELS, covariates=frame[["age"]], sample_weight=WEIGHTS
    )
    found = DaskSMFClassifier(client=client, **options).fit(
        table[features], table["kind"], covariates=table[["age"]], sample_weight=table["weight"]
    )
    assert_same_fit(client, found, expected)
    assert list(found.feature_names_in_) == features
    assert list(found.component_names_) == list(expected.component_names_)
    probabilities = found.predict_proba(table[features], covariates=table[["age"]])
    assert isinstance(probabilities, da.Array)
    in_memory = expected.predict_proba(frame[features], covariates=frame[["age"]])
    np.testing.assert_allclose(computed(client, probabilities), in_memory, atol=1e-5)
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(table[features[::-1]], covariates=table[["age"]])
    with pytest.raises(ValueError, match="covariates: columns"):
        found.predict(table[features], covariates=table[["weight"]])


def test_float32(client):
    single = LAZY.astype(np.float32)
    clf = DaskSMFClassifier(**EASY, client=client).fit(single, LABELS)
    assert clf.components_.dtype == np.float32
    assert clf.codes_.dtype == np.float32
    expected = SMFClassifier(**EASY).fit(X, LABELS)
    assert clf.objective_ == pytest.approx(expected.objective_, rel=1e-5)


def test_sparse_chunks(client):
    import scipy.sparse as sp

    thin = np.where(np.abs(X) > 1, X, 0.0)
    chunks = da.from_array(thin, chunks=(50, P)).map_blocks(sp.csr_array)
    expected = SMFClassifier(**EASY).fit(sp.csr_array(thin), LABELS)
    found = DaskSMFClassifier(**EASY, client=client).fit(chunks, LABELS)
    assert_same_fit(client, found, expected)


def test_persisted_chunks_stay_where_they_are(client):
    held = client.persist(LAZY.rechunk((40, P)))
    clf = DaskSMFClassifier(**EASY, client=client).fit(held, LABELS)
    expected = SMFClassifier(**EASY).fit(X, LABELS)
    assert clf.objective_ == pytest.approx(expected.objective_, rel=1e-7)


def test_partitions_without_samples(client):
    """Partitions of weight zero or without rows, as in a filtered DataFrame."""
    weights = np.where(np.arange(N) < 100, 0.0, 1.0)
    frame = pd.DataFrame(X[100:], columns=[f"x{j}" for j in range(P)])
    table = dd.from_pandas(frame.assign(y=LABELS[100:]), npartitions=4)
    filtered = table[table["x0"].notnull() & (table.index >= 60)]
    full = DaskSMFClassifier(**EASY, client=client).fit(LAZY, LABELS, sample_weight=weights)
    less = DaskSMFClassifier(**EASY, client=client).fit(filtered[list(frame.columns)], filtered["y"])
    assert full.codes_.shape == (N, 3)
    for found, rows in ((full, slice(100, None)), (less, slice(160, None))):
        expected = SMFClassifier(**EASY).fit(X[rows], LABELS[rows])
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-7)


def test_more_components_than_X_has(client):
    thin = X[:, :2] @ np.ones((2, 5))
    made = {**MODELS["feature"], "model": "feature"}
    expected = SMFClassifier(**made).fit(thin, LABELS)
    found = DaskSMFClassifier(**made, client=client).fit(da.from_array(thin, chunks=(80, 5)), LABELS)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-7)
    assert found.components_.shape == expected.components_.shape
    assert computed(client, found.codes_).shape == (N, 3)


def test_checkpoints(client, tmp_path):
    made = {**EASY, "client": client, "checkpoint": tmp_path / "fit.npz"}
    begun = DaskSMFClassifier(**made, max_iter=1).fit(LAZY, LABELS)
    assert made["checkpoint"].exists()
    resumed = DaskSMFClassifier(**made).fit(LAZY, LABELS)
    assert resumed.history_["objective"][0] <= begun.objective_ * (1 + 1e-9)
    expected = SMFClassifier(**EASY).fit(X, LABELS)
    assert resumed.objective_ == pytest.approx(expected.objective_, rel=1e-7)
    with pytest.raises(ValueError, match="the checkpoint of another problem"):
        DaskSMFClassifier(**made).fit(LAZY, LABELS[::-1].copy())


def test_clones_share_the_client(client):
    copy = clone(DaskSMFClassifier(4, xi=2.0, client=client))
    assert copy.client is client
    assert copy.get_params()["xi"] == 2.0
    assert copy.set_params(lam=3.0).lam == 3.0
    plain = set(SMFClassifier().get_params())
    assert set(copy.get_params()) == plain | {"client"}


BAD = [
    ({}, {"X": X}, TypeError, "a Dask array or DataFrame is required, got numpy.ndarray"),
    ({}, {"y": LABELS[:9]}, ValueError, "y: 9 samples, but X has 240"),
    ({}, {"y": None}, ValueError, "y=None: DaskSMFClassifier requires y"),
    ({}, {"X": LAZY[:, 0]}, ValueError, "Expected 2D array, got 1D"),
    ({}, {"X": LAZY.astype(str)}, ValueError, "X: numbers are required, got dtype <U32"),
    ({"certify": "ascent"}, {}, ValueError, "certify='ascent': 'residual' or None"),
    ({}, {"X": da.where(LAZY > 2, np.nan, LAZY)}, ValueError, "Input X contains NaN"),
    ({}, {"y": np.full(N, np.nan)}, ValueError, "none of the 240 samples has a label"),
    ({}, {"y": np.zeros(N)}, ValueError, "contains one class only: 0.0"),
    ({}, {"sample_weight": -WEIGHTS}, ValueError, "sample_weight: Negative values"),
    ({}, {"sample_weight": 0 * WEIGHTS}, ValueError, "at least one non-zero number"),
    ({"n_components": 13}, {}, ValueError, "n_components=13: an integer from 1 to"),
    ({"solver": "lpgd"}, {}, ValueError, "solver='lpgd': 'auto' or 'lifted-newton'"),
    ({"constraint": NonNegative()}, {}, ValueError, "constraint=NonNegative"),
    ({"device": "cpu"}, {}, ValueError, "device='cpu': None is required"),
    ({"client": 3}, {}, TypeError, "client=3: None or a synchronous Dask client"),
    ({"client": None}, {}, ValueError, "client=None: there is no Dask client"),
]


def test_errors_have_one_line(client):
    for made, given, kind, message in BAD:
        clf = DaskSMFClassifier(**{"n_components": 2, "client": client, **made})
        with pytest.raises(kind, match=message) as caught:
            clf.fit(**{"X": LAZY, "y": LABELS, **given})
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="y: DaskSMFClassifier requires one column of labels"):
        DaskSMFClassifier(client=client).fit(LAZY, np.column_stack([LABELS, LABELS]))
    with Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    with pytest.raises(ValueError, match="client: it is closed; one that is connected"):
        DaskSMFClassifier(client=closed).fit(LAZY, LABELS)


@pytest.mark.slow
@pytest.mark.usefixtures("short_wait")
@pytest.mark.parametrize("model", MODELS)
def test_fit_recovers_from_a_killed_worker(replaceable, kill, model, monkeypatch):
    made, fit = options_of("class-weight", model)
    expected = SMFClassifier(**made).fit(X, LABELS, **fit)
    ask, asked = RemoteSamples._ask, []

    def killing(self, operation, *arguments):
        asked.append(operation)
        if len(asked) == 25:
            kill(replaceable, self._shards[0].address)
        return ask(self, operation, *arguments)

    monkeypatch.setattr(RemoteSamples, "_ask", killing)
    clf = DaskSMFClassifier(client=replaceable, **made)
    with pytest.warns(UserWarning, match="Dask worker .* was lost"):
        clf.fit(LAZY, LABELS, **fit)
    assert len(asked) > 40
    assert len(clf.recovered_) == 1
    assert_same_fit(replaceable, clf, expected)
