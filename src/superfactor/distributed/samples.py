"""The samples of a problem on the workers of a Dask cluster.

Every worker keeps its share in an actor (`Shard`), built where it stays from partitions of the user's Dask
collection. A question is one small message to each actor, and the sum of the answers, always added in the
same order; no task graph.

A worker may be lost. All that its blocks know follows from their rows and from the messages that have changed
them, in their order. So these are kept, and a lost shard is loaded anew from its source on another
worker, told them again, and asked again.
"""

# Half of Dask is typed.
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

# Seconds for another worker in the place of a lost one.
_REPLACEMENT = 5.0
# A shard that is lost so often before it has answered once takes its workers down with it.
_LOSSES = 4


@dataclass(eq=False)
class _HeldShard:
    """A shard and where it is."""

    numbers: list[int]  # of its partitions, ascending
    rows: int  # in all of them
    address: str  # of its worker
    future: Any = None  # keeps the actor alive
    losses: int = 0  # since it last answered

    def actor(self) -> tuple[str, str]:
        """Where to send messages."""
        return self.address, self.future.key


class RemoteSamples(Samples):
    """Samples held by the workers of a cluster, one actor each; `recovered` has a line for each lost one.

    `partitions` are `dask.delayed` objects whose graphs are kept, since a lost one is loaded again; `load`
    makes checked samples of what was loaded, on the worker; `holders` have a partition in memory already.
    """

    #: A round trip to the workers takes some ten milliseconds.
    latency: float = 100.0

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
        """Have the workers forget their shards."""
        self._shards.clear()

    # --- questions -----------------------------------------------------------------------------------

    def labels(self) -> list[tuple[Array, Array]]:
        """The labels that occur and the sums of their weights, part by part."""
        return [found for shard in self._ask(Shard.labels) for found in shard]

    def largest(self) -> Array:
        """The largest target there is, or of each of several (κ,)."""
        return np.max([found for shard in self._ask(Shard.largest) for found in shard], axis=0)

    def n_labelled(self) -> int:
        """How many samples have a label, or targets."""
        return sum(self._ask(Shard.n_labelled))

    def state(self, statement: Statement) -> None:
        """Have all samples become those of a stated problem."""
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
        """The answer of every shard, in the same order whoever is first."""
        if kwargs:
            raise TypeError(f"{', '.join(kwargs)}: arguments travel by position")
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

    # --- shards that are lost, and brought back --------------------------------------------------------

    def _recover(self, lost: list[_HeldShard]) -> None:
        """Have other workers hold these shards, and say so."""
        was = [shard.address for shard in lost]
        self._relocate(lost)
        self._bring(lost)
        for shard, address in zip(lost, was, strict=True):
            self._say(shard, address, f", and {len(self._log)} steps repeated there")

    def _say(self, shard: _HeldShard, address: str, more: str = "") -> None:
        """That this shard came from a worker that was lost."""
        self.recovered.append(
            f"Dask worker {address} was lost; its {len(shard.numbers)} partition(s) of {shard.rows} "
            f"samples were loaded on {shard.address}{more}"
        )
        warnings.warn(self.recovered[-1], UserWarning, stacklevel=2)

    def _relocate(self, lost: list[_HeldShard]) -> None:
        """Choose another worker for each: the one with the fewest samples."""
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
        """Load these shards on their workers, and tell them all that has changed blocks so far."""
        while shards:
            threads = self._workers.running()
            for shard in shards:
                shard.future = self._start(shard, threads.get(shard.address, 1))
            wanted = {shard: shard.address for shard in shards}
            self._wait([shard.future for shard in shards])
            there = [shard for shard in shards if self._arrived(shard)]
            for shard in there:
                if shard.address != wanted[shard]:  # Dask itself has tried another
                    self._say(shard, wanted[shard])
            told = self._workers.ask(map(_HeldShard.actor, there), self._log)
            reached = [shard for shard, answer in zip(there, told, strict=True) if answer is not LOST]
            shards = [shard for shard in shards if shard not in reached]
            if shards:
                self._relocate(shards)

    def _start(self, shard: _HeldShard, threads: int) -> Any:
        """The actor, to be; on its worker, or on another where that is lost before it is loaded."""
        where = {"workers": [shard.address], "allow_other_workers": True}
        loaded = self._client.compute([self._partitions[i] for i in shard.numbers], **where)
        return self._client.submit(Shard, self._load, loaded, threads, actor=True, **where)

    def _wait(self, futures: list[Any]) -> None:
        """Until all are there or have failed; not for ever where no worker is left."""
        while not all(future.done() for future in futures):
            with self._client.as_current(), suppress(TimeoutError, CancelledError):
                wait(futures, timeout=1.0)
            self._workers.wait()

    def _arrived(self, shard: _HeldShard) -> bool:
        """Whether the actor is there, and where; if not, its worker was lost again."""
        future = shard.future
        if future.status == "finished":
            holders = self._client.who_has([future])[future.key]
            shard.address = next(iter(holders), shard.address)
            return bool(holders)
        if future.status != "error":  # cancelled: data without a graph went with the worker
            raise RuntimeError(
                f"{shard.rows} samples were lost with a Dask worker and cannot be loaded again: "
                "data that was scattered has no source"
            )
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"{shard.rows} samples could not be loaded, the Dask workers that tried were lost; "
                "smaller chunks, or workers with more memory, may help"
            ) from error
        if future.traceback() is None:  # raised by no code of ours or the user's: the actor was lost
            return False
        raise error
