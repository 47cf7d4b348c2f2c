"""What a block of samples says of the loss, its curvature and its dual, sample by sample."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from tests.problems import example
from tests.samples.block_world import (
    CASES,
    FIRST,
    KINDS,
    LAST,
    TALL,
    K,
    N,
    P,
    design_of,
    world,
)
from tests.samples.cutting import blocks_of

from superfactor.samples import Block, Design, Place

every_case = pytest.mark.parametrize("case", CASES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def big_curvature(J, H):
    """Σ_i H_i ⊗ j_i j_iᵀ, class-major."""
    return sum(np.kron(h, np.outer(j, j)) for j, h in zip(J, H, strict=True))


# --- the loss -------------------------------------------------------------------------------------


@every_case
@every_kind
def test_loss_and_gradient(case, kind):
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    a = J @ coef + offset
    value, gradient = w.block.evaluate(design, coef)
    np.testing.assert_allclose(value, w.value(a), rtol=1e-13)
    np.testing.assert_allclose(gradient, J.T @ w.residuals(a), atol=1e-12)


@every_case
@every_kind
def test_curvature(case, kind):
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    expected = big_curvature(J, w.hessians(J @ coef + offset))
    size = np.abs(expected).max(initial=0)
    found = w.block.curvature(design, coef, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-8 * size)
    direction = np.random.default_rng(3).standard_normal(coef.shape)
    product = w.block.curvature_product(design, coef, direction)
    flat = expected @ direction.T.ravel()
    np.testing.assert_allclose(product.T.ravel(), flat, atol=1e-8 * np.abs(flat).max(initial=0))
    main = w.block.curvature_diagonal(design, coef, 1.0)
    np.testing.assert_allclose(main.T.ravel(), np.diag(expected), atol=1e-8 * size)


@every_case
def test_diagonal_of_a_turned_design(case):
    w = world(case)
    design, _, J, _ = design_of(w, "usual")
    rng = np.random.default_rng(3)
    turn = rng.standard_normal((J.shape[1], 3))
    coef = rng.standard_normal((3, w.P.kappa))
    expected = big_curvature(J @ turn, w.hessians(J @ turn @ coef))
    found = w.block.curvature_diagonal(design, coef, 1.0, turn)
    np.testing.assert_allclose(
        found.T.ravel(), np.diag(expected), atol=1e-8 * np.abs(expected).max()
    )


@every_case
def test_curvature_with_the_rotation_kept(case):
    """In (T, v, g): δa = ΦW⊥Tβ + ΦWv + X'g, a linear map whose matrix is written out."""
    w = world(case)
    rng, kappa, q, r = np.random.default_rng(4), w.P.kappa, w.covariates.shape[1], 2
    Q = np.linalg.qr(rng.standard_normal((K, K)))[0]
    turn = block_diag(Q, np.eye(q))  # [W⊥, W, I]
    beta, gamma = rng.standard_normal((r, kappa)), rng.standard_normal((q, kappa))
    coef = np.concatenate([np.zeros((K - r, kappa)), beta, gamma])
    J = w.matrix("usual") @ turn
    outside, own = J[:, : K - r], J[:, K - r :]
    TT, cross, vv = w.block.kept_curvature(Design(TALL), coef, turn, beta, 1.0)
    H = w.hessians(J @ coef)
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
    rotation = w.block.rotation_curvature(Design(TALL), coef, turn, beta)
    assert rotation.shape == (K - r, r)
    np.testing.assert_allclose(rotation.T.ravel(), np.diag(TT), atol=1e-12 * size)


@every_case
@every_kind
def test_mass_is_the_scale_of_the_curvature(case, kind):
    w = world(case)
    design, _, J, _ = design_of(w, kind)
    np.testing.assert_allclose(w.block.mass(design), np.sum(w.omega[:, None] * J**2), rtol=1e-13)


def test_a_place_says_how_many_columns_count():
    """Coefficients older than the last columns still mean the first ones."""
    w = world("weighted")
    design, coef, _, _ = design_of(w, "usual")
    before = w.block.evaluate(design, coef)
    more = w.block.images(np.eye(P)[:, :2])
    w.block.put(1, more)
    w.block.append(TALL.key, Place(1, 2))
    for one, other in zip(before, w.block.evaluate(design, coef), strict=True):
        np.testing.assert_array_equal(one, other)
    w.tall = np.hstack([w.tall, more])
    J, rng = w.matrix("usual"), np.random.default_rng(7)
    coef = rng.standard_normal((J.shape[1], 3))
    value, _ = w.block.evaluate(Design(Place(TALL.key, K + 2)), coef)
    np.testing.assert_allclose(value, w.value(J @ coef), rtol=1e-13)


