"""The reference has every public name, and the pages of the site what they promise."""

import importlib
import re
from pathlib import Path

import pytest
from tests.public import ROOMS, names

DOCS = Path(__file__).parents[2] / "docs"


def _listed():
    """What the pages of the reference list, as full names."""
    for page in sorted((DOCS / "api").glob("*.rst")):
        text = page.read_text()
        module = re.search(r"^\.\. currentmodule:: (.*)$", text, flags=re.M)
        for table in re.findall(r"\.\. autosummary::\n(?:   :.*\n)*\n((?:   \S+\n)+)", text):
            yield from (f"{module[1]}.{name}" for name in table.split())


def _by_identity(paths):
    """The names of each object: some are exported by two rooms."""
    found = {}
    for path in paths:
        module, _, name = path.rpartition(".")
        found.setdefault(id(getattr(importlib.import_module(module), name)), []).append(path)
    return found


def test_the_reference_has_every_public_name_once():
    for library in {library for needed in ROOMS.values() for library in needed}:
        pytest.importorskip(library)
    listed = _by_identity(_listed())
    public = _by_identity(f"{room}.{name}" for room in ROOMS for name in names(room))
    assert [found for which, found in public.items() if which not in listed] == [], "no page"
    assert [found for which, found in listed.items() if which not in public] == [], "not public"
    assert [found for found in listed.values() if len(found) > 1] == [], "twice"


def test_a_class_shows_what_users_call_first(site):
    page = (site / "api" / "generated" / "superfactor.SMFClassifier.html").read_text(encoding="utf-8")
    members = re.findall(r'<dt class="sig[^>]* id="superfactor\.SMFClassifier\.(\w+)"', page)
    assert members[:3] == ["fit", "predict", "predict_proba"]
    assert members[-3:] == ["state", "adopt", "options"]
    assert page.index("For developers of extensions") < page.index('id="superfactor.SMFClassifier.state"')
