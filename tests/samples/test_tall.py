"""Handles of tall matrices, and the same operations on plain arrays."""

import pickle
import weakref

import numpy as np
import pytest
from tests.problems import example
from tests.samples.cutting import cut

from superfactor.samples import Block, Plain

N = 23


@pytest.fixture(params=["memory", "files"])
def samples(request, tmp_path):
    problem, _ = example("feature", N, 6, 2, weighted=True)
    folder = tmp_path if request.param == "files" else None
    return cut(problem, 4, folder, threads=2).samples


def numbers(columns, seed=0):
    return np.random.default_rng(seed).standard_normal((N, columns))


def kept(samples, M):
    return samples.keep(Block.given, M)


def keys(samples):
    """The keys that blocks still store, after a call that has no other effect."""
    samples.sum(Block.weight_range)
    found = [
        set(getattr(block._store, "_matrices", None) or getattr(block._store, "_types", {}))
        for block in samples.blocks
    ]
    assert all(each == found[0] for each in found)
    return found[0]


# --- the operations of vectors ----------------------------------------------------------------------


@pytest.fixture(params=["plain", "tall"])
def vectors(request, samples):
    """A way to make vectors of an array."""
    return Plain if request.param == "plain" else lambda M: kept(samples, M)


def test_vectors(vectors):
    A, B, rng = numbers(3), numbers(2, 1), np.random.default_rng(2)
    a, b = vectors(A), vectors(B)
    assert (a.columns, b.columns) == (3, 2)
    np.testing.assert_array_equal(a.array(), A)
    np.testing.assert_allclose(a.inner(b), A.T @ B, atol=1e-12)
    M, L = rng.standard_normal((3, 4)), rng.standard_normal((2, 4))
    np.testing.assert_allclose(a.combined(M).array(), A @ M, atol=1e-12)
    np.testing.assert_allclose(a.combined(M, (b, L), (a, M)).array(), 2 * A @ M + B @ L, atol=1e-12)
    out, cross, gram = a.refined(M, b, L)
    R = A @ M - B @ L
    np.testing.assert_allclose(out.array(), R, atol=1e-12)
    np.testing.assert_allclose(cross, B.T @ R, atol=1e-11)
    np.testing.assert_allclose(gram, R.T @ R, atol=1e-11)
    np.testing.assert_array_equal(a.with_columns(b).array(), np.hstack([A, B]))
    triangle = a.triangle()
    np.testing.assert_allclose(triangle.T @ triangle, A.T @ A, atol=1e-12)
    np.testing.assert_array_equal(triangle, np.triu(triangle))
    # None of these operations changes them.
    np.testing.assert_array_equal(a.array(), A)
    np.testing.assert_array_equal(b.array(), B)


def test_triangles_of_blocks_with_fewer_rows_than_columns(samples):
    A = numbers(12)
    assert min(block.n_samples for block in samples.blocks) < 12
    triangle = kept(samples, A).triangle()
    assert triangle.shape == (12, 12)
    np.testing.assert_allclose(triangle.T @ triangle, A.T @ A, atol=1e-11)


# --- handles ------------------------------------------------------------------------------------------


def test_a_dropped_handle_is_deleted_at_the_next_call(samples):
    a, b = kept(samples, numbers(2)), kept(samples, numbers(3, 1))
    assert keys(samples) == {a.place.key, b.place.key}
    gone = a.place.key
    del a
    held = samples.blocks[0]._store
    np.testing.assert_array_equal(held.get(gone, 2), numbers(2)[: samples.blocks[0].n_samples])
    assert keys(samples) == {b.place.key}
    np.testing.assert_array_equal(b.array(), numbers(3, 1))


def test_a_matrix_stays_while_any_of_its_handles_does(samples):
    a = kept(samples, numbers(2))
    grown = a.with_columns(kept(samples, numbers(1, 1)))
    assert grown.place.key == a.place.key
    del grown
    assert keys(samples) == {a.place.key}
    np.testing.assert_array_equal(a.array(), numbers(2))


def test_appended_columns_stay_when_their_original_is_deleted(samples):
    """Columns are appended before the call that deletes the original."""
    grown = kept(samples, numbers(2)).with_columns(kept(samples, numbers(1, 1)))
    np.testing.assert_array_equal(grown.array(), np.hstack([numbers(2), numbers(1, 1)]))
    assert keys(samples) == {grown.place.key}


def test_growing_from_an_older_prefix_copies(samples):
    A, B, C = numbers(2), numbers(1, 1), numbers(3, 2)
    first = kept(samples, A)
    second = first.with_columns(kept(samples, B))
    assert first.place.key == second.place.key and len(keys(samples)) == 1  # without a copy
    other = first.with_columns(kept(samples, C))
    assert other.place.key != second.place.key
    more = other.with_columns(kept(samples, B))  # the copy grows on its own, without another one
    assert more.place.key == other.place.key
    expected = {first: A, second: np.hstack([A, B]), other: np.hstack([A, C]), more: np.hstack([A, C, B])}
    for handle, matrix in expected.items():
        np.testing.assert_array_equal(handle.array(), matrix)
        np.testing.assert_allclose(handle.inner(handle), matrix.T @ matrix, atol=1e-12)


def test_growing_from_no_columns(samples):
    nothing, A, B = samples.nothing(), numbers(2), numbers(1, 1)
    assert nothing.array().shape == (N, 0)
    a, b = nothing.with_columns(kept(samples, A)), nothing.with_columns(kept(samples, B))
    np.testing.assert_array_equal(a.array(), A)
    np.testing.assert_array_equal(b.array(), B)
    assert nothing.array().shape == (N, 0)
    assert nothing.inner(a).shape == (0, 2)
    np.testing.assert_array_equal(b.with_columns(b).array(), np.hstack([B, B]))  # next to itself


def test_handles_of_the_same_numbers_elsewhere(samples):
    problem, _ = example("feature", N, 6, 2)
    a = kept(samples, numbers(3))
    assert a.moved_to(samples) is a
    moved = a.moved_to(problem.samples)
    assert moved.owner is problem.samples
    np.testing.assert_array_equal(moved.array(), numbers(3))
    del a
    np.testing.assert_array_equal(moved.array(), numbers(3))


def test_a_handle_cannot_be_pickled(samples):
    a = kept(samples, numbers(1))
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(a)
    assert pickle.loads(pickle.dumps(a.place)) == a.place


def test_handles_keep_their_samples_and_nothing_keeps_the_handles():
    problem, _ = example("feature", N, 6, 2)
    samples = cut(problem, 2).samples
    a, held = kept(samples, numbers(1)), weakref.ref(samples)
    del samples
    np.testing.assert_array_equal(a.array(), numbers(1))
    assert held() is a.owner
    del a
    assert held() is None
