import pytest
from tests.plotting.models import ODD_NAMES

from superfactor.plotting.lettering import shorten, text_width


@pytest.mark.parametrize("width", [30, 60, 110])
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
def test_there_is_always_something_left(name):
    assert shorten(name, 1) in (name, f"{name[:1]}…")
