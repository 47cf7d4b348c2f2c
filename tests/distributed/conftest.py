"""A cluster of two real processes on the loopback interface."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import dask
import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster


@pytest.fixture(scope="package")
def client() -> Iterator[Client]:
    """Two workers of one thread, which no test kills."""
    yield from _cluster()


@pytest.fixture(scope="package")
def killable() -> Iterator[Client]:
    yield from _cluster()


@pytest.fixture
def replaceable(killable: Client) -> Client:
    """Two workers that tests may kill; Dask replaces them."""
    killable.cluster.scale(2)
    killable.wait_for_workers(2, timeout=60)
    return killable


def _cluster() -> Iterator[Client]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # losses are meant
    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        LocalCluster(host="127.0.0.1", dashboard_address="127.0.0.1:0", **options) as cluster,
        # Not the default one: all that is computed must be told where.
        Client(cluster, set_as_default=False, timeout=30) as client,
    ):
        yield client


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move lost shards to an existing worker at once, since a new one takes seconds to start."""
    monkeypatch.setattr("superfactor.distributed.samples._REPLACEMENT", 0.0)


@pytest.fixture
def kill() -> Callable[[Client, str], None]:
    """kill(client, address) ends a worker process abruptly."""

    def kill(client: Client, address: str) -> None:
        pids: dict[str, Any] = client.run(os.getpid, workers=[address])
        os.kill(pids[address], signal.SIGKILL)

    return kill
