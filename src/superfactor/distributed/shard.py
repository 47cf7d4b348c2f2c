"""`Shard`: the samples of one worker, and the queries it computes."""

# Parts of Dask have no types.
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
    """Serialize small objects together; Dask sends arrays one by one, which takes twice as long.

    Dask's pickle also supports objects that are defined in a notebook, such as a link.
    """
    return bytes(pickle.dumps(parts))


def unpacked(message: bytes) -> Any:
    """Return the packed objects as a tuple."""
    return pickle.loads(message)


class Shard:
    """A Dask actor that holds partitions of the samples, in order, and computes with `threads` threads."""

    def __init__(
        self, load: Callable[[Any], Sequence[LoadedSamples]], partitions: Sequence[Any], threads: int
    ):
        self._loaded = [load(partition) for partition in partitions]
        self._threads = threads
        self._samples = LocalSamples([])

    def answer(self, message: bytes) -> bytes:
        """Return the packed result of a packed message: an operation of this class with its arguments."""
        operation, *arguments = unpacked(message)
        # All threads of the worker are used already, so BLAS must not start more.
        with one_blas_thread:
            return packed(operation(self, *arguments))

    # --- operations -----------------------------------------------------------------------------------------

    def labels(self) -> list[tuple[Array, Array]]:
        """Return the labels that occur and the sums of their weights, for each part."""
        return [part.labels() for loaded in self._loaded for part in loaded]

    def largest(self) -> list[Array]:
        """Return the largest target, or that of each of several (κ,), for each part."""
        return [part.largest for loaded in self._loaded for part in loaded]

    def n_labelled(self) -> int:
        """Return the number of samples with a label or target."""
        return sum(part.n_labelled for loaded in self._loaded for part in loaded)

    def state(self, statement: Statement) -> None:
        """Turn the samples into blocks of the stated problem."""
        blocks = [part.block(statement) for loaded in self._loaded for part in loaded]
        self._samples = LocalSamples(blocks, self._threads)

    def sum(self, call: Call[A], changes: Changes) -> A:
        """Return the sum of the results of the blocks."""
        return self._samples.summed(call, changes)

    def make(self, call: Call[Any], changes: Changes, key: int) -> tuple[tuple[int, ...], Any]:
        """Create arrays that the blocks keep; return their numbers of columns, and sums."""
        return self._samples.made(call, changes, key)

    def gather(self, call: Call[A], changes: Changes) -> list[list[A]]:
        """Return the results of the blocks of each partition."""
        answers = iter(self._samples.gathered(call, changes))
        return [list(islice(answers, len(loaded))) for loaded in self._loaded]

    def run(self, changes: Changes) -> None:
        """Apply changes to the blocks without a query."""
        for block in self._samples.blocks:
            for change in changes:
                change.to(block)
