import html
import json
import math
import re

import pytest
from tests.report.conftest import HOSTILE

from superfactor.report import text
from superfactor.report.page import embedded


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_payload_is_inert_in_html_and_comes_back_whole(name):
    inside = embedded({"name": name})
    assert not re.search("[<>&\u2028\u2029]", inside)
    assert json.loads(inside) == {"name": name}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("TP53", "TP53"),
        ("a\n\tb", "a b"),
        ("\u202eexe", "\ufffdexe"),
        ("\ud800", "\ufffd"),
        ("", "(no name)"),
        (7, "7"),
    ],
)
def test_names_are_one_visible_line(name, shown):
    assert text.label(name) == shown


def test_long_names_keep_both_ends():
    name = text.label("a" * 300 + "tail")
    assert len(name) <= text.LONGEST_NAME and name.startswith("aaa") and name.endswith("tail")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.12345, "0.123"),
        (-2.5, "−2.5"),
        (3.11e-6, "3.11e−6"),
        (1234567.8, "1,234,568"),
        (1e12, "1.00e12"),
        (math.inf, "∞"),
        (math.nan, "–"),
    ],
)
def test_numbers(value, shown):
    assert text.number(value) == shown


def test_no_negative_zero():
    assert text.fixed(-0.001, 2) == "0.00"


@pytest.mark.parametrize("cell", HOSTILE[:2], ids=["script", "markup"])
def test_tables_escape_every_cell(cell):
    inside = text.table(cell, [cell, "b"], [[cell, "1"]], numbers=(1,))
    assert cell not in inside
    assert inside.count(html.escape(cell)) == 4  # frame, caption, head and body
