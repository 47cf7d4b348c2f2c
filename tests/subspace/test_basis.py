"""The growing basis of either search side, in several blocks of samples, against dense algebra."""

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.samples.cutting import cut

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.samples import Along, Block, Plain
from superfactor.subspace import Basis, leading_basis

pytestmark = pytest.mark.parametrize("model", MODELS)


def problem_of(model, X):
    y = np.arange(len(X)) % 2
    return state(model, X, y, resolve_link("logistic", 1), xi=0.7, lam=0.3)


def basis_of(model, X):
    """An empty basis, and X̃ or its transpose, with the search side in columns."""
    problem = problem_of(model, X)
    return Basis.empty(cut(problem, 3)), turned(problem)


def turned(problem):
    X = problem.whole.data.times(np.eye(problem.shape[1]))
    return X if problem.model.name == "filter" else X.T


def given(basis, T):
    """Return T (N, j) as vectors of the search side."""
    if basis.problem.model.name == "filter":
        return Plain(T)
    return basis.problem.samples.keep(Block.given, T.astype(basis.problem.like.dtype))


def extended(basis, T):
    """The basis with T (N, j), and by how many vectors it has grown."""
    more, added = basis.extended(given(basis, T))
    assert more.size == basis.size + (0 if added is None else added.T.columns)
    return more, more.size - basis.size


def check(basis, X, atol=1e-12):
    """Check that S is orthonormal and every product is correct; X̃ (other side, search side)."""
    S, G = basis.S.array(), X.T @ X
    size = np.linalg.norm(G, 2)
    np.testing.assert_allclose(S.T @ S, np.eye(basis.size), atol=atol)
    np.testing.assert_allclose(basis.D, S.T @ G @ S, atol=atol * size)
    np.testing.assert_allclose(basis.GS.array(), G @ S, atol=atol * size)
    image = X @ S
    by_samples, by_features = (image, S) if basis.problem.model.name == "filter" else (S, image)
    root = max(1, np.sqrt(size))
    np.testing.assert_allclose(basis.features.array(), by_samples, atol=atol * root)
    np.testing.assert_allclose(basis.loadings, by_features, atol=atol * root)


def in_span(basis, T):
    T, S = T / np.linalg.norm(T, axis=0), basis.S.array()
    return np.linalg.norm(T - S @ (S.T @ T)) < 1e-7


def side(rng, model, other, size):
    """Random data whose search side has `size` dimensions."""
    X = rng.standard_normal((other, size))
    return X if model == "filter" else X.T


# --- growth ------------------------------------------------------------------------------------------------


def test_many_extensions_stay_orthonormal(model):
    rng = np.random.default_rng(0)
    basis, X = basis_of(model, side(rng, model, 60, 40))
    for i in range(30):
        T = rng.standard_normal((40, 2)) * 10.0 ** rng.integers(-8, 8, 2)
        if i % 3 == 1:  # mostly inside the basis
            inside = basis.S.array() @ rng.standard_normal((basis.size, 2))
            T = inside + 1e-6 * T / np.abs(T).max()
        basis, _ = extended(basis, T)
        assert basis.size <= 40
        check(basis, X)
        assert in_span(basis, T)
    assert basis.size == 40
    again, added = basis.extended(given(basis, rng.standard_normal((40, 3))))
    assert again is basis
    assert added is None


@pytest.mark.parametrize("closeness", [1e-6, 1e-9, 0.0])
def test_nearly_dependent_columns(model, closeness):
    rng = np.random.default_rng(1)
    basis, X = basis_of(model, side(rng, model, 20, 15))
    basis, _ = extended(basis, rng.standard_normal((15, 4)))
    t = rng.standard_normal((15, 1))
    first = basis.S.array()[:, :1]
    T = np.hstack([t, t + closeness * rng.standard_normal((15, 1)), first, 0 * t])
    basis, added = extended(basis, T)
    assert added == (2 if closeness > 1e-8 else 1)
    check(basis, X)


