"""Samples of data too large for the arrays of a `LiftedProblem`: rows in memory or read in passes."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, cores, device, namespace
from superfactor.lifting.block import SampleBlock
from superfactor.lifting.facts import Facts
from superfactor.lifting.sampled import SampledProblem
from superfactor.lifting.samples import LocalSamples, in_memory
from superfactor.lifting.tall import InFiles
from superfactor.losses import Loss
from superfactor.spectrum import DataMatrix, RowSource, rows_per_block, working_memory


@dataclass(frozen=True)
class SampleTable:
    """What is known of all samples besides X, as the user gave it, in NumPy.

    Attributes
    ----------
    targets : class numbers 0 … κ (n,), integers; or real targets (n, κ)
    n_outputs : κ
    covariates : (n, q) or None
    fit_intercept : whether a column of ones follows them
    sample_weight : (n,), not negative, or None; samples of weight 0 are left out
    class_weight : (n,), or None; multiplies the loss alone
    """

    targets: Any
    n_outputs: int
    covariates: Any = None
    fit_intercept: bool = True
    sample_weight: Any = None
    class_weight: Any = None

    @property
    def n_covariates(self) -> int:
        return 0 if self.covariates is None else int(self.covariates.shape[1])

    def wide_targets(self, chosen: Any = slice(None)) -> Any:
        """Targets (n, κ): one-hot without class 0, or the real ones."""
        targets = self.targets[chosen]
        if targets.ndim == 1:
            return (targets[:, None] == np.arange(1, self.n_outputs + 1)[None, :]).astype(float)
        return targets

    def facts(self, chosen: Any, like: Array) -> Facts:
        """Targets, covariates and weights of the samples in `chosen`, in the type and place of `like`."""
        xp = namespace(like)

        def array(x: Any) -> Array:
            return xp.asarray(x, dtype=like.dtype, device=device(like))

        targets = self.wide_targets(chosen)
        n = len(targets)
        columns = [] if self.covariates is None else [self.covariates[chosen]]
        if self.fit_intercept:
            columns.append(np.ones((n, 1)))
        weight, root = np.ones((n, 1)), None
        if self.sample_weight is not None:
            weight = np.asarray(self.sample_weight[chosen], dtype=float)[:, None]
            root = array(np.sqrt(weight))
        if self.class_weight is not None:
            weight = weight * self.class_weight[chosen][:, None]
        covariates = np.concatenate(columns, axis=1) if columns else np.empty((n, 0))
        return Facts(array(targets), array(covariates), array(weight), root)


def state_sampled(
    model: str,
    X: Any,
    table: SampleTable,
    loss: Loss,
    *,
    xi: float,
    lam: float,
    rank: int,
    on_block: Callable[[int, int], None] | None = None,
) -> SampledProblem:
    """The problem `model` for large data in the user's units.

    Parameters
    ----------
    X : (n, p), dense of any array library, SciPy-sparse, or a `RowSource`
    xi, lam : ξ > 0 and λ ≥ 0 of the paper's F, a sum over samples
    rank : the number of factors, which says how much room the search will need
    on_block : see `LocalSamples`
    """
    if isinstance(X, RowSource):
        like: Array = np.empty(0, dtype=X.dtype)
        samples = _from_source(X, table, loss, rank, on_block)
    else:
        data = DataMatrix(X, table.sample_weight, scale=1.0)
        like = data.xp.empty(0, dtype=data.dtype, device=data.device)
        samples = in_memory(data, lambda a, b: table.facts(slice(a, b), like), loss)
    return SampledProblem.of(
        samples,
        model=model,
        shape=(samples.n_samples, int(X.shape[1])),
        n_outputs=table.n_outputs,
        loss=loss,
        xi=xi,
        lam=lam,
        n_covariates=table.n_covariates,
        fit_intercept=table.fit_intercept,
        like=like,
        row_size=X.nnz / X.shape[0] if sp.issparse(X) else None,
    )


def _from_source(
    X: RowSource,
    table: SampleTable,
    loss: Loss,
    rank: int,
    on_block: Callable[[int, int], None] | None,
) -> LocalSamples:
    """Blocks that read their rows whenever they are asked about X.

    Their tall matrices are kept in memory while they fit into scikit-learn's `working_memory`, and in
    temporary files beyond that.
    """
    n, p = X.shape
    columns = 3 * (6 * rank + 30 + 8 * min(rank, table.n_outputs))
    folder = None
    if n * columns * X.dtype.itemsize > working_memory():
        folder = tempfile.TemporaryDirectory(prefix="superfactor-", ignore_cleanup_errors=True)
    blocks: list[SampleBlock] = []
    start = 0
    for a, b in pairwise(X.cuts(rows_per_block(p, X.dtype.itemsize))):
        chosen = _weighing(table, a, b)
        size = b - a if chosen is None else int(chosen.size)
        if size == 0:
            continue
        store = None if folder is None else InFiles(Path(folder.name) / str(a), size)
        block = _SourceBlock(X, table, a, b, chosen)
        blocks.append(SampleBlock(size, block.rows, block.facts, loss, store, start))
        start += size
    samples = LocalSamples(blocks, cores(), on_block)
    if folder is not None:
        weakref.finalize(samples, folder.cleanup)
    return samples


def _weighing(table: SampleTable, start: int, stop: int) -> Any:
    """Positions between start and stop of the samples of positive weight; None where that is all."""
    weight = table.sample_weight
    if weight is None or np.all(weight[start:stop] > 0):
        return None
    return start + np.flatnonzero(weight[start:stop] > 0)


@dataclass(frozen=True)
class _SourceBlock:
    """The rows a to b of a source, or the samples `chosen` among them."""

    source: RowSource
    table: SampleTable
    a: int
    b: int
    chosen: Any

    @property
    def _samples(self) -> Any:
        return slice(self.a, self.b) if self.chosen is None else self.chosen

    def rows(self, scale: float) -> DataMatrix:
        # NaNs are looked for in the first pass, when the scale is not yet known.
        read = self.source.read_finite if scale == 1.0 else self.source.read
        X = read(self.a, self.b)
        if self.chosen is not None:
            X = X[self.chosen - self.a]
        weight = self.table.sample_weight
        weight = None if weight is None else weight[self._samples]
        return DataMatrix(X, weight, scale=scale)

    def facts(self) -> Facts:
        return self.table.facts(self._samples, np.empty(0, dtype=self.source.dtype))
