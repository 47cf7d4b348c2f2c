"""The growing basis of either search side, in one block of samples or in several, against dense algebra."""

from dataclasses import replace

import numpy as np
import pytest
from superfactor.lifting import GrowingBasis, state_problem
from superfactor.lifting.basis import Tall
from tests.lifting.cutting import cut
from tests.solvers.examples import MODELS, example

from superfactor.losses import resolve_link

pytestmark = [
    pytest.mark.parametrize("model", MODELS),
    pytest.mark.parametrize("blocks", [1, 3]),
]


def problem_of(model, X, **options):
    y = (np.arange(len(X)) % 2)[:, None].astype(X.dtype)
    return state_problem(model, X, y, resolve_link("logistic", 1), xi=0.7, lam=0.3, **options)


def basis_of(model, blocks, X):
    """An empty basis, and X̃ turned so that the search side is that of its columns."""
    problem = problem_of(model, X)
    return GrowingBasis.of(cut(problem, blocks)), turned(problem)


def turned(problem):
    X = problem.data.times(np.eye(problem.data.shape[1]))
    return X if problem.name == "filter" else X.T


def given(basis, T, name="given"):
    """Vectors T (N, j) in the words of the basis."""
    if basis.problem.name == "filter":
        return T
    basis.problem.samples.tell("identity", name, basis.problem.side)
    basis.problem.samples.tell("combine", name, [(name, T)])
    return Tall(name, T.shape[1])


def as_array(basis, T):
    if basis.problem.name == "filter":
        return T
    found = np.concatenate(basis.problem.samples.gather("rows", [(T.name, None)]))
    assert found.shape[1] == T.columns
    return found


def all_vectors(basis):
    return basis.vectors(np.eye(basis.size))


def check(basis, X, atol=1e-12):
    """S orthonormal, and every image what it says it is; X̃ (other side, search side)."""
    S, G = all_vectors(basis), X.T @ X
    size = np.linalg.norm(G, 2)
    np.testing.assert_allclose(S.T @ S, np.eye(basis.size), atol=atol)
    np.testing.assert_allclose(basis.D, S.T @ G @ S, atol=atol * size)
    if basis.size == 0:
        return
    powers = as_array(basis, basis.powers(np.eye(basis.size)))
    np.testing.assert_allclose(powers, G @ S, atol=atol * size)
    main = np.concatenate(basis.problem.samples.gather("rows", [("main", None)]))
    expected = X @ S if basis.problem.name == "filter" else S
    np.testing.assert_allclose(main, expected, atol=atol * max(1, np.sqrt(size)))


def in_span(basis, T):
    T, S = T / np.linalg.norm(T, axis=0), all_vectors(basis)
    return np.linalg.norm(T - S @ (S.T @ T)) < 1e-7


def side(rng, model, other, size):
    """Random data whose search side has `size` dimensions."""
    X = rng.standard_normal((other, size))
    return X if model == "filter" else X.T


# --- growth ------------------------------------------------------------------------------------------------


def test_many_extensions_stay_orthonormal(model, blocks):
    rng = np.random.default_rng(0)
    basis, X = basis_of(model, blocks, side(rng, model, 60, 40))
    for i in range(30):
        T = rng.standard_normal((40, 2)) * 10.0 ** rng.integers(-8, 8, 2)
        if i % 3 == 1:  # mostly inside what is already there
            T = (
                all_vectors(basis) @ rng.standard_normal((basis.size, 2))
                + 1e-6 * T / np.abs(T).max()
            )
        before = basis.size
        added = basis.extend(given(basis, T))
        assert basis.size == before + added <= 40
        check(basis, X)
        assert in_span(basis, T)
    assert basis.size == 40
    assert basis.extend(given(basis, rng.standard_normal((40, 3)))) == 0


