"""The short paper: what the journal asks for is there, and its numbers are those that are kept."""

import json
import re

import yaml
from benchmarks import paper_figure
from benchmarks.pages import DOCS, kept
from PIL import Image

FOLDER = DOCS / "paper"
_, FRONT, BODY = (FOLDER / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
KEPT = kept()
SECTIONS = ["Summary", "Statement of need", "State of the field", "Software design"]
SECTIONS += ["Research impact statement", "AI usage disclosure", "Acknowledgements", "References"]


def test_the_front_matter_is_complete():
    front = yaml.safe_load(FRONT)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(front)
    known = {place["index"] for place in front["affiliations"]}
    assert {author["affiliation"] for author in front["authors"]} <= known
    assert re.fullmatch(r"\d{1,2} [A-Z][a-z]+ \d{4}", front["date"])
    assert front["bibliography"] == "paper.bib"


def test_project_and_paper_have_the_same_title_and_authors():
    front = yaml.safe_load(FRONT)
    cited = yaml.safe_load((FOLDER.parents[1] / "CITATION.cff").read_text(encoding="utf-8"))
    assert front["title"] == cited["title"]
    assert [author["name"] for author in front["authors"]] == [author["name"] for author in cited["authors"]]


def test_the_sections_of_the_journal_are_there_in_its_order():
    found = re.findall("^# (.*)", BODY, re.M)
    assert [name for name in found if name in SECTIONS] == SECTIONS


def test_it_is_as_long_as_the_journal_allows():
    """Words of the text: without tables, formulas, captions and comments."""
    text = re.sub(r"(?ms)\$\$.*?\$\$|<!--.*?-->|^[|:!].*?$", "", BODY)
    assert 750 <= len(re.findall(r"\w[\w'-]*", re.sub(r"\$[^$]*\$|\[@[^]]*\]", "x", text))) <= 1750


def test_everything_cited_is_listed_and_everything_listed_is_cited():
    listed = re.findall(r"^@\w+\{(\w+),", (FOLDER / "paper.bib").read_text(encoding="utf-8"), re.M)
    assert len(listed) == len(set(listed))
    assert set(re.findall(r"@(\w+)", BODY)) == set(listed)


def test_figures_and_tables_are_there_and_spoken_of():
    figures = re.findall(r"^!\[.*\]\((.*?)\)$", BODY, re.M)
    assert figures and all((FOLDER / name).exists() for name in figures)
    captions = re.findall("^: ", BODY, re.M)
    said = set(re.findall(r"(Figure|Table) (\d+)", BODY))
    numbered = {("Figure", str(k + 1)) for k in range(len(figures))}
    assert said == numbered | {("Table", str(k + 1)) for k in range(len(captions))}


def test_the_figure_shows_the_kept_numbers():
    with Image.open(paper_figure.FIGURE) as figure:
        assert json.loads(figure.info["Description"]) == paper_figure.times(KEPT["defaults"])
