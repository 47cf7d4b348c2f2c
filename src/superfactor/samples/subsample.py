"""Some of the samples, in memory: where to begin with many."""

from __future__ import annotations

import scipy.sparse as sp

from superfactor._arrays import namespace
from superfactor.samples.annotations import Annotations
from superfactor.samples.block import Block
from superfactor.samples.samples import Samples
from superfactor.spectrum import DataMatrix


def subsample(samples: Samples, share: float) -> tuple[DataMatrix, Annotations]:
    """About this share of the samples of every block: X̃ and annotations; one pass over X."""
    parts = samples.gather(Block.some_rows, share)
    blocks = [rows for rows, _ in parts]
    known = Annotations.joined([part for _, part in parts])
    if sp.issparse(blocks[0]):
        X = sp.vstack(blocks, format="csr")
    else:
        X = namespace(*blocks).concat(blocks)
    weight = None if known.root_weight is None else known.root_weight[:, 0] ** 2
    return DataMatrix(X, weight, scale=1.0), known
