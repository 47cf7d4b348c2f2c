"""The page on missing values and the examples of this room run."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "missing.md"


def test_the_page_runs():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


@pytest.mark.parametrize("name", ["gaps", "low_rank"])
def test_examples_run(name):
    pytest.importorskip("pandas")
    result = doctest.testmod(import_module(f"superfactor.preprocessing.{name}"))
    assert result.attempted
    assert result.failed == 0
