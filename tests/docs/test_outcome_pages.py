"""Pages about kinds of outcomes: their code runs and gives what they show."""

import doctest
from itertools import takewhile
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# What brings the data of a page.
PAGES = {"times": "sksurv", "numbers": "sklearn", "counts": "sksurv", "labels": "sksurv", "mixed": "sksurv"}


def _failures(page, examples):
    test = doctest.DocTest(examples, {"__name__": "__main__"}, f"{page}.md", f"{page}.md", 0, None)
    return doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed


def _examples(page):
    pytest.importorskip("pandas")
    pytest.importorskip(PAGES[page])
    return doctest.DocTestParser().get_examples((DOCS / f"{page}.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page):
    """Up to nested cross-validation, which takes most of the time."""
    examples = list(takewhile(lambda example: "nested_scores" not in example.source, _examples(page)))
    assert len(examples) > 5
    assert _failures(page, examples) == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_whole_code_of_a_page_runs(page):
    assert _failures(page, _examples(page)) == 0
