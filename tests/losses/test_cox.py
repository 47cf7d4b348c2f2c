"""Cox's partial likelihood against its formulas written out, differences, and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.survival_data import chances, drawn, made, naive_value
from tests.samples.libraries import every_library, plain

from superfactor.losses import CoxPartialLikelihood

SEEDS = st.integers(0, 2**32 - 1)


def activations(n=40, seed=1, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal((n, 1))


# --- value and derivatives -----------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1.0, 20.0, 1000.0])
def test_value_is_the_partial_likelihood(weighted, scale):
    loss, Y, weights = made(weighted=weighted)
    a = activations(scale=scale)
    expected = naive_value(a[:, 0], *drawn(weighted=weighted))
    assert weights @ loss.value(a, Y) == pytest.approx(expected, rel=1e-12, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, scale=st.floats(0.01, 5.0))
def test_residual_is_the_gradient(seed, scale):
    loss, Y, weights = made(n=12, seed=seed)
    a, step = activations(12, seed, scale), 1e-5

    def value(point):
        return weights @ loss.value(point, Y)

    moves = step * np.eye(12)[:, :, None]
    far = [value(a + 2 * move) - value(a - 2 * move) for move in moves]
    near = [value(a + move) - value(a - move) for move in moves]
    expected = (8 * np.array(near) - far) / (12 * step)
    found = weights * loss.residual(a, Y)[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-7 * (1 + weights.sum()))
    assert abs(found.sum()) < 1e-12 * weights.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_curvature_is_that_of_the_formula(weighted):
    """diag(Pᵀd) − Pᵀ diag(d) P, by n × n matrices, for every method of a curvature."""
    times, events, weights = drawn(weighted=weighted)
    loss, Y, _ = made(weighted=weighted)
    a, rng = activations(scale=2.0), np.random.default_rng(3)
    P, deaths = chances(a[:, 0], times, events, weights), weights * events
    H = np.diag(P.T @ deaths) - P.T @ (deaths[:, None] * P)
    J, v, b = (rng.standard_normal((40, 5)) + 100.0, rng.standard_normal((40, 1)), np.array([[2.0], [-1.0]]))
    bend = loss.curvature(a, Y).weighted(weights[:, None])
    np.testing.assert_allclose(bend.times(v), H @ v, atol=1e-12)
    step = 1e-6 * v
    change = weights[:, None] * (loss.residual(a + step, Y) - loss.residual(a - step, Y)) / 2e-6
    np.testing.assert_allclose(change, H @ v, atol=1e-7)
    np.testing.assert_allclose(bend.gram(J, True), J.T @ H @ J, atol=1e-8)
    forms = np.diag(J.T @ H @ J)[:, None] * np.array([4.0, 1.0])
    np.testing.assert_allclose(bend.forms(J, b), forms, atol=1e-8)
    np.testing.assert_allclose(bend.along(J[:, :2], b), H @ J[:, :2] * [4.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(bend.total(), [[np.sum(P.T @ deaths)]], rtol=1e-12)
    again = loss.curvature_of(bend.numbers)
    np.testing.assert_array_equal(again.times(v), bend.times(v))
    np.testing.assert_allclose(weights[:, None] * loss.hessian_action(a, Y, v), bend.times(v), atol=1e-12)


def test_a_sample_has_no_curvature_of_its_own():
    loss, Y, _ = made()
    with pytest.raises(TypeError, match="coupled"):
        loss.hessian(activations(), Y)


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_several_points_give_the_results_of_each(scale):
    loss, Y, weights = made()
    rng = np.random.default_rng(4)
    many, v = scale * rng.standard_normal((2, 3, 40, 1)), rng.standard_normal((2, 3, 40, 1))
    value, residual = loss.value_and_residual(many, Y)
    bend = loss.curvature(many, Y).weighted(weights[:, None])
    products, total = bend.times(v), bend.total()
    assert (value.shape, residual.shape, total.shape) == ((2, 3, 40), many.shape, (2, 3, 1, 1))
    for place in np.ndindex(2, 3):
        alone = loss.curvature(many[place], Y).weighted(weights[:, None])
        for found, expected in (
            (value[place], loss.value(many[place], Y)),
            (residual[place], loss.residual(many[place], Y)),
            (products[place], alone.times(v[place])),
            (total[place], alone.total()),
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


# --- invariances --------------------------------------------------------------------------------


@pytest.mark.parametrize("rise", [1.0, 40.0, 700.0])
def test_activations_that_span_thousands(rise):
    """The later the time, the lower the activation: sums of the last risk sets are e^−rise of each before."""
    n = 30
    times, events = np.arange(1.0, n + 1), np.ones(n)
    for slope in (-rise, rise):
        a = slope * np.arange(n)[:, None]
        loss = CoxPartialLikelihood(times, events)
        expected = naive_value(a[:, 0], times, events, np.ones(n))
        value, residual = loss.value_and_residual(a, events[:, None])
        assert value.sum() == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert np.all(np.isfinite(residual)) and abs(residual.sum()) < 1e-12 * n
        v = np.random.default_rng(0).standard_normal((n, 1))
        product = loss.curvature(a, events[:, None]).times(v)
        assert np.all(np.isfinite(product)) and abs(product.sum()) < 1e-12 * n
        if slope < 0 and rise >= 40:  # the next event is certain
            assert np.max(np.abs(product)) < 1e-14
        if slope > 0 and rise >= 40:  # the last sample has all of the risk
            np.testing.assert_allclose(residual[-1, 0], n - 1, atol=1e-12)


def test_a_weight_counts_as_repeated_samples():
    times, events, weights = drawn()
    loss, Y, a = CoxPartialLikelihood(times, events, weights), events[:, None], activations()
    copies = np.repeat(np.arange(40), weights.astype(int))
    plain = CoxPartialLikelihood(times[copies], events[copies])
    value, residual = plain.value_and_residual(a[copies], Y[copies])
    assert weights @ loss.value(a, Y) == pytest.approx(value.sum(), rel=1e-12)
    found = loss.residual(a, Y)[copies]
    np.testing.assert_allclose(found, residual, atol=1e-12)
    twice = CoxPartialLikelihood(np.tile(times, 2), np.tile(events, 2), np.tile(weights, 2))
    both = np.tile(weights, 2) @ twice.value(np.tile(a, (2, 1)), np.tile(Y, (2, 1)))
    assert both == pytest.approx(2 * (weights @ loss.value(a, Y)), rel=1e-12)


def test_samples_of_weight_zero_have_no_effect():
    times, events, weights = drawn()
    weights[3:] = np.maximum(weights[3:], 1)
    weights[5:9] = 0
    there = weights > 0
    wild, a = times.copy(), activations()
    wild[5:9], a[5:9] = np.nan, 2000.0
    loss = CoxPartialLikelihood(wild, events, weights)
    fewer = CoxPartialLikelihood(times[there], events[there], weights[there])
    Y = events[:, None]
    np.testing.assert_allclose(loss.value(a, Y)[there], fewer.value(a[there], Y[there]), atol=1e-12)
    np.testing.assert_allclose(loss.residual(a, Y)[there], fewer.residual(a[there], Y[there]), atol=1e-12)
    assert np.all(weights[5:9, None] * loss.residual(a, Y)[5:9] == 0)


def test_the_bound_of_the_curvature_is_one():
    loss, Y, weights = made()
    low, high = loss.curvature_bounds(1)
    assert low == 0
    there, worst = weights > 0, 0.0
    for scale in (0.0, 1.0, 5.0, 50.0):
        bend = loss.curvature(activations(scale=scale), Y).weighted(weights[:, None])
        H = bend.gram(np.eye(40), True)[np.ix_(there, there)]
        scaled = H / np.sqrt(np.outer(weights[there], weights[there]))
        values = np.linalg.eigvalsh(scaled)
        assert values[0] >= -1e-10
        worst = max(worst, values[-1])
    assert 0.01 * high < worst <= high
    # Attained by one event with two equally likely samples.
    two = CoxPartialLikelihood(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    H = two.curvature(np.zeros((2, 1)), np.array([[1.0], [0.0]])).gram(np.eye(2), True)
    assert np.linalg.eigvalsh(H)[-1] == pytest.approx(two.curvature_bounds(1)[1])


# --- the conjugate -----------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, scale=st.floats(0.01, 8.0))
def test_fenchel_young(seed, scale):
    loss, Y, weights = made(n=15, seed=seed)
    a, other = activations(15, seed, scale), activations(15, seed + 1, scale)
    G = loss.residual(a, Y)
    conjugate, pulled = weights @ loss.conjugate(G, Y), weights[:, None] * G
    size = 1 + weights.sum() * (1 + scale)
    # Equality where g = ∇ℓ(a), inequality everywhere else.
    assert abs(weights @ loss.value(a, Y) + conjugate - np.sum(pulled * a)) <= 1e-10 * size
    assert weights @ loss.value(other, Y) + conjugate - np.sum(pulled * other) >= -1e-10 * size


def test_outside_its_domain_the_conjugate_is_infinite():
    loss, Y, weights = made(weighted=False)
    G = loss.residual(activations(), Y)
    assert np.isfinite(weights @ loss.conjugate(G, Y))
    out_of_balance = G + 0.01
    negative = G.copy()  # a censored sample with a negative probability
    censored, other = np.flatnonzero(Y[:, 0] == 0)[:2]
    negative[[censored, other]] += [[-5.0], [5.0]]
    for outside in (out_of_balance, negative):
        assert weights @ loss.conjugate(outside, Y) == np.inf
    # Only one sample is at risk at the last event, so its share of the risk must be 1.
    alone = CoxPartialLikelihood(np.array([1.0, 2.0]), np.ones(2))
    assert alone.conjugate(np.array([[0.5], [-0.5]]), np.ones((2, 1))).sum() == np.inf
    assert np.isfinite(alone.conjugate(np.array([[-0.5], [0.5]]), np.ones((2, 1))).sum())


# --- array libraries -----------------------------------------------------------------------


@every_library
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 500.0])
def test_other_libraries_and_single_precision(convert, dtype, scale):
    loss, Y, weights = made()
    a, v = activations(scale=scale).astype(dtype), activations(seed=7).astype(dtype)
    omega = weights[:, None]
    there = [convert(x.astype(dtype)) for x in (a, Y, v, omega)]
    value, residual = loss.value_and_residual(there[0], there[1])
    bend = loss.curvature(there[0], there[1]).weighted(there[3])
    a, v = a.astype(float), v.astype(float)
    expected = loss.curvature(a, Y).weighted(omega)
    rtol = 1e-10 if dtype == "float64" else 1e-5
    answers = (
        (value, loss.value(a, Y)),
        (residual, loss.residual(a, Y)),
        (loss.conjugate(residual, there[1]), loss.conjugate(loss.residual(a, Y), Y)),
        (bend.times(there[2]), expected.times(v)),
        (bend.gram(there[2], True), expected.gram(v, True)),
    )
    for found, right in answers[: 5 if dtype == "float64" else 2]:
        np.testing.assert_allclose(plain(found), right, atol=rtol * (1 + np.abs(right).max()))
    assert {found.dtype for found, _ in answers[:2]} == {there[0].dtype}
    assert {found.dtype for found, _ in answers[3:]} == {there[0].dtype}
