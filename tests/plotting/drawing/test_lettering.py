import pytest
from tests.plotting.models import ODD_NAMES

from superfactor.plotting.drawing.lettering import shorten, text_width, wrapped


@pytest.mark.parametrize("width", [30, 110])
@pytest.mark.parametrize("name", ODD_NAMES, ids=range(len(ODD_NAMES)))
def test_a_short_name_fits_and_keeps_as_much_as_fits(name, width):
    short = shorten(name, width)
    line = " ".join(name.split())
    assert text_width(short) <= width
    assert "\n" not in short and "\t" not in short
    if short != line:
        assert text_width(line) > width
        head, tail = short.split("…")
        assert line.startswith(head) and line.endswith(tail)
        assert len(tail) <= len(head) <= 2 * len(tail) + 3
        # One letter more would not fit, or would be one of the spaces around the ellipsis.
        assert text_width(short) + 2 * text_width("W") > width


def test_bold_is_wider():
    name = "a name of some length that does not fit"
    assert len(shorten(name, 80, weight="bold")) < len(shorten(name, 80))


@pytest.mark.parametrize("name", ["", "x", "WW"])
def test_at_least_one_letter_is_kept(name):
    assert shorten(name, 1) in (name, f"{name[:1]}…")


@pytest.mark.parametrize("width", [0.1, 1.0, 3.0, 50.0])
def test_lines_are_as_full_as_they_can_be(width):
    sentences = ["Some words, of many that are here to be wrapped.", "And a $math$ sentence."]
    lines = wrapped(sentences, width).split("\n")
    assert " ".join(lines) == " ".join(sentences)
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        assert text_width(line, 9) <= 72 * width or " " not in line
        if after and line != sentences[0] and after != sentences[1] and not line.endswith("wrapped."):
            assert text_width(f"{line} {after.split()[0]}", 9) > 72 * width / 1.06
