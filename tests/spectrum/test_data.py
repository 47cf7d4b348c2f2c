"""The data matrix as an operator against the matrix itself."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from superfactor.spectrum import DataMatrix, power_of_two
from superfactor.spectrum import data as data_module

SHAPES = [(7, 4), (4, 7), (1, 3)]


def matrix(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def weights(n, seed=1):
    return np.random.default_rng(seed).uniform(0.1, 3, n)


def explicit(data, X, weight=None):
    """X̃ written out, from the definition: diag(√w)·X/s."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    X = X.astype(float) / data.scale
    return X if weight is None else np.sqrt(weight)[:, None] * X


def check_operator(data, dense, rtol):
    n, p = dense.shape
    rng = np.random.default_rng(2)
    T = rng.standard_normal((p, 3)).astype(data.dtype)
    Z = rng.standard_normal((n, 2)).astype(data.dtype)
    size = np.linalg.norm(dense)
    np.testing.assert_allclose(data.times(T), dense @ T, atol=rtol * size)
    np.testing.assert_allclose(data.transpose_times(Z), dense.T @ Z, atol=rtol * size)
    np.testing.assert_allclose(data.dense(), dense, atol=rtol * size)
    for precise in (data, data.doubled(1e6)):  # for any type of X
        np.testing.assert_allclose(precise.precise_times(T.astype(float)), dense @ T, atol=1e-12 * size)
        np.testing.assert_allclose(
            precise.precise_transpose_times(Z.astype(float)), dense.T @ Z, atol=1e-12 * size
        )
    root = np.ones(n) if data.root_weight is None else data.root_weight[:, 0]
    sums, squares = data.column_sums()
    np.testing.assert_allclose(sums, root @ dense, atol=rtol * size * n)
    np.testing.assert_allclose(squares, np.sum(dense**2, axis=0), atol=rtol * size**2)
    gram = dense @ dense.T if n <= p else dense.T @ dense
    np.testing.assert_allclose(data.gram(), gram, atol=rtol * size**2)
    np.testing.assert_allclose(data.feature_gram(), dense.T @ dense, atol=rtol * size**2)
    assert data.feature_gram().dtype == np.float64
    np.testing.assert_allclose(data.row_squares(), np.sum(dense**2, axis=1), atol=rtol * size**2)
    np.testing.assert_allclose(data.sum_of_squares(), size**2, rtol=rtol)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_those_of_the_weighted_scaled_matrix(shape, sparse, weighted, dtype):
    X = matrix(shape).astype(dtype)
    weight = weights(shape[0]) if weighted else None
    data = DataMatrix(sp.csc_array(X) if sparse else X, weight)
    assert data.shape == shape
    assert data.dtype == dtype
    check_operator(data, explicit(data, X, weight), 1e-14 if dtype is np.float64 else 1e-6)
    assert data.gram().dtype == np.float64  # also from float32: squares need the digits


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**20])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_scale(scale, sparse, weighted):
    """X̃/s with s passed first or later; exact if s is a power of two."""
    X = matrix((6, 9)) * scale
    weight = weights(6) if weighted else None
    given = sp.csr_array(X) if sparse else X
    data, later = DataMatrix(given, weight, scale=scale), DataMatrix(given, weight).over(scale)
    assert data.scale == later.scale == scale
    check_operator(data, explicit(data, X, weight), 1e-14)
    T = np.random.default_rng(0).standard_normal((9, 2))
    np.testing.assert_array_equal(data.times(T), later.times(T))
    again = data.over(4.0)
    assert again.scale == 4 * scale
    np.testing.assert_array_equal(again.times(T), data.times(T) / 4)
    assert data.over(1.0) is data


@pytest.mark.parametrize("sparse", [False, True])
def test_squares_that_overflow_or_underflow(sparse):
    """Infinite if they overflow; zero only if X is zero."""
    X = matrix((5, 4))
    wrap = sp.csr_array if sparse else np.asarray
    assert DataMatrix(wrap(X * 1e200)).sum_of_squares() == np.inf
    assert 0 < DataMatrix(wrap(X * 1e-200)).sum_of_squares() < 1e-300
    assert DataMatrix(wrap(0 * X)).sum_of_squares() == 0
    counts = DataMatrix(sp.csr_array(np.arange(12).reshape(4, 3)))  # integers are floats
    check_operator(counts, np.arange(12.0).reshape(4, 3), 1e-14)


@pytest.mark.parametrize(("x", "expected"), [(1.0, 1.0), (1.99, 1.0), (2.0, 2.0), (0.3, 0.25)])
def test_powers_of_two(x, expected):
    assert power_of_two(x) == expected


@pytest.mark.parametrize(("sparse", "weighted"), [(False, True), (True, False)])
def test_some_of_the_rows(sparse, weighted):
    X, weight = matrix((9, 4)), weights(9) if weighted else None
    data = DataMatrix(sp.csr_array(X) if sparse else X, weight, scale=2.0)
    part = data.rows(2, 7)
    assert part.shape == (5, 4)
    stored = (part._X.data, data._X.data) if sparse else (part._X, X)
    assert np.shares_memory(*stored)
    check_operator(part, explicit(data, X, weight)[2:7], 1e-14)
    taken = data.take(np.array([6, 1]))  # weights left out
    taken = taken.toarray() if sparse else taken
    np.testing.assert_array_equal(taken, X[[6, 1]] / 2)
    assert data.nnz == 36


def test_sparse_products_in_threads_are_the_same(monkeypatch):
    X = matrix((53, 31)) * (matrix((53, 31), 1) > 0.8)
    X[[3, 4, 52], :] = 0.0  # empty rows, one of them last
    X = sp.csr_array(X)
    weight = weights(53)
    monkeypatch.setattr(data_module, "cores", lambda: 3)  # for any machine
    plain = DataMatrix(X, weight)
    threaded = plain.threaded(10)
    assert plain._blocks is None
    assert len(threaded._blocks) == 3
    check_operator(threaded, explicit(threaded, X, weight), 1e-14)
    assert plain.threaded(X.nnz) is plain  # too few values
    dense = DataMatrix(X.toarray())
    assert dense.threaded(0) is dense


@pytest.mark.parametrize(("sparse", "weighted"), [(False, True), (True, False)])
@pytest.mark.parametrize("shape", [(30, 60_000), (60_000, 30)])
def test_the_data_are_never_copied(sparse, weighted, shape, monkeypatch):
    monkeypatch.setattr(data_module, "cores", lambda: 4)
    rng = np.random.default_rng(0)
    n, p = shape
    X = rng.standard_normal(shape)
    if sparse:
        X = sp.csr_array(X * (rng.random(shape) < 0.5))
    size = X.nbytes if not sparse else X.data.nbytes
    weight = np.ones(n) if weighted else None
    tracemalloc.start()
    try:
        data = DataMatrix(X, weight).over(2.0).threaded(0)
        data.times(np.ones((p, 1)))
        data.transpose_times(np.ones((n, 1)))
        if not sparse:
            data.sum_of_squares()
            data.gram()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Thin vectors and the blocks of the Gram matrix only.
    assert peak < 0.45 * size
