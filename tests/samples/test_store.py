"""Tall matrices in memory and in files: the same matrices, the same types."""

import numpy as np
import pytest
from superfactor.lifting.tall import InFiles, InMemory

ROWS = 7


@pytest.fixture(params=["memory", "files"])
def store(request, tmp_path):
    return InMemory() if request.param == "memory" else InFiles(tmp_path / "a" / "block", ROWS)


def matrix(columns, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((ROWS, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_set_comes_back(store, dtype, order):
    M = np.asarray(matrix(3, dtype), order=order)
    assert "m" not in store
    store.set("m", M)
    assert "m" in store
    found = store.get("m")
    np.testing.assert_array_equal(found, M)
    assert found.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_added_on_the_right(store, dtype):
    parts = [matrix(k, dtype, seed) for seed, k in enumerate((2, 1, 0, 3))]
    for part in parts:
        store.append("m", part)
    found = store.get("m")
    np.testing.assert_array_equal(found, np.hstack(parts))
    assert found.dtype == dtype


def test_a_matrix_takes_the_place_of_the_one_before(store):
    store.set("m", matrix(5))
    store.set("m", matrix(2, np.float32, 1))
    np.testing.assert_array_equal(store.get("m"), matrix(2, np.float32, 1))
    assert store.get("m").dtype == np.float32
    store.append("m", matrix(1, np.float32, 2))
    assert store.get("m").shape == (ROWS, 3)


def test_a_matrix_made_of_itself(store):
    """S ← SV, as a basis that turns does it."""
    M, V = matrix(4), matrix(2)[:4]
    store.set("m", M)
    store.set("m", store.get("m") @ V)
    np.testing.assert_array_equal(store.get("m"), M @ V)
    store.append("m", store.get("m"))
    np.testing.assert_array_equal(store.get("m"), np.hstack([M @ V, M @ V]))


def test_names_are_kept_apart(store):
    store.set("held-0", matrix(1))
    store.set("held-1", matrix(2, seed=1))
    store.drop("held-0")
    assert "held-0" not in store
    np.testing.assert_array_equal(store.get("held-1"), matrix(2, seed=1))
    store.drop("held-0")  # twice is no harm
    with pytest.raises(KeyError):
        store.get("held-0")


def test_what_was_dropped_begins_anew(store):
    store.append("m", matrix(2))
    store.drop("m")
    store.append("m", matrix(1, np.float32, 3))
    np.testing.assert_array_equal(store.get("m"), matrix(1, np.float32, 3))


def test_no_columns(store):
    store.set("m", matrix(0))
    assert store.get("m").shape == (ROWS, 0)
    store.append("m", matrix(2))
    np.testing.assert_array_equal(store.get("m"), matrix(2))


def test_files_of_a_block_before_are_not_its_own(tmp_path):
    """A block that is made again in the same folder begins with nothing."""
    before = InFiles(tmp_path, ROWS)
    before.append("m", matrix(2))
    again = InFiles(tmp_path, ROWS)
    assert "m" not in again
    again.append("m", matrix(1, seed=1))
    np.testing.assert_array_equal(again.get("m"), matrix(1, seed=1))


def test_where_they_are(tmp_path):
    assert InMemory().in_memory
    store = InFiles(tmp_path / "block", ROWS)
    assert not store.in_memory
    store.set("m", matrix(3, np.float32))
    assert (
        sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) == ROWS * 3 * 4
    )
    store.drop("m")
    assert not any(file.is_file() for file in tmp_path.rglob("*"))


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    store = InFiles(tmp_path, ROWS)
    (tmp_path / "m.columns").mkdir()
    with pytest.raises(OSError, match=r"^temporary file .*m\.columns: cannot be written .*TMPDIR"):
        store.set("m", matrix(2))
