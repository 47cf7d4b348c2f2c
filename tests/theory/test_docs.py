"""The page about the theory shows what its code prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


def test_outputs_on_the_page_are_real():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_every_public_name_is_on_the_page():
    from superfactor import theory

    text = PAGE.read_text()
    assert [name for name in theory.__all__ if f"`{name}" not in text] == []
