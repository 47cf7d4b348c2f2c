"""What one worker of the cluster keeps of the samples, and how it answers about them."""

# Half of Dask is typed.
# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from distributed.protocol import pickle

from superfactor._arrays import blas_threads
from superfactor.lifting import LocalSamples, SampleBlock
from superfactor.lifting.samples import Answer


def packed(*parts: Any) -> bytes:
    """Small things as one string of bytes: Dask's way of sending arrays one by one takes twice as long.

    Its pickle also knows what a user has defined in a notebook, such as a link.
    """
    return bytes(pickle.dumps(parts))


def unpacked(message: bytes) -> Any:
    """What was packed, as a tuple."""
    return pickle.loads(message)


class Shard:
    """A Dask actor: some partitions of the samples as blocks, asked together.

    Parameters
    ----------
    build : makes the blocks of a partition of what was loaded for it
    partitions : what was loaded, one entry a partition, in the order of the samples
    threads : so many blocks are asked at the same time
    """

    def __init__(
        self,
        build: Callable[[Any], Sequence[SampleBlock]],
        partitions: Sequence[Any],
        threads: int,
    ):
        blocks = [build(partition) for partition in partitions]
        self._samples = LocalSamples([block for part in blocks for block in part], threads)
        self._counts = [len(part) for part in blocks]

    def answer(self, message: bytes) -> bytes:
        """The packed answer to a packed message, a method of this class with its arguments."""
        method, question, arguments = unpacked(message)
        # The threads of a worker are all there are: those of BLAS would come on top.
        with blas_threads(1):
            return packed(getattr(self, method)(question, *arguments))

    def sum(self, question: str, *arguments: Any) -> Answer:
        """As `Samples` has it."""
        return self._samples.sum(question, *arguments)

    def tell(self, question: str, *arguments: Any) -> None:
        """As `Samples` has it."""
        self._samples.tell(question, *arguments)

    def gather(self, question: str, *arguments: Any) -> list[list[Any]]:
        """The answers of the blocks of each partition."""
        answers = iter(self._samples.gather(question, *arguments))
        return [list(islice(answers, count)) for count in self._counts]
