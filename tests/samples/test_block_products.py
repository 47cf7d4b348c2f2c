"""A block's products with X and its linear algebra with tall matrices, against plain arrays."""

import numpy as np
import pytest
from tests.samples.block_world import CASES, FIRST, LAST, TALL, K, N, P, design_of, world

from superfactor.samples import Along, Place

every_case = pytest.mark.parametrize("case", CASES)
both_offsets = pytest.mark.parametrize("kind", ["usual", "offset"])


# --- products with X ------------------------------------------------------------------------------


@every_case
def test_products_with_the_rows(case):
    w = world(case)
    T = np.random.default_rng(10).standard_normal((P, 3))
    np.testing.assert_allclose(w.block.images(T), w.X @ T, atol=1e-13)
    np.testing.assert_allclose(w.block.power(T), w.X.T @ w.X @ T, atol=1e-13)
    product, total = w.block.power_and_sum(T)
    np.testing.assert_array_equal(product, w.block.power(T))
    np.testing.assert_allclose(total, w.X.T @ w.root, atol=1e-13)
    np.testing.assert_allclose(w.block.image(TALL), w.X.T @ w.tall, atol=1e-13)
    gram, total = w.block.gram_and_sum()
    np.testing.assert_allclose(gram, w.X.T @ w.X, atol=1e-13)
    np.testing.assert_array_equal(total, w.block.row_sum())
    gram, image = w.block.gram_and_image(TALL)
    np.testing.assert_allclose(gram, w.X.T @ w.X, atol=1e-13)
    np.testing.assert_allclose(image, w.X.T @ w.tall, atol=1e-13)
    _, none = w.block.gram_and_image(Place(77, 0))
    assert none.shape == (P, 0)


@every_case
@both_offsets
def test_rows_on_a_design(case, kind):
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    E = w.residuals(J @ coef + offset)
    np.testing.assert_allclose(w.block.residuals(design, coef), E, atol=1e-12)
    np.testing.assert_allclose(w.block.pulled(design, coef), E / w.root, atol=1e-12)
    np.testing.assert_allclose(w.block.pull(design, coef), w.X.T @ (E / w.root), atol=1e-12)
    rng = np.random.default_rng(15)
    M, V = rng.standard_normal((K, 2)), rng.standard_normal((J.shape[1], 2))
    np.testing.assert_allclose(w.block.activations(design, coef), J @ coef + offset, atol=1e-13)
    np.testing.assert_allclose(w.block.view(design, V), J @ V, atol=1e-13)
    np.testing.assert_allclose(w.block.codes(TALL, M), w.tall @ M / w.root, atol=1e-13)


@every_case
@both_offsets
def test_growth(case, kind):
    w = world(case)
    design, coef, J, offset = design_of(w, kind)
    rng, H = np.random.default_rng(12), w.hessians(J @ coef + offset)

    def bent(directions):
        """b_jᵀ(ω_i∇²ℓ_i/w_i)b_j (n_b, j)."""
        return np.einsum("jc,ncd,jd->nj", directions, H, directions) / w.root**2

    T, directions = rng.standard_normal((P, 2)), rng.standard_normal((2, w.P.kappa))
    Z = w.X @ T
    for along in (None, Along(design, coef, directions)):
        made = w.block.grown(T, TALL, along)
        np.testing.assert_allclose(made.rows[0], Z, atol=1e-13)
        for found, expected in zip(made.sums, (w.X.T @ Z, w.tall.T @ Z, Z.T @ Z), strict=False):
            np.testing.assert_allclose(found, expected, atol=1e-13)
        assert len(made.sums) == (3 if along is None else 4)
    np.testing.assert_allclose(made.sums[3], w.X.T @ (bent(directions) * Z), atol=1e-8)
    assert w.block.grown(T, Place(77, 0), None).sums[1].shape == (0, 2)
    # The same for the search side of the samples.
    directions, Z = rng.standard_normal((K, w.P.kappa)), rng.standard_normal((P, K))
    images, along = w.block.images_and_bent(Z, TALL, Along(design, coef, directions)).rows
    np.testing.assert_allclose(images, w.X @ Z, atol=1e-13)
    np.testing.assert_allclose(along, bent(directions) * w.tall, atol=1e-8)


# --- tall matrices --------------------------------------------------------------------------------


