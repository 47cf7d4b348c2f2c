"""`make` on machines where an environment cannot be made, or is incomplete."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SETUP = Path(__file__).parents[1] / "tools" / "setup.sh"

# Debian's Python without python3-venv: it leaves an environment without pip.
WITHOUT_ENSUREPIP = f"""#!/bin/sh
case "$*" in
  *venv*) "{sys.executable}" -m venv --without-pip "$4"; echo "ensurepip is not available"; exit 1 ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""

# It leaves an environment with something in place of pip, since pip takes seconds to unpack.
WITH_PIP = f"""#!/bin/sh
case "$*" in
  *venv*)
    "{sys.executable}" -m venv --without-pip "$3" "$4"
    for packages in "$4"/lib/python*/site-packages; do mkdir "$packages/pip"; done ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""


def set_up(folder, python):
    (folder / "tools").mkdir(exist_ok=True)
    shutil.copy(SETUP, folder / "tools")
    variables = {**os.environ, "PYTHON": str(python), "PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1"}
    done = subprocess.run(
        ["bash", "tools/setup.sh", "demo"], cwd=folder, env=variables, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_without_venv_it_reports_what_to_install_and_leaves_no_files(tmp_path):
    python = tmp_path / "python-of-debian"
    python.write_text(WITHOUT_ENSUREPIP)
    python.chmod(0o755)
    for _ in range(2):
        code, _, said = set_up(tmp_path, python)
        assert code == 1
        assert "apt install python3-venv" in said
        assert not (tmp_path / ".venv").exists()


def test_an_environment_without_pip_is_made_again(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    (tmp_path / ".venv" / "left-over").touch()
    python = tmp_path / "python"
    python.write_text(WITH_PIP)
    python.chmod(0o755)
    _, said, _ = set_up(tmp_path, python)  # ends where nothing can be installed
    assert "creating .venv" in said
    assert not (tmp_path / ".venv" / "left-over").exists()
    assert list((tmp_path / ".venv").glob("lib/python*/site-packages/pip"))
