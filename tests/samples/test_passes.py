"""Problems stated from rows, in memory or read in passes, against those of arrays."""

import gc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from superfactor.lifting import state_problem, state_sampled, streamed
from superfactor.lifting.streamed import SampleTable
from tests import naive
from tests.solvers.examples import MODELS, lifted

from superfactor.losses import SquaredError, resolve_link
from superfactor.solvers import lifted_newton
from superfactor.spectrum import as_rows
from superfactor.theory.certificate import certify, certify_sampled

every_model = pytest.mark.parametrize("model", MODELS)
N, P = 60, 9


def mapped(path, X):
    """The same X as a memory map: a source that is read in blocks."""
    np.save(path / "X.npy", X)
    return as_rows(np.load(path / "X.npy", mmap_mode="r"))


def given(kind, path, X):
    return {
        "dense": lambda: X,
        "sparse": lambda: sp.csr_array(X),
        "source": lambda: mapped(path, X),
    }[kind]()


def data(kappa=2, loss="logistic", weighted=True, seed=0, dtype=float):
    """X, a table of facts, and the same facts as options of `state_problem`."""
    rng = np.random.default_rng(seed)
    X = (3 * rng.standard_normal((N, P))).astype(dtype)
    labels = np.arange(N) % (kappa + 1)
    targets = rng.standard_normal((N, kappa)) if loss == "squared" else labels
    wide = targets if loss == "squared" else np.eye(kappa + 1)[labels][:, 1:]
    C = rng.standard_normal((N, 2))
    weight = rng.uniform(0.5, 2, N) if weighted else None
    class_weight = rng.uniform(0.5, 2, N) if weighted else None
    table = SampleTable(targets, kappa, C, True, weight, class_weight)
    options = {"covariates": C, "sample_weight": weight, "class_weight": class_weight}
    resolved = SquaredError() if loss == "squared" else resolve_link(loss, kappa)
    return X, table, wide, resolved, options


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(streamed, "rows_per_block", lambda p, itemsize: 13)


WEIGHTS = {"xi": 0.7, "lam": 5.0}


@every_model
@pytest.mark.parametrize("kind", ["dense", "sparse", "source"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "kappa"), [("logistic", 2), ("probit", 1), ("squared", 2)])
def test_the_same_problem_as_from_arrays(
    model, kind, weighted, loss, kappa, tmp_path, small_blocks
):
    X, table, wide, resolved, options = data(kappa, loss, weighted)
    found = state_sampled(model, given(kind, tmp_path, X), table, resolved, rank=2, **WEIGHTS)
    expected = state_problem(model, X, wide, resolved, **WEIGHTS, **options).sampled()
    assert found.shape == expected.shape
    assert (found.name, found.n_outputs) == (expected.name, expected.n_outputs)
    for name in ("xi", "lam", "scale", "squared_norm", "smallest_weight", "largest_weight"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    np.testing.assert_allclose(found.null_loss, expected.null_loss, rtol=1e-12)
    np.testing.assert_allclose(found.covariate_ridge, expected.covariate_ridge)
    np.testing.assert_allclose(found.smaller_gram(), expected.smaller_gram(), atol=1e-12)
    theta = np.random.default_rng(1).standard_normal((3, kappa))
    for a, b in zip(
        found.samples.sum("evaluate", theta), expected.samples.sum("evaluate", theta), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-11)
    if kind == "source":
        assert len(found.samples.blocks) > 3


@every_model
@pytest.mark.parametrize("place", ["memory", "files"])
def test_a_source_is_solved_and_certified_as_arrays_are(model, place, tmp_path, small_blocks):
    X, table, wide, resolved, options = data()
    source = mapped(tmp_path, X)
    with config_context(working_memory=1e-3 if place == "files" else 1024):
        problem = state_sampled(model, source, table, resolved, rank=2, **WEIGHTS)
    stores = {block._tall.in_memory for block in problem.samples.blocks}
    assert stores == {place == "memory"}
    found = lifted_newton.solve_sampled(problem, 2, tol=1e-10)
    arrays = state_problem(model, X, wide, resolved, **WEIGHTS, **options)
    expected = lifted_newton.solve(arrays, 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-9)
    reference = naive.state(model, X, wide, **WEIGHTS, **options)
    value = naive.lifted_objective(reference, *lifted(model, found.factors))
    np.testing.assert_allclose(found.objective, value, rtol=1e-10)
    proof = certify_sampled(problem, 2, found.theta, found.objective, found.basis)
    point = expected.activations, expected.factors.gamma, expected.objective
    other = certify(arrays, 2, *point)
    np.testing.assert_allclose(proof.lower_bound, other.lower_bound, rtol=1e-7)
    assert proof.is_global == other.is_global


@every_model
def test_samples_of_weight_zero_are_left_out(model, tmp_path, small_blocks):
    X, table, _, resolved, _ = data()
    weight = table.sample_weight.copy()
    weight[[0, 7, 30, 31]] = 0
    weight[13:26] = 0  # a whole block
    table = replace(table, sample_weight=weight)
    problem = state_sampled(model, mapped(tmp_path, X), table, resolved, rank=2, **WEIGHTS)
    kept = weight > 0
    assert problem.n_samples == problem.samples.n_samples == kept.sum()
    rows = np.concatenate(problem.samples.gather("images", np.eye(P)))
    expected = X[kept] * np.sqrt(weight[kept])[:, None] / problem.scale
    np.testing.assert_allclose(rows, expected, atol=1e-13)


def test_temporary_files_go_with_their_samples(tmp_path, monkeypatch, small_blocks):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(streamed.tempfile, "tempdir", None)
    X, table, _, resolved, _ = data()
    with config_context(working_memory=1e-3):
        problem = state_sampled("feature", mapped(tmp_path, X), table, resolved, rank=2, **WEIGHTS)
    problem.samples.tell("noise", "main", 0, 3)
    assert any(tmp_path.glob("superfactor-*/*/*"))
    del problem
    gc.collect()
    assert not any(tmp_path.glob("superfactor-*"))


def test_passes_over_a_source_are_told(tmp_path, small_blocks):
    seen = []
    X, table, _, resolved, _ = data()
    problem = state_sampled(
        "filter",
        mapped(tmp_path, X),
        table,
        resolved,
        rank=2,
        on_block=lambda *rows: seen.append(rows),
        **WEIGHTS,
    )
    ends = [int(done) for done, _ in seen]
    assert ends[0] == 0
    assert ends[-1] == N
    assert ends == sorted(ends)  # one pass, no more
    seen.clear()
    problem.samples.sum("evaluate", np.zeros((3, 2)))
    assert seen == []


def test_sources_of_single_precision_stay_so(tmp_path, small_blocks):
    X, table, _, resolved, _ = data(dtype=np.float32)
    problem = state_sampled("filter", mapped(tmp_path, X), table, resolved, rank=2, **WEIGHTS)
    assert problem.epsilon == np.finfo(np.float32).eps
    assert {x.dtype for x in problem.samples.gather("images", np.eye(P))} == {np.dtype(np.float32)}
    assert problem.covariate_ridge.dtype == np.float64
