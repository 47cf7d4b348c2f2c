"""The pages about missing values, blocks and confounders show what their code prints."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["missing", "blocks", "confounders"])
def test_outputs_on_the_page_are_real(page):
    result = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0
