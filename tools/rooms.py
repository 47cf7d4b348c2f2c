"""Write the list of files into docs/architecture.md: `python tools/rooms.py`.

Each file of the package with the first sentence of its docstring, by room. A test says when the list is old.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "superfactor"
PAGE = ROOT / "docs" / "architecture.md"
LIST = re.compile(r"<!-- files -->\n.*?<!-- end -->", re.DOTALL)


def rooms() -> list[str]:
    """Folders and files at the top of the package."""
    found = [path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted(path.stem for path in found if not path.name.startswith("__"))


def first_sentence(file: Path) -> str:
    """Of the docstring, on one line."""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    text = " ".join(said.split("\n\n")[0].split())
    return re.split(r"(?<=[.?])\s", text)[0].rstrip(".:")


def listed() -> str:
    """A list for each room, a line for each file; a folder stands for what its `__init__.py` says."""
    lines = []
    for room in rooms():
        top = PACKAGE / room
        files = sorted(top.rglob("*.py")) if top.is_dir() else [top.with_suffix(".py")]
        for file in files:
            name = file.relative_to(PACKAGE).as_posix().removesuffix("__init__.py")
            lines.append(f"- `{name}`: {first_sentence(file)}")
        lines.append("")
    return "\n".join(lines)


def renewed(page: str) -> str:
    """The page with the list as it is now."""
    return LIST.sub(lambda _: f"<!-- files -->\n\n{listed()}\n<!-- end -->", page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
