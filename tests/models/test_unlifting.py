"""Un-lifting: the table of docs/method.md §1 against the singular value decomposition of the explicit θ."""

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example, lifted

from superfactor.losses import resolve_link
from superfactor.models import Factors
from superfactor.models.factors import positive_peaks, principal_rotation
from superfactor.problem import state

every_model = pytest.mark.parametrize("model", MODELS)


def random_lifted(arrays, rank, seed=0, best=False):
    """W orthonormal, β, γ and C: Ã = Wβ, B̃ = WC; the best B̃ for this W if `best`."""
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((arrays.side, rank)))[0]
    beta = rng.standard_normal((rank, arrays.n_outputs)) * 2
    gamma = rng.standard_normal((arrays.n_covariates, arrays.n_outputs))
    C = arrays.image(W).T if best else rng.standard_normal((rank, arrays.other_side))
    return W, beta, gamma, C


def explicit(arrays, P, W, beta, C):
    """A and B of the paper, in the user's units, with the weights (as in the table)."""
    scale = arrays.scale
    if P.model == "filter":
        return W @ beta / scale, W @ C * scale
    return (W @ beta).T, (W @ C * scale).T


def same_up_to_sign(found, expected, atol):
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=atol)


@every_model
@pytest.mark.parametrize(("n", "p", "kappa"), [(9, 6, 3), (6, 9, 1)])
@pytest.mark.parametrize(("weighted", "best"), [(False, True), (True, False)])
def test_factors_are_those_of_the_svd(model, kappa, n, p, weighted, best):
    problem, P = example(model, n, p, kappa, weighted=weighted)
    arrays = problem.arrays()
    W, beta, gamma, C = random_lifted(arrays, 3, best=best)
    A, B = explicit(arrays, P, W, beta, C)
    f = arrays.unlift(W, beta, C.T, gamma)
    assert f.components.shape == (p, 3)
    assert f.codes.shape == (n, 3)
    assert f.beta.shape == (3, kappa)
    np.testing.assert_array_equal(f.gamma, gamma)
    H = (f.codes * np.sqrt(P.weight)[:, None]).T
    U, s, Vt = np.linalg.svd(naive.stack(P, A, B), full_matrices=False)
    assert s[3] < 1e-12 * s[0]
    U, s, Vt = U[:, :3], s[:3], Vt[:3]
    if model == "filter":  # W = U, [β, H] = ΣVᵀ
        same_up_to_sign(f.components, U, 1e-10)
        same_up_to_sign(np.hstack([f.beta, H]).T, (s[:, None] * Vt).T, 1e-10 * s[0])
        np.testing.assert_allclose(f.components.T @ f.components, np.eye(3), atol=1e-14)
    else:  # [βᵀ ‖ W] = UΣ^½, H = Σ^½Vᵀ
        same_up_to_sign(np.vstack([f.beta.T, f.components]), U * np.sqrt(s), 1e-10 * s[0])
        same_up_to_sign(H.T, (np.sqrt(s)[:, None] * Vt).T, 1e-10 * s[0])
    # Signs: the largest entry of each atom is positive; and the products are the point itself.
    peaks = np.argmax(np.abs(f.components), axis=0)
    assert np.all(f.components[peaks, range(3)] > 0)
    atoms, codes = arrays.model.atoms_and_codes(W, C.T)
    turned = arrays.model.turned(atoms, beta, C @ C.T, problem.scale)
    np.testing.assert_allclose(turned.code_sizes, np.linalg.norm(H, axis=1), rtol=1e-10)
    np.testing.assert_allclose(codes @ turned.codes_turn, H.T, atol=1e-11 * (1 + np.abs(H).max()))
    root = np.sqrt(P.weight)
    found_A, found_B, _ = lifted(model, f)
    np.testing.assert_allclose(found_B * root, B, atol=1e-11 * np.abs(B).max())
    unit = 1 if model == "filter" else root
    np.testing.assert_allclose(found_A * unit, A, atol=1e-11 * np.abs(A).max())


@every_model
def test_factors_do_not_depend_on_L_and_P(model):
    """LM and PM⁻ᵀ are the same point and give the same factors."""
    problem, _ = example(model, 9, 6, 2, weighted=True)
    arrays = problem.arrays()
    W, beta, gamma, C = random_lifted(arrays, 3)
    M = np.random.default_rng(4).standard_normal((3, 3))
    one = arrays.unlift(W, beta, C.T, gamma)
    inverse = np.linalg.inv(M)
    other = arrays.unlift(W @ M, inverse @ beta, C.T @ inverse.T, gamma)
    for a, b in zip(
        (one.components, one.codes, one.beta), (other.components, other.codes, other.beta), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(a).max())


