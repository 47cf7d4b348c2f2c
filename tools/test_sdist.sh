#!/usr/bin/env bash
# Build sdist and wheel without a network, unpack the sdist and run tests from there, on its own sources: what a
# distributor does. tools/test_sdist.sh [what to hand to pytest]
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m hatchling build --directory "$work"
tar -xzf "$work"/superfactor-*.tar.gz -C "$work"
cd "$work"/superfactor-*/
# Without arguments: what looks at files outside src, and one room.
[ $# -gt 0 ] || set -- tests/test_readme.py tests/test_method_page.py tests/test_scaling_page.py tests/test_extras.py \
  tests/test_distribution.py tests/cli/test_samples.py tests/cli/test_start.py tests/losses
PYTHONPATH=$PWD/src:$PWD "$python" -m pytest -q -p no:cacheprovider "$@"
