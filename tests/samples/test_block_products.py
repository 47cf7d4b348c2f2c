"""A block's products with X and its linear algebra with tall matrices, against plain arrays."""

import numpy as np
import pytest
from tests.lifting.block_world import CASES, FIRST, LAST, K, N, coefficients, world
from tests.lifting.cutting import blocks_of
from tests.solvers.examples import example

every_case = pytest.mark.parametrize("case", CASES)


# --- products with X ------------------------------------------------------------------------------


@every_case
def test_products_with_the_rows(case):
    w = world(case)
    rng = np.random.default_rng(10)
    T = rng.standard_normal((6, 3))
    np.testing.assert_allclose(w.block.images(T), w.X @ T, atol=1e-13)
    np.testing.assert_allclose(w.block.power(T)[0], w.X.T @ w.X @ T, atol=1e-13)
    np.testing.assert_allclose(w.block.gram()[0], w.X.T @ w.X, atol=1e-13)
    np.testing.assert_allclose(w.block.image("main")[0], w.X.T @ w.main, atol=1e-13)
    assert w.block.back("away", T) == ()
    np.testing.assert_allclose(w.block.rows([("away", None)]), w.X @ T, atol=1e-13)


@every_case
def test_pulled_residuals(case):
    w = world(case)
    theta, _, J = coefficients(w, False)
    expected = w.residuals(J @ theta) / w.root
    np.testing.assert_allclose(w.block.pull(theta)[0], w.X.T @ expected, atol=1e-12)
    w.block.combine("pulled", [("E", 2 * np.eye(w.P.kappa))], theta)
    np.testing.assert_allclose(w.block.rows([("pulled", None)]), 2 * expected, atol=1e-12)
    # Without coefficients the dual points stand in their place.
    g = np.random.default_rng(11).standard_normal((N, w.P.kappa))
    w.block.given("dual", g)
    expected = g[w.own] * w.omega[:, None] / w.root
    np.testing.assert_allclose(w.block.pull(None)[0], w.X.T @ expected, atol=1e-12)
    np.testing.assert_allclose(w.block.rows([("E", None)]), expected, atol=1e-12)


@every_case
def test_growth(case):
    w = world(case)
    theta, _, J = coefficients(w, False)
    rng = np.random.default_rng(12)
    T, directions = rng.standard_normal((6, 2)), rng.standard_normal((2, w.P.kappa))
    Z = w.X @ T
    G, cross, corner = w.block.grow(T)
    np.testing.assert_allclose(G, w.X.T @ Z, atol=1e-13)
    np.testing.assert_allclose(cross, w.main.T @ Z, atol=1e-13)
    np.testing.assert_allclose(corner, Z.T @ Z, atol=1e-13)
    w.main = np.hstack([w.main, Z])
    np.testing.assert_allclose(w.block.rows([("main", None)]), w.main, atol=1e-13)
    # At coefficients that know nothing of the columns just added.
    H = w.hessians(J @ theta)
    T = rng.standard_normal((6, 2))
    Z = w.X @ T
    G, cross, corner, curved = w.block.grow(T, theta, directions)
    np.testing.assert_allclose(G, w.X.T @ Z, atol=1e-13)
    np.testing.assert_allclose(cross, w.main.T @ Z, atol=1e-13)
    h = np.einsum("jc,ncd,jd->nj", directions, H, directions) / w.root**2
    np.testing.assert_allclose(curved, w.X.T @ (h * Z), atol=1e-8)
    w.block.back("latest", T)
    assert w.block.curve("curved", "latest", theta, directions) == ()
    np.testing.assert_allclose(w.block.rows([("curved", None)]), h * Z, atol=1e-8)


def test_growth_from_nothing():
    problem, P = example("filter", N, 6, 1)
    (block,) = blocks_of(problem, [FIRST, LAST])
    T = np.eye(6)[:, :2]
    G, cross, corner = block.grow(T)
    Z = P.X.T[FIRST:LAST, :2] / problem.data.scale
    assert cross.shape == (0, 2)
    np.testing.assert_allclose(corner, Z.T @ Z, atol=1e-14)
    np.testing.assert_allclose(G[:2], corner, atol=1e-14)


# --- tall matrices --------------------------------------------------------------------------------


