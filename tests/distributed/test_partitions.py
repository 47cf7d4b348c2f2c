from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import wait

from superfactor.distributed.partitions import as_array, cut

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20)


def given(**more):
    return {"X": da.from_array(X, chunks=(6, 1)), "y": Y, "covariates": None, **more}


def loaded(client, partitions):
    return client.gather(client.compute(partitions.loads))


def test_all_arrays_have_the_chunks_of_X(client):
    weights = da.from_array(np.ones(20), chunks=9)
    partitions = cut(client, given(covariates=X[:, :1], sample_weight=weights))
    assert partitions.rows == [6, 6, 6, 2]
    for rows, y, covariates, weight, start in loaded(client, partitions):
        part = slice(start, start + len(rows))
        np.testing.assert_array_equal(rows, X[part])
        np.testing.assert_array_equal(y, Y[part])
        np.testing.assert_array_equal(covariates, X[part, :1])
        np.testing.assert_array_equal(weight, np.ones(len(rows)))


def test_samples_of_weight_zero_are_not_counted(client):
    weights = np.ones(20)
    weights[4:13] = 0
    partitions = cut(client, given(sample_weight=weights))
    assert partitions.rows == [4, 5, 2]
    parts = loaded(client, partitions)
    assert [part[-1] for part in parts] == [0, 4, 9]
    np.testing.assert_array_equal(parts[1][0], X[12:18])


def test_numbers_of_rows_of_dataframes_are_counted(client):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y.astype(str)})
    table = dd.from_pandas(frame, npartitions=3)
    table = table[table["a"] >= 20]  # the first partition has no rows left
    partitions = cut(
        client, {"X": table[["a", "b"]], "y": table["y"], "covariates": None, "sample_weight": None}
    )
    assert sum(partitions.rows) == 10
    assert partitions.arrays["X"].shape == (10, 2)
    parts = loaded(client, partitions)
    np.testing.assert_array_equal(np.vstack([part[0] for part in parts]), X[10:])
    assert np.concatenate([part[1] for part in parts]).tolist() == list(Y[10:].astype(str))


def test_holders_of_persisted_partitions(client):
    worker = sorted(client.nthreads())[1]
    held = client.persist(da.from_array(X, chunks=(5, 2)), workers=[worker])
    with client.as_current():
        wait(held)
    partitions = cut(client, given(X=held, sample_weight=None))
    assert partitions.holders == [{worker}] * 4


def test_different_lengths(client):
    with pytest.raises(ValueError, match="covariates: 7 samples, but X has 20"):
        cut(client, given(covariates=X[:7], sample_weight=None))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(pd.Series(["a", "b"]), id="series"),
        pytest.param(dd.from_pandas(pd.Series(["a", "b"], dtype="category"), npartitions=1), id="categories"),
        pytest.param(["a", "b"], id="list"),
        pytest.param(da.from_array(np.array(["a", "b"])), id="array"),
    ],
)
def test_labels_of_all_kinds_become_arrays(values):
    found = as_array(values).compute(scheduler="synchronous")
    assert type(found) is np.ndarray
    assert found.tolist() == ["a", "b"]