@every_model
@pytest.mark.parametrize("unit", [1e-100, 1e50])
def test_A_is_accurate_in_any_unit_of_the_data(model, unit):
    """An SVD of the stacked θ = [A, B] would lose A in the rounding errors of B."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 6)) * unit
    Y = (np.arange(9) % 2)[:, None].astype(float)
    # ξ and λ as a user would choose them in these units.
    lam = 0.3 * unit**2 if model == "filter" else 0.3
    problem = state(model, X, Y, resolve_link("logistic", 1), xi=0.5 / unit**2, lam=lam)
    arrays = problem.arrays()
    W, beta, gamma, C = random_lifted(arrays, 3, best=True)
    f = arrays.unlift(W, beta, C.T, gamma)
    A = W @ beta / (problem.scale if model == "filter" else 1.0)
    found = lifted(model, f)[0]
    found = found if model == "filter" else found.T
    np.testing.assert_allclose(found, A, rtol=1e-9, atol=1e-12 * np.abs(A).max())
    B = W @ W.T @ X.T if model == "filter" else (W @ W.T @ X).T
    np.testing.assert_allclose(lifted(model, f)[1], B, atol=1e-12 * np.abs(B).max())


@every_model
@pytest.mark.parametrize("unit", [1e50])
def test_spare_rank_carries_the_labels(model, unit):
    """Rank-1 data and two factors: the second has no part in B, and its A must be kept."""
    rng = np.random.default_rng(1)
    X = np.outer(rng.standard_normal(7), rng.standard_normal(5)) * unit
    Y = (np.arange(7) % 2)[:, None].astype(float)
    problem = state(model, X, Y, resolve_link("logistic", 1), xi=0.5 / unit**2, lam=0.1)
    arrays = problem.arrays()
    U, _, Vt = np.linalg.svd(X)
    W = (Vt.T if model == "filter" else U)[:, :2]
    beta = np.array([[0.3], [2.0]])
    f = arrays.unlift(W, beta, arrays.image(W), np.zeros((1, 1)))
    A = W @ beta / (problem.scale if model == "filter" else 1.0)
    found = lifted(model, f)[0]
    np.testing.assert_allclose(found.reshape(A.shape), A, rtol=1e-9, atol=1e-12 * np.abs(A).max())


@every_model
def test_zero_point(model):
    problem, _ = example(model, 8, 6, 2)
    arrays = problem.arrays()
    W, beta, gamma, C = random_lifted(arrays, 2)
    f = arrays.unlift(W, 0 * beta, 0 * C.T, 0 * gamma)
    for part in (f.components, f.codes, f.beta, f.gamma):
        assert np.all(np.isfinite(part))
    np.testing.assert_array_equal(f.codes @ f.components.T, 0)


# --- the small parts ----------------------------------------------------------------------------------------


def test_padding_adds_zero_components():
    rng = np.random.default_rng(0)
    f = Factors(*(rng.standard_normal(s) for s in ((5, 2), (7, 2), (2, 3), (1, 3))))
    assert f.padded(2) is f
    more = f.padded(4)
    shapes = [x.shape for x in (more.components, more.codes, more.beta, more.gamma)]
    assert shapes == [(5, 4), (7, 4), (4, 3), (1, 3)]
    for a, b in zip(lifted("filter", more), lifted("filter", f), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)
    assert Factors(f.components, None, f.beta, f.gamma).padded(3).codes is None


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_rotation_diagonalises_at_any_unit(unit):
    M = np.random.default_rng(1).standard_normal((4, 4))
    gram = M @ M.T
    R, values = principal_rotation(gram * unit)
    np.testing.assert_allclose(R.T @ R, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(values / unit, np.linalg.eigvalsh(gram)[::-1], rtol=1e-10)
    np.testing.assert_allclose((R * (values / unit)) @ R.T, gram, atol=1e-12)


def test_rotation_of_zero_factors():
    R, values = principal_rotation(np.zeros((3, 3)))
    np.testing.assert_array_equal(R, np.eye(3))
    np.testing.assert_array_equal(values, 0)


def test_signs_of_the_largest_entries():
    columns = np.array([[1.0, -3.0, 2.0, 0.0], [-2.0, 1.0, -2.0, 0.0]])
    np.testing.assert_array_equal(positive_peaks(columns), [-1, -1, 1, 1])
