"""Rows of a share of a block's samples, and rows in single precision."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests import naive
from tests.losses.examples import CLOGLOG
from tests.samples.block_world import KINDS, TALL, K, bent_at, big_curvature, design_of, world
from tests.samples.cutting import blocks_of

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.samples import Block, Design, Place


def some_of(w, design, share, coarse=False):
    """The design of some of the rows, stored as a caller stores it."""
    rows = w.block.some_of(design, share, coarse).rows
    places = [Place(key, part.shape[1]) for key, part in zip((20, 21), rows, strict=False)]
    for place, part in zip(places, rows, strict=True):
        w.block.put(place.key, part)
    offset = places[1] if len(places) > 1 else None
    return Design(places[0], True, offset, share, coarse)


def chosen_by(w, share):
    """Positions of the samples of a share, by a matrix with distinct rows."""
    w.block.put(30, np.arange(w.block.n_samples, dtype=float)[:, None])
    (rows,) = w.block.some_of(Design(Place(30, 1), ready=True), share, False).rows
    return rows[:, 0].astype(int)


@pytest.mark.parametrize("case", ["weighted", "squared", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coarse", [False, True])
def test_some_rows_count_for_all(case, kind, coarse):
    """Every sum is that over the chosen samples, times n_b over their number."""
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    few, index = some_of(w, design, 0.5, coarse), chosen_by(w, 0.5)
    assert index.tolist() == sorted(set(index)) and len(index) == 6
    kept = w.block.rows_of(few.tall)
    assert kept.dtype == (np.float32 if coarse else np.float64)
    np.testing.assert_allclose(kept, J[index], rtol=1e-6)
    np.testing.assert_array_equal(w.block.some_rows(0.5)[1].targets, w.targets[index])
    factor, close = 11 / 6, (1e-5 if coarse else 1e-12)
    a = J @ coef + offset
    E, H = w.residuals(a)[index], w.hessians(a)[index]
    curvature = factor * big_curvature(J[index], H)
    value, gradient = w.block.evaluate(few, coef)
    rows = zip(w.targets[index], a[index], strict=True)
    exact = w.omega[index] @ [naive.loss_value(w.P.loss, y, x) for y, x in rows]
    assert value.dtype == np.float64  # many small numbers
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
    assert gradient.dtype == product.dtype == total.dtype == kept.dtype


def test_a_share_of_the_samples_is_unbiased():
    """Blocks at different places choose differently: the mean over many of them is the whole sum."""
    w = world("weighted")
    design, coef, _, _ = design_of(w, "usual")
    whole, exact, results = w.block, w.block.evaluate(design, coef), []
    for place in range(300):
        w.block = Block(whole.n_samples, whole._read, whole._annotations, whole.loss, start=place)
        w.block.put(TALL.key, w.tall)
        results.append(w.block.evaluate(some_of(w, design, 0.4), coef))
    for part, total in zip(zip(*results, strict=True), exact, strict=True):
        each, size = np.array(part), np.abs(total).max()
        spread = each.std(axis=0).max()
        assert spread > 1e-3 * size  # they do differ
        assert np.abs(each.mean(axis=0) - total).max() < 4.5 * spread / np.sqrt(300)


def test_a_share_is_the_same_every_time():
    """Also after many other choices were stored; a share close to 1 of eleven samples is all."""
    w = world("weighted")
    first = chosen_by(w, 0.5)
    for share in (0.1, 0.2, 0.3, 0.4, 0.6):
        chosen_by(w, share)
    np.testing.assert_array_equal(chosen_by(w, 0.5), first)
    np.testing.assert_array_equal(chosen_by(world("weighted"), 0.5), first)
    for share in (0.95, 1.0, 1.5):
        np.testing.assert_array_equal(chosen_by(w, share), np.arange(11))


@pytest.mark.parametrize("kind", ["usual", "offset"])
def test_rotation_curvature_of_some_rows(kind):
    """The same samples, scaled up to all, with their offset."""
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


@pytest.mark.parametrize(("link", "kappa"), [("logistic", 3), (CLOGLOG, 1)], ids=["logistic", "cloglog"])
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.filterwarnings("ignore:overflow encountered")  # products of slopes that are not used
def test_the_mean_of_saturated_samples_keeps_its_digits(kappa, link, coarse):
    """Probabilities near one have a small curvature, which must be a sum and not a difference."""
    X, labels = np.ones((12, 1)), np.ones(12, dtype=int)
    labels[::3] = 0
    Y = np.eye(kappa + 1)[labels][:, 1:]
    problem = state("filter", X, Y, resolve_link(link, kappa), xi=1.0, lam=1.0)
    (block,) = blocks_of(problem, [0, 12])
    w, dtype = SimpleNamespace(block=block), np.float32 if coarse else np.float64
    for far in (5.0, 20.0, 38.0, 60.0):
        coef = np.zeros((1, kappa))
        coef[0, 0] = far
        _, (total, _) = bent_at(w, some_of(w, Design(None), 1.0, coarse), coef)
        each = problem.loss.curvature(np.tile(coef, (12, 1)).astype(dtype), Y.astype(dtype)).diagonal
        exact = [math.fsum(column) for column in each.T.astype(float)]
        np.testing.assert_allclose(np.diag(total), exact, rtol=1e-5 if coarse else 1e-12)
