"""The package page: links of its menu, and the README, whose links and pictures need whole addresses there.

Hatchling calls this when it builds; all addresses begin with `Source` of `[project.urls]`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

MENU = {
    "Documentation": "blob/main/docs/start.md",
    "Changelog": "blob/main/CHANGELOG.md",
    "Issues": "issues",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


def with_whole_addresses(text: str, home: str) -> str:
    """Markdown whose relative links lead to the repository at `home`."""

    def whole(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        return f"{picture}[{words}]({home}/{'raw' if picture else 'blob'}/main/{target})"

    return LINK.sub(whole, text)


class PackagePage(MetadataHookInterface):
    """Fills in `readme`, and what `urls` has besides the source."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put text and addresses into the metadata."""
        home = metadata["urls"]["Source"]
        metadata["urls"] |= {name: f"{home}/{path}" for name, path in MENU.items()}
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = with_whole_addresses(text, home)
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
