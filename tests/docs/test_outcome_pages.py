"""Pages about kinds of outcomes: their code runs and gives what they show."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# What brings the data of a page.
PAGES = {"times": "sksurv", "numbers": "sklearn", "counts": "sksurv", "labels": "sksurv", "mixed": "sksurv"}


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page):
    pytest.importorskip("pandas")
    pytest.importorskip(PAGES[page])
    path, blanks = str(DOCS / f"{page}.md"), doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(path, module_relative=False, encoding="utf-8", optionflags=blanks)
    assert result.attempted > 10
    assert result.failed == 0
