"""Lazy methods of a fitted estimator for Dask collections."""

# Parts of Dask have no types.
# mypy: allow-untyped-calls, no-warn-return-any

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from superfactor._arrays import Array
from superfactor.distributed.partitions import Partitions, as_array
from superfactor.estimators import inputs


def lazily(estimator: Any, method: str, X: Any, covariates: Any = None) -> da.Array:
    """Return ``estimator.method(X, covariates)`` as a Dask array with one chunk per chunk or partition of X.

    The estimator is fitted in memory and small, so it becomes part of the graph. The number of rows of a
    DataFrame may be unknown.
    """
    given = [X] if covariates is None else [X, covariates]
    arrays = [as_array(values) for values in given]
    like = getattr(estimator, method)(*(np.zeros((1, *x.shape[1:]), dtype=np.float64) for x in arrays))
    if covariates is not None:
        arrays[1] = _beside(*arrays)
    return da.blockwise(
        _apply,
        "iz"[: like.ndim],
        *(part for x, axes in zip(arrays, ("ij", "ik"), strict=False) for part in (x, axes[: x.ndim])),
        new_axes={"z": like.shape[1]} if like.ndim == 2 else {},
        concatenate=True,
        align_arrays=False,
        estimator=estimator,
        method=method,
        meta=like[:0],
    )


def with_trained(new: da.Array, trained: Array, partitions: Partitions) -> da.Array:
    """Return codes (n, r): those of training samples with positive weight, and `new` ones for the others."""
    codes = da.from_array(trained, chunks=(partitions.counts, -1))
    if partitions.counts == new.chunks[0]:
        return codes
    weight = partitions.arrays["sample_weight"]
    arrays = (new, "ij", codes, "ij", weight, "i")
    return da.blockwise(_filled, "ij", *arrays, align_arrays=False, meta=trained[:0])


def _filled(new: Array, trained: Array, weight: Array) -> Array:
    codes = new.copy()
    codes[weight > 0] = trained
    return codes


def _apply(*arrays: Any, estimator: Any, method: str) -> Any:
    return getattr(estimator, method)(*arrays)


def _beside(X: da.Array, covariates: da.Array) -> da.Array:
    """Return the covariates in the row chunks of X."""
    if not math.isnan(X.shape[0]) and not math.isnan(covariates.shape[0]):
        inputs.check_length("covariates", covariates, X)
        return covariates.rechunk({0: X.chunks[0]})
    if X.numblocks[0] != covariates.numblocks[0]:
        raise ValueError(
            f"covariates: {covariates.numblocks[0]} partition(s), but X has {X.numblocks[0]}; if numbers of "
            "samples are unknown, both must have the same partitions"
        )
    return covariates
