"""The picture that says how much of the package tests run."""

import json
import re
import tomllib
from xml.etree import ElementTree

import pytest
from tools import coverage_badge


@pytest.mark.parametrize(("measured", "said"), [(100.0, "100 %"), (99.97, "99 %"), (7.2, "7 %")])
def test_it_says_what_was_measured_and_never_more(tmp_path, monkeypatch, measured, said):
    monkeypatch.setattr(coverage_badge, "ROOT", tmp_path)
    monkeypatch.setattr(coverage_badge, "MEASURED", tmp_path / "coverage.json")
    monkeypatch.setattr(coverage_badge, "PICTURE", tmp_path / "coverage.svg")
    totals = {"totals": {"percent_covered": measured}}
    coverage_badge.MEASURED.write_text(json.dumps(totals), encoding="utf-8")
    coverage_badge.main()
    picture = ElementTree.parse(coverage_badge.PICTURE).getroot()
    assert picture.get("aria-label") == f"coverage: {said}"
    assert [text.text for text in picture.findall(".//{*}text")] == ["coverage", said]


def test_the_limit_is_not_above_what_is_shown():
    """Anyone who raises one has measured, and shows it."""
    project = tomllib.loads((coverage_badge.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shown = re.search(r"coverage: (\d+) %", coverage_badge.PICTURE.read_text(encoding="utf-8"))
    limit = project["tool"]["coverage"]["report"]["fail_under"]
    assert shown and 0 < limit <= int(shown[1])
