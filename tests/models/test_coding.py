"""Supervised coding of new samples against one scipy.optimize problem per sample and label."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.losses.examples import SOFTPLUS, one_hot

from superfactor.losses import Probit, resolve_link
from superfactor.models.coding import FeatureCoding, FilterCoding


def draw(p, r, kappa, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((p, r)) * 2.0 ** rng.integers(-3, 3, r)
    beta = rng.standard_normal((r, kappa)) * 2
    codes = rng.standard_normal((50, r))
    x = rng.standard_normal((3, p)) * 2
    offset = rng.standard_normal((3, kappa))
    return W, beta, codes, x, offset


def naive_energy(loss, y, x, offset, W, beta, xi, lam):
    """min over h in row(W) of the formula in docs/method.md §9."""
    kappa = beta.shape[1]
    Y = one_hot([y], kappa)
    start = np.linalg.pinv(W) @ x
    rows = np.linalg.svd(W, full_matrices=False)[2][: np.linalg.matrix_rank(W)].T

    def energy(z):
        h = start + rows @ z
        a = (beta.T @ h)[None, :] + offset[None, :]
        value = loss.value(a, Y)[0] + lam * np.sum((beta.T @ h) ** 2)
        return value + xi * np.sum((W @ (h - start)) ** 2)

    best = minimize(energy, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-9})
    return best.fun


@pytest.mark.parametrize(("p", "r", "xi", "lam"), [(6, 3, 1.0, 1.0), (6, 3, 3.0, 0.0), (2, 1, 1e-4, 1e-3)])
@pytest.mark.parametrize(
    ("link", "kappa"),
    [("logistic", 1), ("logistic", 4), (Probit(), 1), (SOFTPLUS, 2)],
    ids=["logistic-1", "logistic-4", "probit", "softplus"],
)
def test_energies(link, kappa, p, r, xi, lam):
    loss = resolve_link(link, kappa)
    W, beta, codes, x, offset = draw(p, r, kappa)
    coding = FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=xi, lam=lam)
    np.testing.assert_allclose(coding.codes(x), x @ np.linalg.pinv(W).T, rtol=1e-10)
    energies = coding.energies(coding.codes(x) @ beta, offset, loss)
    expected = [
        [naive_energy(loss, y, x[i], offset[i], W, beta, xi, lam) for y in range(kappa + 1)]
        for i in range(len(x))
    ]
    np.testing.assert_allclose(energies, expected, rtol=1e-7, atol=1e-7)
    # The independent search is an upper bound of the minimum.
    assert np.all(energies <= np.asarray(expected) + 1e-10)


def test_energies_of_one_activation_solve_their_equation():
    """κ = 1: E_y by bisection on the derivative, to twelve digits."""
    W, beta, codes, x, offset = draw(5, 2, 1, seed=3)
    xi, lam = 0.7, 0.02
    coding = FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=xi, lam=lam)
    b = coding.codes(x) @ beta
    energies = coding.energies(b, offset, resolve_link("logistic", 1))
    # ‖W(h − W⁺x)‖² for a given change δ of βᵀh is at least δ²/(βᵀ(WᵀW)⁻¹β).
    size = float(beta[:, 0] @ np.linalg.solve(W.T @ W, beta[:, 0]))
    for i in range(len(x)):
        for y in (0, 1):
            sign = 1 - 2 * y
            low, high = -100.0, 100.0
            for _ in range(200):
                d = 0.5 * (low + high)
                a = b[i, 0] + d
                slope = sign / (1 + np.exp(-sign * (a + offset[i, 0])))
                slope += 2 * lam * a + 2 * xi * d / size
                low, high = (d, high) if slope < 0 else (low, d)
            a = b[i, 0] + d
            value = np.logaddexp(0, sign * (a + offset[i, 0])) + lam * a**2 + xi * d**2 / size
            assert energies[i, y] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("kappa", "xi"), [(1, 1e-200), (6, 1e-12)])
def test_far_tails_converge(kappa, xi):
    """λ = 0 and a tiny ξ: activations move hundreds of units into the tail."""
    W, beta, codes, x, offset = draw(8, 6, kappa)
    beta = beta * 10.0 ** np.arange(6)[:, None]
    coding = FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=xi, lam=0.0)
    energies = coding.energies(coding.codes(x) @ beta, offset, resolve_link("logistic", kappa))
    assert np.all(energies >= 0) and np.all(energies < 1e-8)


def test_results_do_not_depend_on_chunks(monkeypatch):
    W, beta, codes, x, offset = draw(6, 3, 4)
    loss = resolve_link("logistic", 4)
    coding = FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=1.0, lam=1.0)
    b = coding.codes(x) @ beta
    whole = coding.energies(b, offset, loss)
    assert coding.energies(b[:0], offset[:0], loss).shape == (0, 5)
    monkeypatch.setattr("superfactor.models.coding._CHUNK", 1)
    np.testing.assert_allclose(coding.energies(b, offset, loss), whole, rtol=1e-13)


@pytest.mark.parametrize("kappa", [1, 3])
def test_regression_is_the_minimum_with_y_free(kappa):
    W, beta, codes, x, _ = draw(7, 2, kappa)
    xi, lam = 0.4, 0.9
    coding = FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=xi, lam=lam)
    centre = coding.centre(coding.codes(x) @ beta)
    for i in range(len(x)):
        start = np.linalg.pinv(W) @ x[i]
        h = np.linalg.solve(lam * beta @ beta.T + xi * W.T @ W, xi * W.T @ W @ start)
        np.testing.assert_allclose(centre[i], beta.T @ h, rtol=1e-10)


def test_directions_of_w_that_are_noise_are_ignored():
    """A factor that only labels use: the result must not be divided by rounding errors of W."""
    W, beta, codes, x, offset = draw(6, 3, 1)
    noisy, clean = W.copy(), W.copy()
    noisy[:, 2] = 1e-17 * W[:, 2]
    clean[:, 2] = 0
    loss = resolve_link("logistic", 1)
    first, second = (
        FeatureCoding.of(V, np.linalg.norm(codes, axis=0), beta, xi=1.0, lam=1.0) for V in (noisy, clean)
    )
    np.testing.assert_allclose(first.codes(x), second.codes(x), atol=1e-12)
    assert np.all(np.abs(first.codes(x)[:, 2]) < 1e-15)
    np.testing.assert_allclose(
        first.energies(first.codes(x) @ beta, offset, loss),
        second.energies(second.codes(x) @ beta, offset, loss),
        rtol=1e-10,
    )


def test_coding_without_factors():
    beta, codes, x = np.ones((2, 1)), np.ones((5, 2)), np.ones((3, 4))
    coding = FeatureCoding.of(np.zeros((4, 2)), np.linalg.norm(codes, axis=0), beta, xi=1.0, lam=1.0)
    assert np.all(coding.codes(x) == 0)
    loss = resolve_link("logistic", 1)
    energies = coding.energies(np.zeros((3, 1)), np.full((3, 1), 0.5), loss)
    np.testing.assert_allclose(energies, np.tile(np.logaddexp(0, [0.5, -0.5]), (3, 1)))
    assert np.all(coding.centre(np.zeros((3, 1))) == 0)


def test_filters_code_by_projection():
    W, beta, _, x, offset = draw(6, 3, 2)
    coding, loss = FilterCoding(W), resolve_link("logistic", 2)
    b = coding.codes(x) @ beta
    np.testing.assert_allclose(coding.codes(x), x @ W)
    expected = np.hstack([np.zeros((len(x), 1)), b + offset])
    for prediction in ("exact", "fast"):
        np.testing.assert_allclose(coding.scores(b, offset, loss, prediction), expected)
        np.testing.assert_allclose(coding.targets(b, offset, prediction), b + offset)


def test_scores_are_energies_or_the_link_at_the_activations():
    W, beta, codes, x, offset = draw(6, 3, 2)
    coding = FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=0.5, lam=0.2)
    loss, b = resolve_link("logistic", 2), coding.codes(x) @ beta
    exact, fast = (coding.scores(b, offset, loss, how) for how in ("exact", "fast"))
    np.testing.assert_allclose(exact, -coding.energies(b, offset, loss), rtol=1e-14)
    np.testing.assert_allclose(fast, np.hstack([np.zeros((len(x), 1)), b + offset]))
    np.testing.assert_allclose(coding.targets(b, offset, "exact"), coding.centre(b) + offset)
    np.testing.assert_allclose(coding.targets(b, offset, "fast"), b + offset)
    single = coding.scores(b.astype(np.float32), offset.astype(np.float32), loss, "exact")
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, rtol=1e-5)


def test_moved_codings_give_the_same_codes():
    W, beta, codes, x, _ = draw(6, 3, 2)
    for coding in (
        FilterCoding(W),
        FeatureCoding.of(W, np.linalg.norm(codes, axis=0), beta, xi=0.5, lam=0.2),
    ):
        moved = coding.moved(lambda part: np.asarray(part, dtype=np.float32))
        assert type(moved) is type(coding)
        np.testing.assert_allclose(moved.codes(x), coding.codes(x), rtol=1e-4, atol=1e-4)
