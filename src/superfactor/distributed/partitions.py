"""A user's Dask collections as partitions of samples: rows of X with all that belongs to them."""

# Half of Dask is typed.
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
    """Samples in the cuts of X, those of weight zero left out."""

    loads: list[Any]  # lazily, rows of X, y, covariates, weights (or None) and the position of the first
    rows: list[int]  # how many samples each has, at least one
    holders: list[Collection[str]]  # the workers that have its rows of X in memory
    arrays: dict[str, da.Array]  # of what was given, all in the cuts of X, with all samples
    counts: tuple[int, ...]  # how many samples of positive weight each chunk of X has


def is_lazy(X: Any) -> bool:
    """Is X a Dask array, DataFrame or series?"""
    return isinstance(X, da.Array) or (is_dask_collection(X) and hasattr(type(X), "to_dask_array"))


def outline(X: Any) -> Any:
    """An empty table with the columns of X, for scikit-learn to count and to name."""
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
    """A Dask array of any collection or array, each row in one chunk; how many rows may be unknown."""
    if not isinstance(values, da.Array):
        if is_lazy(values):
            values = values.map_partitions(np.asarray, meta=np.asarray(values._meta))
        else:
            values = da.from_array(np.asarray(values), chunks=-1)
    return values.rechunk({axis: -1 for axis in range(1, values.ndim)})


def cut(client: Client, given: dict[str, Any]) -> Partitions:
    """The partitions of X, and of y, covariates and sample_weight (or None), cut in the same places."""
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
            inputs.check_weights(np.zeros(1), np.zeros(1))  # says so
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
    """The same arrays with known numbers of rows: counted, all at once, where Dask does not know them."""
    unknown = {name: x for name, x in arrays.items() if math.isnan(x.shape[0])}
    counted = _computed(client, [[delayed(len)(piece) for piece in _pieces(x)] for x in unknown.values()])
    return arrays | {
        name: da.Array(x.dask, x.name, (tuple(rows), *x.chunks[1:]), meta=x._meta)
        for (name, x), rows in zip(unknown.items(), counted, strict=True)
    }


def _computed(client: Client, lazy: list[Any]) -> list[Any]:
    return list(client.gather(client.compute(lazy)))


def _pieces(x: da.Array) -> list[Any]:
    """One lazy object for each chunk of rows."""
    return list(x.to_delayed().ravel())


def _positive(weights: Any) -> int:
    """How many weights are positive; none may be negative."""
    if np.any(weights != 0):
        inputs.check_weights(weights, weights)
    return int(np.count_nonzero(weights))


def _holders(client: Client, X: Any, count: int) -> list[set[str]]:
    """The workers that have each of the partitions of X, where it is persisted."""
    holders: list[set[str]] = [set() for _ in range(count)]
    futures = futures_of(X)
    for key, addresses in client.who_has(futures).items() if futures else ():
        # Keys of arrays are (name, row, column), those of DataFrames (name, partition).
        if isinstance(key, tuple) and len(key) > 1 and key[1] in range(count):
            holders[key[1]].update(addresses)
    return holders
