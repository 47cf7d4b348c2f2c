"""Read the matrix of an AnnData: X or a layer, some of the genes, scaled, in memory or on disk."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import cores
from superfactor.anndata.reading.data_check import data_check
from superfactor.estimators.inputs import block_cuts
from superfactor.spectrum import RowSource
from superfactor.spectrum.rows import MemmapRows, SparseRows, as_rows

# A variance below this share of the mean square is rounding: the gene is constant.
_NO_VARIANCE = 1e-12
# Largest share of the model's genes that may be missing in new cells.
_MOST_MISSING = 0.5


def stored_matrix(adata: Any, layer: str | None) -> Any:
    """Return ``adata.X`` (n, p), or the layer of this name."""
    if layer is None:
        if adata.X is None:
            layers = ", ".join(map(repr, adata.layers)) or "none"
            raise ValueError(f"adata.X is None; layer= names one of the layers: {layers}")
        return adata.X
    if layer not in adata.layers:
        layers = ", ".join(map(repr, adata.layers)) or "there is none"
        raise ValueError(f"layer={layer!r}: no such layer; {layers}")
    return adata.layers[layer]


def fitted_data(
    adata: Any, layer: str | None, genes: np.ndarray, scale: bool, in_blocks: bool
) -> tuple[Any, np.ndarray]:
    """Return the data to fit (n, genes), in blocks or in memory, and the divisor of every gene."""
    X = stored_matrix(adata, layer)
    source = rows_of(X)
    whole = len(genes) == adata.n_vars
    if not whole:
        source = source.select([int(j) for j in genes])
    said = data_check(source, layer, scale)
    if said is not None:
        warnings.warn(said, UserWarning, stacklevel=3)
    deviations = np.ones(len(genes))
    if scale:
        deviations = standard_deviations(source)
        source = source.scaled(1 / deviations)
    if not in_blocks:
        return in_memory(source), deviations
    as_it_is = whole and not scale and _is_floating(X)
    return X if as_it_is else as_data(source), deviations


def _is_floating(X: Any) -> bool:
    """Return whether X is an array or CSR matrix in memory that can be fitted without a copy."""
    ready = isinstance(X, np.ndarray) or (sp.issparse(X) and X.format == "csr")
    return ready and X.dtype in (np.float32, np.float64)


def alignment(names: Any, kept: Any, dtype: Any) -> Any:
    """Return a sparse matrix (genes of new cells, genes of the model) that selects and scales columns."""
    genes = [str(gene) for gene in kept["genes"]]
    here = names.astype(str).get_indexer(genes)
    missing = float(np.mean(here < 0))
    if missing > _MOST_MISSING:
        raise ValueError(
            f"adata.var_names: {missing:.0%} of the model's {len(genes)} genes are missing; at most half may "
            f"be missing. Are the names of the same type, such as {genes[0]!r}?"
        )
    if missing:
        warnings.warn(
            f"{missing:.1%} of the model's {len(genes)} genes are missing in adata and count as 0",
            UserWarning,
            stacklevel=3,
        )
    there = np.flatnonzero(here >= 0)
    factors = (1 / np.asarray(kept["scales"], dtype=np.float64)).astype(dtype)
    return sp.csr_array((factors[there], (here[there], there)), shape=(len(names), len(genes)))


def rows_of(X: Any) -> RowSource:
    """Return X (n, p) as a source of rows in blocks: float64 and float32 unchanged, others as float32."""
    source = as_rows(X)
    if source is None:
        source = _in_memory(X)
    # Counts are exact in single precision, which takes half the memory.
    return source.settled(np.float64 if source.stored_type == np.float64 else np.float32)


def _in_memory(X: Any) -> RowSource:
    if sp.issparse(X):
        X = X if X.format == "csr" else X.tocsr()
        return SparseRows(X.data, X.indices, X.indptr, X.shape)
    if isinstance(X, np.ndarray):
        return MemmapRows(np.asarray(X))
    raise TypeError(
        f"X is {type(X).__module__}.{type(X).__name__}; a NumPy array, a SciPy matrix or, on disk, a dense "
        "or CSR matrix is required: adata.to_memory() makes one"
    )


def as_data(source: RowSource) -> Any:
    """Return a source that is read in blocks, or an array if it is a single block."""
    return source if len(block_cuts(source)) > 2 else in_memory(source)


def in_memory(source: RowSource) -> Any:
    """Return all rows as an array or CSR matrix."""
    return source.read_finite(0, source.shape[0])


def standard_deviations(source: RowSource) -> np.ndarray:
    """Return the standard deviation of every column (p,), in float64, by one pass; 1 for constant columns."""
    n = source.shape[0]
    first, second = over_blocks(source, _moments)
    variance = second / n - (first / n) ** 2
    return np.asarray(np.sqrt(np.where(variance > _NO_VARIANCE * second / n, variance, 1.0)))


def over_blocks(source: RowSource, query: Callable[[Any], tuple[Any, ...]]) -> list[Any]:
    """Return sums of `query` over blocks of rows; blocks are distributed over the cores."""
    cuts = list(pairwise(block_cuts(source)))
    threads = min(cores(), len(cuts))

    def share(k: int) -> list[Any]:
        results = (query(source.read_finite(a, b)) for a, b in cuts[k::threads])
        return [sum(parts) for parts in zip(*results, strict=True)]

    with ThreadPoolExecutor(threads) as pool:
        return [sum(parts) for parts in zip(*pool.map(share, range(threads)), strict=True)]


def _moments(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return Σx and Σx² of every column (p,), in float64."""
    if not sp.issparse(X):
        return X.sum(axis=0, dtype=np.float64), np.einsum("ij,ij->j", X, X, dtype=np.float64)
    values, p = X.data.astype(np.float64), X.shape[1]
    first: np.ndarray = np.bincount(X.indices, values, p)
    return first, np.bincount(X.indices, np.square(values, out=values), p)
