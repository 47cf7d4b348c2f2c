"""Leading eigenpairs of diagonal plus low rank, against a dense decomposition."""

import numpy as np
import pytest

from superfactor.spectrum import eigen, project_rank, ritz_corrections, top_eigenpairs, truncated_svd


def diagonal(kind, m, rng):
    if kind == "decaying":
        return 1.0 / np.arange(1, m + 1) ** 2
    if kind == "flat":
        return np.ones(m)
    if kind == "clustered":  # groups of equal values across the cut between head and tail
        return np.sort(np.repeat(rng.uniform(0, 1, -(-m // 7)), 7)[:m])[::-1].copy()
    if kind == "rank deficient":
        return np.where(np.arange(m) < 5, 5.0 - np.arange(m), 0.0)
    return np.sort(rng.uniform(0, 10, m))[::-1].copy()


def check(d, G, rank, core=None, rtol=1e-11):
    k = G.shape[1]
    values, vectors, residuals = top_eigenpairs(d, G, rank, core)
    M = np.diag(d) + G @ (np.eye(k) if core is None else core) @ G.T
    size = np.linalg.norm(M, 2)
    expected = np.linalg.eigvalsh(M)[::-1][:rank]
    np.testing.assert_allclose(values, expected, atol=rtol * size)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(rank), atol=1e-10)
    true = np.linalg.norm(M @ vectors - vectors * values, axis=0)
    # The reported residual is the dense one, up to rounding.
    np.testing.assert_allclose(residuals, true, atol=rtol * size)
    return residuals


@pytest.mark.parametrize("kind", ["decaying", "flat", "clustered", "rank deficient", "uniform"])
@pytest.mark.parametrize("m", [3, 150])
@pytest.mark.parametrize(("k", "rank"), [(1, 1), (5, 2)])
def test_same_as_dense(kind, m, k, rank):
    rng = np.random.default_rng(m + k)
    for strength in (1e-3, 1.0, 1e3):
        G = strength * rng.standard_normal((m, k)) / np.sqrt(m)
        check(diagonal(kind, m, rng), G, rank)


@pytest.mark.parametrize("m", [30, 150])
@pytest.mark.parametrize("core", [[[1, 0], [0, -1]], [[-1, 0], [0, -2]], [[0, 3], [3, 0]]])
def test_indefinite_core(m, core):
    rng = np.random.default_rng(0)
    G = rng.standard_normal((m, 2)) * 3 / np.sqrt(m)
    check(diagonal("uniform", m, rng), G, 4, np.array(core, dtype=float))


def test_a_strong_direction_in_the_tail_is_found():
    m = 150
    d, G = np.linspace(1, 0, m), np.zeros((m, 1))
    G[-1] = 10.0  # zero in the leading coordinates
    check(d, G, 3)


def test_a_loose_tolerance_reports_its_residual():
    m, rng = 150, np.random.default_rng(3)
    d, G = diagonal("uniform", m, rng), rng.standard_normal((m, 1))
    values, vectors, residuals = top_eigenpairs(d, G, 6, tol=1e-2)
    M = np.diag(d) + G @ G.T
    true = np.linalg.norm(M @ vectors - vectors * values, axis=0)
    assert np.max(true) <= 1e-2 * values[0]
    assert np.max(true) > 1e-9 * values[0]  # it did stop early
    np.testing.assert_allclose(residuals, true, atol=1e-12 * values[0])


def test_no_square_matrix_where_the_side_is_long(monkeypatch):
    sizes = []
    dense = eigen.eigh_descending
    monkeypatch.setattr(eigen, "eigh_descending", lambda M: sizes.append(M.shape[0]) or dense(M))
    rng = np.random.default_rng(0)
    top_eigenpairs(diagonal("decaying", 400, rng), rng.standard_normal((400, 1)) / 20, 3)
    assert max(sizes) < 100


@pytest.mark.parametrize("closeness", [1e-8, 1e-3, 0.3])
@pytest.mark.parametrize("rank", [1, 3])
def test_ritz_values_and_their_corrections_bound_the_sum(rank, closeness):
    """The corrections bound the error of Ritz values of a subspace near the leading one."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((12, 12))
        M = A @ A.T
        values, V = np.linalg.eigh(M)
        S = V[:, ::-1][:, :rank] + closeness * rng.standard_normal((12, rank))
        S = np.linalg.qr(S)[0]
        ritz, U = np.linalg.eigh(S.T @ M @ S)
        ritz, S = ritz[::-1], S @ U[:, ::-1]
        R = M @ S - S * ritz
        rest = np.linalg.qr(S, mode="complete")[0][:, rank:]
        outside = np.linalg.eigvalsh(rest.T @ M @ rest)[-1]
        more = ritz_corrections(ritz - outside, np.linalg.norm(R, axis=0))
        exact = values[::-1][:rank].sum()
        assert ritz.sum() <= exact * (1 + 1e-12)
        assert ritz.sum() + more.sum() >= exact * (1 - 1e-12)
        if closeness < 1e-6:  # and are tight
            assert more.sum() < 1e-9 * exact


def test_corrections_where_the_gap_is_small():
    found = ritz_corrections(np.array([4.0, 1.0, 0.0, -2.0]), np.array([2.0, 1.0, 3.0, 0.5]))
    np.testing.assert_allclose(found, [1.0, 1.0, 6.0, 3.0])


# --- Π_r, the nearest matrix of rank r ------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 9), (9, 6), (1, 4)])
@pytest.mark.parametrize("rank", [1, 3])
def test_nearest_matrix_of_the_rank(shape, rank):
    rng = np.random.default_rng(0)
    theta = rng.standard_normal(shape)
    found = project_rank(theta, rank)
    assert np.linalg.matrix_rank(found) <= rank
    # Eckart–Young: the distance is the tail of the spectrum ...
    tail = np.linalg.svd(theta, compute_uv=False)[rank:]
    np.testing.assert_allclose(np.linalg.norm(theta - found), np.linalg.norm(tail), atol=1e-12)
    # ... and no matrix of this rank is nearer, also not after alternating least squares.
    for _ in range(5):
        left = rng.standard_normal((shape[0], rank))
        for _ in range(30):
            right = np.linalg.lstsq(left, theta, rcond=None)[0]
            left = np.linalg.lstsq(right.T, theta.T, rcond=None)[0].T
        distance = np.linalg.norm(theta - left @ right)
        assert distance >= np.linalg.norm(theta - found) - 1e-12


def test_parts_and_full_rank():
    theta = np.random.default_rng(3).standard_normal((4, 6))
    U, s, Vt = truncated_svd(theta, 3)
    assert (U.shape, s.shape, Vt.shape) == ((4, 3), (3,), (3, 6))
    np.testing.assert_allclose(s, np.linalg.svd(theta, compute_uv=False)[:3])
    np.testing.assert_allclose(project_rank(theta, 4), theta, atol=1e-13)
    np.testing.assert_allclose(project_rank(np.zeros((3, 2)), 1), 0)
