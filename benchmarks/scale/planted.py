"""Planted data of any length, made block by block: the first rows are the same however many follow.

Dense: codes h ~ N(0, diag(3 … 1)²), X = hWᵀ + 0.3·noise with orthonormal W (p, r), and the class with the
largest 0.7·hᵀβ + Gumbel noise, so that labels follow a multinomial model of the codes. Sparse: 20 words a
sample, half of them from the sample's topic, and a label that is the topic's for nine samples in ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import cores

BLOCK = 20_000
WORDS = 20
TOPICS = 10


@dataclass(frozen=True)
class Dense:
    """Where dense samples come from."""

    p: int
    rank: int
    classes: int
    dtype: str = "float32"

    @cached_property
    def _truth(self) -> tuple[np.ndarray, np.ndarray]:
        """Wᵀ (r, p) and β (r, classes)."""
        rng = np.random.default_rng(0)
        W = np.linalg.qr(rng.standard_normal((self.p, self.rank)))[0]
        beta = rng.standard_normal((self.rank, self.classes))
        return W.T.astype(np.float32), beta

    def block(self, number: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """X (rows, p) and y (rows,) of one block."""
        atoms, beta = self._truth
        rng = np.random.default_rng((1, number))
        codes = rng.standard_normal((BLOCK, self.rank)) * np.linspace(3, 1, self.rank)
        y = (0.7 * codes @ beta + rng.gumbel(size=(BLOCK, self.classes))).argmax(axis=1)
        X = rng.standard_normal((rows, self.p), dtype=np.float32)
        X *= 0.3
        X += codes[:rows].astype(np.float32) @ atoms
        return X.astype(self.dtype, copy=False), y[:rows]


@dataclass(frozen=True)
class Sparse:
    """Where sparse samples come from; rows hold at most 20 values, since a word may come twice."""

    p: int
    classes: int

    def block(self, number: int, rows: int) -> tuple[Any, np.ndarray]:
        """X (rows, p) in CSR form and y (rows,) of one block."""
        rng = np.random.default_rng((2, number))
        topic = rng.integers(TOPICS, size=BLOCK)
        own = rng.random((BLOCK, WORDS)) < 0.5
        # Words of rank k come with probability ∝ 1/k; each topic orders them in a way of its own.
        rank = (self.p ** rng.random((BLOCK, WORDS))).astype(np.int64) - 1
        word = np.where(own, (rank * 7919 + (topic[:, None] + 1) * 4127) % self.p, rank)
        other = rng.integers(self.classes, size=BLOCK)
        y = np.where(rng.random(BLOCK) < 0.9, topic % self.classes, other)
        values = 1 + rng.exponential(size=(BLOCK, WORDS)).astype(np.float32)
        X = sp.csr_array(
            (values[:rows].ravel(), word[:rows].ravel(), np.arange(0, rows * WORDS + 1, WORDS)),
            shape=(rows, self.p),
        )
        X.sum_duplicates()
        return X, y[:rows]


def blocks(source: Dense | Sparse, n: int) -> Iterator[tuple[int, int, Any, np.ndarray]]:
    """start, stop, X and y of the blocks of n samples; as many at a time as there are cores."""
    cuts = [*range(0, n, BLOCK), n]
    spans = list(pairwise(cuts))
    with ThreadPoolExecutor(cores()) as pool:
        for first in range(0, len(spans), cores()):
            some = list(enumerate(spans))[first : first + cores()]
            made = pool.map(lambda item: source.block(item[0], item[1][1] - item[1][0]), some)
            for (_, (a, b)), (X, y) in zip(some, made, strict=True):
                yield a, b, X, y


def in_memory(source: Dense | Sparse, n: int) -> tuple[Any, np.ndarray]:
    """X (n, p) and y (n,)."""
    y = np.empty(n, dtype=np.int64)
    if isinstance(source, Sparse):
        parts = []
        for a, b, rows, labels in blocks(source, n):
            parts.append(rows)
            y[a:b] = labels
        return sp.vstack(parts, format="csr"), y
    X = np.empty((n, source.p), dtype=source.dtype)
    for a, b, rows, labels in blocks(source, n):
        X[a:b], y[a:b] = rows, labels
    return X, y


def on_disk(source: Dense, n: int, folder: Path, kind: str = "npy") -> tuple[Path, np.ndarray]:
    """The file of X (n, p), `kind` npy or zarr, and y (n,)."""
    path, y = folder / f"{n}.{kind}", np.empty(n, dtype=np.int64)
    X: Any
    if kind == "npy":
        X = np.lib.format.open_memmap(path, "w+", np.dtype(source.dtype), (n, source.p))
    else:
        import zarr

        chunks = (min(n, BLOCK // 8), source.p)
        X = zarr.create_array(path, shape=(n, source.p), chunks=chunks, dtype=source.dtype)
    for a, b, rows, labels in blocks(source, n):
        X[a:b], y[a:b] = rows, labels
    return path, y
