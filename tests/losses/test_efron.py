"""Efron's ties and strata against their formulas written out, differences, and scikit-survival."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.survival_data import drawn
from tests.samples.libraries import every_library, plain

from superfactor.losses import CoxPartialLikelihood

SEEDS = st.integers(0, 2**32 - 1)


def efron(a, times, events, weights):
    """Σ_k (D/q) Σ_l log((S − l/q·U)/(D(1 − l/q))) − Σ ω_i δ_i a_i, time by time; a (n,)."""
    total = -np.sum(weights * events * a)
    for t in np.unique(times[(events > 0) & (weights > 0)]):
        tied = (times == t) & (events > 0) & (weights > 0)
        q, deaths = tied.sum(), np.sum(weights[tied])
        S, U = np.sum((weights * np.exp(a))[times >= t]), np.sum((weights * np.exp(a))[tied])
        for l in range(q):
            total += deaths / q * np.log((S - l / q * U) / (deaths * (1 - l / q)))
    return total


def made(n, seed, stratified):
    """Times, events and weights; the loss with Efron's ties, and strata or None."""
    times, events, weights = drawn(n, seed)
    strata = np.random.default_rng(seed).integers(0, 3, n) if stratified else None
    return times, events, weights, CoxPartialLikelihood(times, events, weights, "efron", strata), strata


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, stratified=st.booleans())
def test_value_is_the_formula_stratum_by_stratum(seed, stratified):
    times, events, weights, loss, strata = made(20, seed, stratified)
    a = np.random.default_rng(seed).standard_normal(20)
    parts = [np.arange(20)] if strata is None else [np.flatnonzero(strata == s) for s in range(3)]
    expected = sum(efron(a[i], times[i], events[i], weights[i]) for i in parts)
    found = weights @ loss.value(a[:, None], events[:, None])
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, scale=st.floats(0.01, 5.0), stratified=st.booleans())
def test_derivatives_are_differences(seed, scale, stratified):
    _, events, weights, loss, _ = made(12, seed, stratified)
    Y, rng = events[:, None], np.random.default_rng(seed)
    a, v, step = scale * rng.standard_normal((12, 1)), rng.standard_normal((12, 1)), 1e-6
    moves = step * np.eye(12)[:, :, None]
    slope = [weights @ (loss.value(a + m, Y) - loss.value(a - m, Y)) / (2 * step) for m in moves]
    np.testing.assert_allclose(weights * loss.residual(a, Y)[:, 0], slope, atol=1e-7 * (1 + weights.sum()))
    change = weights[:, None] * (loss.residual(a + step * v, Y) - loss.residual(a - step * v, Y)) / (2 * step)
    bend = loss.curvature(a, Y).weighted(weights[:, None])
    np.testing.assert_allclose(bend.times(v), change, atol=1e-7 * (1 + weights.sum()))
    np.testing.assert_allclose(bend.gram(v, True), v.T @ change, atol=1e-6 * (1 + weights.sum()))


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, scale=st.floats(0.01, 8.0), stratified=st.booleans(), length=st.floats(0.05, 1.0))
def test_fenchel_young(seed, scale, stratified, length):
    _, events, weights, loss, _ = made(15, seed, stratified)
    Y, rng = events[:, None], np.random.default_rng(seed)
    a, other = scale * rng.standard_normal((2, 15, 1))
    G = loss.residual(a, Y)
    size = 1 + weights.sum() * (1 + scale)
    equal = weights @ loss.value(a, Y) + weights @ loss.conjugate(G, Y) - np.sum(weights[:, None] * G * a)
    assert abs(equal) <= 1e-10 * size
    G = length * G
    apart = weights @ loss.value(other, Y) + weights @ loss.conjugate(G, Y)
    assert apart - np.sum(weights[:, None] * G * other) >= -1e-10 * size


