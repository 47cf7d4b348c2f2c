"""The page about interpretation shows what its code prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "interpretation.md"


def test_outputs_on_the_page_are_real():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0
