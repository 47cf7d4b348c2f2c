"""One table of numbers, in memory and on disk."""

import numpy as np
import pytest

from superfactor import SMFClassifier, SMFRegressor, row_blocks

N, P = 1100, 12


def numbers(n=N, p=P, seed=0):
    """X (n, p) whose last, small columns determine most of the scores (n, 4); covariates (n, 2)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(3, 0.5, p)
    Z = rng.standard_normal((n, 2))
    scores = X[:, -4:] + 0.5 * rng.standard_normal((n, 4))
    scores[:, 0] += Z[:, 0]
    return X, scores, Z


def task(name, scores):
    """An estimator and its y: two or four classes, or two targets."""
    if name == "regressor":
        return SMFRegressor, scores[:, :2]
    if name == "binary":
        return SMFClassifier, np.where(scores[:, 0] > scores[:, 1], "yes", "no")
    return SMFClassifier, np.argmax(scores, axis=1)


def npy(X, folder):
    np.save(folder / "x.npy", X)
    return row_blocks(folder / "x.npy")


def memmap(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def zarr(X, folder):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(folder / "x.zarr", shape=X.shape, dtype=X.dtype, chunks=(130, 5))
    array[:] = X
    return row_blocks(folder / "x.zarr")


def parquet(X, folder):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({f"f{j}": X[:, j] for j in range(X.shape[1])})
    pytest.importorskip("pyarrow.parquet").write_table(table, folder / "x.parquet", row_group_size=300)
    return row_blocks(folder / "x.parquet")


def torch(X, folder):
    return pytest.importorskip("torch").asarray(X)
