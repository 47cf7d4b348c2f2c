"""Samples in one block, in several, in memory, in files, asked by one thread or by more: one answer."""

import pickle
import threading

import numpy as np
import pytest
from tests.problems import example
from tests.samples.cutting import cut, uneven

from superfactor.samples import Along, Block, Call, Design, LocalSamples, Place, added

N, P, K, KAPPA = 29, 6, 4, 2
Q = 3  # two covariates and the intercept


@pytest.fixture
def problem():
    return example("filter", N, P, KAPPA, weighted=True)[0]


def prepared(problem, dtype=float):
    """The samples, a tall matrix, and dual points: the same for however many blocks."""
    rng = np.random.default_rng(0)
    tall = problem.samples.keep(Block.given, rng.standard_normal((N, K)).astype(dtype))
    targets = np.eye(KAPPA + 1)[np.arange(N) % (KAPPA + 1)][:, 1:]
    dual = problem.samples.keep(Block.given, rng.uniform(0, 0.3, (N, KAPPA)) - targets)
    return problem.samples, tall, dual


def questions(tall, dual):
    """Everything that is answered with sums over all samples, of whole shares."""
    rng = np.random.default_rng(1)
    design = Design(tall.place)
    coef, T = rng.standard_normal((K + Q, KAPPA)), rng.standard_normal((P, 2))
    beta, turn = coef[:2], np.eye(K + Q)
    along = Along(design, coef, beta)
    sums = {
        Block.evaluate: (design, coef),
        Block.curvature: (design, coef),
        Block.curvature_product: (design, tall.place, coef + 1),  # K = 2κ columns
        Block.rotation_curvature: (design, coef, turn, beta),
        Block.design_gram: (design,),
        Block.squared_norm: (),
        Block.total_weights: (),
        Block.digest: (),
        Block.covariate_gram: (),
        Block.imbalance: (dual.place, []),
        Block.dual_terms: (dual.place,),
        Block.pull: (design, coef),
        Block.power: (T,),
        Block.power_and_sum: (T,),
        Block.gram_and_image: (tall.place,),
        Block.image: (tall.place,),
        Block.inner: (tall.place, dual.place),
    }
    several = coef + rng.standard_normal((4, K + Q, KAPPA))
    made = {
        Block.bent: (design, several),
        Block.some_of: (design, 1.0, False),
        Block.grown: (T, tall.place, along),
        Block.refined: (tall.place, np.ones((K, 2)), dual.place, np.ones((KAPPA, 2))),
        Block.images_and_bent: (np.ones((P, K)), tall.place, Along(design, coef, coef[:K])),
    }
    rows = {
        Block.rows_of: (tall.place,),
        Block.activations: (design, coef),
        Block.residuals: (design, coef),
        Block.pulled: (design, coef),
        Block.images: (np.eye(P),),
        Block.codes: (tall.place, np.eye(K)),
        Block.view: (design, coef),
        Block.combination: ([(tall.place, np.eye(K))],),
        Block.dual_points: (design, coef),
        Block.rebalanced: (dual.place, []),
        Block.weighted_dual: (dual.place,),
        Block.identity: (N,),
    }
    return sums, made, rows


def flat(answer):
    return list(answer) if isinstance(answer, tuple) else [answer]


def ask_all(problem, dtype=float):
    """Every answer as a list of arrays, by the name of its question."""
    samples, tall, dual = prepared(problem, dtype)
    sums, made, rows = questions(tall, dual)
    answers = {}
    for question, arguments in sums.items():
        answers[question.__name__] = flat(samples.sum(question, *arguments))
    for question, arguments in made.items():
        talls, parts = samples.make(question, *arguments)
        answers[question.__name__] = [*(each.array() for each in talls), *flat(parts)]
    for question, arguments in rows.items():
        answers[question.__name__] = [samples.stack(question, *arguments)]
        answers[question.__name__ + ", kept"] = [samples.keep(question, *arguments).array()]
    return answers


def assert_same_answers(found, expected, rtol=1e-11):
    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        assert len(found[question]) == len(answer)
        for a, b in zip(found[question], answer, strict=True):
            size = 1 + np.abs(b).max(initial=0)
            np.testing.assert_allclose(a, b, atol=rtol * size, err_msg=question)


@pytest.mark.parametrize(
    ("blocks", "threads", "place"), [(1, 1, "memory"), (3, 1, "files"), (7, 2, "memory"), (7, 8, "files")]
)
def test_answers_do_not_depend_on_the_cuts(problem, blocks, threads, place, tmp_path):
    folder = tmp_path if place == "files" else None
    assert_same_answers(ask_all(cut(problem, blocks, folder, threads=threads)), ask_all(problem))


def test_nor_do_they_in_single_precision(problem, tmp_path):
    """Blocks compute in float32, and their sums are added up in float64."""
    single, _ = example("filter", N, P, KAPPA, weighted=True, dtype=np.float32)
    found = ask_all(cut(single, 7, tmp_path, threads=3), np.float32)
    assert_same_answers(found, ask_all(problem), rtol=1e-5)
    assert found["images, kept"][0].dtype == np.float32


def test_blocks_of_single_precision_are_added_up_in_double():
    single, _ = example("filter", N, P, KAPPA, dtype=np.float32)
    samples, tall, dual = prepared(cut(single, 7), np.float32)
    assert {part.dtype for part in samples.gather(Block.rows_of, tall.place)} == {np.dtype(np.float32)}
    for question, arguments in questions(tall, dual)[0].items():
        parts = [flat(part) for part in samples.gather(question, *arguments)]
        total = flat(samples.sum(question, *arguments))
        for i, each in enumerate(total):
            assert np.asarray(each).dtype == np.float64
            expected = 0.0
            for part in parts:  # in their order
                expected = expected + np.asarray(part[i], dtype=float)
            np.testing.assert_array_equal(each, expected)


