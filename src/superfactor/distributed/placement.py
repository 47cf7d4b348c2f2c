"""Assignment of partitions to workers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# A worker may exceed its share by this factor if no partition has to move then.
_SLACK = 1.1


def placed(
    rows: Sequence[int], holders: Sequence[Collection[str]], workers: Sequence[str]
) -> dict[str, list[int]]:
    """Return partitions by worker, with about the same number of rows for each worker.

    A partition stays on a worker that holds it already, unless this exceeds the worker's share. Other
    partitions are assigned in contiguous runs.
    """
    share = max(sum(rows), 1) / len(workers)
    load = dict.fromkeys(workers, 0)
    by_worker: dict[str, list[int]] = {worker: [] for worker in workers}

    def place(number: int, worker: str) -> None:
        load[worker] += rows[number]
        by_worker[worker].append(number)

    before, left = 0, []
    for number, size in enumerate(rows):
        run = workers[min(int((before + size / 2) / share), len(workers) - 1)]
        before += size
        held = [worker for worker in holders[number] if worker in load]
        wanted = min(held, key=load.__getitem__) if held else run
        if load[wanted] and load[wanted] + size > _SLACK * share:
            left.append(number)
        else:
            place(number, wanted)
    for number in sorted(left, key=lambda number: -rows[number]):
        place(number, min(workers, key=load.__getitem__))
    return {worker: sorted(numbers) for worker, numbers in by_worker.items() if numbers}
