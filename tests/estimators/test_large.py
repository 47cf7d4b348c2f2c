"""Fits to large X, in memory or read in passes, equal fits to a small array of the same numbers."""

import gc
import tempfile
import weakref
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import ConvergenceWarning
from tests.estimators.data import MODELS
from tests.estimators.stores import N, P, memmap, npy, numbers, parquet, task, torch, zarr

from superfactor import SMFClassifier, SMFRegressor, row_blocks
from superfactor.estimators import base
from superfactor.options import Options
from superfactor.problem import Problem
from superfactor.samples import passes
from superfactor.samples.block.store import InFiles
from superfactor.selection import SMFClassifierCV

RANK = 3
# Labels count, and nothing is left to other starts.
LAM = {"filter": 100.0, "feature": 0.5}
every_model = pytest.mark.parametrize("model", MODELS)


SOURCES = {"npy": npy, "zarr": zarr, "parquet": parquet, "memmap": memmap}
LARGE = {
    "dense": lambda X, folder: X,
    "csr": lambda X, folder: sp.csr_array(X),
    "csc": lambda X, folder: sp.csc_array(X),
    "torch": torch,
}
sources = pytest.mark.parametrize("store", SOURCES.values(), ids=SOURCES)


# What is in memory is cut into blocks that several threads ask, as large arrays are.
CUT = Options(compressed_side=0, rows_a_block=100, values_worth_threads=0)