def test_new_directions_report_the_columns_they_come_from(model):
    rng = np.random.default_rng(2)
    basis, _ = basis_of(model, side(rng, model, 20, 12))
    basis, _ = extended(basis, rng.standard_normal((12, 3)))
    S = basis.S.array()
    a, b = rng.standard_normal((12, 1)), rng.standard_normal((12, 1))
    T = np.hstack([np.zeros((12, 1)), a, S @ np.ones((3, 1)), 2 * a, b])
    new, source = basis.new_directions(given(basis, T))
    assert source.tolist() == [1, 4]
    new = new.array()
    np.testing.assert_allclose(new.T @ new, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(S.T @ new, 0, atol=1e-13)
    # New column j comes from the j-th remaining one, whose chain it continues.
    first, gram = basis.outside(given(basis, a))
    first = first.array()[:, 0]
    np.testing.assert_allclose(first, (a - S @ (S.T @ a))[:, 0], atol=1e-13)
    np.testing.assert_allclose(gram, [[first @ first]], rtol=1e-13)
    assert abs(new[:, 0] @ first) > 0.999999 * np.linalg.norm(first)


def test_a_basis_is_immutable(model):
    """An older basis stays valid after others have grown from it."""
    rng = np.random.default_rng(4)
    basis, X = basis_of(model, side(rng, model, 20, 14))
    first, _ = extended(basis, rng.standard_normal((14, 3)))
    before = first.S.array().copy()
    one, _ = extended(first, rng.standard_normal((14, 2)))
    other, _ = extended(first, rng.standard_normal((14, 4)))
    third, _ = extended(one, rng.standard_normal((14, 1)))
    rest, _ = extended(basis, rng.standard_normal((14, 2)))
    for each, size in ((basis, 0), (first, 3), (one, 5), (other, 7), (third, 6), (rest, 2)):
        assert each.size == size
        check(each, X)
    for each in (first, one, other, third):
        np.testing.assert_array_equal(each.S.array()[:, :3], before)


def test_coordinates_and_leading_directions(model):
    rng = np.random.default_rng(5)
    basis, _ = basis_of(model, side(rng, model, 20, 12))
    basis, _ = extended(basis, rng.standard_normal((12, 4)))
    T = rng.standard_normal((12, 5)) * np.array([1, 10, 0.1, 3, 0.01])
    vectors = given(basis, T)
    np.testing.assert_allclose(basis.coordinates(vectors), basis.S.array().T @ T, atol=1e-12)
    assert basis.leading_of(vectors, 5) is vectors
    leading = basis.leading_of(vectors, 2).array()
    U, s, _ = np.linalg.svd(T, full_matrices=False)
    np.testing.assert_allclose(np.abs(U[:, :2].T @ leading), np.diag(s[:2]), atol=1e-10)


# --- the leading subspace ----------------------------------------------------------------------------------


def leading(model, X, size, keep, width=4):
    problem = problem_of(model, X if model == "filter" else X.T)
    basis = leading_basis(cut(problem, 3), size, keep, np.random.default_rng(0), width)
    return basis, turned(problem)


def test_leading_subspace_is_that_of_the_svd(model):
    rng = np.random.default_rng(5)
    U, V = (np.linalg.qr(rng.standard_normal((s, 30)))[0] for s in (80, 50))
    sigma = 2.0 ** -np.arange(30)
    basis, X = leading(model, (U * sigma) @ V.T, 20, 8)
    assert basis.size == 8
    check(basis, X)
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.diag(basis.D)[:3], sigma[:3] ** 2, rtol=1e-9)
    angles = np.linalg.svd(basis.S.array()[:, :3].T @ V[:, :3], compute_uv=False)
    np.testing.assert_allclose(angles, 1, atol=1e-9)


def test_data_of_low_rank_end_the_iteration(model):
    rng = np.random.default_rng(6)
    low = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20))
    basis, X = leading(model, low, 20, 20, width=2)
    assert basis.size == 3
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(basis.D))[::-1], sigma[:3] ** 2)
    check(basis, X)


@pytest.mark.parametrize(("shape", "limit"), [((14, 9), 9), ((9, 14), 9), ((9, 14), 14)])
def test_everything_is_the_side_or_the_range(model, shape, limit):
    rng = np.random.default_rng(7)
    basis, X = basis_of(model, rng.standard_normal(shape))
    problem = basis.problem
    basis, _ = basis.extended(problem.model.everything(problem.side, limit))
    N = problem.model.side(shape)
    assert basis.size == (N if limit >= N else 9)
    assert in_span(basis, X.T)
    check(basis, X)


# --- products for the solver --------------------------------------------------------------------------------


@pytest.mark.parametrize(("weighted", "kappa"), [(False, 1), (True, 3)])
def test_residuals_and_chains_are_their_formulas(model, weighted, kappa):
    problem, _ = example(model, 13, 9, kappa, weighted=weighted)
    arrays, X = problem.arrays(), turned(problem)
    problem = cut(problem, 3)
    basis, rng = Basis.empty(problem), np.random.default_rng(8)
    basis, _ = extended(basis, rng.standard_normal((arrays.side, 4)))
    S, G = basis.S.array(), X.T @ X
    W, beta = np.linalg.qr(rng.standard_normal((4, 2)))[0], rng.standard_normal((2, kappa))
    gamma = rng.standard_normal((arrays.n_covariates, kappa))
    coef = np.concatenate([W @ beta, gamma])
    a = arrays.activations(S @ W @ beta, gamma)
    _, E = arrays.loss_terms(a)
    pulled = problem.model.pulled(problem.side, basis.design, coef)
    np.testing.assert_allclose(pulled.array(), arrays.pull(E), atol=1e-12)
    found = basis.residual(W, beta, pulled).array()
    expected = problem.xi * G @ S @ W - 0.5 * arrays.pull(E) @ beta.T
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # A chain: the last added vectors times 2ξ(θ_i − G) plus the loss's curvature along b_i.
    T, _ = basis.new_directions(given(basis, rng.standard_normal((arrays.side, 2))))
    more, added = basis.grown(T, Along(basis.design, coef, beta))
    T = T.array()
    check(more, X)
    np.testing.assert_array_equal(added.T.array(), T)
    np.testing.assert_allclose(added.powers.array(), G @ T, atol=1e-12)
    values = np.array([0.3, 1.7])
    H = arrays.loss.hessian(a, arrays.targets) * arrays.loss_weight[:, :, None]
    expected = 2 * problem.xi * (T * values - G @ T)
    features = arrays.features(T, arrays.image(T))
    for i in range(2):
        h = np.einsum("c,ncd,d->n", beta[i], H, beta[i])
        expected[:, i] += arrays.pull((h * features[:, i])[:, None])[:, 0]
    for pick in ([0, 1], [1], []):
        found = added.chain(problem.xi, values, np.array(pick, dtype=int)).array()
        np.testing.assert_allclose(found, expected[:, pick], atol=1e-11)
