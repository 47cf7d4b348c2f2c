"""The package page is the README, whose links and pictures need whole addresses there.

Hatchling calls this when it builds; all addresses begin with `Source` of `[project.urls]`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


def with_whole_addresses(text: str, home: str) -> str:
    """Markdown whose relative links lead to the repository at `home`."""

    def whole(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        return f"{picture}[{words}]({home}/{'raw' if picture else 'blob'}/main/{target})"

    return LINK.sub(whole, text)


class PackagePage(MetadataHookInterface):
    """Fills in `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the text into the metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = with_whole_addresses(text, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
