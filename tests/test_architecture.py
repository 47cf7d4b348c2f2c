"""docs/architecture.md names the packages and files that exist."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "superfactor"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FILES = sorted(PACKAGE.rglob("*.py"))


def _name(path):
    return path.relative_to(PACKAGE).as_posix()


def _docstring(file):
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def test_the_table_has_every_package_once():
    table = re.search(r"\| package \|.*?\n\n", PAGE, re.S)
    lines = table[0].strip().splitlines()[2:]
    listed = [name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    found = [path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    assert sorted(listed) == sorted(path.stem for path in found if not path.name.startswith("__"))


def test_files_that_the_page_names_exist():
    names = set(re.findall(r"`((?:\w+/)*\w+\.py)\b", PAGE))
    assert names
    missing = [name for name in names if not any(f"/{_name(file)}".endswith(f"/{name}") for file in FILES)]
    assert [name for name in missing if not (ROOT / name).exists()] == []


def test_files_that_package_docstrings_list_exist():
    """Tables of files in `__init__.py` have the file in the first column."""
    tables = 0
    for init in PACKAGE.rglob("__init__.py"):
        text = _docstring(init) + "\n"
        tables_here = re.findall(r"^=+ =+\nfile.*?\n=+ =+\n(.*?)^=+ =+$", text, re.M | re.S)
        names = re.findall(r"^``?([\w/]+)``?", "".join(tables_here), re.M)
        known = {path.stem for path in init.parent.rglob("*") if path.suffix == ".py" or path.is_dir()}
        missing = [name for name in names if name.rstrip("/").rpartition("/")[2] not in known]
        assert missing == [], _name(init)
        tables += len(tables_here)
    assert tables > 10


def test_every_file_has_a_docstring():
    assert [_name(file) for file in FILES if not _docstring(file)] == []


def test_class_names_are_unique():
    """Names with a leading underscore are private to a file."""
    places = defaultdict(list)
    for file in FILES:
        if _name(file).startswith("_new/"):  # the new core has the names of the old one, which goes
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):  # codespell:ignore walk
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(_name(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
