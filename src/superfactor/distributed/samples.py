"""The samples of a problem on the workers of a Dask cluster.

Every worker keeps its share in an actor (`Shard`), which it builds from partitions of the user's Dask
collection. A query sends one small message to each actor and adds the results, always in the same order. No
task graph is used.

A worker may be lost. The state of its blocks follows from their rows and from the messages that changed them.
`RemoteSamples` keeps these messages in order. Another worker loads the shard again from its source, repeats
the messages and then computes the query.
"""

# Parts of Dask have no types.
# mypy: allow-untyped-calls

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from distributed import wait
from distributed.scheduler import KilledWorker

from superfactor._arrays import Array
from superfactor.distributed.block import LoadedSamples, Statement
from superfactor.distributed.placement import placed
from superfactor.distributed.shard import Shard, packed, unpacked
from superfactor.distributed.workers import LOST, Workers
from superfactor.samples import Call, Changes, Samples, added

A = TypeVar("A")
P = ParamSpec("P")

# Seconds to wait for a worker that replaces a lost one.
_REPLACEMENT = 5.0
# After this many losses without a result, the shard itself is the likely cause.
_LOSSES = 4


@dataclass(eq=False)
class _HeldShard:
    """A shard and its worker."""

    numbers: list[int]  # positions of its partitions, ascending
    rows: int  # number of rows in all of them
    address: str  # address of its worker
    future: Any = None  # keeps the actor alive
    losses: int = 0  # number of losses since its last result

    def actor(self) -> tuple[str, str]:
        """Return the address for messages."""
        return self.address, self.future.key


