"""Measured tables of the pages are those that the kept numbers make."""

import re

import pytest
from benchmarks.pages import BLOCK, DOCS, PAGES, TABLES, kept, renewed


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_kept_numbers(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == renewed(text, kept())
    assert len(BLOCK.findall(text)) == text.count("<!-- benchmark: ") > 0


def test_every_table_is_on_a_page_and_other_numbers_make_another_table():
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"<!-- benchmark: (\S+) -->", text)) == set(TABLES)
    row = {"series": "mine", "n": 1234, "nnz": 9, "κ": 2} | dict.fromkeys(
        ("s an iteration", "s a question", "s a round"), 0.0125
    )
    new = renewed(text, {"scale/growth": [row]})
    assert "| mine | 1,234 | 9 | 2 | 12.5 ms | 12.5 ms | 12.5 ms |" in new
    assert BLOCK.sub("", new) == BLOCK.sub("", text)
    with pytest.raises(ValueError, match="unknown benchmark table 'nothing'"):
        renewed("<!-- benchmark: nothing -->\n\n\n\n<!-- end -->", {})