# --- curvature from some of the samples -----------------------------------------------------------

SHARED = ("curvature", "curvature_diagonal", "turned diagonal", "kept_curvature")


def asked_with(w, question, share, kind="usual"):
    """The answer as a tuple of arrays."""
    design, coef, J, _ = design_of(w, kind)
    if question == "kept_curvature":
        beta = coef[K - 2 : K]
        return w.block.kept_curvature(design, coef, np.eye(J.shape[1]), beta, share)
    if question == "turned diagonal":
        V = np.random.default_rng(8).standard_normal((J.shape[1], 3))
        return (w.block.curvature_diagonal(design, coef[:3], share, V),)
    return (getattr(w.block, question)(design, coef, share),)


shared = pytest.mark.parametrize("question", SHARED)


@shared
@pytest.mark.parametrize(
    ("case", "kind"),
    [("binary", "usual"), ("weighted", "offset"), ("squared", "usual")],
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
    between = asked_with(w, question, 0.3)
    for one, other in zip(first, asked_with(w, question, 0.5), strict=True):
        np.testing.assert_array_equal(one, other)
    # Whatever was asked before.
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


# --- dual points ----------------------------------------------------------------------------------

DUAL = 5


def with_dual(w, kind="usual"):
    """The place of the dual points at some coefficients, and the activations there."""
    design, coef, J, offset = design_of(w, kind)
    g = w.block.dual_points(design, coef)
    w.block.put(DUAL, g)
    return Place(DUAL, w.P.kappa), J @ coef + offset


@every_case
@every_kind
def test_dual_points_of_coefficients(case, kind):
    w = world(case)
    dual, a = with_dual(w, kind)
    g = w.gradients(a)
    np.testing.assert_allclose(w.block.rows_of(dual), g, atol=1e-13)
    _, pulled = w.block.dual_terms(dual)
    np.testing.assert_allclose(pulled, w.covariates.T @ (g * w.omega[:, None]), atol=1e-12)
    expected = g * w.omega[:, None] / w.root
    np.testing.assert_allclose(w.block.weighted_dual(dual), expected, atol=1e-12)


@every_case
def test_conjugates_by_the_tangent(case):
    """At g = ∇ℓ(a) Fenchel's inequality is an equation: ℓ*(g) = ⟨g, a⟩ − ℓ(a)."""
    w = world(case)
    dual, a = with_dual(w)
    expected = np.sum(w.residuals(a) * a) - w.value(a)
    np.testing.assert_allclose(w.block.dual_terms(dual)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("case", ["binary", "weighted", "probit", "squared"])
def test_balanced_dual_points_sum_to_zero(case):
    w = world(case)
    dual, _ = with_dual(w)

    def total(points):
        return np.abs(w.omega @ points).max()

    steps = []
    for _ in range(3):
        steps.append(w.block.imbalance(dual, steps))
    assert total(w.block.rows_of(dual)) > 1e-2
    w.block.put(DUAL, w.block.rebalanced(dual, steps))
    assert total(w.block.rows_of(dual)) < 1e-13
    assert np.isfinite(w.block.dual_terms(dual)[0])


# --- the block before there is anything in it --------------------------------------------------------


@every_case
def test_no_columns_need_no_matrix(case):
    """A place without columns is nowhere: what has never been kept is found there."""
    problem, _ = example("filter", N, P, **CASES[case])
    (block,) = blocks_of(problem, [FIRST, LAST])
    nothing = Place(77, 0)
    assert block.rows_of(nothing).shape == (LAST - FIRST, 0)
    assert block.inner(nothing, nothing).shape == (0, 0)
    coef = np.random.default_rng(0).standard_normal((problem.n_covariates, problem.n_outputs))
    for one, other in zip(
        block.evaluate(Design(nothing), coef), block.evaluate(Design(None), coef), strict=True
    ):
        np.testing.assert_array_equal(one, other)
