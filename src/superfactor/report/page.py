"""The page: sections, payload, style and script in one HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import superfactor
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.sections import (
    choice,
    convergence,
    factors,
    features,
    prediction,
    reproduce,
    result,
    samples,
    stability,
)
from superfactor.report.text import percent, plural

# In the order of the tabs.
SECTIONS = (
    result,
    prediction,
    factors,
    samples,
    choice,
    convergence,
    stability,
    features,
    reproduce,
)
# In the order in which they build on each other; start.js sets them to work.
SCRIPTS = (
    "dom",
    "tooltip",
    "scales",
    "figures",
    "classes",
    "roc",
    "factors",
    "samples",
    "scree",
    "surface",
    "convergence",
    "stability",
    "features",
    "tabs",
    "start",
)
# Runs before the body is drawn, so that nothing flashes by that a script would hide.
_EARLY = 'document.documentElement.classList.add("js");'


def render(facts: Facts) -> str:
    """The whole page as text."""
    sections = [s for s in (module.section(facts) for module in SECTIONS) if s is not None]
    script, now = _script(), datetime.now(UTC)
    return Template(_asset("page.html")).substitute(
        policy=_policy(_EARLY, script),
        version=escape(superfactor.__version__),
        title=escape(facts.title),
        lead=escape(_lead(facts)),
        style=_asset("page.css"),
        early=_EARLY,
        tabs="".join(f'<a href="#{s.id}">{escape(s.tab)}</a>' for s in sections),
        sections="\n".join(_panel(s) for s in sections),
        written=f"{now.day} {now:%B %Y, %H:%M} UTC",
        payload=embedded(
            {"classes": facts.classes} | {s.id: s.payload for s in sections if s.payload}
        ),
        script=script,
    )


def embedded(payload: Any) -> str:
    """JSON that no HTML parser takes for anything else, whatever the data are called."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def _lead(facts: Facts) -> str:
    """One sentence on top."""
    what = f" of {facts.target}" if facts.target else ""
    found = facts.evaluation
    where = "training" if facts.test is None else "held-out"
    return (
        f"{plural(facts.rank, 'factor')} of {plural(len(facts.view.features), 'feature')}, learned "
        f"together with a classifier{what} ({plural(len(facts.classes), 'class')}) from "
        f"{plural(len(facts.train), 'sample')}: {percent(found.accuracy)} of {found.n:,} {where} "
        "samples are predicted right."
    )


def _panel(section: Section) -> str:
    return (
        f'<section class="panel" id="{section.id}" aria-labelledby="{section.id}-heading">'
        f'<h2 id="{section.id}-heading">{escape(section.heading)}</h2>\n{section.html}\n</section>'
    )


def _policy(*scripts: str) -> str:
    """Only these scripts run, and nothing is ever loaded: a second wall behind the escaping."""
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _script() -> str:
    """The scripts as one, their names to themselves."""
    parts: Iterable[str] = (_asset(f"{name}.js") for name in SCRIPTS)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();"


@cache
def _asset(name: str) -> str:
    return files("superfactor.report").joinpath("assets", name).read_text(encoding="utf-8")
