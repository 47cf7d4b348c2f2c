"""A question changes nothing in a block, says whether it reads X, and computes in the type of X."""

import copy
from dataclasses import fields

import numpy as np
import pytest
from tests.samples.block_world import LAST, TALL, K, P, world
from tests.samples.questions import BENT, DUAL, QUESTIONS, ROWS

from superfactor.samples import Along, Annotations, Block, Made
from superfactor.samples.block import READS
from superfactor.samples.block.store import InFiles

# What is said to change a block; it is no question.
CHANGES = {"put", "append", "drop", "rescale"}
every_question = pytest.mark.parametrize("question", QUESTIONS)


def asked_block(folder=None):
    w = world("weighted")
    if folder is not None:
        w.block._store = InFiles(folder)
        w.block.put(TALL.key, w.tall)
    with_dual_and_bent_points(w)
    return w.block


def with_dual_and_bent_points(w):
    """p − y, p some probabilities, always float64; and a curvature by its 2κ columns."""
    p = np.random.default_rng(0).uniform(0, 0.3, (w.block.n_samples, 3))
    w.block.put(DUAL.key, p - w.targets)
    rows = np.hstack([p * (1 - p), p])
    w.block.put(BENT.key, rows.astype(w.block.rows_of(TALL).dtype))


def arrays_of(x):
    """Every array and number in an answer."""
    if isinstance(x, Made):
        return [*arrays_of(x.rows), *arrays_of(x.sums)]
    if isinstance(x, Annotations):
        return [np.asarray(getattr(x, field.name)) for field in fields(x)]
    if isinstance(x, tuple):
        return [a for part in x for a in arrays_of(part)]
    return [np.asarray(x)]


def test_every_question_is_asked():
    public = {name for name in dir(Block) if not name.startswith("_")}
    assert public == set(QUESTIONS) | CHANGES
    assert {question.__name__ for question in READS} < set(QUESTIONS)


@every_question
def test_a_question_changes_nothing(question, tmp_path):
    """Neither what is kept, nor X, nor what is known besides; and asked again it says the same."""
    block, arguments = asked_block(tmp_path), copy.deepcopy(QUESTIONS[question])

    def everything():
        kept = [block.rows_of(place) for place in (TALL, DUAL, BENT)]
        return [*kept, block.images(np.eye(P)), *arrays_of(block._annotations()), *_numbers(arguments)]

    before = [x.copy() for x in everything()]
    first = [x.copy() for x in arrays_of(getattr(block, question)(*arguments))]
    assert set(block._store._types) == {0, 4, 8} and block._scale is None
    again = arrays_of(getattr(block, question)(*arguments))
    for a, b in zip([*before, *first], [*everything(), *again], strict=True):
        np.testing.assert_array_equal(a, b)


def _numbers(x):
    """The arrays among the arguments of a question."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, Along):
        return [x.coef, x.directions]
    return [a for part in x for a in _numbers(part)] if isinstance(x, tuple | list) else []


@every_question
def test_reads_are_those_that_are_said_to_be(question):
    """Questions that need no X leave a source alone: each of the others is a pass over it."""
    block = asked_block()
    reads, read = [], block._read
    block._read = lambda scale: (reads.append(scale), read(scale))[1]
    getattr(block, question)(*QUESTIONS[question])
    assert len(reads) == (getattr(Block, question) in READS)  # and not twice


# --- types ----------------------------------------------------------------------------------------

TYPED = [name for name in QUESTIONS if name not in ("some_rows", "digest")]


def typed_block(dtype):
    w = world("weighted", dtype=dtype)
    with_dual_and_bent_points(w)
    return w.block


@pytest.mark.parametrize("question", TYPED)
def test_single_precision_is_close_to_double(question):
    """The solver's small arrays are float64; the block computes in the type of X."""
    exact, found = (
        arrays_of(getattr(typed_block(dtype), question)(*QUESTIONS[question]))
        for dtype in (np.float64, np.float32)
    )
    if question == "triangle":  # up to the signs of its rows
        exact, found = [np.abs(exact[0])], [np.abs(found[0])]
    if question == "scored":  # the last says what rounding leaves
        assert np.all(found.pop() > 1e10 * exact.pop())
    for a, b in zip(exact, found, strict=True):
        assert np.abs(a - b).max() < 1e-5 * np.abs(a).max()


FINE = {"inner": 0, "dual_points": 0, "rebalanced": 0, "dual_terms": 1, "dual_sizes": 1}


def test_what_is_in_the_type_of_the_block_and_what_is_double_whatever_it_is():
    """Dual points, and products that make vectors orthonormal, are always double."""
    for dtype in (np.float32, np.float64):
        block = typed_block(dtype)
        for question in set(ROWS) - {"given", *FINE}:
            rows = getattr(block, question)(*QUESTIONS[question])
            assert rows.dtype == dtype and rows.shape[0] == LAST - 3, question
        for question, i in FINE.items():
            found = arrays_of(getattr(block, question)(*QUESTIONS[question]))
            assert found[i].dtype == np.float64, question
        made = block.grown(*QUESTIONS["grown"])
        refined = block.refined(TALL, np.eye(K), TALL, np.eye(K))
        assert made.rows[0].dtype == refined.rows[0].dtype == dtype
        assert {part.dtype for part in (*made.sums[1:3], *refined.sums)} == {np.dtype(np.float64)}
