"""A question changes nothing in a block, says whether it reads X, and computes in the type of X."""

import copy
from dataclasses import fields

import numpy as np
import pytest
from tests.samples.block_world import LAST, TALL, K, N, P, world

from superfactor.samples import Along, Annotations, Block, Design, Made, Place
from superfactor.samples.block import READS
from superfactor.samples.block.store import InFiles

M = K + 3  # columns of the design: two covariates and the intercept
COEF, TURN, BETA = np.full((M, 3), 0.1), np.eye(M), np.ones((2, 3))
DUAL, DESIGN, BENT = Place(5, 3), Design(TALL), Place(6, 6)
QUESTIONS = {
    "activations": (DESIGN, COEF),
    "bent": (DESIGN, COEF),
    "codes": (TALL, np.eye(K)),
    "combination": ([(TALL, np.eye(K))],),
    "covariate_gram": (),
    "covariate_moments": (None,),
    "curvature": (DESIGN, COEF),
    "curvature_product": (DESIGN, BENT, COEF),
    "design_gram": (DESIGN,),
    "digest": (),
    "dual_points": (DESIGN, COEF),
    "dual_terms": (DUAL,),
    "dual_sizes": (DUAL,),
    "evaluate": (DESIGN, COEF),
    "given": (np.ones((N, 2)),),
    "gram_and_image": (TALL,),
    "grown": (np.eye(P)[:, :2], TALL, Along(DESIGN, COEF, BETA)),
    "identity": (N,),
    "image": (TALL,),
    "images": (np.eye(P),),
    "images_and_bent": (np.ones((P, K)), TALL, Along(DESIGN, COEF, np.ones((K, 3)))),
    "imbalance": (DUAL, []),
    "inner": (TALL, DUAL),
    "noise": (1, 2),
    "power": (np.eye(P),),
    "power_and_sum": (np.eye(P),),
    "pull": (DESIGN, COEF),
    "pulled": (DESIGN, COEF),
    "rebalanced": (DUAL, []),
    "refined": (TALL, np.eye(K), DUAL, np.ones((3, K))),
    "residuals": (DESIGN, COEF),
    "rotation_curvature": (DESIGN, COEF, TURN, BETA),
    "rows_of": (TALL,),
    "scored": (np.ones((P, K)),),
    "some_of": (DESIGN, 0.5, False),
    "some_rows": (0.5,),
    "squared_norm": (),
    "total_weights": (),
    "triangle": (TALL,),
    "view": (DESIGN, COEF),
    "weight_range": (),
    "weighted_dual": (DUAL,),
}
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
        kept = [block.rows_of(Place(key, k)) for key, k in ((0, K), (5, 3), (6, 6))]
        return [*kept, block.images(np.eye(P)), *arrays_of(block._annotations()), *_numbers(arguments)]

    before = [x.copy() for x in everything()]
    first = [x.copy() for x in arrays_of(getattr(block, question)(*arguments))]
    assert set(block._store._types) == {0, 5, 6} and block._scale is None
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


ROWS = "activations codes combination identity images noise pulled residuals rows_of view weighted_dual"
FINE = {"inner": 0, "dual_points": 0, "rebalanced": 0, "dual_terms": 1, "dual_sizes": 1}


def test_what_is_in_the_type_of_the_block_and_what_is_double_whatever_it_is():
    """Dual points, and products that make vectors orthonormal, are always double."""
    for dtype in (np.float32, np.float64):
        block = typed_block(dtype)
        for question in ROWS.split():
            rows = getattr(block, question)(*QUESTIONS[question])
            assert rows.dtype == dtype and rows.shape[0] == LAST - 3, question
        for question, i in FINE.items():
            found = arrays_of(getattr(block, question)(*QUESTIONS[question]))
            assert found[i].dtype == np.float64, question
        made = block.grown(*QUESTIONS["grown"])
        refined = block.refined(TALL, np.eye(K), TALL, np.eye(K))
        assert made.rows[0].dtype == refined.rows[0].dtype == dtype
        assert {part.dtype for part in (*made.sums[1:3], *refined.sums)} == {np.dtype(np.float64)}
