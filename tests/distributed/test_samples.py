"""Queries to a cluster and recovery of lost workers; the blocks here compute sums that NumPy checks."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client

from superfactor.distributed.samples import RemoteSamples
from superfactor.samples import Block, Made

X = np.random.default_rng(0).standard_normal((100, 4))
CHUNKS = (17, 4)


class Rows(Block):
    """Rows of X with test queries; they keep matrices as all blocks do."""

    def __init__(self, X: np.ndarray, scale: float):
        super().__init__(len(X), lambda _: X, lambda: None, None)
        self.X = X
        self.rescale(scale)

    def first(self):
        return self.X[:, :1]

    def further(self, place, T):
        Z = self._tall(place)
        new = np.sin(Z[:, -1:]) + self.X @ T
        return Made((new,), (new.T @ new,))

    def total(self, place, weight):
        return weight * self._scale, self._tall(place).T @ self.X

    def matrices(self):
        return len(self._store._matrices)

    def pause(self, seconds):
        time.sleep(seconds)
        return float(self.n_samples)

    def stall(self, path):
        return stalling(float(self.n_samples), path)

    def fail(self):
        raise ValueError(f"{self.n_samples} rows will not do")


class Loaded:
    """Rows before the scale is stated."""

    def __init__(self, X):
        self.X = X

    def labels(self):
        return np.array([len(self.X)]), np.ones(1)

    def block(self, scale):
        return Rows(self.X, scale)


def halves(rows):
    return [Loaded(part) for part in np.array_split(rows, 2)]


def remote(client, **options):
    lazy = da.from_array(X, chunks=CHUNKS)
    partitions = list(lazy.to_delayed().ravel())
    samples = RemoteSamples(client, partitions, lazy.chunks[0], halves, **options)
    samples.state(3.0)
    return samples


class Search:
    """A matrix that grows on the workers, and with NumPy here."""

    def __init__(self, samples):
        self.samples, self.Z, self.scale = samples, X[:, :1], 3.0
        self.tall = samples.keep(Rows.first)

    def steps(self, count):
        """Grow, and compare the workers' result with the local one."""
        for i in range(count):
            T = np.random.default_rng(i).standard_normal((4, 2))
            new = np.sin(self.Z[:, -1:]) + X @ T
            (more,), gram = self.samples.make(Rows.further, self.tall.place, T)
            np.testing.assert_allclose(gram[0], new.T @ new, rtol=1e-12)
            self.tall, self.Z = self.tall.with_columns(more), np.hstack([self.Z, new])
            del more
            if i % 2:
                self.scale = float(i)
                self.samples.rescale(self.scale)
            scale, sums = self.samples.sum(Rows.total, self.tall.place, 1 / self.scale)
            # One for each half of each of six partitions.
            assert scale == pytest.approx(12)
            np.testing.assert_allclose(sums, self.Z.T @ X, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(self.tall.array(), self.Z, rtol=1e-12)


def address_of(samples, number=0):
    return samples._shards[number].address


def test_sums_and_rows_include_all_samples(client):
    with remote(client) as samples:
        assert len({shard.address for shard in samples._shards}) == 2
        Search(samples).steps(3)
        assert [int(labels[0]) for labels, _ in samples.labels()] == [9, 8] * 5 + [8, 7]
        assert samples.recovered == []


def test_matrices_without_a_handle_are_deleted(client):
    with remote(client) as samples:
        search = Search(samples)
        search.steps(3)
        assert set(samples.gather(Rows.matrices)) == {1}
        del search
        assert set(samples.gather(Rows.matrices)) == {0}


def test_messages_through_the_scheduler(client):
    with remote(client) as samples:
        samples._workers.direct = False
        Search(samples).steps(2)
        with pytest.raises(ValueError, match="rows will not do"):
            samples.sum(Rows.fail)  # an error on a worker is raised here


def test_close_deletes_shards(client):
    with remote(client) as samples:
        keys = [shard.future.key for shard in samples._shards]
    deadline = time.monotonic() + 10
    while any(map(set(client.run_on_scheduler(_tasks)).__contains__, keys)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _tasks(dask_scheduler):
    return list(dask_scheduler.tasks)


def test_held_partitions_are_not_moved(client):
    worker = sorted(client.nthreads())[1]
    with remote(client, holders=[{worker}] * 2 + [set()] * 4) as samples:
        held = {i for shard in samples._shards if shard.address == worker for i in shard.numbers}
    assert held >= {0, 1}


def test_a_worker_killed_between_queries(replaceable, kill, short_wait):
    with remote(replaceable) as samples, pytest.warns(UserWarning, match="Dask worker .* was lost; its"):
        search = Search(samples)
        search.steps(2)
        changes = len(samples._log)
        kill(replaceable, address_of(samples))
        search.steps(2)
        assert len(samples.recovered) == 1
        # The statement, the first column, two times more of them, and what waited for the question after.
        assert changes == 6
        assert f"{changes} steps repeated" in samples.recovered[0]
        assert [shard.losses for shard in samples._shards] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "through-the-scheduler"])
