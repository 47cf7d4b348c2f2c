"""Cells as scanpy users have them: a sparse AnnData of many cells and genes, in memory and on disk.

`python -m benchmarks cells` measures time and memory of `superfactor.anndata.tl.smf`. The counts are made up:
each cell draws its molecules from the profile of its type, so that about 3 % of the entries are not zero,
and they are log-normalised as is usual (10,000 molecules a cell, log1p).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import measure

TYPES = 8
# Marker genes of a type: the ratio of their share in the type to that elsewhere.
MARKERS, FOLD = 200, 5.0
RANK = 10


def counts(n: int, p: int, seed: int = 0, molecules: int = 660) -> tuple[Any, np.ndarray]:
    """Counts (n, p), CSR float32, and the type (n,) of each cell."""
    rng = np.random.default_rng(seed)
    usual = rng.lognormal(0.0, 1.5, p)
    types = np.sort(rng.choice(TYPES, n, p=_shares()))
    parts = []
    for kind in range(TYPES):
        profile = usual.copy()
        profile[rng.choice(p, MARKERS, replace=False)] *= FOLD
        cumulated = np.cumsum(profile / profile.sum())
        cells = int(np.sum(types == kind))
        for start in range(0, cells, 2000):
            parts.append(_drawn(rng, min(2000, cells - start), cumulated, molecules))
    order = rng.permutation(n)
    return sp.vstack(parts, format="csr")[order], types[order]


def _shares() -> np.ndarray:
    """Of the types, the rarest a seventh of the most frequent."""
    sizes = np.geomspace(7, 1, TYPES)
    return sizes / sizes.sum()


def _drawn(rng: Any, cells: int, cumulated: np.ndarray, molecules: int) -> Any:
    totals = rng.poisson(molecules * rng.lognormal(0.0, 0.3, cells))
    genes = np.searchsorted(cumulated, rng.random(int(totals.sum())) * cumulated[-1])
    rows = np.repeat(np.arange(cells), totals)
    ones = np.ones(len(genes), dtype=np.float32)
    block = sp.csr_matrix((ones, (rows, genes)), shape=(cells, len(cumulated)))
    block.sum_duplicates()
    return block


def log_normalised(X: Any) -> Any:
    """log(1 + 10,000·x/total) of counts X, in place."""
    total = np.asarray(X.sum(axis=1)).ravel()
    X.data *= np.repeat(np.float32(1e4) / total.astype(np.float32), np.diff(X.indptr))
    np.log1p(X.data, out=X.data)
    return X


def write(path: Path, n: int, p: int, seed: int = 0) -> None:
    """An AnnData of such cells as a file."""
    import anndata
    import pandas as pd

    X, types = counts(n, p, seed)
    names = pd.Categorical([f"type {kind}" for kind in types])
    obs = pd.DataFrame({"cell_type": names}, index=[f"cell {i}" for i in range(n)])
    var = pd.DataFrame(index=[f"gene {j}" for j in range(p)])
    anndata.AnnData(log_normalised(X), obs=obs, var=var).write_h5ad(path)


def cells(quick: bool) -> list[dict[str, Any]]:
    """Time and memory of a fit, of cells in memory and of cells on disk."""
    n, p = (3000, 2000) if quick else (50_000, 20_000)
    rows = []
    with tempfile.TemporaryDirectory(prefix="superfactor-") as folder:
        path = Path(folder) / "cells.h5ad"
        measure.isolated(write, path, n, p, limit=1200)
        for place in ("memory", "disk"):
            found = measure.isolated(_fitted, str(path), place, limit=3600)
            rows.append({"cells": n, "genes": p, "in": place, **found})
    return rows


def _fitted(path: str, place: str) -> dict[str, Any]:
    """In a process of its own: what it takes to open the file and fit, the data included."""
    import anndata

    import superfactor.anndata as sfa

    found: dict[str, Any] = {}

    def job() -> None:
        adata = anndata.read_h5ad(path, backed="r" if place == "disk" else None)
        start = time.perf_counter()
        sfa.tl.smf(adata, "cell_type", n_components=RANK)
        stored = adata.X.group["data"].size if adata.isbacked else adata.X.nnz
        predicted = adata.obs["smf_predicted"].astype(str) == adata.obs["cell_type"].astype(str)
        found.update(
            seconds=time.perf_counter() - start,
            values=int(stored),
            sparse_megabytes=stored * 8 / 1e6,
            accuracy=float(predicted.mean()),
            relative_gap=float(adata.uns["smf"]["certificate"]["relative_gap"]),
        )

    found["peak_megabytes"] = measure.peak_megabytes(job)
    found["times_X"] = found["peak_megabytes"] / found["sparse_megabytes"]
    return found
