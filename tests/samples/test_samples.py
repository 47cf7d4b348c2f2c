"""Samples in one block, in several, in memory, in files, asked by one thread or by more: one answer."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from superfactor.lifting import Facts, LocalSamples, samples, state_problem
from tests.lifting.cutting import blocks_of, cut, uneven
from tests.solvers.examples import example

from superfactor.losses import resolve_link

N, P, K, KAPPA = 29, 6, 3, 2


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def problem(request):
    return example("filter", N, P, KAPPA, weighted=request.param)[0]


def prepared(sampled):
    """The samples, each with its rows of the same `main` and the same dual points."""
    rng = np.random.default_rng(0)
    sampled.samples.tell("identity", "main", N)
    sampled.samples.tell("combine", "main", [("main", rng.standard_normal((N, K)))])
    sampled.samples.tell("given", "dual", rng.uniform(-0.3, 0.3, (N, KAPPA)))
    return sampled.samples


def questions(q):
    """Everything that is answered with sums over all samples."""
    rng = np.random.default_rng(1)
    theta, V = rng.standard_normal((K + q, KAPPA)), rng.standard_normal((K + q, 2))
    beta, T = theta[:2], rng.standard_normal((P, 2))
    return {
        "evaluate": (theta,),
        "evaluate a view": (V.T @ theta, V),
        "curvature": (theta, None, 1.0),
        "curvature_product": (theta, theta + 1, None),
        "curvature_diagonal": (theta, None, 1.0),
        "kept_curvature": (theta, np.eye(K + q), beta, 1.0),
        "rotation_curvature": (theta, np.eye(K + q), beta),
        "mass": (),
        "squared_norm": (),
        "covariate_gram": (),
        "imbalance": ([],),
        "dual_terms": (),
        "pull": (theta,),
        "power": (T,),
        "gram": (),
        "image": ("main",),
        "inner": ([("main", "dual")],),
        "several": ([("inner", [("main", "main")]), ("mass",)],),
        "grow": (T, theta, beta),  # last: it changes them
    }


def ask_all(samples, q):
    return {
        question: samples.sum(question.split()[0], *arguments)
        for question, arguments in questions(q).items()
    }


def assert_same_answers(found, expected):
    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        assert len(found[question]) == len(answer)
        for a, b in zip(found[question], answer, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11, err_msg=question)


@pytest.mark.parametrize("place", ["memory", "files"])
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("blocks", [1, 3, 7])
def test_sums_do_not_depend_on_the_cuts(problem, blocks, threads, place, tmp_path):
    q = problem.covariates.shape[1]
    expected = ask_all(prepared(problem.sampled()), q)
    folder = tmp_path if place == "files" else None
    found = ask_all(prepared(cut(problem, blocks, folder, threads=threads)), q)
    assert_same_answers(found, expected)


@pytest.mark.parametrize("threads", [1, 3])
def test_answers_are_gathered_in_the_order_of_the_samples(problem, threads):
    samples = prepared(cut(problem, 7, threads=threads))
    theta = np.random.default_rng(2).standard_normal((K + problem.covariates.shape[1], KAPPA))
    whole = prepared(problem.sampled())
    for question, arguments in {
        "rows": ([("main", None)],),
        "activations": (theta,),
        "images": (np.eye(P),),
        "codes": (np.eye(K),),
    }.items():
        parts = samples.gather(question, *arguments)
        assert [len(part) for part in parts] == np.diff(uneven(N, 7)).tolist()
        (expected,) = whole.gather(question, *arguments)
        np.testing.assert_allclose(np.concatenate(parts), expected, atol=1e-13)


def test_threads_add_up_in_the_order_of_the_samples(problem):
    """Not in the order in which they finish: the same sum to the last digit, every time."""
    one, several = (prepared(cut(problem, 7, threads=threads)) for threads in (1, 4))
    theta = np.random.default_rng(3).standard_normal((K + problem.covariates.shape[1], KAPPA))
    for a, b in zip(one.sum("evaluate", theta), several.sum("evaluate", theta), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_noise_is_the_same_whoever_asks_for_it(problem):
    """Random numbers are those of a block's place, not of the order in which threads come to it."""
    found = []
    for threads in (1, 4):
        samples = cut(problem, 7, threads=threads).samples
        samples.tell("noise", "noise", 3, 2)
        found.append(np.concatenate(samples.gather("rows", [("noise", None)])))
    np.testing.assert_array_equal(*found)
    assert len(np.unique(found[0])) == found[0].size


# --- threads --------------------------------------------------------------------------------------


class Meeting:
    """A block whose question waits until so many are in it at the same time."""

    def __init__(self, barrier, size=1):
        self._barrier, self.n_samples = barrier, size

    def meet(self):
        self._barrier.wait(timeout=20)
        return (1.0,)

    def fail(self):
        raise OSError("the disk is gone")


def test_as_many_blocks_as_threads_are_asked_at_once():
    samples = LocalSamples(_meeting(3, 9), 3)
    assert samples.sum("meet") == (9.0,)


