"""A tab of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """A tab; its text is in ``templates/<id>.html``."""

    id: str  # anchor, name of the template and key in the payload
    tab: str  # one word
    heading: str
    content: dict[str, Any] = field(default_factory=dict)  # values for the template
    payload: dict[str, Any] = field(default_factory=dict)  # data of the figures, as JSON
