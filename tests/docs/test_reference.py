"""The reference has every public name, and the pages of the site what they promise."""

import doctest
import importlib
import re
from pathlib import Path

import pytest
from tests.public import ROOMS, names

DOCS = Path(__file__).parents[2] / "docs"


def _listed():
    """What the pages of the reference list, as full names."""
    for page in sorted((DOCS / "api").glob("*.rst")):
        text = page.read_text()
        module = re.search(r"^\.\. currentmodule:: (.*)$", text, flags=re.M)
        for table in re.findall(r"\.\. autosummary::\n(?:   :.*\n)*\n((?:   \S+\n)+)", text):
            yield from (f"{module[1]}.{name}" for name in table.split())


def _value(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_the_reference_has_every_public_name_once():
    for library in {library for needed in ROOMS.values() for library in needed}:
        pytest.importorskip(library)
    listed = [_value(path) for path in _listed()]
    public = {
        id(_value(f"{room}.{name}")): f"{room}.{name}" for room in ROOMS for name in names(room)
    }
    assert {id(value) for value in listed} == set(public), "missing or not public"
    assert len(listed) == len(public)


def test_the_first_result_is_what_the_page_shows():
    pytest.importorskip("pandas")
    failed, tried = doctest.testfile(
        str(DOCS / "start.md"),
        module_relative=False,
        encoding="utf-8",
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert tried > 10
    assert failed == 0


@pytest.mark.parametrize(
    "word",
    ["ξ (xi)", "λ (lambda)", "Filter model", "Feature model", "Certificate", "Predictive factor"],
)
def test_the_glossary_has_the_word_and_leads_on(word):
    entries = re.split("^### ", (DOCS / "glossary.md").read_text(), flags=re.M)
    (entry,) = [entry for entry in entries if entry.startswith(word + "\n")]
    assert re.search(r"\]\(\w+\.md#", entry)