def _meeting(at_once, count):
    barrier = threading.Barrier(at_once)
    return [Meeting(barrier) for _ in range(count)]


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_block_cannot_do_is_told(threads):
    samples = LocalSamples(_meeting(1, 5), threads)
    for ask in (samples.sum, samples.gather, samples.tell):
        with pytest.raises(OSError, match="the disk is gone"):
            ask("fail")
    assert samples.sum("meet") == (5.0,)  # and they can be asked again


# --- what is watched ------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_passes_over_X_are_watched_block_by_block(problem, threads):
    seen = []
    samples = prepared(cut(problem, 5, threads=threads, on_block=lambda *rows: seen.append(rows)))
    assert seen == []  # nothing of that needed X
    q = problem.covariates.shape[1]
    one_pass = [(done, N) for done in uneven(N, 5)]
    reading = {"squared_norm", "pull", "power", "gram", "image", "grow"}
    for question, arguments in questions(q).items():
        name = question.split()[0]
        samples.sum(name, *arguments)
        assert seen == (one_pass if name in reading else []), question
        seen.clear()
    samples.tell("several", [("drop", "x"), ("back", "x", np.eye(P))])
    assert seen == one_pass
    seen.clear()
    samples.gather("images", np.eye(P))
    assert seen == one_pass


# --- types ----------------------------------------------------------------------------------------


def test_blocks_of_single_precision_are_added_up_in_double():
    X = np.random.default_rng(4).standard_normal((N, P)).astype(np.float32)
    y = (np.arange(N) % 3 == np.array([[1], [2]])).T.astype(np.float32)
    problem = state_problem("filter", X, y, resolve_link("logistic", KAPPA), xi=1.0, lam=1.0)
    sampled = cut(problem, 7)
    samples = prepared(sampled)
    assert samples.gather("rows", [("main", None)])[0].dtype == np.float32
    for question, arguments in questions(1).items():
        name = question.split()[0]
        parts = None if name == "grow" else samples.gather(name, *arguments)
        for i, total in enumerate(samples.sum(name, *arguments)):
            assert np.asarray(total).dtype == np.float64
            if parts is not None:
                expected = sum(np.asarray(part[i], dtype=float) for part in parts)
                np.testing.assert_array_equal(total, expected)


# --- in memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("n", "cores", "expected"), [(29, 3, 7), (29, 16, 16), (5, 16, 5), (9, 1, 1)]
)
def test_large_data_are_cut_for_the_cores(monkeypatch, kind, n, cores, expected):
    monkeypatch.setattr(samples, "ROWS_A_BLOCK", 4 if n > 8 else 2)
    monkeypatch.setattr(samples, "NNZ_WORTH_THREADS", 0)
    monkeypatch.setattr(samples, "cores", lambda: cores)
    problem, _ = example("filter", n, P, KAPPA, weighted=True, sparse=kind == "sparse")
    made = problem.sampled().samples
    sizes = [block.n_samples for block in made.blocks]
    assert sum(sizes) == made.n_samples == n
    assert len(sizes) == expected
    assert min(sizes) > 0
    (one,) = blocks_of(problem, [0, n])
    np.testing.assert_allclose(
        np.concatenate(made.gather("images", np.eye(P))), one.images(np.eye(P)), atol=1e-14
    )
    theta = np.random.default_rng(5).standard_normal((problem.covariates.shape[1], KAPPA))
    for a, b in zip(made.sum("evaluate", theta), one.evaluate(theta), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_small_data_are_one_block():
    for sparse in (False, True):
        problem, _ = example("filter", N, P, KAPPA, sparse=sparse)
        assert len(problem.sampled().samples.blocks) == 1


def test_facts_of_some_samples():
    rng = np.random.default_rng(6)
    whole = Facts(*(rng.uniform(1, 2, (N, k)) for k in (KAPPA, 2, 1, 1)))
    between, some = whole.between(4, 9), whole.take(np.array([7, 2]))
    for name in ("targets", "covariates", "loss_weight", "root_weight"):
        np.testing.assert_array_equal(getattr(between, name), getattr(whole, name)[4:9])
        assert np.shares_memory(getattr(between, name), getattr(whole, name))
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[[7, 2]])
    plain = replace(whole, root_weight=None)
    assert plain.between(0, 2).root_weight is None
    assert plain.take(np.array([1])).root_weight is None
    x = rng.standard_normal((N, 3))
    np.testing.assert_array_equal(plain.over_root(x), x)
    np.testing.assert_array_equal(whole.over_root(x), x / whole.root_weight)


def test_rows_of_sparse_data_share_them():
    X = sp.random_array((N, P), density=0.5, rng=np.random.default_rng(7), format="csr")
    problem = state_problem(
        "filter", X, np.zeros((N, 1)), resolve_link("logistic", 1), xi=1.0, lam=1.0
    )
    part = problem.data.rows(4, 20)
    assert np.shares_memory(part._X.data, problem.data._X.data)
    expected = X.toarray()[4:20] / problem.data.scale
    np.testing.assert_allclose(part.times(np.eye(P)), expected, atol=1e-15)