@pytest.mark.parametrize("closeness", [1e-3, 1e-6, 1e-9, 1e-12, 0.0])
def test_nearly_dependent_columns(model, blocks, closeness):
    rng = np.random.default_rng(1)
    basis, X = basis_of(model, blocks, side(rng, model, 20, 15))
    basis.extend(given(basis, rng.standard_normal((15, 4))))
    t = rng.standard_normal((15, 1))
    first = all_vectors(basis)[:, :1]
    T = np.hstack([t, t + closeness * rng.standard_normal((15, 1)), first, 0 * t])
    added = basis.extend(given(basis, T))
    assert added == (2 if closeness > 1e-8 else 1)
    check(basis, X)


def test_more_vectors_than_a_block_has_samples(model, blocks):
    """Triangles of blocks with fewer rows than columns are put together all the same."""
    rng = np.random.default_rng(2)
    basis, X = basis_of(model, 5 if blocks == 3 else 1, side(rng, model, 20, 15))
    T = rng.standard_normal((15, 12))
    assert basis.extend(given(basis, T)) == 12
    check(basis, X)
    assert in_span(basis, T)


def test_new_directions_tell_the_columns_they_come_from(model, blocks):
    rng = np.random.default_rng(2)
    basis, _ = basis_of(model, blocks, side(rng, model, 20, 12))
    basis.extend(given(basis, rng.standard_normal((12, 3))))
    S = all_vectors(basis)
    a, b = rng.standard_normal((12, 1)), rng.standard_normal((12, 1))
    T = np.hstack([np.zeros((12, 1)), a, S @ np.ones((3, 1)), 2 * a, b])
    new, source = basis.new_directions(given(basis, T))
    assert source.tolist() == [1, 4]
    assert basis.size == 3  # asking adds nothing
    new = as_array(basis, new)
    np.testing.assert_allclose(new.T @ new, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(S.T @ new, 0, atol=1e-13)
    # New column j belongs to the j-th surviving one: that chain goes on from it.
    first, gram = basis.outside(given(basis, a))
    first = as_array(basis, first)[:, 0]
    np.testing.assert_allclose(first, (a - S @ (S.T @ a))[:, 0], atol=1e-13)
    np.testing.assert_allclose(gram, [[first @ first]], rtol=1e-13)
    assert abs(new[:, 0] @ first) > 0.999999 * np.linalg.norm(first)


def test_nothing_new_adds_nothing(model, blocks):
    rng = np.random.default_rng(3)
    basis, X = basis_of(model, blocks, side(rng, model, 20, 12))
    assert basis.extend(given(basis, np.zeros((12, 2)))) == 0
    basis.extend(given(basis, rng.standard_normal((12, 5))))
    inside = all_vectors(basis) @ rng.standard_normal((5, 3))
    new, source = basis.new_directions(given(basis, inside))
    assert source.size == 0
    assert basis.columns(new) == 0
    check(basis, X)


def test_rotation_keeps_the_images(model, blocks):
    rng = np.random.default_rng(3)
    basis, X = basis_of(model, blocks, side(rng, model, 20, 12))
    basis.extend(given(basis, rng.standard_normal((12, 6))))
    V, before = np.linalg.qr(rng.standard_normal((6, 4)))[0], all_vectors(basis)
    basis.rotate(V)
    assert basis.size == 4
    np.testing.assert_allclose(all_vectors(basis), before @ V, atol=1e-13)
    check(basis, X)


def test_what_is_held_outlives_the_basis(model, blocks):
    rng = np.random.default_rng(4)
    basis, X = basis_of(model, blocks, side(rng, model, 20, 12))
    basis.extend(given(basis, rng.standard_normal((12, 5))))
    W = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    vectors = basis.vectors(W)
    first, second = basis.hold(W), basis.hold(W[:, :1])
    basis.rotate(np.linalg.qr(rng.standard_normal((5, 3)))[0])
    basis.extend(given(basis, rng.standard_normal((12, 2))))
    np.testing.assert_allclose(as_array(basis, first), vectors, atol=1e-14)
    np.testing.assert_allclose(as_array(basis, second), vectors[:, :1], atol=1e-14)
    cross, gram = basis.products(first)
    np.testing.assert_allclose(cross, all_vectors(basis).T @ vectors, atol=1e-13)
    np.testing.assert_allclose(gram, np.eye(2), atol=1e-13)
    basis.extend(first)
    assert in_span(basis, vectors)
    check(basis, X)
    basis.release(first)
    np.testing.assert_allclose(as_array(basis, second), vectors[:, :1], atol=1e-14)
    if model == "feature":
        with pytest.raises(KeyError):
            as_array(basis, first)


def test_some_of_the_vectors(model, blocks):
    rng = np.random.default_rng(5)
    basis, _ = basis_of(model, blocks, side(rng, model, 20, 12))
    T = rng.standard_normal((12, 4))
    found = basis.take(given(basis, T), np.array([2, 0]))
    np.testing.assert_allclose(as_array(basis, found), T[:, [2, 0]], atol=1e-15)


# --- the leading subspace ----------------------------------------------------------------------------------


def leading(model, blocks, X, size, keep, width=4):
    basis, turned = basis_of(model, blocks, X if model == "filter" else X.T)
    basis.fill_leading(size, keep, np.random.default_rng(0), width)
    return basis, turned


def test_leading_subspace_is_that_of_the_svd(model, blocks):
    rng = np.random.default_rng(5)
    U, V = (np.linalg.qr(rng.standard_normal((s, 30)))[0] for s in (80, 50))
    sigma = 2.0 ** -np.arange(30)
    basis, X = leading(model, blocks, (U * sigma) @ V.T, 20, 8)
    assert basis.size == 8
    check(basis, X)
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.diag(basis.D)[:3], sigma[:3] ** 2, rtol=1e-9)
    angles = np.linalg.svd(all_vectors(basis)[:, :3].T @ V[:, :3], compute_uv=False)
    np.testing.assert_allclose(angles, 1, atol=1e-9)


