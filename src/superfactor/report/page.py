"""The HTML file: sections, data, style and scripts, combined by templates."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

import superfactor
from superfactor.report.facts import Facts
from superfactor.report.formats import FILTERS, plural
from superfactor.report.sections import SECTIONS

# In the order of their dependencies; start.js starts them.
SCRIPTS = (
    "dom", "tooltip", "scales", "figures", "classes", "download", "roc", "curves", "panels", "factors",
    "samples", "biplot", "heatmap", "scree", "surface", "convergence", "stability", "features",
    "tabs", "start",
)  # fmt: skip
# Runs before the body is drawn, so that hidden parts do not appear for a moment.
_EARLY = 'document.documentElement.classList.add("js");'


def render(facts: Facts) -> str:
    """Return the HTML of the page."""
    template = templates().get_template("page.html")
    sections = [s for s in (tab(facts) for tab in SECTIONS) if s is not None]
    script, now = _script(), datetime.now(UTC)
    page: str = template.render(
        facts=facts,
        sections=sections,
        glossary=glossary(facts.page.folder),
        version=superfactor.__version__,
        written=f"{now.day} {now:%B %Y, %H:%M} UTC",
        policy=_policy(_EARLY, script),
        style=_style(),
        early=_EARLY,
        script=script,
        payload=embedded({"classes": facts.groups} | {s.id: s.payload for s in sections if s.payload}),
    )
    return page


@cache
def templates() -> Any:
    """Return the environment of the templates: values are escaped, and missing values are errors."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(
            'the report requires Jinja2, which is not installed: pip install "superfactor[report]"'
        ) from error
    environment = Environment(
        loader=PackageLoader("superfactor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    environment.globals |= {"plural": plural, "term_id": term_id}
    return environment


@cache
def glossary(kind: str = "classes") -> dict[str, str]:
    """Return the definitions of terms for a kind of y, shown in tooltips and in a tab.

    Other kinds than classes add terms, redefine some, and remove terms that are null.
    """
    terms: dict[str, str] = json.loads(_asset("glossary.json"))
    own: dict[str, str | None] = json.loads(_asset("glossary_of_kinds.json")).get(kind, {})
    return {term: text for term, text in (terms | own).items() if text is not None}


@cache
def _known_terms() -> set[str]:
    return set(glossary()).union(*map(glossary, json.loads(_asset("glossary_of_kinds.json"))))


def term_id(term: str) -> str:
    """Return the anchor of a term in the glossary."""
    if term not in _known_terms():
        raise KeyError(f"term={term!r}: not in the glossary")
    return "term-" + re.sub(r"[^\w]+", "-", term)


def embedded(payload: Any) -> str:
    """Return JSON that is safe inside HTML, whatever names the data have."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def _policy(*scripts: str) -> str:
    """Return the content security policy: only these scripts run, and nothing is loaded."""
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _script() -> str:
    """Return all scripts in one function scope."""
    parts = "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    return '(() => {\n"use strict";\n' + re.sub(r"(?m)^\s*//.*\n|^\s+", "", parts) + "})();"


@cache
def _style() -> str:
    return re.sub(r"(?m)^\s+|/\*[^*]*\*/\n?", "", _asset("page.css"))


@cache
def _asset(name: str) -> str:
    return files("superfactor.report").joinpath("assets", name).read_text(encoding="utf-8")
