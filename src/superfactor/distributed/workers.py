"""The workers of a Dask cluster: which are there, and messages to actors on them."""

# Half of Dask is typed.
# mypy: allow-untyped-calls

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

# Seconds: after which somebody looks whether a silent worker is still there; for a first connection; for
# any worker at all to start.
_POLL, _CONNECT, _NOBODY = 1.0, 3.0, 30.0

#: In the place of an answer, where the worker is gone.
LOST: Any = object()

# An actor: the address of its worker, and its key there.
Actor = tuple[str, str]


class Workers:
    """Speaks to the workers of a cluster."""

    def __init__(self, client: Any):
        self._client = client
        self.direct = False  # whether messages go straight to the workers, or by way of the scheduler

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

    # --- who is there ----------------------------------------------------------------------------------

    def running(self) -> dict[str, int]:
        """The number of threads of each worker that takes work."""
        return dict(self._sync(self._threads))

    async def _threads(self) -> Any:
        return await self._client.scheduler.ncores_running()

    def wait(self, count: int = 1, seconds: float = 0.0, gone: Collection[str] = ()) -> dict[str, int]:
        """`running`, once there are so many besides those gone, or this time is over.

        One there must be: the cluster is given half a minute to start it.
        """
        start = time.monotonic()
        while True:
            workers = self.running()
            left = {worker: threads for worker, threads in workers.items() if worker not in gone}
            waited = time.monotonic() - start
            if len(left) >= count or (workers and waited > seconds):
                return left or workers
            if waited > _NOBODY:
                raise RuntimeError(
                    f"the Dask cluster has had no worker for {waited:.0f} s; one at least is required"
                )
            time.sleep(0.05)

    def reach(self, addresses: list[str]) -> None:
        """Find out whether the client can talk to these workers itself."""
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
        """Send all messages to each actor, one after the other; what each answers to the last, or `LOST`.

        Raises what an actor has raised. Waits as long as workers take that are there, and no longer.
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
            if pending:  # a long answer, or a worker that is gone without a word
                alive = await self._client.scheduler.ncores()
                for (address, _), task in zip(actors, tasks, strict=True):
                    if address not in alive:
                        task.cancel()
        return [LOST if task.cancelled() else task.result() for task in tasks]

    async def _send(self, actor: Actor, messages: Sequence[bytes]) -> Any:
        (address, key), answer = actor, None
        for message in messages:
            # What Dask's own `Actor` sends, without its detours: by way of the scheduler, with whichever
            # client is the default one, and without end where its worker does not know it.
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
