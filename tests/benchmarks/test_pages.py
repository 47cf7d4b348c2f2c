"""Measured tables of the pages agree with benchmarks/results/."""

import re

import pytest
from benchmarks.pages import BLOCK, DOCS, MEASURED, PAGES, TABLES, kept, origin, renewed


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_kept_numbers(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == renewed(text, kept())
    assert len(BLOCK.findall(text)) == text.count("<!-- benchmark: ") > 0
    assert len(MEASURED.findall(text)) == text.count("<!-- measured: ")


def test_every_table_is_on_a_page_and_new_rows_change_it():
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"<!-- benchmark: (\S+) -->", text)) == set(TABLES)
    keys = ("anonymous MB, less codes and y", "scratch MB")
    new = renewed(text, {"scale/memory": [{"storage": "mine", "n": 1234} | dict.fromkeys(keys, 12.5)]})
    assert "| mine | 1,234 | 12 | 12 |" in new
    assert BLOCK.sub("", new) == BLOCK.sub("", text)
    with pytest.raises(ValueError, match="unknown benchmark table 'nothing'"):
        renewed("<!-- benchmark: nothing -->\n\n\n\n<!-- end -->", {})


def test_captions_have_version_machine_and_date():
    machine = {"superfactor": "1.1.0", "processor": "AMD EPYC", "date": "2026-11-09"}
    assert origin(machine) == "superfactor 1.1.0, AMD EPYC, 9 November 2026"
    assert "NVIDIA H200" in origin(machine | {"device": "NVIDIA H200"})
