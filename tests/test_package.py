import subprocess
import sys
from importlib.metadata import version

import pytest

import superfactor


def test_version_is_the_installed_one():
    assert superfactor.__version__ == version("superfactor")


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
