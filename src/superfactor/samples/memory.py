"""Samples whose X is in memory, in blocks for as many threads as there are cores; subsamples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import cores, namespace
from superfactor.losses import Loss
from superfactor.options import Options
from superfactor.samples.annotations import Annotations
from superfactor.samples.block import Block
from superfactor.samples.samples import LocalSamples, Samples
from superfactor.spectrum import DataMatrix


def in_memory(data: DataMatrix, annotations: Annotations, loss: Loss, options: Options) -> LocalSamples:
    """Return the samples of X̃ (n, p), in one block or in several for each core."""
    cuts, threads = ([0, data.shape[0]], 1) if loss.couples_samples else _divided(data, options)
    blocks = [
        _block(data.rows(start, stop), annotations.between(start, stop), loss, start)
        for start, stop in pairwise(cuts)
    ]
    return LocalSamples(blocks, threads, like=annotations.targets)


def _block(rows: DataMatrix, known: Annotations, loss: Loss, start: int) -> Block:
    return Block(rows.shape[0], lambda scale: rows.over(scale or 1.0), lambda: known, loss, start=start)


def _divided(data: DataMatrix, options: Options) -> tuple[list[int], int]:
    """Return where to divide the rows, and the number of threads: several if there is enough work."""
    n, size = data.shape[0], options.rows_a_block
    if data.is_sparse:
        worth = data.nnz > options.values_worth_threads
    else:
        worth = data.xp is namespace(np.empty(0)) and n > 2 * size
    threads = cores() if worth else 1
    count = 1 if threads == 1 else min(n, max(threads, n // size))  # none of them empty
    return [n * i // count for i in range(count + 1)], threads


def subsample(samples: Samples, share: float) -> tuple[DataMatrix, Annotations]:
    """Return X̃ and annotations of about this share of the samples of every block; one pass over X."""
    parts = samples.gather(Block.some_rows, share)
    blocks = [rows for rows, _ in parts]
    known = Annotations.joined([part for _, part in parts])
    if sp.issparse(blocks[0]):
        X = sp.vstack(blocks, format="csr")
    else:
        X = namespace(*blocks).concat(blocks)
    weight = None if known.root_weight is None else known.root_weight[:, 0] ** 2
    return DataMatrix(X, weight, scale=1.0), known
