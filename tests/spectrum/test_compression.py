"""Exact compression against NumPy's SVD."""

import numpy as np
import pytest
import scipy.sparse as sp

from superfactor.options import Options
from superfactor.spectrum import DataMatrix, compress, power_of_two


def with_values(sigma, n, p, seed=0):
    """An n × p matrix with these singular values."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, len(sigma))))[0]
    V = np.linalg.qr(rng.standard_normal((p, len(sigma))))[0]
    return (U * np.asarray(sigma)) @ V.T


def check_exact(X, weight=None, rank=None, rtol=1e-10):
    n = X.shape[0]
    data = DataMatrix(X, weight)
    # In the unit of a stated problem, since squares of X may overflow.
    data = data.over(power_of_two(float(np.abs(X).max())))
    found = compress(data)
    dense = (X.toarray() if sp.issparse(X) else X).astype(float) / data.scale
    if weight is not None:
        dense = np.sqrt(weight)[:, None] * dense
    sigma = np.linalg.svd(dense, compute_uv=False)
    rank = n if rank is None else rank
    assert found.values.shape == (rank,)
    np.testing.assert_allclose(found.values, sigma[:rank], rtol=rtol)
    assert found.data.shape == (n, rank)
    np.testing.assert_allclose(found.rows.T @ found.rows, np.eye(rank), atol=1e-12)
    Q = found.expand(np.eye(rank).astype(found.values.dtype))
    np.testing.assert_allclose(Q.T @ Q, np.eye(rank), atol=max(rtol, 1e-10))
    # X̃ = (UΣ)Qᵀ, to the last digits.
    back = found.data.times(np.eye(rank)) @ Q.T
    np.testing.assert_allclose(back, dense, atol=rtol * sigma[0])
    np.testing.assert_allclose(found.data.sum_of_squares(), data.sum_of_squares(), rtol=rtol)
    assert found.data.singular_values is found.values
    return found


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", [1e-100, 1e50])
def test_compression_is_the_svd(sparse, weighted, unit):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((8, 40)) * unit
    if sparse:
        X = sp.csr_array(X * (rng.random(X.shape) < 0.5))
    check_exact(X, rng.uniform(0.2, 2, 8) if weighted else None)


def test_any_singular_values_and_single_precision():
    check_exact(with_values([5, 3, 0.1], 8, 30), rank=3)  # rank-deficient data keep their rank only
    check_exact(with_values([2, 2, 2, 1, 1], 5, 12))
    check_exact(with_values([5, 3, 1, 0.5], 4, 30).astype(np.float32), rtol=1e-5)


@pytest.mark.parametrize("smallest", [3e-3, 3e-5, 1e-7, 1e-9])
def test_small_directions_that_squaring_loses_are_kept(smallest):
    found = check_exact(with_values([1, 0.5, smallest], 3, 20), rtol=max(1e-9, 1e-15 / smallest))
    assert found.data.rounding.rows < 1e-10


def test_dropped_directions_are_bounded():
    found = check_exact(with_values([1, 0.5, 1e-12], 3, 20), rank=2)
    assert 1e-12 <= found.data.rounding.rows < 1e-11


@pytest.mark.parametrize("scaled", ["row", "column"])
@pytest.mark.parametrize("c", [1.0, 1e5, 1e9])
def test_rounding_bounds_the_error(c, scaled):
    X = np.random.default_rng(3).standard_normal((8, 30))
    X[(slice(0, 1), slice(None)) if scaled == "row" else (slice(None), slice(0, 1))] *= c
    found = compress(DataMatrix(X))
    rounding = found.data.rounding
    exact = X.astype(np.longdouble)
    rows = found.data.times(np.eye(len(found.values))).astype(np.longdouble)
    assert np.linalg.norm((exact @ exact.T - rows @ rows.T).astype(float)) <= rounding.gram
    # The nearest X̃ with these rows: rotate rows onto X.
    U, _, Vt = np.linalg.svd((rows.T @ exact).astype(float), full_matrices=False)
    off = np.linalg.norm((exact - rows @ (U @ Vt)).astype(float))
    assert off <= rounding.rows + 1e-14 * np.linalg.norm(X)


def test_when_compression_does_not_pay():
    """For data that are not wide, too many samples, or fewer than twice as many features as samples."""
    rng = np.random.default_rng(0)
    for shape in ((9, 5), (5, 5), (5, 9)):
        assert compress(DataMatrix(rng.standard_normal(shape))) is None
    assert compress(DataMatrix(np.zeros((3, 9)))) is None
    wide = DataMatrix(rng.standard_normal((5, 10)))
    found = [compress(wide, Options(compressed_side=side)) for side in (4, 5)]
    assert found[0] is None and found[1] is not None


def test_compression_is_decided_by_operations():
    """Decomposing the Gram matrix of sparse X costs more than the few products that a fit takes."""
    assert Options().compression_pays((181, 12_264))
    assert not Options().compression_pays((1993, 4862), stored=97_000)
    assert Options().compression_pays((300, 20_000), stored=150_000)
    assert not Options().compression_pays((2000, 4000))
    assert Options().compression_pays((2000, 40_000))
