"""docs/architecture.md is true, and the package keeps to the sizes that it promises."""

import ast
import re
from collections import defaultdict

from tools import rooms

PAGE = rooms.PAGE.read_text(encoding="utf-8")
FILES = sorted(rooms.PACKAGE.rglob("*.py"))
MOST_FILES, MOST_LINES = 12, 450


def test_the_table_has_every_room_once():
    table = re.search(r"\| layer \|.*?\n\n", PAGE, re.S)
    lines = table[0].strip().splitlines()[2:]
    first = [name for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(first) == rooms.rooms()


def test_the_list_of_files_is_that_of_the_code():
    assert rooms.renewed(PAGE) == PAGE, "python tools/rooms.py writes it anew"


def test_files_that_the_page_names_are_there():
    names = {file.relative_to(rooms.PACKAGE).as_posix() for file in FILES}
    said = set(re.findall(r"`((?:\w+/)*\w+\.py)\b", rooms.LIST.sub("", PAGE)))
    assert said
    unknown = [name for name in said if not any(f"/{known}".endswith(f"/{name}") for known in names)]
    assert [name for name in unknown if not (rooms.ROOT / name).exists()] == []


def test_no_folder_has_too_many_files():
    counts = defaultdict(int)
    for file in FILES:
        counts[file.parent.relative_to(rooms.PACKAGE).as_posix()] += 1
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_no_file_is_too_long():
    lengths = {
        file.relative_to(rooms.PACKAGE).as_posix(): len(file.read_text().splitlines()) for file in FILES
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_a_class_name_has_one_meaning():
    """Names with an underscore are a file's own."""
    places = defaultdict(list)
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(file.relative_to(rooms.PACKAGE).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
