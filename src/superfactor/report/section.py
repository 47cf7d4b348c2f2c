"""A tab of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """What stands in a tab; ``templates/<id>.html`` says it."""

    id: str  # its address, its template and its key in the payload
    tab: str  # a word
    heading: str  # a line
    content: dict[str, Any] = field(default_factory=dict)  # plain values that the template reads
    payload: dict[str, Any] = field(default_factory=dict)  # what figures are drawn from, for JSON
