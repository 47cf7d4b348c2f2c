"""What one worker of the cluster keeps of the samples, and how it answers about them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from superfactor._arrays import blas_threads
from superfactor.lifting import LocalSamples, SampleBlock


def packed(*parts: Any) -> bytes:
    """Small things as one string of bytes: Dask's own way of sending arrays takes twice as long."""
    return pickle.dumps(parts, protocol=pickle.HIGHEST_PROTOCOL)


class Shard:
    """A Dask actor: some partitions of the samples as blocks, asked together.

    Parameters
    ----------
    build : makes a partition's block of what was loaded for it
    partitions : what was loaded, one entry a partition, in the order of the samples
    threads : so many blocks are asked at the same time
    """

    def __init__(
        self, build: Callable[[Any], SampleBlock], partitions: Sequence[Any], threads: int
    ):
        self._samples = LocalSamples([build(partition) for partition in partitions], threads)

    def answer(self, message: bytes) -> bytes:
        """The answer to the packed message (method of `Samples`, question, arguments)."""
        method, question, arguments = pickle.loads(message)
        # The threads of a worker are all there are: those of BLAS would come on top.
        with blas_threads(1):
            return packed(getattr(self._samples, method)(question, *arguments))
