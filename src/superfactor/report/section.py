"""A tab of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """What stands in a tab.

    Attributes
    ----------
    id : its address and its key in the payload
    tab : a word
    heading : a line
    html : text and tables, complete without scripts
    payload : what the figures of the tab are drawn from; anything `json` can write
    """

    id: str
    tab: str
    heading: str
    html: str
    payload: dict[str, Any] = field(default_factory=dict)
