"""Rows of a share of a block's samples, and rows in single precision: which they are and what they say."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests import naive
from tests.losses.examples import CLOGLOG
from tests.samples.block_world import CASES, KINDS, TALL, K, bent_at, big_curvature, design_of, world
from tests.samples.cutting import blocks_of

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.samples import Block, Design, Place

every_case = pytest.mark.parametrize("case", CASES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def some_of(w, design, share, coarse=False):
    """The design of some of the rows, as whoever asks for it keeps it."""
    rows = w.block.some_of(design, share, coarse).rows
    places = [Place(key, part.shape[1]) for key, part in zip((20, 21), rows, strict=False)]
    for place, part in zip(places, rows, strict=True):
        w.block.put(place.key, part)
    offset = places[1] if len(places) > 1 else None
    return Design(places[0], True, offset, share, coarse)


@every_case
@every_kind
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_some_rows_of_a_design(case, kind, share):
    """Each of them is a row of J, with the offset of the same sample, and no sample comes twice."""
    w = world(case)
    design, _, J, offset = design_of(w, kind)
    if J.shape[1] == 0:
        pytest.skip("a row without columns is nobody's")
    rows, *more = w.block.some_of(design, share, False).rows
    index = [int(np.argmin(np.abs(J - row).sum(axis=1))) for row in rows]
    assert index == sorted(set(index))
    assert len(index) == (6 if share == 0.5 else 11)
    np.testing.assert_allclose(rows, J[index], atol=1e-14)
    assert bool(more) == (kind == "offset")
    if more:
        np.testing.assert_array_equal(more[0], offset[index])
    # They are the samples whose annotations are known for this share.
    np.testing.assert_array_equal(w.block.some_rows(share)[1].targets, w.targets[index])


@every_case
@every_kind
@pytest.mark.parametrize("coarse", [False, True])
def test_some_rows_count_for_all(case, kind, coarse):
    """Every sum is that over the chosen samples, times n_b over their number."""
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    if J.shape[1] == 0:
        pytest.skip("nothing is kept of no columns")
    few = some_of(w, design, 0.5, coarse)
    index = chosen_by(w, 0.5)
    factor, close = 11 / 6, (1e-5 if coarse else 1e-12)
    a = J @ coef + offset
    E = w.residuals(a)[index]
    H = w.hessians(a)[index]
    curvature = factor * big_curvature(J[index], H)
    value, gradient = w.block.evaluate(few, coef)
    rows = zip(w.targets[index], a[index], strict=True)
    exact = w.omega[index] @ [naive.loss_value(w.P.loss, y, x) for y, x in rows]
    np.testing.assert_allclose(value, factor * exact, rtol=close)
    size = 1 + np.abs(curvature).max(initial=0)
    np.testing.assert_allclose(gradient, factor * J[index].T @ E, atol=close * size)
    gram = factor * J[index].T @ (J[index] * w.omega[index][:, None])
    np.testing.assert_allclose(w.block.design_gram(few), gram, atol=close * size)
    close = max(close, 1e-8)
    np.testing.assert_allclose(w.block.curvature(few, coef), curvature, atol=close * size)
    bent, (total, weight) = bent_at(w, few, coef)
    np.testing.assert_allclose(total, factor * H.sum(axis=0), atol=close * size)
    np.testing.assert_allclose(weight, factor * w.omega[index].sum(), rtol=close)
    direction = np.random.default_rng(6).standard_normal(coef.shape)
    product = w.block.curvature_product(few, bent, direction)
    expected = curvature @ direction.T.ravel()
    np.testing.assert_allclose(product.T.ravel(), expected, atol=10 * close * size)


def chosen_by(w, share):
    """Positions of the samples of a share, by rows of a matrix that tells them apart."""
    w.block.put(30, np.arange(w.block.n_samples, dtype=float)[:, None])
    (rows,) = w.block.some_of(Design(Place(30, 1), ready=True), share, False).rows
    return rows[:, 0].astype(int)


@every_case
@every_kind
def test_coarse_is_single_precision(case, kind):
    """All that is kept and computed, however fine the block is; sums over samples come from it."""
    w = world(case)
    design, coef, J, _ = design_of(w, kind)
    if J.shape[1] == 0:
        pytest.skip("nothing is kept of no columns")
    coarse = some_of(w, design, 1.0, coarse=True)
    assert w.block.rows_of(coarse.tall).dtype == np.float32
    bent, (total, _) = bent_at(w, coarse, coef)
    assert w.block.rows_of(bent).dtype == total.dtype == np.float32
    exact, _ = bent_at(w, design, coef, key=8)
    direction = np.random.default_rng(6).standard_normal(coef.shape)
    answers = [
        (w.block.evaluate(coarse, coef)[1], w.block.evaluate(design, coef)[1]),
        (w.block.design_gram(coarse), w.block.design_gram(design)),
        (w.block.curvature(coarse, coef), w.block.curvature(design, coef)),
        (
            w.block.curvature_product(coarse, bent, direction),
            w.block.curvature_product(design, exact, direction),
        ),
    ]
    for found, expected in answers:
        assert found.dtype == np.float32
        size = np.abs(expected).max(initial=0)
        np.testing.assert_allclose(found, expected, atol=1e-5 * size)
    # A value is still summed in double: many small numbers.
    value = w.block.evaluate(coarse, coef)[0]
    assert value.dtype == np.float64
    np.testing.assert_allclose(value, w.block.evaluate(design, coef)[0], rtol=1e-5)


SHARED = ("evaluate", "design_gram", "curvature", "products")
shared = pytest.mark.parametrize("question", SHARED)


def asked_with(w, question, share, kind="usual"):
    """The answer as a tuple of arrays."""
    design, coef, _, _ = design_of(w, kind)
    few = some_of(w, design, share)
    if question == "products":
        bent, (total, _) = bent_at(w, few, coef)
        return total, w.block.curvature_product(few, bent, coef + 1)
    if question == "design_gram":
        return (w.block.design_gram(few),)
    found = getattr(w.block, question)(few, coef)
    return found if isinstance(found, tuple) else (found,)


@shared
@pytest.mark.parametrize(
    ("case", "kind"), [("binary", "usual"), ("weighted", "offset"), ("squared", "usual")]
)
def test_a_share_of_the_samples_is_unbiased(case, kind, question):
    """Blocks at different places choose differently: the mean over many of them is the whole sum."""
    w = world(case)
    exact = asked_with(w, question, 1.0, kind)
    whole, answers = w.block, []
    for place in range(300):
        w.block = Block(whole.n_samples, whole._read, whole._annotations, whole.loss, start=place)
        w.block.put(TALL.key, w.tall)
        answers.append(asked_with(w, question, 0.4, kind))
    for part, whole in zip(zip(*answers, strict=True), exact, strict=True):
        each, size = np.array(part), np.abs(whole).max()
        spread = each.std(axis=0).max()
        assert spread > 1e-3 * size  # they do differ
        assert np.abs(each.mean(axis=0) - whole).max() < 4.5 * spread / np.sqrt(300)


@shared
def test_a_share_is_the_same_every_time(question):
    w = world("weighted")
    first = asked_with(w, question, 0.5)
    between = [asked_with(w, question, share) for share in (0.1, 0.2, 0.3, 0.4, 0.6)][2]
    for one, other in zip(first, asked_with(w, question, 0.5), strict=True):
        np.testing.assert_array_equal(one, other)
    # Whatever was asked before, and however many choices have been remembered since.
    for one, other in zip(between, asked_with(world("weighted"), question, 0.3), strict=True):
        np.testing.assert_array_equal(one, other)


@shared
@pytest.mark.parametrize("kind", ["usual", "offset"])
@pytest.mark.parametrize("share", [0.95, 1.5])
def test_a_share_of_all_is_all(question, share, kind):
    """11 samples: 0.95 of them is more than ten, so all."""
    w = world("weighted")
    whole = asked_with(w, question, 1.0, kind)
    for one, other in zip(asked_with(w, question, share, kind), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("kind", ["usual", "offset"])
def test_rotation_curvature_of_some_rows(kind):
    """The same samples, counted for all, and with their offset."""
    w = world("weighted")
    design, coef, J, offset = design_of(w, kind)
    few, index, m = some_of(w, design, 0.5), chosen_by(w, 0.5), J.shape[1]
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((m, m)))[0]
    beta, rest = np.array([[1.0, -2.0, 0.5]]), K - 1
    H = w.hessians(J @ turn @ coef + offset)[index]
    h = np.einsum("jc,ncd,jd->nj", beta, H, beta)
    expected = 11 / 6 * ((J[index] @ turn)[:, :rest] ** 2).T @ h
    found = w.block.rotation_curvature(few, coef, turn, beta)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("kappa", [1, 3])
@pytest.mark.parametrize("link", ["logistic", CLOGLOG], ids=["logistic", "cloglog"])
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("far", [5.0, 20.0, 38.0, 60.0])
@pytest.mark.filterwarnings("ignore:overflow encountered")  # products of slopes that nobody asks for
def test_the_mean_of_saturated_samples_keeps_its_digits(kappa, link, coarse, far):
    """Probabilities near one leave a small curvature, and slopes a large one: sums of it, not differences."""
    if link is CLOGLOG and kappa > 1:
        pytest.skip("for two classes")
    X, labels = np.ones((12, 1)), np.ones(12, dtype=int)
    labels[::3] = 0
    Y = np.eye(kappa + 1)[labels][:, 1:]
    problem = state("filter", X, Y, resolve_link(link, kappa), xi=1.0, lam=1.0)
    (block,) = blocks_of(problem, [0, 12])
    w = SimpleNamespace(block=block)
    coef = np.zeros((1, kappa))
    coef[0, 0] = far
    _, (total, _) = bent_at(w, some_of(w, Design(None), 1.0, coarse), coef)
    dtype = np.float32 if coarse else np.float64
    each = problem.loss.curvature(np.tile(coef, (12, 1)).astype(dtype), Y.astype(dtype)).diagonal
    exact = [math.fsum(column) for column in each.T.astype(float)]
    np.testing.assert_allclose(np.diag(total), exact, rtol=1e-5 if coarse else 1e-12)
