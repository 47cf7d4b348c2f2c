"""The page about files shows what its code prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "files.md"


def test_outputs_on_the_page_are_real(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(
        str(PAGE), module_relative=False, encoding="utf-8", optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.attempted > 10
    assert result.failed == 0
