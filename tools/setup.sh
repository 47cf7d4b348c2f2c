#!/usr/bin/env bash
# Fill .venv with superfactor and the given extras: tools/setup.sh dev
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
package=".[${1:-dev}]"
venv_python=.venv/bin/python

if ! "$venv_python" -c '' 2>/dev/null; then
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "superfactor needs Python 3.11 or newer, and '$python' is not: make PYTHON=python3.12 ..." >&2
    exit 1
  }
  echo "creating .venv"
  # Some distributions ship Python without the parts that venv needs; uv brings its own.
  "$python" -m venv --clear .venv || uv venv --quiet --clear --seed --python "$python" .venv
fi
pip() { "$venv_python" -m pip -qq --disable-pip-version-check "$@"; }

# uv is several times faster than pip, but reads none of pip's settings (indexes, find-links),
# so where those matter it fails and pip takes over.
with_uv() {
  local uv
  uv=$(command -v uv) || { pip install uv 2>/dev/null && uv=.venv/bin/uv; } || return 1
  VIRTUAL_ENV=.venv "$uv" pip install --quiet --compile-bytecode --editable "$package"
}
echo "installing $package"
with_uv || { echo "uv could not do it; using pip"; pip install --editable "$package"; }

# PyTorch is for tests only, and only as a CPU build: "+cpu" never matches the one that brings
# gigabytes of CUDA. Wheels for macOS are CPU builds without saying so.
torch="torch==2.13.0+cpu"
[ "$(uname -s)" = Darwin ] && torch="torch==2.13.0"
pip install --only-binary=:all: "$torch" 2>/dev/null ||
  echo "no CPU build of PyTorch for this Python: the tests that need it will be skipped"