def test_linear_algebra_by_name():
    w = world("weighted")
    rng = np.random.default_rng(13)
    A, B = rng.standard_normal((N, 2)), rng.standard_normal((N, 3))
    for name, M in (("a", A), ("b", B)):
        w.block.identity(name, N)
        np.testing.assert_array_equal(w.block.rows([(name, None)]), np.eye(N)[w.own])
        w.block.combine(name, [(name, M)])
    a, b, M = A[w.own], B[w.own], rng.standard_normal((3, 2))
    np.testing.assert_allclose(w.block.rows([("a", None), ("b", M)]), a + b @ M, atol=1e-14)
    found = w.block.inner([("a", "b"), ("b", "b"), ("nowhere", "a")])
    for one, other in zip(found, (a.T @ b, b.T @ b, np.zeros((0, 2))), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
    R = w.block.triangle("b")
    np.testing.assert_allclose(R.T @ R, b.T @ b, atol=1e-13)
    np.testing.assert_allclose(R, np.triu(R), atol=0)
    assert w.block.append("a", "b") == ()
    np.testing.assert_allclose(w.block.rows([("a", None)]), np.hstack([a, b]), atol=1e-14)
    assert w.block.drop("a") == ()
    with pytest.raises(KeyError):
        w.block.rows([("a", None)])
    w.block.drop("a")  # twice is no harm


def test_random_rows_depend_on_the_place_and_the_seed_alone():
    w = world("binary")
    w.block.noise("one", 5, 400)
    w.block.noise("again", 5, 400)
    w.block.noise("other seed", 6, 400)
    elsewhere = world("binary", 0, LAST - FIRST)
    elsewhere.block.noise("one", 5, 400)
    one = w.block.rows([("one", None)])
    np.testing.assert_array_equal(one, w.block.rows([("again", None)]))
    for other in (w.block.rows([("other seed", None)]), elsewhere.block.rows([("one", None)])):
        assert np.abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.1
    assert abs(one.mean()) < 0.1
    assert abs(one.std() - 1) < 0.1


def test_several_questions_in_one():
    one, other = world("weighted"), world("weighted")
    theta, _, _ = coefficients(one, False)
    T = np.random.default_rng(14).standard_normal((6, 2))
    steps = [("back", "away", T), ("inner", [("away", "main")]), ("evaluate", theta), ("mass",)]
    answer = one.block.several(steps)
    expected = []
    for question, *arguments in steps:
        expected += getattr(other.block, question)(*arguments)
    assert len(answer) == 4
    for a, b in zip(answer, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_that_are_gathered():
    w = world("weighted")
    theta, _, J = coefficients(w, False)
    M = np.random.default_rng(15).standard_normal((K, 2))
    np.testing.assert_allclose(w.block.activations(theta), J @ theta, atol=1e-13)
    np.testing.assert_allclose(w.block.codes(M), w.main @ M / w.root, atol=1e-13)


# --- before a problem is stated -------------------------------------------------------------------


@every_case
def test_what_must_be_known_first(case):
    w = world(case)
    np.testing.assert_allclose(w.block.squared_norm()[0], np.sum(w.X**2), rtol=1e-13)
    ratio = w.P.class_weight[w.own]
    np.testing.assert_allclose(w.block.weight_range(), (ratio.min(), ratio.max()), rtol=1e-13)
    expected = w.covariates.T @ (w.omega[:, None] * w.covariates)
    np.testing.assert_allclose(w.block.covariate_gram()[0], expected, atol=1e-12)
    T = np.eye(6)
    assert w.block.rescale(4.0) == ()
    np.testing.assert_allclose(w.block.images(T), w.X / 4, atol=1e-14)
    np.testing.assert_allclose(w.block.squared_norm()[0], np.sum(w.X**2) / 16, rtol=1e-13)
    w.block.rescale(2.0)  # in the place of the one before
    np.testing.assert_allclose(w.block.images(T), w.X / 2, atol=1e-14)


@every_case
def test_digest_tells_samples_weights_and_their_order_apart(case):
    w = world(case)
    place = np.sqrt(np.arange(FIRST, LAST) + 1)  # among all samples, from one
    labels, covariates, rows = w.block.digest()
    np.testing.assert_allclose(labels, (place * w.omega) @ w.targets, rtol=1e-12)
    np.testing.assert_allclose(covariates, (place * w.omega) @ w.covariates, atol=1e-11)
    np.testing.assert_allclose(rows, place @ np.sum(w.X**2, axis=1), rtol=1e-12)


@pytest.mark.parametrize("case", ["weighted", "sparse", "binary"])
def test_some_rows_come_with_their_facts(case):
    w = world(case)
    rows, facts = w.block.some_rows(0.5)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    plain = w.X / w.root
    index = [int(np.argmin(np.abs(plain - row).sum(axis=1))) for row in rows]
    assert len(set(index)) == len(index) == 6
    assert index == sorted(index)
    np.testing.assert_allclose(rows, plain[index], atol=1e-14)
    np.testing.assert_allclose(facts.targets, w.targets[index])
    np.testing.assert_allclose(facts.covariates, w.covariates[index])
    np.testing.assert_allclose(facts.loss_weight[:, 0], w.omega[index])
    if facts.root_weight is not None:
        np.testing.assert_allclose(facts.root_weight, w.root[index])
