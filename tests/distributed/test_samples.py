"""Questions to a cluster, and workers lost on the way; the blocks here do sums that NumPy repeats."""

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

from superfactor.distributed.samples import RemoteSamples

X = np.random.default_rng(0).standard_normal((100, 4))
CHUNKS = (17, 4)


class Rows:
    """Rows of X and of a tall matrix Z that grows."""

    def __init__(self, X: np.ndarray):
        self.X, self.n_samples = X, len(X)
        self.Z = X[:, :1]

    def grow(self, T):
        self.Z = np.hstack([np.sin(self.Z), self.X @ T])
        return (self.Z.T @ self.Z,)

    def total(self, weight):
        return float(np.sum(self.Z) * weight), self.Z.T @ self.X

    def rows(self):
        return self.Z

    def pause(self, seconds):
        time.sleep(seconds)
        return (float(self.n_samples),)

    def stall(self, path):
        return (stalling(float(self.n_samples), path),)

    def fail(self):
        raise ValueError(f"{self.n_samples} rows will not do")


class Everything(Rows):
    """The same of all of X at once."""

    def ask(self, T):
        return self.grow(T)[0], self.total(2.0)[1]


def halves(rows):
    return [Rows(part) for part in np.array_split(rows, 2)]


def remote(client, **options):
    lazy = da.from_array(X, chunks=CHUNKS)
    partitions = list(lazy.to_delayed().ravel())
    return RemoteSamples(client, partitions, lazy.chunks[0], halves, {"grow"}, **options)


def steps(count):
    return [np.random.default_rng(i).standard_normal((4, 2)) for i in range(count)]


def assert_same_after(samples, asked, whole):
    for T in asked:
        expected = whole.ask(T)
        np.testing.assert_allclose(samples.sum("grow", T)[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(
            samples.sum("total", 2.0)[1], expected[1], rtol=1e-10, atol=1e-10
        )


def address_of(samples, number=0):
    return samples._shards[number].address


def test_sums_and_rows_are_those_of_all_samples(client):
    with remote(client) as samples:
        assert len({shard.address for shard in samples._shards}) == 2
        whole = Everything(X)
        assert_same_after(samples, steps(3), whole)
        np.testing.assert_allclose(np.vstack(samples.gather("rows")), whole.Z, rtol=1e-12)
        assert samples.recovered == []


def test_the_same_numbers_whoever_answers_first(client):
    with remote(client) as samples:
        samples.tell("grow", steps(1)[0])
        first = [samples.sum("total", 1.0)[0] for _ in range(20)]
    assert len(set(first)) == 1


def test_through_the_scheduler_where_workers_cannot_be_reached(client):
    with remote(client) as samples:
        samples._workers.direct = False
        assert_same_after(samples, steps(2), Everything(X))


def test_an_error_on_a_worker_is_raised_here(client):
    with remote(client) as samples, pytest.raises(ValueError, match="rows will not do"):
        samples.sum("fail")


def test_workers_forget_their_shards(client):
    with remote(client) as samples:
        keys = [shard.future.key for shard in samples._shards]
    deadline = time.monotonic() + 10
    while any(map(set(client.run_on_scheduler(_tasks)).__contains__, keys)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _tasks(dask_scheduler):
    return list(dask_scheduler.tasks)


def test_partitions_stay_where_they_are_held(client):
    worker = sorted(client.nthreads())[1]
    with remote(client, holders=[{worker}] * 2 + [set()] * 4) as samples:
        held = {i for shard in samples._shards if shard.address == worker for i in shard.numbers}
    assert held >= {0, 1}


@pytest.mark.slow
def test_a_worker_killed_between_questions(mortal, kill, impatient):
    with remote(mortal) as samples, pytest.warns(UserWarning, match="Dask worker .* was lost; its"):
        whole, asked = Everything(X), steps(4)
        assert_same_after(samples, asked[:2], whole)
        kill(mortal, address_of(samples))
        assert_same_after(samples, asked[2:], whole)
        assert len(samples.recovered) == 1
        assert "2 steps repeated" in samples.recovered[0]
        assert [shard.losses for shard in samples._shards] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "through-the-scheduler"])
def test_a_worker_killed_during_a_question(mortal, impatient, direct, tmp_path):
    with remote(mortal) as samples, pytest.warns(UserWarning, match="Dask worker .* was lost; its"):
        samples._workers.direct = direct
        samples.tell("grow", steps(1)[0])
        with killed_when_it_stalls(tmp_path / "stalled"):
            assert samples.sum("stall", tmp_path / "stalled") == (100.0,)
        assert len(samples.recovered) == 1


@pytest.mark.slow
def test_a_worker_killed_while_it_loads(mortal, impatient, tmp_path):
    lazy = [delayed(stalling)(part, tmp_path / "stalled") for part in np.split(X, 4)]
    with (
        pytest.warns(UserWarning, match="was lost; its .* were loaded on"),
        killed_when_it_stalls(tmp_path / "stalled"),
    ):
        samples = RemoteSamples(mortal, lazy, [25] * 4, halves, {"grow"})
    assert_same_after(samples, steps(1), Everything(X))


def stalling(part, path):
    """`part`; but the first to come here waits to be killed."""
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
def test_several_losses_and_other_workers_waited_for(mortal, kill, monkeypatch):
    monkeypatch.setattr("superfactor.distributed.samples._REPLACEMENT", 60.0)
    with remote(mortal) as samples, pytest.warns(UserWarning, match="was lost"):
        whole = Everything(X)
        for T in steps(2):
            old = set(mortal.nthreads())
            kill(mortal, address_of(samples))
            assert_same_after(samples, [T], whole)
            assert address_of(samples) not in old
        assert len(samples.recovered) == 2


def test_a_slow_worker_is_not_a_lost_one(client):
    with remote(client) as samples:
        (pid,) = client.run(os.getpid, workers=[address_of(samples)]).values()
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(2.5, os.kill, (pid, signal.SIGCONT)).start()
        assert samples.sum("pause", 0.0) == (100.0,)
        assert samples.recovered == []


def test_scattered_data_has_no_source(mortal, kill):
    worker = sorted(mortal.nthreads())[0]
    held = mortal.scatter(np.split(X, 4), workers=[worker], hash=False)
    with RemoteSamples(mortal, held, [25] * 4, halves, {"grow"}) as samples:
        kill(mortal, worker)
        with pytest.raises(RuntimeError, match="cannot be loaded again"):
            samples.sum("pause", 0.0)


def test_a_closed_client(client):
    from distributed import Client

    with Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    with pytest.raises(RuntimeError, match="client: it is closed; one that is connected"):
        remote(closed)


@pytest.mark.slow
def test_no_worker_left(mortal, monkeypatch):
    monkeypatch.setattr("superfactor.distributed.workers._NOBODY", 1.0)
    with remote(mortal) as samples:
        mortal.cluster.scale(0)
        while mortal.nthreads():
            time.sleep(0.05)
        with pytest.raises(RuntimeError, match="the Dask cluster has had no worker for 1 s"):
            samples.sum("pause", 0.0)
