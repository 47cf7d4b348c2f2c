"""The workers of a Dask cluster: which are available, and messages to actors on them."""

# Parts of Dask have no types.
# mypy: allow-untyped-calls

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

# Seconds: between checks whether silent workers are alive; for a first connection; to wait for any worker.
_POLL, _CONNECT, _NO_WORKER = 1.0, 3.0, 30.0

#: Result of a message if the worker is lost.
LOST: Any = object()

# An actor: the address of its worker, and its key there.
Actor = tuple[str, str]


class Workers:
    """Sends messages to the workers of a cluster."""

    def __init__(self, client: Any):
        self._client = client
        self.direct = False  # whether messages are sent directly to workers, or through the scheduler

    def _sync(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a coroutine in the client's loop."""
        try:
            if self._client.status == "running":
                return self._client.sync(function, *arguments)
        except OSError as error:
            raise RuntimeError(
                f"the connection to the Dask scheduler was lost during the fit: {error}"
            ) from error
        raise RuntimeError(
            f"client: it is {self._client.status}; one that is connected to a cluster is required"
        )

    # --- available workers -----------------------------------------------------------------------------

    def running(self) -> dict[str, int]:
        """Return the number of threads of each running worker."""
        return dict(self._sync(self._threads))

    async def _threads(self) -> Any:
        return await self._client.scheduler.ncores_running()

    def wait(self, count: int = 1, seconds: float = 0.0, gone: Collection[str] = ()) -> dict[str, int]:
        """Return `running` once there are `count` workers that are not in `gone`, or after `seconds`.

        At least one worker is required; the cluster has half a minute to start it.
        """
        start = time.monotonic()
        while True:
            workers = self.running()
            left = {worker: threads for worker, threads in workers.items() if worker not in gone}
            waited = time.monotonic() - start
            if len(left) >= count or (workers and waited > seconds):
                return left or workers
            if waited > _NO_WORKER:
                raise RuntimeError(
                    f"the Dask cluster has had no worker for {waited:.0f} s; one at least is required"
                )
            time.sleep(0.05)

    def reach(self, addresses: list[str]) -> None:
        """Determine whether the client can reach these workers directly."""
        self.direct = self._sync(self._reachable, addresses)

    async def _reachable(self, addresses: list[str]) -> bool:
        if self._client.direct_to_workers is not None:
            return bool(self._client.direct_to_workers)
        calls = (self._client.rpc(address).identity() for address in addresses)
        try:
            await asyncio.wait_for(asyncio.gather(*calls), _CONNECT)
        except (OSError, TimeoutError):
            return False
        return True

    # --- messages --------------------------------------------------------------------------------------

    def ask(self, actors: Iterable[Actor], messages: Sequence[bytes]) -> list[Any]:
        """Send all messages to each actor, in order; return each one's result of the last, or `LOST`.

        Errors of actors are raised. There is no time limit as long as the workers are alive.
        """
        answers: list[Any] = self._sync(self._exchange, list(actors), messages)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    async def _exchange(self, actors: list[Actor], messages: Sequence[bytes]) -> list[Any]:
        tasks = [asyncio.ensure_future(self._send(actor, messages)) for actor in actors]
        pending = set(tasks)
        while pending:
            _, pending = await asyncio.wait(pending, timeout=_POLL)
            if pending:  # a long computation, or a lost worker
                alive = await self._client.scheduler.ncores()
                for (address, _), task in zip(actors, tasks, strict=True):
                    if address not in alive:
                        task.cancel()
        return [LOST if task.cancelled() else task.result() for task in tasks]

    async def _send(self, actor: Actor, messages: Sequence[bytes]) -> Any:
        (address, key), answer = actor, None
        for message in messages:
            # The same call as by Dask's `Actor`, which would use the scheduler and the default client, and
            # would wait forever for an actor that its worker does not have.
            call = {"function": "answer", "actor": key, "args": [message]}
            try:
                if self.direct:
                    reply = await self._client.rpc(address).actor_execute(**call)
                else:
                    reply = await self._client.scheduler.proxy(
                        worker=address, msg={"op": "actor_execute", **call}
                    )
            except (OSError, KeyError):  # no such worker, or another one at its address
                return LOST
            if reply["status"] == "error":
                return reply["exception"]
            answer = reply["result"]
        return answer