class RemoteSamples(Samples):
    """Samples on the workers of a cluster, in one actor each; `recovered` has a line for each lost shard.

    `partitions` are `dask.delayed` objects; their graphs are kept, so that a lost partition can be loaded
    again. `load` turns a loaded partition into checked samples on the worker. `holders` are the workers that
    have a partition in memory already.
    """

    def __init__(
        self,
        client: Any,
        partitions: Sequence[Any],
        rows: Sequence[int],
        load: Callable[[Any], Sequence[LoadedSamples]],
        holders: Sequence[Collection[str]] | None = None,
    ):
        super().__init__()
        self.recovered: list[str] = []
        self._client, self._partitions, self._load = client, list(partitions), load
        self._log = list[bytes]()
        self._workers = Workers(client)
        places = placed(rows, holders or [()] * len(rows), sorted(self._workers.wait()))
        self._shards = [
            _HeldShard(numbers, sum(rows[i] for i in numbers), address) for address, numbers in places.items()
        ]
        self._workers.reach(list(places))
        self._bring(self._shards)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Delete the shards on the workers."""
        self._shards.clear()

    # --- queries -------------------------------------------------------------------------------------

    def labels(self) -> list[tuple[Array, Array]]:
        """Return the labels that occur and the sums of their weights, for each part."""
        return [found for shard in self._ask(Shard.labels) for found in shard]

    def largest(self) -> Array:
        """Return the largest target, or that of each of several (κ,)."""
        return np.max([found for shard in self._ask(Shard.largest) for found in shard], axis=0)

    def n_labelled(self) -> int:
        """Return the number of samples with a label or target."""
        return sum(self._ask(Shard.n_labelled))

    def state(self, statement: Statement) -> None:
        """Turn all samples into blocks of a stated problem."""
        self._ask(Shard.state, statement)
        self._log.append(packed(Shard.state, statement))

    def summed(self, call: Call[A], changes: Changes) -> A:
        answers = self._ask(Shard.sum, call, changes)
        self._remember(changes)
        return added(answers)

    def gathered(self, call: Call[A], changes: Changes) -> list[A]:
        found: dict[int, list[A]] = {}
        for shard, answer in zip(self._shards, self._ask(Shard.gather, call, changes), strict=True):
            found.update(zip(shard.numbers, answer, strict=True))
        self._remember(changes)
        return [answer for number in sorted(found) for answer in found[number]]

    def made(self, call: Call[Any], changes: Changes, key: int) -> tuple[tuple[int, ...], Any]:
        answers = self._ask(Shard.make, call, changes, key)
        self._log.append(packed(Shard.make, call, changes, key))
        return answers[0][0], added([sums for _, sums in answers])

    def _remember(self, changes: Changes) -> None:
        if changes:
            self._log.append(packed(Shard.run, changes))

    def _ask(
        self, operation: Callable[Concatenate[Shard, P], A], *args: P.args, **kwargs: P.kwargs
    ) -> list[A]:
        """Return the result of every shard, always in the same order."""
        if kwargs:
            raise TypeError(f"{', '.join(kwargs)}: positional arguments are required")
        message = packed(operation, *args)
        answers: dict[_HeldShard, Any] = {}
        while missing := [shard for shard in self._shards if shard not in answers]:
            found = self._workers.ask(map(_HeldShard.actor, missing), [message])
            answers.update(zip(missing, found, strict=True))
            lost = [shard for shard in missing if answers[shard] is LOST]
            for shard in lost:
                del answers[shard]
            if lost:
                self._recover(lost)
        for shard in self._shards:
            shard.losses = 0
        return [unpacked(answers[shard])[0] for shard in self._shards]

    # --- recovery of lost shards -------------------------------------------------------------------------

    def _recover(self, lost: list[_HeldShard]) -> None:
        """Move these shards to other workers, with a warning."""
        was = [shard.address for shard in lost]
        self._relocate(lost)
        self._bring(lost)
        for shard, address in zip(lost, was, strict=True):
            self._warn(shard, address, f", and {len(self._log)} steps repeated there")

    def _warn(self, shard: _HeldShard, address: str, more: str = "") -> None:
        """Warn that this shard came from a worker that was lost."""
        self.recovered.append(
            f"Dask worker {address} was lost; its {len(shard.numbers)} partition(s) of {shard.rows} "
            f"samples were loaded on {shard.address}{more}"
        )
        warnings.warn(self.recovered[-1], UserWarning, stacklevel=2)

    def _relocate(self, lost: list[_HeldShard]) -> None:
        """Assign each shard to the worker with the fewest samples."""
        for shard in lost:
            shard.losses += 1
            if shard.losses > _LOSSES:
                raise RuntimeError(
                    f"{shard.losses} Dask workers in a row were lost with the same {shard.rows} "
                    "samples; smaller chunks, or workers with more memory, may help"
                )
        gone = {shard.address for shard in lost}
        workers = self._workers.wait(len(self._shards), _REPLACEMENT, gone)
        load = dict.fromkeys(workers, 0)
        for shard in self._shards:
            if shard not in lost and shard.address in load:
                load[shard.address] += shard.rows
        for shard in lost:
            shard.address = min(load, key=load.__getitem__)
            load[shard.address] += shard.rows

    def _bring(self, shards: list[_HeldShard]) -> None:
        """Load these shards on their workers, and repeat all messages that changed blocks."""
        while shards:
            threads = self._workers.running()
            for shard in shards:
                shard.future = self._start(shard, threads.get(shard.address, 1))
            wanted = {shard: shard.address for shard in shards}
            self._wait([shard.future for shard in shards])
            there = [shard for shard in shards if self._arrived(shard)]
            for shard in there:
                if shard.address != wanted[shard]:  # Dask has used another worker
                    self._warn(shard, wanted[shard])
            told = self._workers.ask(map(_HeldShard.actor, there), self._log)
            reached = [shard for shard, answer in zip(there, told, strict=True) if answer is not LOST]
            shards = [shard for shard in shards if shard not in reached]
            if shards:
                self._relocate(shards)

    def _start(self, shard: _HeldShard, threads: int) -> Any:
        """Return a future of the actor on its worker, or on another one if that is lost before loading."""
        where = {"workers": [shard.address], "allow_other_workers": True}
        loaded = self._client.compute([self._partitions[i] for i in shard.numbers], **where)
        return self._client.submit(Shard, self._load, loaded, threads, actor=True, **where)

    def _wait(self, futures: list[Any]) -> None:
        """Wait until all futures are done; raise an error if no worker is left."""
        while not all(future.done() for future in futures):
            with self._client.as_current(), suppress(TimeoutError, CancelledError):
                wait(futures, timeout=1.0)
            self._workers.wait()

    def _arrived(self, shard: _HeldShard) -> bool:
        """Return whether the actor has been created, and set its address; if not, its worker was lost."""
        future = shard.future
        if future.status == "finished":
            holders = self._client.who_has([future])[future.key]
            shard.address = next(iter(holders), shard.address)
            return bool(holders)
        if future.status != "error":  # cancelled: scattered data was lost with the worker
            raise RuntimeError(
                f"{shard.rows} samples were lost with a Dask worker and cannot be loaded again: "
                "data that was scattered has no source"
            )
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"{shard.rows} samples could not be loaded: the Dask workers that tried were lost; "
                "smaller chunks, or workers with more memory, may help"
            ) from error
        if future.traceback() is None:  # not raised by Python code on the worker: the actor was lost
            return False
        raise error
