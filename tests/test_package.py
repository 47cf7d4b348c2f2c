import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import superfactor

ROOT = Path(__file__).parents[1]


def written(name, pattern):
    """The groups of a pattern in the lines of a file of the repository."""
    return re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_version_is_the_installed_one():
    assert superfactor.__version__ == version("superfactor")


def test_the_version_is_the_same_in_all_files():
    newest, *_ = written("CHANGELOG.md", r"^## \[(.+)\] - ")
    assert newest == superfactor.__version__
    assert written("CITATION.cff", "^version: (.+)$") == [newest]
    assert written("docs/paper.md", r"superfactor (\d[.\d]*\d) for") == [newest]


def test_a_release_has_one_date():
    newest, *_ = written("CHANGELOG.md", r"^## \[.+\] - (\d{4}-\d\d-\d\d)$")
    assert written("CITATION.cff", "^date-released: (.+)$") == [newest]


@pytest.mark.parametrize("name", superfactor.__all__)
def test_public_names_resolve_and_are_listed(name):
    assert getattr(superfactor, name) is not None
    assert name in dir(superfactor)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'SMFClasifier'"):
        _ = superfactor.SMFClasifier


def test_import_is_lazy():
    code = "import sys, superfactor; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
