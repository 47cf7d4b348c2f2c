"""Problems stated from rows that are read in passes, against those of arrays."""

import gc
import tempfile

import numpy as np
import pytest
from sklearn import config_context
from tests.problems import MODELS, loss_named

from superfactor.problem import state
from superfactor.samples import Block, Design, passes
from superfactor.spectrum import as_rows

every_model = pytest.mark.parametrize("model", MODELS)
N, P = 60, 9
WEIGHTS = {"xi": 0.7, "lam": 5.0}


def mapped(path, X):
    """The same X as a memory map: a source that is read in blocks."""
    np.save(path / "X.npy", X)
    return as_rows(np.load(path / "X.npy", mmap_mode="r"))


def data(kappa=2, loss="logistic", weighted=True, seed=0, dtype=float):
    """X, targets, loss and the other arguments."""
    rng = np.random.default_rng(seed)
    X = (3 * rng.standard_normal((N, P))).astype(dtype)
    labels = np.arange(N) % (kappa + 1)
    targets = rng.standard_normal((N, kappa)) if loss == "squared" else labels
    stated = {"covariates": rng.standard_normal((N, 2))} | WEIGHTS
    if weighted:
        stated["sample_weight"] = rng.uniform(0.5, 2, N)
        stated["class_weight"] = rng.uniform(0.5, 2, N)
    return X, targets, loss_named(loss, kappa), stated


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(passes, "rows_per_block", lambda p, itemsize: 13)


@every_model
@pytest.mark.parametrize(("loss", "kappa", "weighted"), [("logistic", 2, True), ("squared", 2, False)])
def test_the_same_problem_as_from_arrays(model, weighted, loss, kappa, tmp_path, small_blocks):
    X, targets, resolved, stated = data(kappa, loss, weighted)
    found = state(model, mapped(tmp_path, X), targets, resolved, rank=2, **stated)
    expected = state(model, X, targets, resolved, **stated)
    assert found.shape == expected.shape
    assert found.model is expected.model
    assert found.n_outputs == expected.n_outputs
    for name in ("xi", "lam", "scale", "squared_norm", "smallest_weight", "largest_weight"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    np.testing.assert_allclose(found.null_loss, expected.null_loss, rtol=1e-12)
    np.testing.assert_allclose(found.covariate_ridge, expected.covariate_ridge)
    coef = np.random.default_rng(1).standard_normal((3, kappa))
    asked = Design(None), coef
    results = (each.samples.sum(Block.evaluate, *asked) for each in (found, expected))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-11)
    rows = (each.samples.stack(Block.images, np.eye(P)) for each in (found, expected))
    np.testing.assert_allclose(*rows, atol=1e-14)
    assert len(found.samples.blocks) > 3
    assert found.whole is None


def test_samples_of_weight_zero_are_left_out(tmp_path, small_blocks):
    X, targets, resolved, stated = data()
    weight = stated["sample_weight"]
    weight[[0, 7, 30, 31]] = 0
    weight[10:26] = 0  # a whole block
    problem = state("filter", mapped(tmp_path, X), targets, resolved, rank=2, **stated)
    kept = weight > 0
    assert problem.n_samples == problem.samples.n_samples == kept.sum()
    rows = problem.samples.stack(Block.images, np.eye(P))
    expected = X[kept] * np.sqrt(weight[kept])[:, None] / problem.scale
    np.testing.assert_allclose(rows, expected, atol=1e-13)
    # Positions count the remaining samples only: each has its row of the identity.
    identity = problem.samples.stack(Block.identity, problem.n_samples)
    np.testing.assert_array_equal(identity, np.eye(problem.n_samples))


def test_temporary_files_are_deleted_with_their_samples(tmp_path, monkeypatch, small_blocks):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    X, targets, resolved, stated = data()
    with config_context(working_memory=1e-3):
        problem = state("feature", mapped(tmp_path, X), targets, resolved, rank=2, **stated)
    noise = problem.samples.keep(Block.noise, 0, 3)
    assert any(tmp_path.glob("superfactor-*/*/*"))
    del problem
    gc.collect()
    assert noise.array().shape == (N, 3)  # a handle keeps them
    del noise
    gc.collect()
    assert not any(tmp_path.glob("superfactor-*"))


def test_passes_over_a_source_are_reported(tmp_path, small_blocks):
    seen, (X, targets, resolved, stated) = [], data()
    told = {"on_block": lambda *rows: seen.append(rows), "rank": 2}
    problem = state("filter", mapped(tmp_path, X), targets, resolved, **told, **stated)
    ends = [int(done) for done, _ in seen]
    assert (ends[0], ends[-1]) == (0, N) and ends == sorted(set(ends))  # one pass, no more
    seen.clear()
    problem.samples.sum(Block.evaluate, Design(None), np.zeros((3, 2)))
    assert seen == []


def test_sources_of_single_precision_stay_so(tmp_path, small_blocks):
    X, targets, resolved, stated = data(dtype=np.float32)
    problem = state("filter", mapped(tmp_path, X), targets, resolved, rank=2, **stated)
    assert problem.epsilon == np.finfo(np.float32).eps
    parts = problem.samples.gather(Block.images, np.eye(P))
    assert {x.dtype for x in parts} == {np.dtype(np.float32)}
    assert problem.covariate_ridge.dtype == np.float64


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_is_found_in_the_first_pass(value, tmp_path, small_blocks):
    X, targets, resolved, stated = data()
    X[40, 3] = value
    with pytest.raises(ValueError, match=r"NaN|infinity|finite"):
        state("filter", mapped(tmp_path, X), targets, resolved, rank=2, **stated)
