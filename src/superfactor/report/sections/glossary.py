"""The words of the page."""

from __future__ import annotations

from superfactor.report.facts import Facts
from superfactor.report.glossary import GLOSSARY
from superfactor.report.section import Section


def section(facts: Facts) -> Section:
    """Every term and what it means."""
    return Section("glossary", "Glossary", "The words of this page", {"terms": GLOSSARY})