@pytest.fixture
def large(monkeypatch):
    """Treat all data in memory as large after its call; other options may be set, too."""

    def begin(options=CUT):
        monkeypatch.setattr("superfactor.samples.memory.cores", lambda: 2)
        monkeypatch.setattr(base.SupervisedFactorization, "options", options)

    return begin


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    """Blocks of 256 rows with tall matrices on disk; returns the folder of their files."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with sklearn.config_context(working_memory=0.01):
        yield place


@pytest.fixture
def stated(monkeypatch):
    """Record the number of blocks of every problem, and where their tall matrices are."""
    seen = []
    state = base.state

    def watched(*args, **options):
        problem = state(*args, **options)
        blocks = problem.samples.blocks
        seen.append((len(blocks), "files" if isinstance(blocks[0]._store, InFiles) else "memory"))
        return problem

    monkeypatch.setattr(base, "state", watched)
    return seen


def agree(found, expected, X, predict=True, **options):
    """Check equal optimum, factors, certificate and predictions."""
    host = {name: np.asarray(value) for name, value in vars(found).items() if name.endswith("_")}
    assert found.n_labeled_ == expected.n_labeled_
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    for name in ("components_", "codes_", "factor_coef_", "covariate_coef_", "intercept_"):
        truth = getattr(expected, name)
        assert host[name].shape == truth.shape
        np.testing.assert_allclose(host[name], truth, atol=1e-5 * (1 + np.abs(truth).max(initial=0)))
    shares = expected.explained_variance_ratio_
    np.testing.assert_allclose(host["explained_variance_ratio_"], shares, rtol=1e-5)
    proof, truth = found.certificate_, expected.certificate_
    assert proof.lower_bound <= min(found.objective_, expected.objective_) * (1 + 1e-12)
    if truth.relative_gap < 1e-2:
        assert proof.relative_gap == pytest.approx(truth.relative_gap, rel=1e-4, abs=1e-7)
    else:  # shorter dual points are for arrays in memory
        assert proof.relative_gap >= truth.relative_gap * (1 - 1e-4)
    assert proof.is_global == truth.is_global
    if not predict:
        return
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    for method in ("transform", "predict", "predict_proba", "decision_function"):
        if hasattr(expected, method):
            got = np.asarray(getattr(found, method)(X, **options))
            truth = getattr(expected, method)(dense, **options)
            if truth.dtype.kind == "f":
                np.testing.assert_allclose(got, truth, atol=1e-5 * (1 + np.abs(truth).max()))
            else:
                np.testing.assert_array_equal(got, truth)


# --- the same numbers, kept in different ways ----------------------------------------------------------


def weights():
    """Some samples of weight zero, including two whole blocks."""
    weight = np.random.default_rng(1).uniform(0.5, 2, N)
    weight[::7] = 0
    weight[250:790] = 0
    return weight


EXTRAS = {
    "plain": ({}, {}, ()),
    "weighted": ({}, {}, ("covariates", "sample_weight")),
    "columns": ({"covariate_columns": [1, 7]}, {"class_weight": "balanced"}, ("covariates",)),
    "all": (
        {"covariate_columns": [11], "fit_intercept": False},
        {"class_weight": "balanced"},
        ("covariates", "sample_weight"),
    ),
    "unlabelled": ({}, {"class_weight": "balanced"}, ("covariates", "sample_weight")),
}


def fit_both(kind, model, extra, other, between=lambda: None):
    """The same task with X stored in another way and as an array, and inputs for predictions."""
    data, scores, Z = numbers()
    estimator, y = task(kind, scores)
    parameters, more, given = EXTRAS[extra]
    if extra == "unlabelled":  # the first blocks have no label at all, later ones a few
        y = np.where((np.arange(N) > 400) & (np.arange(N) % 3 == 0), y.T.astype(object), None).T
    parameters = {**parameters, **(more if estimator is SMFClassifier else {})}
    options = {"covariates": Z, "sample_weight": weights()}
    options = {name: options[name] for name in given}
    lam = LAM[model] * (30 if kind == "regressor" else 1)
    make = {"n_components": RANK, "model": model, "lam": lam, "xi": 0.2, **parameters}
    expected = estimator(**make).fit(data, y, **options)
    between()
    found = estimator(**make).fit(other, y, **options)
    options.pop("sample_weight", None)
    return found, expected, options


@every_model
@pytest.mark.parametrize(
    ("kind", "extra"),
    [("classes", "plain"), ("binary", "columns"), ("regressor", "unlabelled"), ("classes", "all")],
)
def test_rows_read_in_passes(kind, model, extra, tmp_path, scratch, stated):
    X, _, _ = numbers()
    found, expected, options = fit_both(kind, model, extra, npy(X, tmp_path))
    agree(found, expected, X, **options)
    _, (blocks, where) = stated
    assert blocks >= (4 if extra in ("plain", "columns") else 2)
    assert where == "files"
    assert list(scratch.iterdir()) == []


def test_other_starts_are_read_in_passes(tmp_path, scratch, stated):
    X, scores, _ = numbers(n=600)
    make = {"n_components": 2, "lam": 50.0, "xi": 0.2}
    expected = SMFRegressor(**make).fit(X, scores[:, :2])
    assert not expected.certificate_.is_global
    found = SMFRegressor(**make).fit(npy(X, tmp_path), scores[:, :2])
    agree(found, expected, X)
    assert stated == [(1, "memory"), (2, "files")]
    assert list(scratch.iterdir()) == []


@sources
def test_every_storage(store, tmp_path, scratch, stated):
    X, _, _ = numbers()
    found, expected, options = fit_both("classes", "filter", "weighted", store(X, tmp_path))
    named = store is parquet
    agree(found, expected, X, predict=not named, **options)
    assert stated[1][1] == "files"
    assert list(scratch.iterdir()) == []
    if named:
        assert list(found.feature_names_in_) == [f"f{j}" for j in range(P)]
        np.testing.assert_array_equal(found.component_names_, found.feature_names_in_)


@every_model
@pytest.mark.parametrize("shape", LARGE.values(), ids=LARGE)
def test_large_arrays(shape, model, tmp_path, stated, large):
    other = shape(numbers()[0], tmp_path)
    found, expected, options = fit_both("classes", model, "all", other, between=large)
    _, (blocks, where) = stated
    assert blocks == 1 if shape is torch else blocks > 3
    assert where == "memory"
    agree(found, expected, other, **options)
    if not sp.issparse(other):
        assert type(found.components_) is type(found.codes_) is type(other)


@pytest.mark.parametrize(("estimator", "model"), [(SMFClassifier, "filter"), (SMFRegressor, "feature")])
def test_single_precision(estimator, model, tmp_path, scratch, stated, large):
    X, scores, _ = numbers()
    y = np.argmax(scores, axis=1)
    make = {"n_components": RANK, "model": model, "lam": LAM[model], "xi": 0.2}
    expected = estimator(**make).fit(X, y)
    large()
    for data in (npy(X.astype(np.float32), tmp_path), X.astype(np.float32)):
        found = estimator(**make).fit(data, y)
        assert found.components_.dtype == found.codes_.dtype == np.float32
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-5)
        # In single precision F and its bound are known to no more than that.
        assert found.certificate_.lower_bound <= expected.objective_ * (1 + 1e-6)
        np.testing.assert_allclose(
            found.components_, expected.components_, atol=1e-3 * np.abs(expected.components_).max()
        )
    assert stated == [(1, "memory"), (4, "files"), (11, "memory")]


# --- data that is hard ------------------------------------------------------------------------------------


def low_rank(X, scores):
    return X[:, :2] @ np.random.default_rng(2).standard_normal((2, P)), np.argmax(scores, axis=1)


def constant_columns(X, scores):
    X = X.copy()
    X[:, 3], X[:, 5] = 1e3, 0.0
    return X, np.argmax(scores, axis=1)


def rare_class(X, scores):
    y = np.argmax(scores[:, :2], axis=1)
    y[-1] = 2  # one sample, in the last block
    return X, y


def by_class(X, scores):
    """Most blocks have samples of one class only."""
    y = np.argmax(scores, axis=1)
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def of_large_units(X, scores):
    return 1e6 * X, np.argmax(scores, axis=1)


@pytest.mark.parametrize(
    ("hard", "model"),
    [
        (low_rank, "feature"),
        (constant_columns, "filter"),
        (rare_class, "feature"),
        (by_class, "filter"),
        (of_large_units, "filter"),
    ],
)
def test_difficult_data(hard, model, tmp_path, scratch, stated, large):
    X, y = hard(*numbers()[:2])
    unit = np.abs(X).max() / 10
    lam = LAM[model] * (unit**2 if model == "filter" else 1)
    make = {"n_components": RANK, "model": model, "lam": lam, "xi": 0.2 / unit**2}
    expected = SMFClassifier(**make).fit(X, y)
    large()
    for data in (npy(X, tmp_path), X):
        found = SMFClassifier(**make).fit(data, y)
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
        assert found.certificate_.lower_bound <= expected.objective_ * (1 + 1e-12)
        assert found.components_.shape == (RANK, P)
        probabilities = found.predict_proba(X)
        np.testing.assert_allclose(probabilities, expected.predict_proba(X), atol=1e-4)
    assert stated == [(1, "memory"), (4, "files"), (11, "memory")]
    assert list(scratch.iterdir()) == []


@every_model
def test_fewer_samples_than_features(model, tmp_path, scratch, stated, large, monkeypatch):
    monkeypatch.setattr(passes, "rows_per_block", lambda p, itemsize: 17)
    X, scores, _ = numbers(n=70, p=110)
    y = np.argmax(scores, axis=1)
    make = {"n_components": RANK, "model": model, "lam": LAM[model], "xi": 0.2}
    expected = SMFClassifier(**make).fit(X, y)
    large(replace(CUT, rows_a_block=17))
    for data in (npy(X, tmp_path), X, sp.csr_array(X)):
        found = SMFClassifier(**make).fit(data, y)
        agree(found, expected, X)
    assert [blocks for blocks, _ in stated] == [1, 4, 4, 4]
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("kind", "model"), [("wide", "filter"), ("tall", "feature"), ("source", "filter")])
def test_memory_and_files_are_released(kind, model, monkeypatch):
    """Memory is released without the garbage collector, because X and files may be large."""
    X, scores, _ = numbers(n=90, p=200 if kind == "wide" else 12)
    problems, state = [], base.state

    def watched(*args, **options):
        problem = state(*args, **options)
        problems.extend(map(weakref.ref, (problem, problem.samples)))
        return problem

    monkeypatch.setattr(base, "state", watched)
    data, y = row_blocks(X) if kind == "source" else X, np.argmax(scores, axis=1)
    gc.collect()
    gc.disable()
    try:
        SMFClassifier(RANK, model=model, lam=LAM[model]).fit(data, y)
        assert [problem() for problem in problems] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize(("store", "value"), [(npy, np.nan), (zarr, -np.inf), (parquet, np.nan)])
def test_error_names_the_row_that_is_not_finite(store, value, tmp_path, scratch):
    X, scores, _ = numbers()
    X[777, 4] = value
    column = "'f4'" if store is parquet else "4"
    kind = "NaN" if np.isnan(value) else "infinity"
    message = rf"\AX: Input X contains {kind} in row 777, column {column} [^\n]*\Z"
    with pytest.raises(ValueError, match=message):
        SMFClassifier(RANK).fit(store(X, tmp_path), np.argmax(scores, axis=1))
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("kind", ["source", "dense"])
def test_rank_ignores_samples_of_weight_zero(kind, tmp_path, large):
    X, _, _ = numbers()
    weight = np.zeros(N)
    weight[[3, 900]] = 1
    large()
    with pytest.raises(ValueError, match=r"n_components=3: .* \(n_samples=2, n_features=12 to"):
        SMFClassifier(3).fit(
            npy(X, tmp_path) if kind == "source" else X, np.arange(N) < 9, sample_weight=weight
        )


# --- beginning with some of the samples --------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "order", "model"),
    [("source", "by class", "filter"), ("dense", "shuffled", "feature"), ("csr", "shuffled", "filter")],
)
def test_start_with_a_subsample_has_the_same_optimum(
    model, order, kind, tmp_path, scratch, large, monkeypatch
):
    X, scores, Z = numbers(p=80)
    y = np.argmax(scores, axis=1)
    if order == "by class":
        sort = np.argsort(y, kind="stable")
        X, y, Z = X[sort], y[sort], Z[sort]
    make = {"n_components": RANK, "model": model, "lam": LAM[model], "xi": 0.2}
    expected = SMFClassifier(**make).fit(X, y, covariates=Z)
    large(replace(CUT, fewest_subsample=50))
    begun = []
    draw = Problem.subsampled
    monkeypatch.setattr(Problem, "subsampled", lambda *of: begun.append(draw(*of)) or begun[-1])
    data = {"source": lambda: npy(X, tmp_path), "dense": lambda: X, "csr": lambda: sp.csr_array(X)}
    with sklearn.config_context(working_memory=1):  # room for the rows of the share
        found = SMFClassifier(**make).fit(data[kind](), y, covariates=Z)
    assert len(begun) == 1
    assert begun[0].n_samples < N / 6
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-8)
    np.testing.assert_allclose(
        found.predict_proba(X, covariates=Z), expected.predict_proba(X, covariates=Z), atol=1e-4
    )


def test_curvature_from_a_subsample_has_the_same_optimum(tmp_path, scratch, large):
    model = "filter"
    X, scores, Z = numbers(p=80)
    y = np.argmax(scores, axis=1)
    make = {"n_components": RANK, "model": model, "lam": LAM[model], "xi": 0.2}
    expected = SMFClassifier(**make).fit(X, y, covariates=Z)
    shared = replace(CUT, rows_a_column=1, fewest_curvature_rows=330, curvature_gradients=1)
    assert 0.05 < shared.curvature_share(N, 20, 3) < 0.3
    large(shared)
    for data in (npy(X, tmp_path), X):
        found = SMFClassifier(**make).fit(data, y, covariates=Z)
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-8)


# --- what needs X as a whole -------------------------------------------------------------------------

WHOLE = {"ascent": {"certify": "ascent"}, "lpgd": {"solver": "lpgd"}, "bcd": {"solver": "bcd"}}
whole = pytest.mark.parametrize("parameters", WHOLE.values(), ids=WHOLE)


@whole
def test_sources_are_refused_before_they_are_read(parameters, tmp_path, monkeypatch):
    X, scores, _ = numbers()
    source = npy(X, tmp_path)
    monkeypatch.setattr(type(source), "read", lambda *_: pytest.fail("X has been read"))
    message = (
        r"\AX: <MemmapRows 1100 x 12, float64> is read in passes, which only prediction and fit with "
        r"solver='lifted-newton' and certify='residual' or None support[^\n]*\Z"
    )
    with pytest.raises(ValueError, match=message):
        SMFClassifier(RANK, **parameters).fit(source, np.argmax(scores, axis=1))
    with pytest.raises(ValueError, match=r"\AX: <MemmapRows 1100 x 12, float64> is read in passes"):
        SMFClassifierCV(2).fit(source, np.argmax(scores, axis=1))


@whole
@pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)
def test_memmaps_are_arrays_for_these_options(parameters, tmp_path, scratch, stated):
    X, scores, _ = numbers()
    y = np.argmax(scores, axis=1)
    make = {"n_components": RANK, "lam": LAM["filter"], "max_iter": 20, **parameters}
    expected = SMFClassifier(**make).fit(X, y)
    found = SMFClassifier(**make).fit(memmap(X, tmp_path), y)
    assert stated == [(1, "memory")] * 2
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    assert found.certificate_.lower_bound == pytest.approx(expected.certificate_.lower_bound, rel=1e-9)


def test_cross_validation_of_a_memmap(tmp_path, scratch):
    X, scores, _ = numbers()
    y = np.argmax(scores, axis=1)
    make = {"n_components": [2], "xi": [0.1], "lam": [10.0, 100.0], "cv": 2}
    expected = SMFClassifierCV(**make).fit(X, y)
    found = SMFClassifierCV(**make).fit(memmap(X, tmp_path), y)
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(found.best_score_, expected.best_score_, rtol=1e-9)
    np.testing.assert_array_equal(found.predict(memmap(X, tmp_path)), expected.predict(X))


def test_sources_stay_on_the_cpu(tmp_path):
    X, scores, _ = numbers()
    source, y = npy(X, tmp_path), np.argmax(scores, axis=1)
    with pytest.raises(ValueError, match=r"\Adevice='cuda': [^\n]*but not [^\n]*Rows[^\n]*\Z"):
        SMFClassifier(RANK, device="cuda").fit(source, y)
    assert SMFClassifier(RANK, device="cpu").fit(source, y).n_iter_ > 0
