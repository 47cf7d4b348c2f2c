#!/usr/bin/env bash
# Fill an environment for one kind of work: tools/setup.sh demo|dev|docs|paper|bench|lowest
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-dev}
python=${PYTHON:-python3}
venv=.venv
case $kind in
  demo) wanted=(--editable ".[cli]") ;;
  dev) wanted=(--compile-bytecode --editable ".[all]" --group dev) ;;
  docs) wanted=(--compile-bytecode --group docs) ;;
  paper) venv=.venv-paper wanted=(--group paper) ;;
  bench) wanted=(--group bench) ;;
  lowest)
    venv=.venv-lowest
    rm -rf "$venv" # otherwise the installer keeps newer versions
    # Wheels only: versions without a wheel for this Python would have to be compiled.
    wanted=(--compile-bytecode --resolution lowest-direct --only-binary :all: --no-binary superfactor
      --editable ".[all]" --group test)
    ;;
  *)
    echo "tools/setup.sh $kind: demo, dev, docs, paper, bench or lowest is required" >&2
    exit 1
    ;;
esac

# A usable environment has pip. Without python3-venv, Debian's Python creates one without pip; create it again.
if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "superfactor needs Python 3.11 or newer, and '$python' is not: make PYTHON=python3.12 ..." >&2
    exit 1
  }
  echo "creating $venv"
  # Some distributions ship Python without the parts that venv needs; uv brings its own.
  "$python" -m venv --clear "$venv" >/dev/null 2>&1 ||
    { command -v uv >/dev/null && uv venv --quiet --clear --seed --python "$python" "$venv"; } || {
    rm -rf "$venv"
    echo "'$python' cannot make an environment: it lacks venv or ensurepip." >&2
    echo "Install them (Debian and Ubuntu: apt install python3-venv) or uv, then run make again." >&2
    exit 1
  }
fi
pip() { "$venv/bin/python" -m pip -qq --disable-pip-version-check "$@"; }

# uv is several times faster than pip, but reads none of pip's settings, so where those matter it fails and pip takes
# over. It is used once, so it does not stay.
passing=$(mktemp -d)
trap 'rm -rf "$passing"' EXIT
uv=$(command -v uv) || { pip install --target "$passing" uv 2>/dev/null && uv=$passing/bin/uv; } || uv=
with_uv() { [ -n "$uv" ] && VIRTUAL_ENV=$venv "$uv" pip install --quiet "$@"; }
with_pip() {
  [ "$kind" != lowest ] || { echo "only uv can look for the lowest versions" >&2 && return 1; }
  echo "uv could not do it; using pip"
  [ "$kind" = demo ] || pip install "pip>=25.1" # older ones do not know groups
  pip install "${wanted[@]/--compile-bytecode/--compile}"
}
echo "installing what $kind needs"
with_uv "${wanted[@]}" || with_pip

# It asks for an older scikit-learn than it needs.
[ "$kind" != bench ] || pip install --no-deps "skmatter>=0.4"

# PyTorch is for tests only, and only as a CPU build: "+cpu" never matches the one that brings gigabytes of CUDA.
# Public indexes have no such name; uv knows where PyTorch keeps them. Wheels for macOS are CPU builds without saying so.
if [ "$kind" = dev ]; then
  torch="torch==2.13.0+cpu"
  [ "$(uname -s)" = Darwin ] && torch="torch==2.13.0"
  {
    UV_FIND_LINKS=${PIP_FIND_LINKS:-} with_uv "$torch" ||
      pip install --only-binary=:all: "$torch" ||
      with_uv --torch-backend cpu "$torch"
  } 2>"$passing/why" || {
    tail -n 3 "$passing/why" >&2
    echo "No CPU build of PyTorch was found: tests that need it will be SKIPPED." >&2
    [ -z "${REQUIRE_TORCH:-}" ] || { echo "REQUIRE_TORCH is set: this is an error." >&2 && exit 1; }
  }
fi
