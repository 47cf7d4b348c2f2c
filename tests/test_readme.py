"""The README is short and runs, links lead somewhere, and every page can be reached from the README."""

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def _links(page):
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    return [link for link in found if not link.startswith(("http:", "https:"))]


def _headings(page):
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall("^#+ (.*)", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    missing = [link for link in _links(page) if not (page.parent / link).exists()]
    assert missing == []
    for target, anchor in re.findall(r"\]\(([^):#]*)#([^)]+)\)", page.read_text()):
        assert anchor in _headings(page.parent / target if target else page)


def test_every_page_can_be_reached_from_the_readme():
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop().resolve()
        if page not in reached:
            reached.add(page)
            left += [page.parent / link for link in _links(page) if link.endswith(".md")]
    assert [page.name for page in PAGES if page.resolve() not in reached] == []


def test_the_readme_has_at_most_700_words():
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_code_of_the_readme_and_then_of_the_guide_runs(capsys):
    pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = {"X": X, "y": y.map({0: "malignant", 1: "benign"}), "X_new": X[:3]}
    for page in ("README.md", "docs/guide.md"):
        for code in re.findall("^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S):
            exec(code, names)
    printed = capsys.readouterr().out
    assert "supervised part" in printed and "Better than guessing" in printed


@pytest.mark.slow
def test_the_code_for_a_paper_makes_a_page(tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    (code,) = re.findall("^```python\n(.*?)^```", (ROOT / "docs/paper.md").read_text(), re.M | re.S)
    exec(code, {"X": X[:60], "y": y[:60].map({0: "tumour", 1: "normal"})})
    assert "We predicted tissue from 30 features in 60 samples" in (tmp_path / "page.html").read_text()
