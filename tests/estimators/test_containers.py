"""The same table in every container has the same weights and the same objective."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from tests.estimators.data import MODELS
from tests.estimators.stores import memmap, npy

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival

# Tall, square and wide; p up to 256 and above; with and without compression to n × n.
SHAPES = [(700, 20), (600, 150), (300, 300), (400, 290), (280, 570), (290, 640)]
KINDS = ["classes", "numbers", "counts", "times"]


def table(shape, kind, planted=True, seed=0):
    """X (n, p), half of it zero and not centred, with three strong directions or none; y; weights."""
    rng = np.random.default_rng(seed)
    n, p = shape
    codes = rng.standard_normal((n, 3))
    X = rng.standard_normal(shape) + planted * codes @ rng.standard_normal((3, p)) + 0.5
    X *= rng.random(shape) < 0.5
    y = {
        "classes": np.argmax(codes + rng.standard_normal((n, 3)), axis=1),
        "numbers": 3 * codes[:, 0] + rng.standard_normal(n) - 7,
        "counts": rng.poisson(np.exp(1 + codes[:, 0] / 2)),
        "times": np.column_stack([rng.random(n) < 0.7, rng.exponential(np.exp(codes[:, 0]))]),
    }[kind]
    return X, y


def estimator_of(kind):
    """The estimator of a kind of y, and its parameters."""
    if kind == "times":
        return SMFSurvival, {}
    if kind == "classes":
        return SMFClassifier, {}
    return SMFRegressor, {"loss": "poisson"} if kind == "counts" else {}


def containers(X, folder):
    """The same numbers as an array, a sparse matrix and on disk."""
    pa = pytest.importorskip("pyarrow")
    yield "array", X
    yield "column by column", np.asfortranarray(X)
    yield "CSR", sp.csr_array(X)
    yield "CSC", sp.csc_matrix(X)
    yield "row blocks", npy(X, folder)
    yield "memory map", memmap(X, folder)
    yield "Arrow", pa.table({f"f{j}": X[:, j] for j in range(X.shape[1])})


def found_by(fit):
    return np.array([fit.xi_, fit.lam_, fit.objective_])


def agree(fits, rtol):
    """Weights and objectives of fits by name equal those of the first."""
    (_, first), *others = fits.items()
    for name, fit in others:
        np.testing.assert_allclose(found_by(fit), found_by(first), rtol=rtol, err_msg=name)
        np.testing.assert_allclose(fit.lam_covariates_, first.lam_covariates_, rtol=rtol, err_msg=name)


@pytest.fixture(autouse=True)
def several_blocks():
    with sklearn.config_context(working_memory=4):
        yield


@pytest.mark.parametrize("shape", SHAPES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("kind", "planted"), [*((kind, True) for kind in KINDS), ("classes", False)])
def test_weights_and_objective_do_not_depend_on_the_container(kind, planted, model, shape, tmp_path):
    X, y = table(shape, kind, planted)
    estimator, options = estimator_of(kind)
    covariates = np.random.default_rng(1).standard_normal((len(X), 2))
    fits = {
        name: estimator(2, model=model, search="off", certify=None, **options).fit(
            given, y, covariates=covariates
        )
        for name, given in containers(X, tmp_path)
        if kind != "times" or sp.issparse(given) or type(given) is np.ndarray
    }
    agree(fits, 1e-10)


@pytest.mark.parametrize("shape", SHAPES[1:5:2], ids="{0[0]}x{0[1]}".format)
def test_weighted_samples_and_the_search_of_other_starts(shape, tmp_path):
    X, y = table(shape, "classes")
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    fits = {
        name: SMFClassifier(2, class_weight="balanced").fit(given, y, sample_weight=weight)
        for name, given in containers(X, tmp_path)
    }
    agree(fits, 1e-9)


@pytest.mark.parametrize("shape", SHAPES, ids="{0[0]}x{0[1]}".format)
def test_single_precision(shape, tmp_path):
    X, y = table(shape, "classes")
    fits = {
        name: SMFClassifier(2, certify=None).fit(given, y)
        for name, given in containers(X.astype(np.float32), tmp_path)
    }
    agree(fits, 1e-5)


def test_few_stored_values_are_as_wide_as_an_array(tmp_path):
    """Compression pays for the array alone."""
    X, y = table((500, 1200), "classes")
    X *= np.random.default_rng(1).random(X.shape) < 0.04
    with sklearn.config_context(working_memory=16):
        fits = {name: SMFClassifier(2, certify=None).fit(x, y) for name, x in containers(X, tmp_path)}
    agree(fits, 1e-9)


@pytest.mark.parametrize("kind", ["classes", "numbers", "counts"])
def test_wide_rows_beyond_the_working_memory(kind, tmp_path):
    """The weights are the same; the objective is within the tolerance of the search."""
    X, y = table((600, 1300), kind, planted=kind == "classes")
    estimator, options = estimator_of(kind)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    array = estimator(2, search="off", **options).fit(X, y, sample_weight=weight)
    with sklearn.config_context(working_memory=8):
        blocks = estimator(2, search="off", **options).fit(npy(X, tmp_path), y, sample_weight=weight)
    agree({"array": array, "row blocks": blocks}, 2e-7)
    assert blocks.lam_ == pytest.approx(array.lam_, rel=1e-10)


def test_entries_that_are_stored_in_parts():
    X, y = table((200, 20), "classes")
    n, p = X.shape
    rows = np.arange(0, 2 * n * p + 1, 2 * p)
    parts = sp.csr_array((np.repeat(X / 2, 2), np.repeat(np.tile(np.arange(p), n), 2), rows), shape=X.shape)
    stored = parts.nnz
    agree({"array": SMFClassifier(2).fit(X, y), "parts": SMFClassifier(2).fit(parts, y)}, 1e-10)
    assert parts.nnz == stored


@pytest.mark.parametrize("shape", [(60, 12), (30, 80)], ids="{0[0]}x{0[1]}".format)
def test_types_of_numbers(shape):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, shape).astype(float)
    y = np.arange(len(X)) % 3
    forms = [X, *(X.astype(kind) for kind in ("i1", "u2", "i8", "f2", ">f8", "O", np.longdouble))]
    forms += [X[::-1][::-1], np.repeat(X, 2, axis=0)[::2], X.tolist()]
    forms += [sp.coo_array(X), sp.lil_array(X), sp.csr_matrix(X.astype("i4"))]
    fits = {str(i): SMFClassifier(2).fit(form, y) for i, form in enumerate(forms)}
    table = pd.DataFrame(X)
    for kind in ("Int64", "Float64", "category", pd.SparseDtype(float, 0.0)):
        fits[str(kind)] = SMFClassifier(2).fit(table.astype(kind).rename(columns=str), y)
    agree(fits, 1e-9)


def test_a_path_is_no_table(tmp_path):
    for path in (tmp_path / "x.npy", str(tmp_path / "x.npy")):
        with pytest.raises(
            TypeError, match=r"^X: numbers are required, got a path; superfactor.row_blocks\('.*x.npy"
        ):
            SMFClassifier().fit(path, [0, 1])