def test_a_worker_killed_during_a_query(replaceable, short_wait, direct, tmp_path):
    with remote(replaceable) as samples, pytest.warns(UserWarning, match="Dask worker .* was lost; its"):
        samples._workers.direct = direct
        search = Search(samples)
        search.steps(1)
        with killed_when_it_stalls(tmp_path / "stalled"):
            assert samples.sum(Rows.stall, tmp_path / "stalled") == 100.0
        search.steps(1)
        assert len(samples.recovered) == 1


@pytest.mark.slow
def test_a_worker_killed_while_it_loads(replaceable, short_wait, tmp_path):
    lazy = [delayed(stalling)(part, tmp_path / "stalled") for part in np.split(X, 4)]
    with (
        pytest.warns(UserWarning, match="was lost; its .* were loaded on"),
        killed_when_it_stalls(tmp_path / "stalled"),
    ):
        samples = RemoteSamples(replaceable, lazy, [25] * 4, halves)
    samples.state(3.0)
    tall = samples.keep(Rows.first)
    np.testing.assert_allclose(samples.sum(Rows.total, tall.place, 1.0)[1], X[:, :1].T @ X)


def stalling(part, path):
    """Return `part`; the first worker that calls this waits to be killed."""
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        path.with_suffix(".pid").write_text(str(os.getpid()))
        time.sleep(120)
    return part


@contextmanager
def killed_when_it_stalls(path):
    def kill():
        pid = path.with_suffix(".pid")
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.01)
        os.kill(int(pid.read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    yield
    thread.join(60)


@pytest.mark.slow
def test_several_losses_and_waiting_for_workers(replaceable, kill, monkeypatch):
    monkeypatch.setattr("superfactor.distributed.samples._REPLACEMENT", 60.0)
    with remote(replaceable) as samples, pytest.warns(UserWarning, match="was lost"):
        search = Search(samples)
        for _ in range(2):
            old = set(replaceable.nthreads())
            kill(replaceable, address_of(samples))
            search.steps(1)
            assert address_of(samples) not in old
        assert len(samples.recovered) == 2


@pytest.mark.slow
def test_a_slow_worker_is_not_lost(client):
    with remote(client) as samples:
        (pid,) = client.run(os.getpid, workers=[address_of(samples)]).values()
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(2.5, os.kill, (pid, signal.SIGCONT)).start()
        assert samples.sum(Rows.pause, 0.0) == 100.0
        assert samples.recovered == []


@pytest.mark.slow
def test_scattered_data_has_no_source(replaceable, kill):
    worker = sorted(replaceable.nthreads())[0]
    held = replaceable.scatter(np.split(X, 4), workers=[worker], hash=False)
    with RemoteSamples(replaceable, held, [25] * 4, halves) as samples:
        samples.state(3.0)
        kill(replaceable, worker)
        with pytest.raises(RuntimeError, match="cannot be loaded again"):
            samples.sum(Rows.pause, 0.0)


def test_a_closed_client(client):
    with Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    with pytest.raises(RuntimeError, match="client: it is closed; one that is connected"):
        remote(closed)


@pytest.mark.slow
def test_no_worker_left(replaceable, monkeypatch):
    monkeypatch.setattr("superfactor.distributed.workers._NO_WORKER", 1.0)
    with remote(replaceable) as samples:
        replaceable.cluster.scale(0)
        while replaceable.nthreads():
            time.sleep(0.05)
        with pytest.raises(RuntimeError, match="the Dask cluster has had no worker for 1 s"):
            samples.sum(Rows.pause, 0.0)
