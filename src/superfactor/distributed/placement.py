"""Which worker holds which partitions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# A worker may hold so much more than its share where that saves moving partitions to another.
_SLACK = 1.1


def placed(
    rows: Sequence[int], holders: Sequence[Collection[str]], workers: Sequence[str]
) -> dict[str, list[int]]:
    """Partitions by worker, about the same number of rows for each.

    A partition stays where it is held already if that worker's share has room for it; those that nobody holds
    go to the workers in contiguous runs.
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