def test_data_of_low_rank_end_the_iteration(model, blocks):
    rng = np.random.default_rng(6)
    low = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20))
    basis, X = leading(model, blocks, low, 20, 20, width=2)
    assert basis.size == 3
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(basis.D))[::-1], sigma[:3] ** 2)
    check(basis, X)


def test_zero_data_have_no_leading_subspace(model, blocks):
    assert leading(model, blocks, np.zeros((6, 5)), 4, 4)[0].size == 0


@pytest.mark.parametrize("shape", [(14, 9), (9, 14)])
@pytest.mark.parametrize("limit", [9, 14])
def test_everything_is_the_side_or_the_range(model, blocks, shape, limit):
    rng = np.random.default_rng(7)
    basis, X = basis_of(model, blocks, rng.standard_normal(shape))
    basis.extend(basis.everything(limit))
    N = basis.problem.side
    assert basis.size == (N if limit >= N else 9)
    assert in_span(basis, X.T)
    check(basis, X)


def test_random_vectors(model, blocks):
    """Anywhere, or in the range of X̃; other numbers each time, the same from the same seed."""
    low = np.outer(np.arange(1.0, 13), np.arange(1.0, 10))
    basis, X = basis_of(model, blocks, low)
    N = basis.problem.side

    def drawn(method, seed, times=1):
        rng = np.random.default_rng(seed)
        return [as_array(basis, method(rng, 6)).copy() for _ in range(times)]

    first, second = drawn(basis.random, 0, 2)
    assert first.shape == (N, 6)
    assert np.linalg.matrix_rank(np.hstack([first, second])) == min(N, 12)
    np.testing.assert_array_equal(drawn(basis.random, 0)[0], first)
    pooled = np.concatenate([x.ravel() for x in drawn(basis.random, 1, 300)])
    assert abs(pooled.mean()) < 0.03
    assert abs(pooled.std() - 1) < 0.03
    inside = drawn(basis.image_of_random, 0)[0]
    v = np.linalg.svd(X)[2][0]
    np.testing.assert_allclose(inside, np.outer(v, v @ inside), atol=1e-12)
    assert np.linalg.norm(inside) > 0


