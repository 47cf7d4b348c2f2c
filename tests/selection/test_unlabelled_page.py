"""The page about samples without a label shows what its code prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "unlabelled.md"


def test_outputs_on_the_page_are_real():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 8
    assert result.failed == 0