def test_threads_add_up_in_the_order_of_the_samples(problem):
    """Not in the order in which they finish: the same to the last digit, every time, noise included."""
    coef = np.random.default_rng(3).standard_normal((K + Q, KAPPA))
    found = []
    for threads in (1, 4):
        samples, tall, _ = prepared(cut(problem, 7, threads=threads))
        parts = samples.gather(Block.rows_of, tall.place)
        assert [len(part) for part in parts] == np.diff(uneven(N, 7)).tolist()
        noise = samples.keep(Block.noise, 3, 2).array()
        found.append((*samples.sum(Block.evaluate, Design(tall.place), coef), noise, np.concatenate(parts)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(np.unique(noise)) == noise.size


def test_sums_of_numbers_arrays_and_tuples():
    assert added([1, 2.5]) == 3.5
    array, (number, other) = added(
        [(np.ones(2, np.float32), (1, np.ones(1))), (np.ones(2, np.float32), (2, np.ones(1)))]
    )
    np.testing.assert_array_equal(array, [2, 2])
    assert array.dtype == np.float64
    assert number == 3
    np.testing.assert_array_equal(other, [2])


# --- questions ------------------------------------------------------------------------------------


def test_a_question_travels(problem):
    """By the name of its method: a cluster's workers have the same class."""
    samples, tall, _ = prepared(problem)
    coef = np.ones((K + Q, KAPPA))
    call = Call(Block.evaluate, (Design(tall.place), coef))
    again = pickle.loads(pickle.dumps(call))
    for a, b in zip(samples.summed(again, ()), call.to(samples.blocks[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (call.name, call.reads) == ("evaluate", False)
    assert Call(Block.pull, (Design(tall.place), coef)).reads


def test_a_question_that_is_kept_is_the_question_itself(problem):
    """What rows are made into to be kept is nobody's question."""
    samples = problem.samples
    calls, made = [], samples.made
    samples.made = lambda call, *rest: (calls.append(call), made(call, *rest))[1]
    samples.keep(Block.images, np.eye(P))
    samples.keep(Block.noise, 0, 2)
    assert [(call.name, call.reads) for call in calls] == [("images", True), ("noise", False)]


def test_arguments_travel_by_position(problem):
    with pytest.raises(TypeError, match=r"T: arguments .* by position"):
        problem.samples.sum(Block.power, T=np.eye(P))


# --- what changes blocks travels with the next question ----------------------------------------------


def test_errands_are_done_once_and_before_the_question(problem):
    samples = cut(problem, 3).samples
    plain = samples.sum(Block.squared_norm)
    samples.rescale(4.0)
    assert [block._scale for block in samples.blocks] == [None] * 3  # not yet
    np.testing.assert_allclose(samples.sum(Block.squared_norm), plain / 16, rtol=1e-14)
    for block in samples.blocks:
        block.rescale(1.0)  # the units of before
    assert samples.sum(Block.squared_norm) == plain  # it was said once


def test_errands_are_done_in_their_order(problem):
    samples, tall, _ = prepared(cut(problem, 3, threads=3))
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
    """A block whose question waits until so many are in it at the same time."""

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


def test_as_many_blocks_as_threads_are_asked_at_once():
    assert LocalSamples(_meeting(3, 9), 3).sum(Meeting.meet) == 9.0
    samples = LocalSamples(_meeting(2, 2), 16)  # and no more threads than blocks
    assert (samples.threads, samples.sum(Meeting.meet)) == (2, 2.0)


@pytest.mark.parametrize("threads", [1, 3])
def test_what_a_block_cannot_do_is_told(threads):
    samples = LocalSamples(_meeting(1, 5), threads)
    for ask in (samples.sum, samples.gather, samples.stack, samples.keep, samples.make):
        with pytest.raises(OSError, match="the disk is gone"):
            ask(Meeting.fail)
    assert samples.sum(Meeting.meet) == 5.0  # and they can be asked again


# --- what is watched ------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_passes_over_X_are_watched_block_by_block(problem, threads):
    seen = []
    watched = cut(problem, 5, threads=threads, on_block=lambda *rows: seen.append(rows))
    samples, tall, dual = prepared(watched)
    assert seen == []  # nothing of that needed X
    sums, made, rows = questions(tall, dual)
    one_pass = [(done, N) for done in uneven(N, 5)]
    ways = [(samples.sum, sums), (samples.make, made), (samples.stack, rows), (samples.keep, rows)]
    for ask, asked in ways:
        for question, arguments in asked.items():
            ask(question, *arguments)
            reads = Call(question, arguments).reads
            assert seen == (one_pass if reads else []), question.__name__
            seen.clear()


def test_what_is_made_is_not_overwritten(problem):
    """Each matrix has a key of its own, also where a question makes two."""
    samples, tall, dual = prepared(cut(problem, 3))
    question, arguments = Block.images_and_bent, questions(tall, dual)[1][Block.images_and_bent]
    (images, bent), _ = samples.make(question, *arguments)
    before = [each.array() for each in (tall, dual, images, bent)]
    others = [samples.keep(Block.noise, 0, 2), *samples.make(question, *arguments)[0]]
    others.append(samples.nothing().beside(others[0]))
    for each, numbers in zip((tall, dual, images, bent), before, strict=True):
        np.testing.assert_array_equal(each.array(), numbers)
    keys = {each.place.key for each in (tall, dual, images, bent, *others)}
    assert len(keys) == 4 + len(others)