def test_the_conjugate_of_shortened_points_is_attained():
    """The supremum by direct maximisation of ⟨g, a⟩ − ℓ(a)."""
    from scipy.optimize import minimize

    _, events, weights, loss, _ = made(12, 5, False)
    Y = events[:, None]
    G = 0.6 * loss.residual(np.random.default_rng(0).standard_normal((12, 1)), Y)

    def below(a):
        a = a[:, None]
        value = weights @ loss.value(a, Y) - np.sum(weights[:, None] * G * a)
        return value, weights * (loss.residual(a, Y) - G)[:, 0]

    found = minimize(below, np.zeros(12), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    assert weights @ loss.conjugate(G, Y) == pytest.approx(-found.fun, abs=1e-6)


def test_strata_add_up_and_have_their_own_baselines():
    times, events, weights, loss, strata = made(60, 1, True)
    a, Y = np.random.default_rng(2).standard_normal((60, 1)) * [[300.0]], events[:, None]
    G = loss.residual(a, Y)
    at, hazards = loss.log_cumulative_hazard(a)
    assert hazards.shape == (3, len(at))
    for s in range(3):
        i = np.flatnonzero((strata == s) & (weights > 0))
        alone = CoxPartialLikelihood(times[i], events[i], weights[i], "efron")
        np.testing.assert_allclose(loss.value(a, Y)[i], alone.value(a[i], Y[i]), atol=1e-10)
        np.testing.assert_allclose(G[i], alone.residual(a[i], Y[i]), atol=1e-10)
        np.testing.assert_allclose(loss.conjugate(G, Y)[i], alone.conjugate(G[i], Y[i]), atol=1e-8)
        own, hazard = alone.log_cumulative_hazard(a[i])
        np.testing.assert_allclose(hazards[s][np.searchsorted(at, own)], hazard, rtol=1e-12)


def test_dual_points_that_shift_weight_between_strata_are_outside_the_domain():
    loss = CoxPartialLikelihood([1.0, 2.0, 1.0, 2.0], np.ones(4), strata=[0, 0, 1, 1])
    G = np.array([[-0.5], [0.5], [-0.5], [0.5]])
    assert np.isfinite(loss.conjugate(G, np.ones((4, 1))).sum())
    G = np.array([[-0.5], [0.4], [-0.5], [0.6]])
    assert loss.conjugate(G, np.ones((4, 1))).sum() == np.inf


def test_memory_of_ties_is_proportional_to_the_samples():
    """Padded to one size, the events of 301 times would take 300 · 301 numbers."""
    rng = np.random.default_rng(0)
    times = np.concatenate(
        [np.full(300, 50.5), np.repeat(np.arange(100.0), 2), np.repeat(np.arange(200.5, 300), 3)]
    )
    events, weights = np.ones(len(times)), rng.uniform(0.5, 2.0, len(times))
    loss = CoxPartialLikelihood(times, events, weights, "efron")
    assert sum(some.events.size for some in loss.ties.times) < 2 * len(times)
    a, Y = rng.standard_normal((len(times), 1)), events[:, None]
    expected = efron(a[:, 0], times, events, weights)
    assert weights @ loss.value(a, Y) == pytest.approx(expected, rel=1e-11)
    G = loss.residual(a, Y)
    assert weights @ loss.conjugate(G, Y) == pytest.approx(weights @ (G * a)[:, 0] - expected, rel=1e-9)


def test_without_ties_it_is_breslow():
    rng = np.random.default_rng(0)
    times, events, a = rng.random(30), (rng.random(30) < 0.6) * 1.0, rng.standard_normal((30, 1))
    both = [CoxPartialLikelihood(times, events, None, ties) for ties in ("breslow", "efron")]
    first, second = (loss.value_and_residual(a, events[:, None]) for loss in both)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    with pytest.raises(ValueError, match="ties='exact': 'breslow' or 'efron' is required"):
        CoxPartialLikelihood(times, events, None, "exact")


@every_library
@pytest.mark.parametrize("stratified", [False, True])
def test_other_libraries(convert, stratified):
    _, events, _, loss, _ = made(30, 3, stratified)
    Y, a = events[:, None], np.random.default_rng(1).standard_normal((30, 1))
    G = loss.residual(a, Y)
    there = [convert(x) for x in (a, Y, G)]
    np.testing.assert_allclose(plain(loss.value(there[0], there[1])), loss.value(a, Y), atol=1e-12)
    np.testing.assert_allclose(plain(loss.residual(there[0], there[1])), G, atol=1e-12)
    np.testing.assert_allclose(plain(loss.conjugate(there[2], there[1])), loss.conjugate(G, Y), atol=1e-12)