# --- what the solver asks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kappa", [1, 3])
def test_pulls_residuals_and_chains_are_their_formulas(model, blocks, weighted, kappa):
    problem, _ = example(model, 13, 9, kappa, weighted=weighted)
    basis, X = GrowingBasis.of(cut(problem, blocks)), turned(problem)
    rng = np.random.default_rng(8)
    basis.extend(given(basis, rng.standard_normal((problem.side, 4))))
    S, G = all_vectors(basis), X.T @ X
    W, beta = np.linalg.qr(rng.standard_normal((4, 2)))[0], rng.standard_normal((2, kappa))
    gamma = rng.standard_normal((problem.covariates.shape[1], kappa))
    theta = np.concatenate([W @ beta, gamma])
    a = problem.activations(S @ W @ beta, gamma)
    _, E = problem.loss_terms(a)
    pulled = problem.pull(E)
    np.testing.assert_allclose(as_array(basis, basis.pull(theta)), pulled, atol=1e-12)
    found = as_array(basis, basis.residual(W, beta, theta))
    expected = problem.xi * G @ S @ W - 0.5 * pulled @ beta.T
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # A chain: the vectors that were added last, times 2ξ(θ_i − G) plus the loss's curvature along b_i.
    T, _ = basis.new_directions(given(basis, rng.standard_normal((problem.side, 2))))
    T = as_array(basis, T).copy()
    basis.append(given(basis, T), theta, beta)
    np.testing.assert_allclose(as_array(basis, basis.latest_powers(2)), G @ T, atol=1e-12)
    values, H = np.array([0.3, 1.7]), problem.loss_hessian(a)
    expected = 2 * problem.xi * (T * values - G @ T)
    features = problem.features(T, problem.image(T))
    for i in range(2):
        h = np.einsum("c,ncd,d->n", beta[i], H, beta[i])
        expected[:, i] += problem.pull((h * features[:, i])[:, None])[:, 0]
    for pick in ([0, 1], [1], []):
        found = as_array(basis, basis.chain(values, np.array(pick, dtype=int)))
        np.testing.assert_allclose(found, expected[:, pick], atol=1e-11)


def test_pull_of_the_dual_points(model, blocks):
    problem, _ = example(model, 13, 9, 2, weighted=True)
    basis = GrowingBasis.of(cut(problem, blocks))
    g = np.random.default_rng(9).standard_normal((13, 2))
    basis.problem.samples.tell("given", "dual", g)
    found = as_array(basis, basis.pull(None))
    np.testing.assert_allclose(found, problem.pull(g * problem.loss_weight), atol=1e-13)


def test_single_precision_blocks(model, blocks):
    """Images in the type of X, small matrices in float64, and no direction that rounding made up."""
    rng = np.random.default_rng(10)
    basis, X = basis_of(model, blocks, side(rng, model, 40, 30).astype(np.float32))
    T = rng.standard_normal((30, 6))
    assert basis.extend(given(basis, T)) == 6
    assert basis.D.dtype == np.float64
    main = basis.problem.samples.gather("rows", [("main", None)])
    assert {part.dtype for part in main} == {np.dtype(np.float32)}
    assert basis.extend(given(basis, T @ rng.standard_normal((6, 4)))) == 0
    check(basis, X.astype(float), atol=1e-5)


def test_other_weights_leave_the_basis_alone(model, blocks):
    """ξ and λ are read when they are needed: a path changes them under the basis."""
    rng = np.random.default_rng(11)
    basis, X = basis_of(model, blocks, side(rng, model, 20, 12))
    basis.extend(given(basis, rng.standard_normal((12, 4))))
    W, beta = np.linalg.qr(rng.standard_normal((4, 2)))[0], rng.standard_normal((2, 1))
    theta = np.concatenate([W @ beta, np.zeros((1, 1))])
    pulled = as_array(basis, basis.pull(theta)).copy()
    basis.problem = replace(basis.problem, xi=5.0)
    expected = 5.0 * X.T @ X @ all_vectors(basis) @ W - 0.5 * pulled @ beta.T
    np.testing.assert_allclose(
        as_array(basis, basis.residual(W, beta, theta)), expected, atol=1e-12
    )