def test_linear_algebra_by_place():
    w = world("weighted")
    rng = np.random.default_rng(13)
    A, B = rng.standard_normal((N, 2)), rng.standard_normal((N, 3))
    a, b, M = A[w.own], B[w.own], rng.standard_normal((3, 2))
    one, other = Place(1, 2), Place(2, 3)
    w.block.put(1, w.block.given(A))
    w.block.put(2, w.block.given(B))
    np.testing.assert_array_equal(w.block.rows_of(one), a)
    np.testing.assert_array_equal(w.block.rows_of(Place(2, 1)), b[:, :1])
    np.testing.assert_array_equal(w.block.identity(N), np.eye(N)[w.own])
    np.testing.assert_allclose(w.block.combination([(one, np.eye(2)), (other, M)]), a + b @ M, atol=1e-14)
    np.testing.assert_allclose(w.block.inner(one, other), a.T @ b, atol=1e-13)
    R = w.block.triangle(other)
    np.testing.assert_allclose(R.T @ R, b.T @ b, atol=1e-13)
    np.testing.assert_array_equal(R, np.triu(R))
    C = rng.standard_normal((2, 2))
    made = w.block.refined(other, M, one, C)
    (out,), (cross, gram) = made.rows, made.sums
    np.testing.assert_allclose(out, b @ M - a @ C, atol=1e-13)
    np.testing.assert_allclose(cross, a.T @ out, atol=1e-13)
    np.testing.assert_allclose(gram, out.T @ out, atol=1e-13)
    alone = w.block.refined(other, M, Place(77, 0), np.zeros((0, 2)))
    np.testing.assert_allclose(alone.rows[0], b @ M, atol=1e-13)
    assert alone.sums[0].shape == (0, 2)


def test_changes_of_a_block():
    w = world("weighted")
    w.block.put(1, np.ones((LAST - FIRST, 2)))
    w.block.append(TALL.key, Place(1, 1))
    grown = w.block.rows_of(Place(TALL.key, K + 1))
    np.testing.assert_array_equal(grown, np.hstack([w.tall, np.ones((LAST - FIRST, 1))]))
    w.block.drop(TALL.key)
    with pytest.raises(KeyError):
        w.block.rows_of(TALL)
    w.block.drop(TALL.key)  # twice has no effect
    np.testing.assert_allclose(w.block.images(np.eye(P)), w.X, atol=1e-14)
    w.block.rescale(4.0)
    np.testing.assert_allclose(w.block.images(np.eye(P)), w.X / 4, atol=1e-14)
    np.testing.assert_allclose(w.block.squared_norm(), np.sum(w.X**2) / 16, rtol=1e-13)
    w.block.rescale(2.0)  # replaces the one before
    np.testing.assert_allclose(w.block.images(np.eye(P)), w.X / 2, atol=1e-14)


def test_random_rows_depend_on_position_and_seed_only():
    w = world("binary")
    elsewhere = world("binary", 0, LAST - FIRST)
    one = w.block.noise(5, 400)
    np.testing.assert_array_equal(one, w.block.noise(5, 400))
    for other in (w.block.noise(6, 400), elsewhere.block.noise(5, 400)):
        assert np.abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.1
    assert abs(one.mean()) < 0.1
    assert abs(one.std() - 1) < 0.1


# --- before a problem is stated -------------------------------------------------------------------


@every_case
def test_sums_that_a_problem_is_stated_with(case):
    w = world(case)
    np.testing.assert_allclose(w.block.squared_norm(), np.sum(w.X**2), rtol=1e-13)
    ratio = w.P.class_weight[w.own]
    np.testing.assert_allclose(w.block.weight_range(), (ratio.min(), ratio.max()), rtol=1e-13)
    sums = w.omega.sum(), w.omega.sum(), w.P.weight[w.own].sum()
    np.testing.assert_allclose(w.block.total_weights(), sums, rtol=1e-13)
    expected = w.covariates.T @ (w.omega[:, None] * w.covariates)
    np.testing.assert_allclose(w.block.covariate_gram(), expected, atol=1e-12)
    # The digest depends on samples, weights and their order.
    place = np.sqrt(np.arange(FIRST, LAST) + 1)  # among all samples, from one
    labels, covariates, rows = w.block.digest()
    np.testing.assert_allclose(labels, (place * w.omega) @ w.targets, rtol=1e-12)
    np.testing.assert_allclose(covariates, (place * w.omega) @ w.covariates, atol=1e-11)
    np.testing.assert_allclose(rows, place @ np.sum(w.X**2, axis=1), rtol=1e-12)
