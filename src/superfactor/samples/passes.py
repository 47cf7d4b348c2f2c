"""Samples whose X is read in passes: blocks that read their rows whenever a method needs X."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from superfactor._arrays import cores
from superfactor._files import TemporaryFolder
from superfactor.losses import Loss
from superfactor.samples.annotations import Annotations, SampleTable
from superfactor.samples.block import Block
from superfactor.samples.block.store import InFiles
from superfactor.samples.samples import LocalSamples
from superfactor.spectrum import DataMatrix, RowSource, rows_per_block, working_memory


def in_passes(
    X: RowSource,
    table: SampleTable,
    loss: Loss,
    rank: int,
    on_block: Callable[[int, int], None] | None = None,
) -> LocalSamples:
    """Return the samples of positive weight of a source X (n, p).

    `rank` determines the memory that a search needs: tall matrices stay in memory while they fit into
    scikit-learn's ``working_memory``, and are stored in temporary files otherwise.
    """
    n = X.shape[0]
    columns = 3 * (6 * rank + 30 + 8 * min(rank, table.n_outputs))
    folder = None
    if n * columns * X.dtype.itemsize > working_memory():
        folder = TemporaryFolder()
    blocks: list[Block] = []
    start = 0
    for a, b in pairwise(X.cuts(rows_per_block(X.values_a_row, X.dtype.itemsize))):
        chosen = table.weighing(a, b)
        size = b - a if chosen is None else int(chosen.size)
        if size == 0:
            continue
        store = None if folder is None else InFiles(folder.path / str(a))
        stretch = _Stretch(X, table, a, b, chosen)
        blocks.append(Block(size, stretch.rows, stretch.annotations, loss, store, start))
        start += size
    samples = LocalSamples(blocks, cores(), on_block)
    if folder is not None:
        weakref.finalize(samples, folder.cleanup)
    return samples


@dataclass(frozen=True)
class _Stretch:
    """Rows a to b of a source, or the samples `chosen` among them."""

    source: RowSource
    table: SampleTable
    a: int
    b: int
    chosen: Any

    @property
    def _samples(self) -> Any:
        return slice(self.a, self.b) if self.chosen is None else self.chosen

    def rows(self, scale: float | None) -> DataMatrix:
        # The first pass, when the scale is not yet known, checks for NaN.
        read = self.source.read_finite if scale is None else self.source.read
        X = read(self.a, self.b)
        if self.chosen is not None:
            X = X[self.chosen - self.a]
        weight = self.table.sample_weight
        return DataMatrix(X, None if weight is None else weight[self._samples], scale=scale or 1.0)

    def annotations(self) -> Annotations:
        # Computed again for every call: stored, they would need as much memory as the tall matrices.
        return self.table.annotations(self._samples, np.empty(0, dtype=self.source.dtype))
