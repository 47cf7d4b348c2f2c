"""The short paper: what the journal asks for is there, and its numbers are those that are kept."""

import json
import re

import pytest
import yaml
from benchmarks import paper_page
from benchmarks.__main__ import RESULTS
from PIL import Image

FOLDER = paper_page.PAGE.parent
_, FRONT, BODY = paper_page.PAGE.read_text(encoding="utf-8").split("---\n", 2)
KEPT = {name: of["rows"] for name, of in json.loads(RESULTS.read_text(encoding="utf-8")).items()}
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


def test_the_table_is_what_the_kept_numbers_make_it():
    page, kept = paper_page.PAGE.read_text(encoding="utf-8"), json.loads(RESULTS.read_text())
    assert page == paper_page.renewed(page, kept, paper_page.BLOCKS)


def test_the_figure_shows_the_kept_numbers():
    with Image.open(paper_page.FIGURE) as figure:
        assert json.loads(figure.info["Description"]) == paper_page.times(KEPT["rivals"])


def _between(part, places=2):
    times = [mark["times"] for mark in paper_page.times(KEPT["rivals"]) if re.match(part, mark["table"])]
    return f"{min(times):.{places}g} to {max(times):.{places}g}"


def _accuracy(table):
    (row,) = (row for row in KEPT["accuracy"] if row["table"] == table)
    return row


def _of_hard(key):
    """Of the ordinary and the hard problems, with the search that is the default."""
    rows = {row["case"]: row[key] for row in KEPT["hard"] if row["of"] == "all"}
    return rows["ordinary, auto"] + rows["hard, auto"]


def _sentences():
    prostate, (memory, disk) = _accuracy("singh"), KEPT["cells"]
    faster = [row["times"] for row in KEPT["lpgd"]]
    extreme = next(row["problems"] for row in KEPT["hard"] if row["case"] == "hard, auto")
    yield f"right in {prostate['PCA+LR']:.1f} % of held-out samples, supervised factors in "
    yield f"supervised factors in {prostate['superfactor']:.1f} %"
    yield f"at {min(faster):.0f} to {max(faster):.0f} times the speed per iteration"
    yield f"{memory['cells']:,} cells with {memory['genes']:,} genes, in a sparse matrix, take "
    yield f"take {memory['seconds']:.0f} s and {memory['times_X']:.1f} times the memory"
    yield f"read from disk {disk['seconds']:.0f} s and {disk['times_X']:.1f} times"
    yield f"take {_between('54,676|35,982')} of a fit of the pipeline"
    yield f"tall sparse ones {_between('2,480')}, the ten digits {_between('digits')}."
    yield f"tried on {_of_hard('problems')} small random problems, {extreme} of them at extreme"
    yield f"{_of_hard('proven')} answers were proven, and none of these bounds was violated"
    yield f"the other {_of_hard('unproven')} answers {_of_hard('beaten')} were beaten by more than"


@pytest.mark.parametrize("sentence", [*_sentences()])
def test_numbers_of_the_text_are_those_that_are_kept(sentence):
    assert sentence in " ".join(BODY.split())


def test_what_the_text_concludes_was_measured():
    mean, text = _accuracy("mean"), " ".join(BODY.split())
    assert "4 points above principal components and level with linear discriminant" in text
    assert round(mean["superfactor"] - mean["PCA+LR"]) == 4
    assert all(abs(mean["superfactor"] - mean[who]) < 0.5 for who in ("LDA", "linear SVM"))
    assert _of_hard("certificates violated") == 0
