"""The data matrix as an operator against the matrix itself."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from superfactor.spectrum import DataMatrix
from superfactor.spectrum import data as data_module

SHAPES = [(7, 4), (4, 7), (5, 5), (1, 3), (3, 1)]


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
    gram = dense @ dense.T if n <= p else dense.T @ dense
    np.testing.assert_allclose(data.gram(), gram, atol=rtol * size**2)
    np.testing.assert_allclose(data.squared_norm, size**2, rtol=rtol)


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


@pytest.mark.parametrize("unit", [1e-200, 1e-100, 1e-8, 1.0, 1e50, 1e150])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_unit_of_the_data(unit, sparse, weighted):
    X = matrix((6, 9)) * unit
    weight = weights(6) if weighted else None
    data = DataMatrix(sp.csr_array(X) if sparse else X, weight)
    assert 0.5 <= data.squared_norm < 8
    assert np.frexp(data.scale)[0] == 0.5  # a power of two: dividing loses no digit
    check_operator(data, explicit(data, X, weight), 1e-14)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_single_precision_at_its_own_extremes(unit):
    X = (matrix((6, 9)) * unit).astype(np.float32)
    data = DataMatrix(X)
    check_operator(data, explicit(data, X), 1e-6)


def test_without_rescaling_the_units_stay():
    X = 1e3 * matrix((6, 4))
    data = DataMatrix(X, rescale=False)
    assert data.scale == 1.0
    check_operator(data, X, 1e-14)


def test_integers_in_a_sparse_matrix():
    X = sp.csr_array(np.arange(12).reshape(4, 3))
    data = DataMatrix(X)
    check_operator(data, explicit(data, X), 1e-14)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_zero_data(sparse, weighted):
    X = np.zeros((4, 6))
    data = DataMatrix(sp.csr_array(X) if sparse else X, weights(4) if weighted else None)
    assert data.squared_norm == 0
    assert data.scale == 1.0
    check_operator(data, X, 1e-14)


def test_sparse_products_in_threads_are_the_same(monkeypatch):
    X = matrix((53, 31)) * (matrix((53, 31), 1) > 0.8)
    X[[3, 4, 52], :] = 0.0  # empty rows, one of them last
    X = sp.csr_array(X)
    weight = weights(53)
    plain = DataMatrix(X, weight)
    monkeypatch.setattr(data_module, "NNZ_WORTH_THREADS", 10)
    monkeypatch.setattr(data_module, "cores", lambda: 3)
    threaded = DataMatrix(X, weight)
    assert plain._blocks is None
    assert len(threaded._blocks) == 3
    check_operator(threaded, explicit(threaded, X, weight), 1e-14)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
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
        data = DataMatrix(X, weight)
        data.times(np.ones((p, 1)))
        data.transpose_times(np.ones((n, 1)))
        if not sparse:
            data.gram()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Thin vectors and the blocks of the Gram matrix only.
    assert peak < 0.45 * size
