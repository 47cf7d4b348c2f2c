"""Samples in one block or several, in memory or files, with one thread or more: the same results."""

import pickle
import threading

import numpy as np
import pytest
from tests.problems import example
from tests.samples.block_methods import AT, BENT, DUAL, KAPPA, MADE, ROWS, SUMS
from tests.samples.block_world import TALL, K, N, P
from tests.samples.cutting import cut, uneven

from superfactor.samples import Block, Call, LocalSamples, Place


@pytest.fixture
def problem():
    return example("filter", N, P, KAPPA, weighted=True)[0]


def prepared(problem, dtype=float):
    """The samples, with a tall matrix, dual points and a curvature: the same for however many blocks."""
    rng, samples = np.random.default_rng(0), problem.samples
    p = rng.uniform(0, 0.3, (N, KAPPA))
    dual = p - np.eye(KAPPA + 1)[np.arange(N) % (KAPPA + 1)][:, 1:]
    bent = np.hstack([p * (1 - p), p]).astype(dtype)
    kept = [samples.keep(Block.given, M) for M in (rng.standard_normal((N, K)).astype(dtype), dual, bent)]
    assert [tall.place for tall in kept] == [TALL, DUAL, BENT]
    return samples, kept


def flat(result):
    return list(result) if isinstance(result, tuple) else [result]


def ask_all(problem, dtype=float):
    """Every result as a list of arrays, by the name of its method."""
    samples, kept = prepared(problem, dtype)
    results = {name: flat(samples.sum(getattr(Block, name), *asked)) for name, asked in SUMS.items()}
    for name, asked in MADE.items():
        talls, parts = samples.make(getattr(Block, name), *asked)
        results[name] = [*(each.array() for each in talls), *flat(parts)]
    results["scored"].pop()  # an estimate of rounding errors
    for name, asked in ROWS.items():
        results[name] = [samples.stack(getattr(Block, name), *asked)]
        results[name + ", kept"] = [samples.keep(getattr(Block, name), *asked).array()]
    del kept
    return results


def assert_same_results(found, expected, rtol=1e-11):
    assert found.keys() == expected.keys()
    for method, result in expected.items():
        assert len(found[method]) == len(result)
        for a, b in zip(found[method], result, strict=True):
            size = 1 + np.abs(b).max(initial=0)
            np.testing.assert_allclose(a, b, atol=rtol * size, err_msg=method)


@pytest.mark.parametrize(
    ("blocks", "threads", "place"), [(1, 1, "memory"), (3, 1, "files"), (7, 2, "memory"), (7, 8, "files")]
)
def test_results_do_not_depend_on_the_blocks(problem, blocks, threads, place, tmp_path):
    folder = tmp_path if place == "files" else None
    assert_same_results(ask_all(cut(problem, blocks, folder, threads=threads)), ask_all(problem))


def test_results_in_single_precision_do_not_depend_on_the_blocks(problem, tmp_path):
    """Blocks compute in float32; their sums are in float64."""
    single, _ = example("filter", N, P, KAPPA, weighted=True, dtype=np.float32)
    found = ask_all(cut(single, 7, tmp_path, threads=3), np.float32)
    assert_same_results(found, ask_all(problem), rtol=1e-5)
    assert found["images, kept"][0].dtype == np.float32


def test_sums_over_blocks_of_single_precision_are_double():
    single, _ = example("filter", N, P, KAPPA, dtype=np.float32)
    samples, kept = prepared(cut(single, 7), np.float32)
    assert {part.dtype for part in samples.gather(Block.rows_of, TALL)} == {np.dtype(np.float32)}
    for name, asked in SUMS.items():
        parts = [flat(part) for part in samples.gather(getattr(Block, name), *asked)]
        for i, each in enumerate(flat(samples.sum(getattr(Block, name), *asked))):
            assert np.asarray(each).dtype == np.float64
            # In their order.
            np.testing.assert_array_equal(each, sum(np.asarray(part[i], dtype=float) for part in parts))
    del kept


def test_threads_sum_in_the_order_of_the_samples(problem):
    """Not in the order in which they finish: results are identical to the last digit, noise included."""
    found = []
    for threads in (1, 4):
        samples, kept = prepared(cut(problem, 7, threads=threads))
        parts = samples.gather(Block.rows_of, TALL)
        assert [len(part) for part in parts] == np.diff(uneven(N, 7)).tolist()
        noise = samples.keep(Block.noise, 3, 2).array()
        found.append((*samples.sum(Block.evaluate, *AT), noise, np.concatenate(parts)))
        del kept
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(np.unique(noise)) == noise.size


# --- calls ----------------------------------------------------------------------------------------


