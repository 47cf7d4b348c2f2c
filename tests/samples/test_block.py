"""What a block of samples says of the loss, its curvature and its dual, sample by sample."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from tests.lifting.block_world import CASES, FIRST, LAST, K, N, World, coefficients, world
from tests.lifting.cutting import blocks_of
from tests.solvers.examples import example

every_case = pytest.mark.parametrize("case", CASES)
views = pytest.mark.parametrize("viewed", [False, True], ids=["design", "view"])


def big_curvature(J, H):
    """Σ_i H_i ⊗ j_i j_iᵀ, class-major."""
    return sum(np.kron(h, np.outer(j, j)) for j, h in zip(J, H, strict=True))


# --- the loss -------------------------------------------------------------------------------------


@every_case
@views
def test_loss_and_gradient(case, viewed):
    w = world(case)
    theta, V, J = coefficients(w, viewed)
    for _ in range(2):  # the second time from the view it has kept
        value, gradient = w.block.evaluate(theta, V)
        np.testing.assert_allclose(value, w.value(J @ theta), rtol=1e-13)
        np.testing.assert_allclose(gradient, J.T @ w.residuals(J @ theta), atol=1e-12)


@every_case
@views
def test_curvature(case, viewed):
    w = world(case)
    theta, V, J = coefficients(w, viewed)
    H = w.hessians(J @ theta)
    expected = big_curvature(J, H)
    size = np.abs(expected).max()
    (found,) = w.block.curvature(theta, V, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-8 * size)
    m, kappa = theta.shape
    direction = np.random.default_rng(3).standard_normal((m, kappa))
    (product,) = w.block.curvature_product(theta, direction, V)
    flat = expected @ direction.T.ravel()
    np.testing.assert_allclose(product.T.ravel(), flat, atol=1e-8 * np.abs(flat).max())
    (main,) = w.block.curvature_diagonal(theta, V, 1.0)
    np.testing.assert_allclose(main.T.ravel(), np.diag(expected), atol=1e-8 * size)


@every_case
def test_curvature_with_the_rotation_kept(case):
    """In (T, v, g): δa = ΦW⊥Tβ + ΦWv + X'g, a linear map whose matrix is written out."""
    w = world(case)
    rng, kappa, q, r = np.random.default_rng(4), w.P.kappa, w.covariates.shape[1], 2
    Q = np.linalg.qr(rng.standard_normal((K, K)))[0]
    turn = block_diag(Q, np.eye(q))  # [W⊥, W, I]
    beta, gamma = rng.standard_normal((r, kappa)), rng.standard_normal((q, kappa))
    theta = np.concatenate([np.zeros((K - r, kappa)), beta, gamma])
    J = w.J @ turn
    outside, own = J[:, : K - r], J[:, K - r :]
    TT, cross, vv = w.block.kept_curvature(theta, turn, beta, 1.0)
    H = w.hessians(J @ theta)
    # The columns of ∂a_i/∂(T, v): T factor by factor, then v and g output by output.
    total = 0
    for x, y, h in zip(outside, own, H, strict=True):
        by_T = np.hstack([np.outer(beta[i], x) for i in range(r)])
        A = np.hstack([by_T, np.kron(np.eye(kappa), y)])  # (κ, unknowns)
        total = total + A.T @ h @ A
    split, size = (K - r) * r, np.abs(total).max()
    np.testing.assert_allclose(TT, total[:split, :split], atol=1e-8 * size)
    np.testing.assert_allclose(cross, total[:split, split:], atol=1e-8 * size)
    np.testing.assert_allclose(vv, total[split:, split:], atol=1e-8 * size)
    (rotation,) = w.block.rotation_curvature(theta, turn, beta)
    assert rotation.shape == (K - r, r)
    np.testing.assert_allclose(rotation.T.ravel(), np.diag(TT), atol=1e-12 * size)


@every_case
def test_mass_is_the_scale_of_the_curvature(case):
    w = world(case)
    np.testing.assert_allclose(w.block.mass()[0], np.sum(w.omega[:, None] * w.J**2), rtol=1e-13)


@every_case
def test_before_there_is_a_subspace_the_design_is_that_of_the_covariates(case):
    problem, P = example("filter", N, 6, **CASES[case])
    (block,) = blocks_of(problem, [FIRST, LAST])
    w = World(block, P, np.empty((0, 0)), np.empty((LAST - FIRST, 0)))
    theta, _, J = coefficients(w, False)
    value, gradient = block.evaluate(theta)
    np.testing.assert_allclose(value, w.value(J @ theta), rtol=1e-13)
    np.testing.assert_allclose(gradient, J.T @ w.residuals(J @ theta), atol=1e-12)
    np.testing.assert_allclose(block.mass()[0], np.sum(w.omega[:, None] * J**2), rtol=1e-13)
    if J.shape[1]:
        expected = big_curvature(J, w.hessians(J @ theta))
        np.testing.assert_allclose(block.curvature(theta, None, 1.0)[0], expected, atol=1e-6)


