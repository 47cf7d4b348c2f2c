"""The samples of a problem, cut into blocks that answer questions with sums (docs/method.md §10).

Everything the default solver learns about samples is a sum over them: the loss, its gradient, its curvature,
products with X. So it asks, and whoever holds the samples answers: blocks in memory, blocks read from a
disk in passes, or the workers of a cluster. Between two questions only arrays without an n among their
dimensions travel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from superfactor._arrays import Array, cores, namespace, wide, zeros_like_of
from superfactor.lifting.block import SampleBlock
from superfactor.lifting.facts import Facts
from superfactor.losses import Loss
from superfactor.spectrum import DataMatrix
from superfactor.spectrum.data import NNZ_WORTH_THREADS

Answer = tuple[Any, ...]

# Rows whose part of the loss and its derivatives stays in a core's cache.
ROWS_A_BLOCK = 8192


class Samples(ABC):
    """All samples, whoever holds them."""

    @abstractmethod
    def sum(self, question: str, *arguments: Any) -> Answer:
        """The sums over all blocks of what their method `question` returns, arrays in float64."""

    @abstractmethod
    def gather(self, question: str, *arguments: Any) -> list[Any]:
        """The answer of every block, in the order of the samples."""

    def stack(self, question: str, *arguments: Any) -> Array:
        """What `gather` gives, one below the other."""
        parts = self.gather(question, *arguments)
        return namespace(*parts).concat(parts)

    def tell(self, question: str, *arguments: Any) -> None:
        """Have every block do something that nobody needs to hear about."""
        self.gather(question, *arguments)


class LocalSamples(Samples):
    """Blocks in this process, in memory or read from their source when they are asked.

    Parameters
    ----------
    blocks : in the order of the samples
    threads : so many blocks are asked at the same time
    on_block : called as on_block(rows done, rows in all) after each block of a question that reads X
        from its source
    """

    def __init__(
        self,
        blocks: Sequence[SampleBlock],
        threads: int = 1,
        on_block: Callable[[int, int], None] | None = None,
    ):
        self.blocks, self.on_block = list(blocks), on_block
        self._threads = min(threads, len(self.blocks))
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None

    @property
    def n_samples(self) -> int:
        return sum(block.n_samples for block in self.blocks)

    def sum(self, question: str, *arguments: Any) -> Answer:
        total: list[Any] | None = None
        for answer in self._answers(question, arguments):
            parts = [_wide(part) for part in answer]
            total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
        return tuple(total or ())

    def gather(self, question: str, *arguments: Any) -> list[Any]:
        return list(self._answers(question, arguments))

    def stack(self, question: str, *arguments: Any) -> Array:
        whole: Any = None
        done = 0
        for part in self._answers(question, arguments):
            if (
                whole is None
            ):  # not a list of parts first: there may be no room for all of them twice
                whole = zeros_like_of(part, self.n_samples, int(part.shape[1]))
            whole[done : done + part.shape[0], :] = part
            done += int(part.shape[0])
        return whole

    def _answers(self, question: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """Answers in order, told to `on_block`."""
        done, total = 0, self.n_samples
        watched = self.on_block is not None and _reads(question, arguments)
        if watched:
            self.on_block(0, total)  # type: ignore[misc]
        answers = self._computed(question, arguments)
        for block, answer in zip(self.blocks, answers, strict=True):
            yield answer
            done += block.n_samples
            if watched:
                self.on_block(done, total)  # type: ignore[misc]

    def _computed(self, question: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """Answers in order, with no more of them under way than there are threads."""
        if self._pool is None:
            yield from (getattr(block, question)(*arguments) for block in self.blocks)
            return
        waiting: deque[Future[Any]] = deque()
        try:
            for block in self.blocks:
                waiting.append(self._pool.submit(getattr(block, question), *arguments))
                if len(waiting) > self._threads:
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())
        finally:  # after an error no block is at work any more: its files may be deleted
            for future in waiting:
                future.cancel()
            wait(waiting)


def _result(future: Future[Any]) -> Any:
    try:
        return future.result()
    finally:
        # Its error holds this frame; holding it in turn would keep alive whoever is on the stack.
        del future


def in_memory(data: DataMatrix, facts: Callable[[int, int], Facts], loss: Loss) -> LocalSamples:
    """Samples whose X is in memory, in one block or in several for each core.

    `facts(start, stop)` are those of consecutive samples.
    """
    cuts, threads = _divided(data)
    blocks = [
        _in_memory_block(data.rows(start, stop), facts(start, stop), loss, start)
        for start, stop in pairwise(cuts)
    ]
    return LocalSamples(blocks, threads)


def _in_memory_block(rows: DataMatrix, facts: Facts, loss: Loss, start: int) -> SampleBlock:
    return SampleBlock(rows.shape[0], rows.over, lambda: facts, loss, start=start)


def _divided(data: DataMatrix) -> tuple[list[int], int]:
    """Where to cut the rows, and for how many threads: several on a processor with enough to do."""
    n = data.shape[0]
    if data.is_sparse:
        worth = data.nnz > NNZ_WORTH_THREADS
    else:
        worth = data.xp is namespace(np.empty(0)) and n > 2 * ROWS_A_BLOCK
    threads = cores() if worth else 1
    count = 1 if threads == 1 else min(n, max(threads, n // ROWS_A_BLOCK))  # none of them empty
    return [n * i // count for i in range(count + 1)], threads


def _wide(part: Any) -> Any:
    """Sums of many blocks in float64, whatever type the blocks compute in."""
    return part if isinstance(part, float | int) else wide(part)


def _reads(question: str, arguments: tuple[Any, ...]) -> bool:
    if question == "several":
        return any(name in SampleBlock.READS for name, *_ in arguments[0])
    return question in SampleBlock.READS