def test_a_call_can_be_pickled(problem):
    """By the name of its method: a cluster's workers have the same class."""
    samples, kept = prepared(problem)
    call = Call(Block.evaluate, AT)
    again = pickle.loads(pickle.dumps(call))
    for a, b in zip(samples.summed(again, ()), call.to(samples.blocks[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (call.name, call.reads) == ("evaluate", False)
    assert Call(Block.pull, AT).reads
    # Storing rows is not a method of `Block` that samples call.
    calls, made = [], samples.made
    samples.made = lambda call, *rest: (calls.append(call), made(call, *rest))[1]
    samples.keep(Block.images, np.eye(P))
    assert [(call.name, call.reads) for call in calls] == [("images", True)]
    del kept


def test_arguments_are_passed_by_position(problem):
    with pytest.raises(TypeError, match=r"T: arguments .* by position"):
        problem.samples.sum(Block.power, T=np.eye(P))


# --- changes are sent with the next call ------------------------------------------------------------


def test_changes_run_once_and_before_the_call(problem):
    samples = cut(problem, 3).samples
    plain = samples.sum(Block.squared_norm)
    samples.rescale(4.0)
    assert [block._scale for block in samples.blocks] == [None] * 3  # not yet
    np.testing.assert_allclose(samples.sum(Block.squared_norm), plain / 16, rtol=1e-14)
    for block in samples.blocks:
        block.rescale(1.0)  # the units of before
    assert samples.sum(Block.squared_norm) == plain  # applied once


def test_changes_run_in_order(problem):
    samples, (tall, *_) = prepared(cut(problem, 3, threads=3))
    before, key = tall.array(), tall.place.key
    samples.later(Block.append, key, Place(key, 1))
    samples.later(Block.append, key, Place(key, K + 1))
    samples.later(Block.rescale, 3.0)
    samples.later(Block.rescale, 2.0)
    found = samples.stack(Block.rows_of, Place(key, 2 * K + 2))
    once = np.hstack([before, before[:, :1]])
    np.testing.assert_array_equal(found, np.hstack([once, once]))
    assert {block._scale for block in samples.blocks} == {2.0}


# --- threads --------------------------------------------------------------------------------------


class Meeting(Block):
    """A block whose method waits until a number of threads are in it at the same time."""

    def __init__(self, barrier, size=1):
        self._barrier, self.n_samples = barrier, size

    def meet(self):
        self._barrier.wait(timeout=20)
        return 1.0

    def fail(self):
        raise OSError("the disk is gone")


def _meeting(at_once, count):
    barrier = threading.Barrier(at_once)
    return [Meeting(barrier) for _ in range(count)]


def test_as_many_blocks_as_threads_compute_at_once():
    assert LocalSamples(_meeting(3, 9), 3).sum(Meeting.meet) == 9.0
    samples = LocalSamples(_meeting(2, 2), 16)  # and no more threads than blocks
    assert (samples.threads, samples.sum(Meeting.meet)) == (2, 2.0)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_a_block_is_raised(threads):
    samples = LocalSamples(_meeting(1, 5), threads)
    for ask in (samples.sum, samples.gather, samples.stack, samples.keep, samples.make):
        with pytest.raises(OSError, match="the disk is gone"):
            ask(Meeting.fail)
    assert samples.sum(Meeting.meet) == 5.0  # further calls work


# --- reports of passes ----------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_passes_over_X_are_reported_block_by_block(problem, threads):
    seen = []
    samples, kept = prepared(cut(problem, 5, threads=threads, on_block=lambda *rows: seen.append(rows)))
    assert kept and seen == []  # none of these calls needs X
    one_pass = [(done, N) for done in uneven(N, 5)]
    ways = [(samples.sum, SUMS), (samples.make, MADE), (samples.stack, ROWS), (samples.keep, ROWS)]
    for ask, asked in ways:
        for name, arguments in asked.items():
            ask(getattr(Block, name), *arguments)
            assert seen == (one_pass if Call(getattr(Block, name), ()).reads else []), name
            seen.clear()


def test_stored_matrices_are_not_overwritten(problem):
    """Each matrix has its own key, also if a method makes two."""
    samples, kept = prepared(cut(problem, 3))
    asked = Block.images_and_bent, *MADE["images_and_bent"]
    kept += samples.make(*asked)[0]
    before = [each.array() for each in kept]
    others = [samples.keep(Block.noise, 0, 2), *samples.make(*asked)[0]]
    others.append(samples.nothing().with_columns(others[0]))
    for each, numbers in zip(kept, before, strict=True):
        np.testing.assert_array_equal(each.array(), numbers)
    assert len({each.place.key for each in (*kept, *others)}) == len(kept) + len(others)
