"""The loss, its curvature and its dual from a block, against sums sample by sample."""

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
    bent_at,
    big_curvature,
    design_of,
    world,
)
from tests.samples.cutting import blocks_of

from superfactor.samples import Along, Design, Place

every_case = pytest.mark.parametrize("case", CASES)
every_kind = pytest.mark.parametrize("kind", KINDS)


# --- the loss -------------------------------------------------------------------------------------


@every_case
@every_kind
def test_loss_and_its_derivatives(case, kind):
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    a = J @ coef + offset
    value, gradient = w.block.evaluate(design, coef)
    np.testing.assert_allclose(value, w.value(a), rtol=1e-13)
    np.testing.assert_allclose(gradient, J.T @ w.residuals(a), atol=1e-12)
    np.testing.assert_allclose(w.block.design_gram(design), J.T @ (w.omega[:, None] * J), atol=1e-12)
    H = w.hessians(a)
    expected, found = big_curvature(J, H), w.block.curvature(design, coef)
    size = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(found, expected, atol=1e-8 * size)
    # The stored curvature times a direction is the matrix times the direction.
    bent, (total, weight) = bent_at(w, design, coef)
    np.testing.assert_allclose(total, H.sum(axis=0), atol=1e-8 * np.abs(H).sum())
    np.testing.assert_allclose(weight, w.omega.sum(), rtol=1e-13)
    direction = np.random.default_rng(3).standard_normal(coef.shape)
    product = w.block.curvature_product(design, bent, direction)
    np.testing.assert_allclose(product.T.ravel(), found @ direction.T.ravel(), atol=1e-12 * (1 + size))


@pytest.mark.parametrize("case", ["weighted", "squared"])
@every_kind
def test_several_points_at_once(case, kind):
    """Coefficients (2, 3, m, κ) against each point alone, and each direction at its own point."""
    w = world(case)
    design, coef, _, _ = design_of(w, kind)
    rng = np.random.default_rng(5)
    many = coef + rng.standard_normal((2, 3, *coef.shape))
    directions = rng.standard_normal(many.shape)
    value, gradient = w.block.evaluate(design, many)
    assert (value.shape, gradient.shape) == ((2, 3), many.shape)
    bent, (total, weight) = bent_at(w, design, many)
    assert bent.columns == 2 * 6 * w.P.kappa
    assert total.shape == (2, 3, w.P.kappa, w.P.kappa)
    products = w.block.curvature_product(design, bent, directions)
    assert products.shape == many.shape
    for place in np.ndindex(2, 3):
        alone = w.block.evaluate(design, many[place])
        np.testing.assert_allclose(value[place], alone[0], rtol=1e-13)
        np.testing.assert_allclose(gradient[place], alone[1], atol=1e-12)
        one, (mean, alone_weight) = bent_at(w, design, many[place], key=8)
        np.testing.assert_allclose(total[place], mean, atol=1e-12)
        assert alone_weight == weight
        product = w.block.curvature_product(design, one, directions[place])
        np.testing.assert_allclose(products[place], product, atol=1e-12)


@every_case
def test_curvature_of_a_rotation(case):
    """In T: δa = ΦW⊥Tβ, a linear map whose matrix is written out."""
    w = world(case)
    rng, kappa, q, r = np.random.default_rng(4), w.P.kappa, w.covariates.shape[1], 2
    Q = np.linalg.qr(rng.standard_normal((K, K)))[0]
    turn = block_diag(Q, np.eye(q))  # [W⊥, W, I]
    beta, gamma = rng.standard_normal((r, kappa)), rng.standard_normal((q, kappa))
    coef = np.concatenate([np.zeros((K - r, kappa)), beta, gamma])
    J = w.matrix("usual") @ turn
    total = 0
    for x, h in zip(J[:, : K - r], w.hessians(J @ coef), strict=True):
        by_T = np.hstack([np.outer(beta[i], x) for i in range(r)])  # ∂a_i/∂T, factor by factor
        total = total + by_T.T @ h @ by_T
    found = w.block.rotation_curvature(Design(TALL), coef, turn, beta)
    assert found.shape == (K - r, r)
    size = np.abs(total).max()
    np.testing.assert_allclose(found.T.ravel(), np.diag(total), atol=1e-8 * size)


def test_a_place_has_a_number_of_columns():
    """Older coefficients apply to the first columns, after columns were appended."""
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


# --- dual points ----------------------------------------------------------------------------------

DUAL = 5


def with_dual(w, kind="usual"):
    """The place of the dual points at some coefficients, and the activations there."""
    design, coef, J, offset = design_of(w, kind)
    g = w.block.dual_points(design, coef)
    w.block.put(DUAL, g)
    return Place(DUAL, w.P.kappa), J @ coef + offset


@every_case
@pytest.mark.parametrize("kind", ["usual", "offset"])
def test_dual_points_of_coefficients(case, kind):
    w = world(case)
    dual, a = with_dual(w, kind)
    g = w.gradients(a)
    np.testing.assert_allclose(w.block.rows_of(dual), g, atol=1e-13)
    conjugate, pulled = w.block.dual_terms(dual)
    np.testing.assert_allclose(pulled, w.covariates.T @ (g * w.omega[:, None]), atol=1e-12)
    expected = g * w.omega[:, None] / w.root
    np.testing.assert_allclose(w.block.weighted_dual(dual), expected, atol=1e-12)
    # At g = ∇ℓ(a) Fenchel's inequality is an equation: ℓ*(g) = ⟨g, a⟩ − ℓ(a).
    np.testing.assert_allclose(conjugate, np.sum(w.residuals(a) * a) - w.value(a), rtol=1e-10)


@pytest.mark.parametrize("case", ["weighted", "probit", "squared"])
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


# --- an empty block ------------------------------------------------------------------------------------


def test_no_columns_need_no_matrix():
    """A place without columns needs no stored matrix."""
    problem, _ = example("filter", N, P, **CASES["weighted"])
    (block,) = blocks_of(problem, [FIRST, LAST])
    nothing = Place(77, 0)
    assert block.rows_of(nothing).shape == (LAST - FIRST, 0)
    assert block.inner(nothing, nothing).shape == (0, 0)
    coef = np.random.default_rng(0).standard_normal((problem.n_covariates, problem.n_outputs))
    results = (block.evaluate(design, coef) for design in (Design(nothing), Design(None)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@every_case
def test_rows_divided_by_what_each_sample_adds_to_the_curvature(case):
    """Exact for one output; for several, closer than the diagonal alone."""
    w = world(case)
    design, coef, J, offset = design_of(w, "usual")
    rng, kappa = np.random.default_rng(3), w.P.kappa
    b, B, C = 2 * rng.standard_normal((kappa, kappa)), rng.standard_normal((K, kappa)), np.eye(kappa)
    H = w.hessians(J @ coef + offset) / (w.root**2)[:, :, None]
    systems = np.eye(kappa) + b @ H @ b.T
    rows = w.tall @ B
    exact = np.linalg.solve(systems, rows[:, :, None])[:, :, 0]
    found = w.block.softened(TALL, B, C, Along(design, coef, b))
    by_diagonal = rows / np.diagonal(systems, axis1=1, axis2=2)
    # In the norm that the descent minimises.
    error, before = (
        np.einsum("ij,ijk,ik->", x - exact, systems, x - exact) ** 0.5 for x in (found, by_diagonal)
    )
    assert error < (1e-6 if kappa == 1 else before)
