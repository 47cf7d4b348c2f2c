import pytest

from superfactor.distributed.placement import placed


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([10] * 6, {"a": [0, 1, 2], "b": [3, 4, 5]}, id="equal"),
        pytest.param([30, 10, 10, 10, 10, 10], {"a": [0, 1], "b": [2, 3, 4, 5]}, id="unequal"),
        pytest.param([20, 1, 1], {"a": [0], "b": [1, 2]}, id="one-large"),
    ],
)
def test_contiguous_runs_of_about_equal_rows(rows, expected):
    assert placed(rows, [()] * len(rows), ["a", "b"]) == expected


def test_partitions_stay_with_their_holders():
    holders = [("b",), ("a",), ("b",), ("a",), ("b",), ("a",)]
    assert placed([10] * 6, holders, ["a", "b"]) == {"a": [1, 3, 5], "b": [0, 2, 4]}


def test_a_worker_that_holds_everything_shares_with_another():
    found = placed([10] * 6, [("a",)] * 6, ["a", "b"])
    assert {worker: len(numbers) for worker, numbers in found.items()} == {"a": 3, "b": 3}


def test_lost_holders_are_ignored():
    assert placed([10] * 6, [("gone",)] * 6, ["a", "b"]) == {"a": [0, 1, 2], "b": [3, 4, 5]}


def test_fewer_partitions_than_workers():
    found = placed([10, 10], [(), ()], ["a", "b", "c"])
    assert sorted(found.values()) == [[0], [1]]
