"""The pages about blocks and confounders show what their code prints."""

import doctest
from pathlib import Path

import pytest

from superfactor.interpretation import blocks as block_tables
from superfactor.interpretation import confounders as confounder_tables
from superfactor.preprocessing import blocks, confounders, joining

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["blocks", "confounders"])
def test_outputs_on_the_page_are_real(page):
    result = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


@pytest.mark.parametrize(
    "module", [block_tables, confounder_tables, blocks, confounders, joining], ids=lambda m: m.__name__
)
def test_examples_run(module):
    result = doctest.testmod(module)
    assert result.attempted > 3
    assert result.failed == 0
