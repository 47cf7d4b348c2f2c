"""Sections of the method page that the source cites are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "method.md"
CITED = r"method\.md\)?,? §(\d+)"


def _sections():
    return re.findall(r"^## (\d+)\. ", PAGE.read_text(), flags=re.M)


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs"])
def test_cited_sections_are_there(folder):
    files = [path for end in ("py", "md") for path in (ROOT / folder).rglob(f"*.{end}")]
    cited = {section for path in files for section in re.findall(CITED, path.read_text())}
    assert cited or folder == "benchmarks"
    assert cited <= set(_sections())


def test_sections_are_counted():
    assert _sections() == [str(number) for number in range(1, 20)]


def test_the_legend_explains_a_symbol_once():
    legend = PAGE.read_text().split("## Legend")[1].split("\n## ")[0]
    first = [line.split("|")[1] for line in legend.splitlines() if line.startswith("| ")]
    names = [name.strip() for cell in first for name in cell.split(",") if name.strip()]
    names = [name for name in names if name not in ("symbol", "word")]
    assert len(names) > 50
    assert sorted(names) == sorted(set(names))
