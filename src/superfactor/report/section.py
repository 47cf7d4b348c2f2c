"""A tab of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """What stands in a tab; ``templates/<id>.html`` says it.

    Attributes
    ----------
    id : its address, its template and its key in the payload
    tab : a word
    heading : a line
    told : plain values that the template reads
    payload : what the figures of the tab are drawn from; anything `json` can write
    """

    id: str
    tab: str
    heading: str
    told: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
