"""Tall matrices in memory and in files: the same matrices, the same types."""

import numpy as np
import pytest

from superfactor.samples.block.store import InFiles, InMemory

ROWS = 7


@pytest.fixture(params=["memory", "files"])
def store(request, tmp_path):
    return InMemory() if request.param == "memory" else InFiles(tmp_path / "a" / "block")


def whole(store, key, columns):
    """The matrix, which has so many columns and no more."""
    found = store.get(key, columns)
    assert found.shape == (ROWS, columns)
    assert store.get(key, columns + 5).shape == (ROWS, columns)
    return found


def matrix(columns, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((ROWS, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_set_comes_back(store, dtype, order):
    M = np.asarray(matrix(3, dtype), order=order)
    with pytest.raises(KeyError):
        store.get(0, 3)
    store.set(0, M)
    found = whole(store, 0, 3)
    np.testing.assert_array_equal(found, M)
    np.testing.assert_array_equal(store.get(0, 2), M[:, :2])
    assert found.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_added_on_the_right(store, dtype):
    parts = [matrix(k, dtype, seed) for seed, k in enumerate((2, 1, 0, 3))]
    for part in parts:
        store.append(0, part)
    found = whole(store, 0, 6)
    np.testing.assert_array_equal(found, np.hstack(parts))
    np.testing.assert_array_equal(store.get(0, 3), found[:, :3])
    assert found.dtype == dtype


def test_matrices_need_not_be_equally_tall(store):
    """Rows of all samples and of some of them, in a type of their own, side by side."""
    few = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32)
    store.set(0, matrix(2))
    store.set(1, few)
    store.append(0, matrix(1, seed=1))
    store.append(1, few[:, :2])
    np.testing.assert_array_equal(whole(store, 0, 3), np.hstack([matrix(2), matrix(1, seed=1)]))
    found = store.get(1, 6)
    np.testing.assert_array_equal(found, np.hstack([few, few[:, :2]]))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(store.get(1, 3), few[:, :3])
    store.set(1, matrix(2, seed=2))  # as tall as the other from now on
    np.testing.assert_array_equal(whole(store, 1, 2), matrix(2, seed=2))


def test_a_matrix_takes_the_place_of_the_one_before(store):
    store.set(0, matrix(5))
    store.set(0, matrix(2, np.float32, 1))
    np.testing.assert_array_equal(whole(store, 0, 2), matrix(2, np.float32, 1))
    assert store.get(0, 2).dtype == np.float32
    store.append(0, matrix(1, np.float32, 2))
    whole(store, 0, 3)


def test_a_matrix_made_of_itself(store):
    M = matrix(4)
    store.set(0, M)
    store.append(0, store.get(0, 2))
    np.testing.assert_array_equal(whole(store, 0, 6), np.hstack([M, M[:, :2]]))


def test_what_was_read_stays_as_it_was(store):
    """A matrix that grows is another one."""
    M = matrix(2)
    store.set(0, M)
    before = store.get(0, 2)
    store.append(0, matrix(3, seed=1))
    store.set(0, matrix(1, seed=2))
    np.testing.assert_array_equal(before, M)


def test_keys_are_kept_apart(store):
    store.set(1, matrix(1))
    store.set(11, matrix(2, seed=1))
    store.drop(1)
    np.testing.assert_array_equal(whole(store, 11, 2), matrix(2, seed=1))
    store.drop(1)  # twice is no harm
    with pytest.raises(KeyError):
        store.get(1, 1)


def test_what_was_dropped_begins_anew(store):
    store.append(0, matrix(2))
    store.drop(0)
    store.append(0, matrix(1, np.float32, 3))
    np.testing.assert_array_equal(whole(store, 0, 1), matrix(1, np.float32, 3))


def test_no_columns(store):
    store.set(0, matrix(0))
    assert store.get(0, 0).shape == (ROWS, 0)
    store.append(0, matrix(2))
    np.testing.assert_array_equal(whole(store, 0, 2), matrix(2))


def test_files_of_a_block_before_are_not_its_own(tmp_path):
    """A block that is made again in the same folder begins with nothing."""
    before = InFiles(tmp_path)
    before.append(0, matrix(2))
    again = InFiles(tmp_path)
    with pytest.raises(KeyError):
        again.get(0, 2)
    again.append(0, matrix(1, seed=1))
    np.testing.assert_array_equal(whole(again, 0, 1), matrix(1, seed=1))


def test_files_are_as_large_as_what_is_in_them_and_go_with_it(tmp_path):
    store = InFiles(tmp_path / "block")
    store.set(0, matrix(3, np.float32))
    sizes = [file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()]
    assert sizes == [ROWS * 3 * 4]
    store.drop(0)
    assert not any(file.is_file() for file in tmp_path.rglob("*"))


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    store = InFiles(tmp_path)
    (tmp_path / "3.columns").mkdir()
    with pytest.raises(OSError, match=r"^temporary file .*3\.columns: cannot be written .*TMPDIR"):
        store.set(3, matrix(2))
