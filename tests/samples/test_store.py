"""Tall matrices in memory and in files: the same matrices, the same types."""

import numpy as np
import pytest

from superfactor.samples.block.store import InFiles, InMemory

ROWS = 7


@pytest.fixture(params=["memory", "files"])
def store(request, tmp_path):
    return InMemory() if request.param == "memory" else InFiles(tmp_path / "a" / "block")


def assert_kept(store, key, expected):
    """Assert that the store has this matrix, with its number of columns."""
    columns = expected.shape[1]
    for asked in (columns, columns + 5):
        found = store.get(key, asked)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    np.testing.assert_array_equal(store.get(key, 1), expected[:, :1])


def matrix(columns, dtype=np.float64, seed=0, rows=ROWS):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_are_returned_and_columns_are_appended(store, dtype):
    with pytest.raises(KeyError):
        store.get(0, 3)
    for order in ("C", "F"):
        M = np.asarray(matrix(3, dtype), order=order)
        store.set(0, M)
        assert_kept(store, 0, M)
    parts = [M, *(matrix(k, dtype, seed) for seed, k in enumerate((2, 1, 0, 3)))]
    for part in parts[1:]:
        store.append(0, part)
    assert_kept(store, 0, np.hstack(parts))
    store.append(0, store.get(0, 2))  # columns of its own
    assert_kept(store, 0, np.hstack([*parts, M[:, :2]]))
    store.set(1, matrix(0))
    store.append(1, matrix(2, dtype))
    assert_kept(store, 1, matrix(2, dtype))


def test_matrices_need_not_be_equally_tall(store):
    """A store holds rows of all samples and of some, in different types."""
    few = matrix(4, np.float32, rows=3)
    store.set(0, matrix(2))
    store.set(1, few)
    store.append(0, matrix(1, seed=1))
    store.append(1, few[:, :2])
    assert_kept(store, 0, np.hstack([matrix(2), matrix(1, seed=1)]))
    assert_kept(store, 1, np.hstack([few, few[:, :2]]))
    store.set(1, matrix(2, seed=2))  # as tall as the other from now on
    assert_kept(store, 1, matrix(2, seed=2))


def test_a_returned_matrix_does_not_change(store):
    """Appending columns makes another matrix."""
    store.set(0, matrix(2))
    before = store.get(0, 2)
    store.append(0, matrix(3, seed=1))
    store.set(0, matrix(1, seed=2))
    np.testing.assert_array_equal(before, matrix(2))


def test_a_dropped_matrix_starts_empty(store):
    store.append(1, matrix(1))
    store.set(11, matrix(2, seed=1))
    store.drop(1)
    store.drop(1)  # twice has no effect
    with pytest.raises(KeyError):
        store.get(1, 1)
    store.append(1, matrix(1, np.float32, 3))
    assert_kept(store, 1, matrix(1, np.float32, 3))
    assert_kept(store, 11, matrix(2, seed=1))


def test_files_belong_to_one_block_and_are_deleted_with_it(tmp_path):
    before = InFiles(tmp_path)
    before.append(0, matrix(2))
    again = InFiles(tmp_path)  # a new block in the same folder starts empty
    with pytest.raises(KeyError):
        again.get(0, 2)
    again.append(0, matrix(1, np.float32))
    assert_kept(again, 0, matrix(1, np.float32))
    assert [file.stat().st_size for file in tmp_path.iterdir()] == [ROWS * 4]
    again.drop(0)
    assert not any(tmp_path.iterdir())
    (tmp_path / "3.columns").mkdir()
    with pytest.raises(OSError, match=r"^temporary file .*3\.columns: cannot be written .*TMPDIR"):
        again.set(3, matrix(2))
