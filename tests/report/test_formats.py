import json
import math
import re
from importlib.resources import files

import pytest
from jinja2 import UndefinedError
from markupsafe import escape
from tests.report.conftest import HOSTILE

from superfactor.report import formats
from superfactor.report.page import embedded, glossary, templates, term_id


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
    assert formats.label(name) == shown


def test_long_names_keep_both_ends():
    name = formats.label("a" * 300 + "tail")
    assert len(name) <= formats.LONGEST_NAME and name.startswith("aaa") and name.endswith("tail")


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
    assert formats.number(value) == shown


def test_no_negative_zero():
    assert formats.fixed(-0.001, 2) == "0.00"


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("share", 0.12345, "12.3 %"),
        ("share", math.nan, "–"),
        ("gap", 2e-5, "0.002 %"),
        ("frequency", 0.96, "96 %"),
        ("points", 0.0312, "+3.1 points"),
        ("points", -0.0312, "−3.1 points"),
        ("coefficient", 1.234, "+1.23"),
        ("coefficient", -0.001, "0.00"),
        ("weight", -1.0, "−1.000"),
        ("probability", 0.99999, "> 0.999"),
        ("probability", 1e-9, "< 0.001"),
        ("probability", 1.0, "1.000"),
        ("ratio", 1.0834, "1.08"),
        ("ratio", 12.34, "12.3"),
        ("ratio", 0.0012, "0.0012"),
        ("ratio", math.inf, "∞"),
    ],
)
def test_kinds_of_numbers(kind, value, shown):
    assert getattr(formats, kind)(value) == shown


@pytest.mark.parametrize("cell", HOSTILE[:2], ids=["script", "markup"])
def test_templates_escape_every_value(cell):
    source = (
        '{% import "macros.html" as ui %}{% call ui.table(x, x) %}{{ ui.head([x, x]) }}{% endcall %}'
        "{{ ui.pairs([(x, x)]) }}{{ ui.select(x, x, [(x, x)]) }}{{ ui.short(x, 8) }}{{ x }}"
        "{% call ui.figure(x, x, x) %}{{ x }}{% endcall %}{{ ui.towards((x, x), 8) }}"
    )
    inside = templates().from_string(source).render(x=cell)
    assert cell not in inside and "<b>" not in inside and "<img" not in inside
    assert inside.count(str(escape(cell))) == 25


def test_a_value_that_is_missing_is_an_error_and_not_a_blank():
    with pytest.raises(UndefinedError, match="nothing"):
        templates().from_string("{{ nothing }}").render()


def test_only_our_own_files_and_the_payload_go_unescaped():
    folder = files("superfactor.report") / "templates"
    found = {
        (f.name, name)
        for f in folder.iterdir()
        for name in re.findall(r"\{\{ ([^}]*)\|safe", f.read_text(encoding="utf-8"))
    }
    assert found == {("page.html", name) for name in ("style", "early", "script", "payload")}


def test_terms_have_addresses_of_their_own():
    addresses = [term_id(term) for term in glossary()]
    assert len(set(addresses)) == len(addresses)
    assert not any(re.search(r"\s", address) for address in addresses)
    with pytest.raises(KeyError, match="not in the glossary"):
        term_id("rnak")
