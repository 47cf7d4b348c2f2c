"""Check whether X looks log-normalised, like counts or scaled, from a few hundred cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.spectrum import RowSource

# Number of places in the file, cells read in each, and genes.
_PLACES, _EACH, _GENES = 16, 32, 2000
# Whole numbers up to 2 may be genotypes, or whether a gene was detected. Logarithms of counts are below 30.
_LEAST_COUNT, _LARGEST_LOGARITHM = 3, 30
# Genes above their smallest value in this share of the cells have a usable standard deviation.
_FREQUENT = 0.05
# If X was scaled, 90 % of these genes have a standard deviation near 1. Without centring this is the only
# sign, so the range is narrower.
_NEAR_ONE, _NEARER_ONE, _MOST = (0.75, 1.3), (0.85, 1.18), 0.9
_NEAR_ZERO = 0.25


def data_check(source: RowSource, layer: str | None, scale: bool) -> str | None:
    """Return a warning if X (n, p) does not look like log-normalised expression; otherwise None.

    Parameters
    ----------
    source : the rows, before scaling
    layer : name of their layer, or None for X
    scale : whether genes will be divided by their standard deviations
    """
    values = _some(source)
    if not min(values.shape):
        return None
    what, where = ("X", "") if layer is None else (f"layer {layer!r}", f", layer={layer!r}")
    there = values.data if sp.issparse(values) else values
    whole = bool(np.all(there == np.rint(there)))
    if not whole and _is_scaled(values):
        return (
            f"{what}: genes have standard deviations near 1, so that it looks scaled (sc.pp.scale); rare "
            "genes then weigh as much as markers. Log-normalised expression is better: layer= selects a "
            "layer, adata.raw.to_adata() returns raw as an AnnData" + ("; leave scale=False" if scale else "")
        )
    if values.min() < 0:
        return None
    largest = values.max()
    if whole and largest >= _LEAST_COUNT:
        return (
            f"{what}: whole numbers up to {largest:,.0f}, which look like counts; cells with many counts "
            f"then dominate the factors. Call sc.pp.normalize_total(adata{where}) and "
            f"sc.pp.log1p(adata{where}) first"
        )
    if not whole and largest > _LARGEST_LOGARITHM:
        return (
            f"{what}: values up to {largest:,.0f}, which look like expression without its logarithm; a "
            f"few genes then dominate the factors. Call sc.pp.log1p(adata{where}) first"
        )
    return None


def _some(source: RowSource) -> Any:
    """Return values of some cells and genes, from places all over the file."""
    n, p = source.shape
    if n <= _PLACES * _EACH:
        cuts = [(0, n)]
    else:
        cuts = [(int(a), int(a) + _EACH) for a in np.linspace(0, n - _EACH, _PLACES)]
    columns = np.unique(np.linspace(0, p - 1, min(p, _GENES)).astype(int))
    parts = [source.read_finite(start, stop)[:, columns] for start, stop in cuts]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.vstack(parts)


def _is_scaled(values: Any) -> bool:
    """Return whether genes have variance 1, and mean 0 if X was centred; clipping changes little."""
    above, mean, variance = _by_gene(values)
    frequent = above >= _FREQUENT
    if not frequent.any():
        return False
    centred = values.min() < 0
    low, high = _NEAR_ONE if centred else _NEARER_ONE
    deviations = np.sqrt(variance[frequent])
    near = (deviations > low) & (deviations < high)
    if centred:
        near &= np.abs(mean[frequent]) < _NEAR_ZERO
    return bool(np.mean(near) >= _MOST)


def _by_gene(values: Any) -> tuple[Any, Any, Any]:
    """Return for each gene the share of cells above its smallest value (sparse X: 0), mean and variance."""
    n, p = values.shape
    if not sp.issparse(values):
        values = values.astype(np.float64)
        return np.mean(values > values.min(axis=0), axis=0), values.mean(axis=0), values.var(axis=0)
    data = values.data.astype(np.float64)
    above, first, second = (
        np.bincount(values.indices, weights, p) / n for weights in (data > 0, data, data**2)
    )
    return above, first, np.maximum(second - first**2, 0.0)
