"""The growing basis and the leading subspace, against dense linear algebra."""

import numpy as np
import pytest

from superfactor.spectrum import GrowingBasis, fill_leading


def basis_of(X):
    return GrowingBasis(np.zeros((X.shape[1], 0)), lambda T: X @ T, lambda Z: X.T @ Z)


def check(basis, X, atol=1e-12):
    """S orthonormal, and every image what it says it is."""
    S, G = basis.S, X.T @ X
    size = np.linalg.norm(G, 2)
    np.testing.assert_allclose(S.T @ S, np.eye(basis.size), atol=atol)
    np.testing.assert_allclose(basis.Z, X @ S, atol=atol * np.sqrt(size))
    np.testing.assert_allclose(basis.GS, G @ S, atol=atol * size)
    np.testing.assert_allclose(basis.D, S.T @ G @ S, atol=atol * size)


def in_span(basis, T):
    T = T / np.linalg.norm(T, axis=0)
    return np.linalg.norm(T - basis.S @ (basis.S.T @ T)) < 1e-7


def test_many_extensions_stay_orthonormal():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    basis, seen = basis_of(X), np.zeros((40, 0))
    for i in range(30):
        T = rng.standard_normal((40, 2)) * 10.0 ** rng.integers(-8, 8, 2)
        if i % 3 == 1:  # mostly inside what is already there
            T = basis.S @ rng.standard_normal((basis.size, 2)) + 1e-6 * T / np.abs(T).max()
        before = basis.size
        added = basis.extend(T)
        seen = np.hstack([seen, T])
        assert basis.size == before + added <= 40
        check(basis, X)
        assert in_span(basis, T)
    assert basis.size == 40
    assert basis.extend(rng.standard_normal((40, 3))) == 0


@pytest.mark.parametrize("closeness", [1e-3, 1e-6, 1e-9, 1e-12, 0.0])
def test_nearly_dependent_columns(closeness):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 15))
    basis = basis_of(X)
    basis.extend(rng.standard_normal((15, 4)))
    t = rng.standard_normal((15, 1))
    T = np.hstack([t, t + closeness * rng.standard_normal((15, 1)), basis.S[:, :1], 0 * t])
    added = basis.extend(T)
    assert added == (2 if closeness > 1e-8 else 1)
    check(basis, X)


def test_mask_tells_the_columns_that_were_new():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 12))
    basis = basis_of(X)
    basis.extend(rng.standard_normal((12, 3)))
    a, b = rng.standard_normal((12, 1)), rng.standard_normal((12, 1))
    T = np.hstack([np.zeros((12, 1)), a, basis.S @ np.ones((3, 1)), 2 * a, b])
    new, mask = basis.new_directions(T)
    assert mask.tolist() == [False, True, False, False, True]
    assert basis.size == 3  # asking adds nothing
    np.testing.assert_allclose(new.T @ new, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(basis.S.T @ new, 0, atol=1e-13)
    # New column j belongs to the j-th surviving one: that chain goes on from it.
    first = basis.outside(a)[:, 0]
    assert abs(new[:, 0] @ first) > 0.999999 * np.linalg.norm(first)


def test_rotation_keeps_the_images():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 12))
    basis = basis_of(X)
    basis.extend(rng.standard_normal((12, 6)))
    basis.rotate(np.linalg.qr(rng.standard_normal((6, 4)))[0])
    assert basis.size == 4
    check(basis, X)


def test_a_copy_grows_on_its_own():
    X = np.random.default_rng(4).standard_normal((10, 8))
    basis = basis_of(X)
    basis.extend(np.eye(8)[:, :2])
    other = basis.copy()
    other.extend(np.eye(8)[:, 2:4])
    assert (basis.size, other.size) == (2, 4)
    check(basis, X)
    check(other, X)


def leading(X, rank, size, keep, width=4):
    rng = np.random.default_rng(0)
    basis = basis_of(X)
    fill_leading(basis, size, keep, lambda: X.T @ rng.standard_normal((len(X), width)))
    return basis


def test_leading_subspace_is_that_of_the_svd():
    rng = np.random.default_rng(5)
    U, V = (np.linalg.qr(rng.standard_normal((s, 30)))[0] for s in (80, 50))
    sigma = 2.0 ** -np.arange(30)
    basis = leading((U * sigma) @ V.T, 3, 20, 8)
    assert basis.size == 8
    check(basis, (U * sigma) @ V.T)
    np.testing.assert_allclose(np.diag(basis.D)[:3], sigma[:3] ** 2, rtol=1e-9)
    angles = np.linalg.svd(basis.S[:, :3].T @ V[:, :3], compute_uv=False)
    np.testing.assert_allclose(angles, 1, atol=1e-9)


def test_data_of_low_rank_end_the_iteration():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20))
    basis = leading(X, 3, 20, 20, width=2)
    assert basis.size == 3
    sigma = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.sort(np.linalg.eigvalsh(basis.D))[::-1], sigma[:3] ** 2)
    check(basis, X)


def test_zero_data_have_no_leading_subspace():
    assert leading(np.zeros((6, 5)), 2, 4, 4).size == 0
