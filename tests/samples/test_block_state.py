"""Which questions change a block, which read X, and in what types it computes."""

import numpy as np
import pytest
from superfactor.lifting import SampleBlock
from tests.lifting.block_world import K, N, coefficients, world

ASKED = {
    "evaluate": lambda w, theta, V: w.block.evaluate(theta, V),
    "curvature": lambda w, theta, V: w.block.curvature(theta, V, 1.0),
    "curvature of some": lambda w, theta, V: w.block.curvature(theta, V, 0.5),
    "product": lambda w, theta, V: w.block.curvature_product(theta, theta + 1, V),
    "diagonal": lambda w, theta, V: w.block.curvature_diagonal(theta, V, 1.0),
    "pull": lambda w, theta, V: w.block.pull(V @ theta),
    "grow": lambda w, theta, V: w.block.grow(np.eye(6)[:, :2], V @ theta, theta[:2]),
    "gram": lambda w, theta, V: w.block.gram(),
    "mass": lambda w, theta, V: w.block.mass(),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("case", ["weighted", "squared"])
def test_single_precision_is_close_to_double(case, asked):
    """The solver's small arrays are float64; the block computes in the type of X."""
    answers = []
    for dtype in (np.float64, np.float32):
        w = world(case, dtype=dtype)
        theta, V, _ = coefficients(w, True)
        answers.append(ASKED[asked](w, theta, V))
        assert w.block.activations(V @ theta).dtype == dtype
    for exact, found in zip(*answers, strict=True):
        size = np.abs(exact).max()
        assert np.abs(found - exact).max() < 1e-5 * size


@pytest.mark.parametrize("case", ["weighted", "squared"])
def test_dual_points_are_double_whatever_the_block_computes_in(case):
    w = world(case, dtype=np.float32)
    theta, _, _ = coefficients(w, False)
    w.block.dual_from(theta)
    w.block.rebalance([w.block.imbalance([])])
    assert w.block.rows([("dual", None)]).dtype == np.float64
    assert w.block.dual_terms()[1].dtype == np.float64


def state(block):
    names = ["main", "a", "latest", "dual", "away", "out"]
    return {name: block.rows([(name, None)]).copy() for name in names if name in block._tall}


QUESTIONS = {
    "evaluate": lambda w: (np.ones((K + 3, 3)),),
    "curvature": lambda w: (np.ones((K + 3, 3)), None, 0.5),
    "curvature_product": lambda w: (np.ones((K + 3, 3)), np.ones((K + 3, 3)), None),
    "curvature_diagonal": lambda w: (np.ones((K + 3, 3)), None, 0.5),
    "kept_curvature": lambda w: (np.ones((K + 3, 3)), np.eye(K + 3), np.ones((2, 3)), 1.0),
    "rotation_curvature": lambda w: (np.ones((K + 3, 3)), np.eye(K + 3), np.ones((2, 3))),
    "mass": lambda w: (),
    "imbalance": lambda w: ([],),
    "dual_terms": lambda w: (),
    "pull": lambda w: (None,),
    "power": lambda w: (np.eye(6),),
    "gram": lambda w: (),
    "rows": lambda w: ([("main", None)],),
    "inner": lambda w: ([("main", "a")],),
    "activations": lambda w: (np.ones((K + 3, 3)),),
    "images": lambda w: (np.eye(6),),
    "image": lambda w: ("main",),
    "triangle": lambda w: ("main",),
    "codes": lambda w: (np.eye(K),),
    "squared_norm": lambda w: (),
    "weight_range": lambda w: (),
    "covariate_gram": lambda w: (),
    "digest": lambda w: (),
    "some_rows": lambda w: (0.5,),
    "rescale": lambda w: (2.0,),
    "grow": lambda w: (np.eye(6)[:, :2],),
    "combine": lambda w: ("main", [("main", 2 * np.eye(K))]),
    "append": lambda w: ("a", "main"),
    "drop": lambda w: ("a",),
    "back": lambda w: ("away", np.eye(6)),
    "curve": lambda w: ("a", "main", np.ones((K + 3, 3)), np.ones((K, 3))),
    "noise": lambda w: ("a", 1, 2),
    "identity": lambda w: ("out", N),
    "dual_from": lambda w: (np.ones((K + 3, 3)),),
    "given": lambda w: ("a", np.ones((N, 2))),
    "rebalance": lambda w: ([w.block.imbalance([])],),
    "several": lambda w: ([("drop", "a")],),
}


def test_every_question_is_asked():
    public = {name for name in dir(SampleBlock) if name[0] not in "_" and name[0].islower()}
    assert public == set(QUESTIONS)
    assert public > SampleBlock.CHANGES
    assert public > SampleBlock.READS


@pytest.mark.parametrize("question", QUESTIONS)
def test_changes_are_those_that_are_said_to_be(question):
    """A lost block is made again by repeating them: one left out would be forgotten."""
    w = world("weighted")
    w.block.noise("a", 0, 2)
    w.block.given("dual", np.random.default_rng(0).uniform(0, 0.3, (N, 3)))
    before, seen = state(w.block), w.block.images(np.eye(6))
    arguments = QUESTIONS[question](w)
    getattr(w.block, question)(*arguments)
    after = state(w.block)
    same = before.keys() == after.keys() and all(
        np.array_equal(before[name], after[name]) for name in before
    )
    same = same and np.array_equal(seen, w.block.images(np.eye(6)))
    assert same == (question not in SampleBlock.CHANGES)


@pytest.mark.parametrize("question", QUESTIONS)
def test_reads_are_those_that_are_said_to_be(question):
    """Questions that need no X leave a source alone: each of the others is a pass over it."""
    w = world("weighted")
    w.block.noise("a", 0, 2)
    w.block.given("dual", np.random.default_rng(0).uniform(0, 0.3, (N, 3)))
    arguments, reads, read = QUESTIONS[question](w), [], w.block._read
    w.block._read = lambda scale: (reads.append(scale), read(scale))[1]
    getattr(w.block, question)(*arguments)
    assert len(reads) == (question in SampleBlock.READS)
