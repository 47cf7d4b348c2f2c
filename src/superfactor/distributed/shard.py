"""What one worker of the cluster keeps of the samples, and how it answers about them."""

# Half of Dask is typed.
# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

from distributed.protocol import pickle

from superfactor._arrays import Array, one_blas_thread
from superfactor.distributed.block import LoadedSamples, Statement
from superfactor.samples import Call, Changes, LocalSamples

A = TypeVar("A")


def packed(*parts: Any) -> bytes:
    """Small things as one string of bytes: Dask's way of sending arrays one by one takes twice as long.

    Its pickle also knows what a user has defined in a notebook, such as a link.
    """
    return bytes(pickle.dumps(parts))


def unpacked(message: bytes) -> Any:
    """What was packed, as a tuple."""
    return pickle.loads(message)


class Shard:
    """A Dask actor: some partitions of the samples, in their order, asked together by so many threads."""

    def __init__(
        self, load: Callable[[Any], Sequence[LoadedSamples]], partitions: Sequence[Any], threads: int
    ):
        self._loaded = [load(partition) for partition in partitions]
        self._threads = threads
        self._samples = LocalSamples([])

    def answer(self, message: bytes) -> bytes:
        """The packed answer to a packed message: an operation of this class with its arguments."""
        operation, *arguments = unpacked(message)
        # The threads of a worker are all there are: those of BLAS would come on top.
        with one_blas_thread:
            return packed(operation(self, *arguments))

    # --- operations -----------------------------------------------------------------------------------------

    def labels(self) -> list[tuple[Array, Array]]:
        """Labels that occur and the sums of their weights, part by part."""
        return [part.labels() for loaded in self._loaded for part in loaded]

    def largest(self) -> list[Array]:
        """The largest target, or of each of several (κ,), part by part."""
        return [part.largest for loaded in self._loaded for part in loaded]

    def n_labelled(self) -> int:
        """How many samples have a label, or targets."""
        return sum(part.n_labelled for loaded in self._loaded for part in loaded)

    def state(self, statement: Statement) -> None:
        """Become a part of the stated problem."""
        blocks = [part.block(statement) for loaded in self._loaded for part in loaded]
        self._samples = LocalSamples(blocks, self._threads)

    def sum(self, call: Call[A], changes: Changes) -> A:
        """The sum of the blocks' answers."""
        return self._samples.summed(call, changes)

    def make(self, call: Call[Any], changes: Changes, key: int) -> tuple[tuple[int, ...], Any]:
        """Columns of what the blocks keep, and sums."""
        return self._samples.made(call, changes, key)

    def gather(self, call: Call[A], changes: Changes) -> list[list[A]]:
        """The answers of the blocks of each partition."""
        answers = iter(self._samples.gathered(call, changes))
        return [list(islice(answers, len(loaded))) for loaded in self._loaded]

    def run(self, changes: Changes) -> None:
        """What changes blocks, without a question."""
        for block in self._samples.blocks:
            for change in changes:
                change.to(block)
