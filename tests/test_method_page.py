"""Sections of the method pages that source, tests and pages cite exist, and symbols are defined once."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = ("method", "solver", "losses", "statistics", "rounding")
CITED = re.compile(r"\b(\w+)\.md(?:#[\w-]+)?\)?,? §(\d+)")


def _sections(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return {int(number) for number in re.findall(r"^## (\d+)\. ", text, flags=re.M)}


def _cited():
    """(file, page, section) of every reference such as "docs/method.md §7"."""
    for folder in ("src", "tests", "benchmarks", "reproduction", "examples", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".md", ".rst"):
                for page, number in CITED.findall(path.read_text(encoding="utf-8")):
                    yield path.relative_to(ROOT).as_posix(), page, int(number)


def test_cited_sections_exist():
    """A citation of method.md may mean a section of any page: method.md has the index."""
    known = {page: _sections(page) for page in PAGES}
    known["method"] = set().union(*known.values())
    errata = (DOCS / "errata.md").read_text(encoding="utf-8")
    known["errata"] = {int(number) for number in re.findall(r"^## (\d+)\. ", errata, flags=re.M)}
    cited = list(_cited())
    assert len(cited) > 20
    assert [entry for entry in cited if entry[2] not in known.get(entry[1], set())] == []


def test_sections_are_numbered_without_gaps():
    numbers = sorted(number for page in PAGES for number in _sections(page))
    assert numbers == list(range(1, 20))


@pytest.mark.parametrize("page", PAGES)
def test_the_index_lists_each_section(page):
    text = (DOCS / "method.md").read_text(encoding="utf-8")
    first = "this page" if page == "method" else f"[{page}]({page}.md)"
    row = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", text, flags=re.M)
    assert row is not None
    assert {int(number) for number in re.findall(r"§(\d+)", row[1])} == _sections(page)


def test_the_legend_explains_a_symbol_once():
    legend = (DOCS / "symbols.md").read_text(encoding="utf-8").split("## Legend")[1].split("\n## ")[0]
    first = [line.split("|")[1] for line in legend.splitlines() if line.startswith("| ")]
    names = [name.strip() for cell in first for name in cell.split(",") if name.strip()]
    names = [name for name in names if name not in ("symbol", "word")]
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))
