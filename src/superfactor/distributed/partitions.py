"""Partitions of samples from a user's Dask collections: rows of X with y, covariates and weights."""

# Parts of Dask have no types.
# mypy: allow-untyped-calls, no-warn-return-any

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from numbers import Real
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed
from distributed import Client, futures_of

from superfactor.estimators import inputs


@dataclass(frozen=True)
class Partitions:
    """Samples in the row chunks of X, without samples of weight zero."""

    loads: list[Any]  # lazy: rows of X, y, covariates, weights (or None) and the position of the first row
    rows: list[int]  # number of samples of each partition, at least one
    holders: list[Collection[str]]  # workers that have its rows of X in memory
    arrays: dict[str, da.Array]  # the given arrays with all samples, in the row chunks of X
    counts: tuple[int, ...]  # number of samples of positive weight in each chunk of X


def is_lazy(X: Any) -> bool:
    """Return whether X is a Dask array, DataFrame or series."""
    return isinstance(X, da.Array) or (is_dask_collection(X) and hasattr(type(X), "to_dask_array"))


def outline(X: Any) -> Any:
    """Return an empty table with the columns of X, for scikit-learn's checks of their number and names."""
    if X.ndim != 2:
        raise ValueError(
            f"X: Expected 2D array, got {X.ndim}D array instead (shape {X.shape}). Reshape "
            "your data to n_samples x n_features"
        )
    table = np.empty((0, X.shape[1])) if isinstance(X, da.Array) else X._meta
    kinds = {X.dtype} if isinstance(X, da.Array) else set(X.dtypes)
    for kind in kinds:
        if getattr(kind, "kind", "O") not in "biuf":
            raise ValueError(f"X: numbers are required, got dtype {kind}")
    return table


def as_array(values: Any) -> da.Array:
    """Convert a collection or array to a Dask array with whole rows; their number may be unknown."""
    if not isinstance(values, da.Array):
        if is_lazy(values):
            values = values.map_partitions(np.asarray, meta=np.asarray(values._meta))
        else:
            values = da.from_array(np.asarray(values), chunks=-1)
    return values.rechunk({axis: -1 for axis in range(1, values.ndim)})


def cut(client: Client, given: dict[str, Any]) -> Partitions:
    """Return the partitions of X, with y, covariates and sample_weight (or None) in the same chunks."""
    constant = isinstance(given["sample_weight"], Real)
    named = {name for name, values in given.items() if values is not None}
    named -= {"sample_weight"} if constant else set()
    arrays = _with_lengths(client, {name: as_array(given[name]) for name in named})
    for name, x in arrays.items():
        inputs.check_length(name, x, arrays["X"])
    cuts = arrays["X"].chunks[0]
    arrays = {name: x.rechunk({0: cuts}) for name, x in arrays.items()}
    if constant:
        weight = float(given["sample_weight"])
        arrays["sample_weight"] = da.full(sum(cuts), weight, chunks=(cuts,))
    rows = list(cuts)
    if "sample_weight" in arrays:
        rows = _computed(client, [delayed(_positive)(w) for w in _pieces(arrays["sample_weight"])])
        if not any(rows):
            inputs.check_weights(np.zeros(1), np.zeros(1))  # raises the error
    starts = [0, *accumulate(rows)]
    parts = [_pieces(arrays[name]) if name in arrays else [None] * len(cuts) for name in given]
    holders = _holders(client, given["X"], len(cuts))
    full = [i for i, size in enumerate(rows) if size]
    return Partitions(
        loads=[delayed(tuple)([*(part[i] for part in parts), starts[i]]) for i in full],
        rows=[int(rows[i]) for i in full],
        holders=[holders[i] for i in full],
        arrays=arrays,
        counts=tuple(rows),
    )


def _with_lengths(client: Client, arrays: dict[str, da.Array]) -> dict[str, da.Array]:
    """Return the arrays with known numbers of rows; unknown ones are counted, all together."""
    unknown = {name: x for name, x in arrays.items() if math.isnan(x.shape[0])}
    counted = _computed(client, [[delayed(len)(piece) for piece in _pieces(x)] for x in unknown.values()])
    return arrays | {
        name: da.Array(x.dask, x.name, (tuple(rows), *x.chunks[1:]), meta=x._meta)
        for (name, x), rows in zip(unknown.items(), counted, strict=True)
    }


def _computed(client: Client, lazy: list[Any]) -> list[Any]:
    return list(client.gather(client.compute(lazy)))


def _pieces(x: da.Array) -> list[Any]:
    """Return one lazy object for each chunk of rows."""
    return list(x.to_delayed().ravel())


def _positive(weights: Any) -> int:
    """Return the number of positive weights; raise a ValueError if one is negative."""
    if np.any(weights != 0):
        inputs.check_weights(weights, weights)
    return int(np.count_nonzero(weights))


def _holders(client: Client, X: Any, count: int) -> list[set[str]]:
    """Return the workers that have each partition of X in memory, if X is persisted."""
    holders: list[set[str]] = [set() for _ in range(count)]
    futures = futures_of(X)
    for key, addresses in client.who_has(futures).items() if futures else ():
        # Keys of arrays are (name, row, column), those of DataFrames (name, partition).
        if isinstance(key, tuple) and len(key) > 1 and key[1] in range(count):
            holders[key[1]].update(addresses)
    return holders