def test_a_view_follows_the_columns_that_come_and_turn():
    """The view a block keeps is of `main` as it was; what changes `main` must change the view."""
    w = world("weighted")
    theta, V, J = coefficients(w, True)
    before = w.block.evaluate(theta, V)
    np.testing.assert_allclose(before[0], w.value(J @ theta), rtol=1e-13)
    turn = np.linalg.qr(np.random.default_rng(5).standard_normal((K, K)))[0]
    w.block.combine("main", [("main", turn)])
    w.main = w.main @ turn
    after = w.block.evaluate(theta, V)
    np.testing.assert_allclose(after[0], w.value(w.J @ V @ theta), rtol=1e-13)
    T = np.random.default_rng(6).standard_normal((6, 2))
    w.block.grow(T)
    # Coefficients older than the last columns still mean the first ones.
    np.testing.assert_allclose(w.block.evaluate(theta, V)[0], after[0], rtol=1e-13)
    w.main = np.hstack([w.main, w.X @ T])
    V = np.random.default_rng(7).standard_normal((w.J.shape[1], 3))
    np.testing.assert_allclose(w.block.evaluate(theta, V)[0], w.value(w.J @ V @ theta), rtol=1e-13)


# --- curvature from some of the samples -----------------------------------------------------------


def asked_with(block, question, share, w):
    theta, V, _ = coefficients(w, True)
    if question != "kept_curvature":
        return getattr(block, question)(theta, V, share)
    q, kappa = w.covariates.shape[1], w.P.kappa
    rng = np.random.default_rng(8)
    theta = rng.standard_normal((K + q, kappa))
    return block.kept_curvature(theta, np.eye(K + q), theta[K - 2 : K], share)


shared = pytest.mark.parametrize("question", ["curvature", "curvature_diagonal", "kept_curvature"])


@shared
@pytest.mark.parametrize("case", ["binary", "weighted", "squared"])
def test_a_share_of_the_samples_is_unbiased(case, question):
    """Blocks at different places choose differently: the mean over many of them is the whole sum."""
    w = world(case)
    problem, _ = example("filter", N, 6, **CASES[case])
    exact = asked_with(w.block, question, 1.0, w)
    answers = []
    for place in range(600):
        (block,) = blocks_of(problem, [FIRST, LAST])
        block._start = place
        block._tall.set("main", w.main)
        answers.append(asked_with(block, question, 0.4, w))
    for part, whole in zip(zip(*answers, strict=True), exact, strict=True):
        each, size = np.array(part), np.abs(whole).max()
        spread = each.std(axis=0).max()
        assert spread > 1e-3 * size  # they do differ
        assert np.abs(each.mean(axis=0) - whole).max() < 4.5 * spread / np.sqrt(600)


@shared
def test_a_share_is_the_same_every_time(question):
    w = world("weighted")
    first = asked_with(w.block, question, 0.5, w)
    for one, other in zip(first, asked_with(w.block, question, 0.5, w), strict=True):
        np.testing.assert_array_equal(one, other)


@shared
@pytest.mark.parametrize("share", [0.95, 1.0, 1.5])
def test_a_share_of_all_is_all(question, share):
    """11 samples: 0.95 of them is more than ten, so all."""
    w = world("weighted")
    whole = asked_with(w.block, question, 1.0, w)
    for one, other in zip(asked_with(w.block, question, share, w), whole, strict=True):
        np.testing.assert_array_equal(one, other)


# --- dual points ----------------------------------------------------------------------------------


@every_case
def test_dual_points_of_coefficients_and_given_ones(case):
    w = world(case)
    theta, _, J = coefficients(w, False)
    assert w.block.dual_from(theta) == ()
    g = w.gradients(J @ theta)
    np.testing.assert_allclose(w.block.rows([("dual", None)]), g, atol=1e-13)
    _, pulled = w.block.dual_terms()
    np.testing.assert_allclose(pulled, w.covariates.T @ (g * w.omega[:, None]), atol=1e-12)
    all_points = np.random.default_rng(9).standard_normal((N, w.P.kappa))
    assert w.block.given("dual", all_points) == ()
    np.testing.assert_array_equal(w.block.rows([("dual", None)]), all_points[w.own])


@every_case
def test_conjugates_by_the_tangent(case):
    """At g = ∇ℓ(a) Fenchel's inequality is an equation: ℓ*(g) = ⟨g, a⟩ − ℓ(a)."""
    w = world(case)
    theta, _, J = coefficients(w, False)
    w.block.dual_from(theta)
    a = J @ theta
    expected = np.sum(w.residuals(a) * a) - w.value(a)
    np.testing.assert_allclose(w.block.dual_terms()[0], expected, rtol=1e-10)


@pytest.mark.parametrize("case", ["binary", "weighted", "probit", "squared"])
def test_balanced_dual_points_sum_to_zero(case):
    w = world(case)
    theta, _, _ = coefficients(w, False)
    w.block.dual_from(theta)

    def total():
        return np.abs(w.omega @ w.block.rows([("dual", None)])).max()

    before, steps = total(), []
    for _ in range(3):
        steps.append(w.block.imbalance(steps))
    assert total() == before > 1e-2  # asking moves nothing
    w.block.rebalance(steps)
    assert total() < 1e-13
    assert np.isfinite(w.block.dual_terms()[0])
