"""Names, numbers, terms and proofs as text; templates escape all of it."""

import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import escape
from tests.report.conftest import HOSTILE, table

from superfactor import SMFClassifier
from superfactor.report import formats
from superfactor.report.certificate import in_plain_words, technical
from superfactor.report.page import embedded, glossary, templates, term_id


def test_the_payload_is_safe_in_html_and_complete():
    inside = embedded({"names": HOSTILE})
    assert not re.search("[<>&\u2028\u2029]", inside)
    assert json.loads(inside) == {"names": HOSTILE}


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (
            "label",
            {"TP53": "TP53", "a\n\tb": "a b", "\u202eexe": "\ufffdexe", "\ud800": "\ufffd", "": "(no name)"},
        ),
        ("number", {0.0: "0", 0.12345: "0.123", -2.5: "−2.5", 3.11e-6: "3.11e−6", 1234567.8: "1,234,568"}),
        ("number", {1e12: "1.00e12", math.inf: "∞", math.nan: "–"}),
        ("share", {0.12345: "12.3 %", math.nan: "–"}),
        ("gap", {2e-5: "0.002 %", 0.5: "50.0 %"}),
        ("frequency", {0.96: "96 %", math.nan: "–"}),
        ("points", {0.0312: "+3.1 points", -0.0312: "−3.1 points"}),
        ("coefficient", {1.234: "+1.23", -0.001: "0.00"}),
        ("weight", {-1.0: "−1.000"}),
        ("probability", {0.99999: "> 0.999", 1e-9: "< 0.001", 1.0: "1.000"}),
        ("ratio", {1.0834: "1.08", 12.34: "12.3", 0.0012: "0.0012", 123.4: "123", math.inf: "∞"}),
    ],
)
def test_names_and_numbers(kind, shown):
    assert [getattr(formats, kind)(value) for value in shown] == list(shown.values())


def test_long_names_keep_both_ends():
    name = formats.label("a" * 300 + "tail")
    assert len(name) <= formats.LONGEST_NAME and name.startswith("aaa") and name.endswith("tail")


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


def test_a_missing_value_is_an_error():
    with pytest.raises(UndefinedError, match="nothing"):
        templates().from_string("{{ nothing }}").render()


def test_only_package_files_and_the_payload_are_not_escaped():
    folder = files("superfactor.report") / "templates"
    found = {
        (f.name, name)
        for f in Path(str(folder)).rglob("*.html")
        for name in re.findall(r"\{\{ ([^}]*)\|safe", f.read_text(encoding="utf-8"))
    }
    assert found == {("page.html", name) for name in ("style", "early", "script", "payload")}


def test_terms_have_addresses_of_their_own():
    addresses = [term_id(term) for term in glossary()]
    assert len(set(addresses)) == len(addresses)
    assert not any(re.search(r"\s", address) for address in addresses)
    with pytest.raises(KeyError, match="not in the glossary"):
        term_id("rnak")


@pytest.mark.parametrize(
    ("changed", "badge", "said"),
    [
        ({}, "Proven optimal", "It is proven that no other set of 2 factors"),
        ({"exact": False}, "Optimal, by estimate", "A numerical check indicates that no other set of 2"),
        ({"is_global": False, "relative_gap": 0.034}, "Within 3.4 %", "by more than 3.4 %."),
        ({"is_global": False, "relative_gap": 2e-5}, "Within 0.002 %", "by more than 0.002 %."),
        ({"is_global": False, "relative_gap": 1.0}, "Not proven", "this is not proven"),
        ({"is_global": False, "relative_gap": math.inf}, "Not proven", "this is not proven"),
    ],
)
def test_the_text_of_a_certificate(changed, badge, said):
    X, y = table(40, 10, 2)
    proven = SMFClassifier(2, xi=1.0, lam=10.0).fit(X, y).certificate_
    assert proven.is_global
    proof = in_plain_words(replace(proven, **changed), 2)
    assert proof.badge == badge and said in proof.sentence
    rows = dict(technical(proven))
    assert rows["Statement"] == proven.statement
    assert float(rows["Objective F"].replace(",", "")) == pytest.approx(proven.objective, rel=1e-6)


def test_no_certificate_is_no_claim():
    proof = in_plain_words(None, 1)
    assert proof.badge == "Not checked" and "another single factor" in proof.sentence
