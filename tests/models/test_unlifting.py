"""Un-lifting: the table of docs/method.md §1 against the singular value decomposition of the explicit θ."""

import numpy as np
import pytest
from superfactor.lifting import state_problem
from tests import naive
from tests.solvers.examples import MODELS, example, lifted

from superfactor.losses import resolve_link

every_model = pytest.mark.parametrize("model", MODELS)


def random_lifted(problem, rank, seed=0, best=False):
    rng = np.random.default_rng(seed)
    W = np.linalg.qr(rng.standard_normal((problem.side, rank)))[0]
    beta = rng.standard_normal((rank, problem.n_outputs)) * 2
    gamma = rng.standard_normal((problem.covariates.shape[1], problem.n_outputs))
    C = None if best else rng.standard_normal((rank, problem.other_side))
    return W, beta, gamma, C


def explicit(problem, P, W, beta, C):
    """A and B of the paper, in the user's units, weights still in (as the table wants them)."""
    C = problem.image(W).T if C is None else C
    if P.model == "filter":
        return W @ beta / problem.data.scale, W @ C * problem.data.scale
    return (W @ beta).T, (W @ C * problem.data.scale).T


def same_up_to_sign(found, expected, atol):
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=atol)


@every_model
@pytest.mark.parametrize("kappa", [1, 3])
@pytest.mark.parametrize(("n", "p"), [(9, 6), (6, 9)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("best", [False, True])
def test_factors_are_those_of_the_svd(model, kappa, n, p, weighted, best):
    problem, P = example(model, n, p, kappa, weighted=weighted)
    W, beta, gamma, C = random_lifted(problem, 3, best=best)
    A, B = explicit(problem, P, W, beta, C)
    f = problem.unlift(W, beta, gamma, C)
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
    root = np.sqrt(P.weight)
    found_A, found_B, _ = lifted(model, f)
    np.testing.assert_allclose(found_B * root, B, atol=1e-11 * np.abs(B).max())
    unit = 1 if model == "filter" else root
    np.testing.assert_allclose(found_A * unit, A, atol=1e-11 * np.abs(A).max())


@every_model
def test_lift_is_the_way_back(model):
    problem, _ = example(model, 8, 6, 2, weighted=True)
    W, beta, gamma, C = random_lifted(problem, 3)
    np.testing.assert_allclose(
        problem.lift(problem.unlift(W, beta, gamma, C)), W @ beta, atol=1e-12
    )


@every_model
@pytest.mark.parametrize("unit", [1e-100, 1e-10, 1e10, 1e50])
def test_no_unit_of_the_data_loses_A(model, unit):
    """A stacked θ = [A, B] has one scale: an SVD of it drowns A in the rounding of B."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 6)) * unit
    Y = (np.arange(9) % 2)[:, None].astype(float)
    # ξ and λ as a user would choose them in these units.
    problem = state_problem(
        model,
        X,
        Y,
        resolve_link("logistic", 1),
        xi=0.5 / unit**2,
        lam=0.3 * unit**2 if model == "filter" else 0.3,
    )
    W, beta, gamma, _ = random_lifted(problem, 3, best=True)
    f = problem.unlift(W, beta, gamma)
    A = W @ beta / (problem.data.scale if model == "filter" else 1.0)
    found = lifted(model, f)[0]
    found = found if model == "filter" else found.T
    np.testing.assert_allclose(found, A, rtol=1e-9, atol=1e-12 * np.abs(A).max())
    B = W @ W.T @ X.T if model == "filter" else (W @ W.T @ X).T
    np.testing.assert_allclose(lifted(model, f)[1], B, atol=1e-12 * np.abs(B).max())


@every_model
@pytest.mark.parametrize("unit", [1.0, 1e50])
def test_spare_rank_carries_the_labels(model, unit):
    """Rank-1 data, two factors: the second has no share in B, and its A must survive."""
    rng = np.random.default_rng(1)
    X = np.outer(rng.standard_normal(7), rng.standard_normal(5)) * unit
    Y = (np.arange(7) % 2)[:, None].astype(float)
    problem = state_problem(model, X, Y, resolve_link("logistic", 1), xi=0.5 / unit**2, lam=0.1)
    U, _, Vt = np.linalg.svd(X)
    W = (Vt.T if model == "filter" else U)[:, :2]
    beta = np.array([[0.3], [2.0]])
    f = problem.unlift(W, beta, np.zeros((1, 1)))
    A = W @ beta / (problem.data.scale if model == "filter" else 1.0)
    found = lifted(model, f)[0]
    np.testing.assert_allclose(found.reshape(A.shape), A, rtol=1e-9, atol=1e-12 * np.abs(A).max())


@every_model
def test_zero_point(model):
    problem, _ = example(model, 8, 6, 2)
    W, beta, gamma, C = random_lifted(problem, 2)
    f = problem.unlift(W, 0 * beta, 0 * gamma, 0 * C)
    for part in (f.components, f.codes, f.beta, f.gamma):
        assert np.all(np.isfinite(part))
    np.testing.assert_array_equal(f.codes @ f.components.T, 0)
