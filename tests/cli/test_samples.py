"""Terminal output on the pages is what the program prints, but for digits."""

import re

import pytest
from tools import samples

WITH_SAMPLES = ["cli.md"]  # and reading.md, which test_demo.py checks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    samples.prepare(folder)
    return folder


@pytest.mark.parametrize("page", samples.PAGES, ids=lambda page: page.name)
def test_output_on_a_page_is_marked(page):
    text = page.read_text()
    assert text.count("<!-- sample -->") == len(samples.MARKED.findall(text))
    assert re.findall(r"^\$ ", samples.MARKED.sub("", text), flags=re.M) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_SAMPLES)
def test_samples_have_the_shape_of_the_output(name, folder):
    (page,) = (page for page in samples.PAGES if page.name == name)
    shown = samples.MARKED.findall(page.read_text())
    assert shown
    fewer = ("--repeats", "2")  # other digits, the same words
    printed = samples.MARKED.findall(samples.renewed(page.read_text(), folder, *fewer))
    for old, new in zip(shown, printed, strict=True):
        assert samples.shape(old) == samples.shape(new), "tools/samples.py writes the page again"


def test_every_page_with_samples_is_tested():
    found = [page.name for page in samples.PAGES if samples.MARKED.search(page.read_text())]
    assert found == [*WITH_SAMPLES, "reading.md"]


def test_shapes_ignore_digits_names_and_widths_only():
    one = "factor   coef.   high end\n──────\n     1   +8.81   probe_118\n"
    same = "factor    coef.   high end\n────────\n     1   -10.2   probe_10677\n"
    assert samples.shape(one) == samples.shape(same) == ["factor coef. high end", "─", "0 0 feature"]
    assert samples.shape(one) != samples.shape(one + "     2   +1.50   probe_7\n")


def test_a_failing_command_is_no_sample(tmp_path):
    with pytest.raises(RuntimeError, match="exit code 1"):
        samples.printed("head -2 nothing.csv", tmp_path)
