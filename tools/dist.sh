#!/usr/bin/env bash
# Build sdist and wheel into dist/, check them with twine, install each into an empty environment and fit a model there.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip() { "$1/bin/python" -m pip install -qq --disable-pip-version-check "${@:2}"; }

"$python" -m venv "$work/build"
pip "$work/build" build twine
rm -rf dist
"$work/build/bin/python" -m build --outdir dist
"$work/build/bin/python" -m twine check --strict dist/*

for file in "$PWD"/dist/*; do
  "$python" -m venv --clear "$work/user"
  pip "$work/user" "$file"
  # Not in the repository: the installed package is meant.
  (cd "$work" && user/bin/python - "$file") <<'END'
import sys

import superfactor
from superfactor.datasets import load_prostate

data = load_prostate()
model = superfactor.SMFClassifier(n_components=2).fit(data.X, data.y)
print(f"{sys.argv[1].rpartition('/')[2]}: installed, {superfactor.__version__}, accuracy {model.score(data.X, data.y):.2f}")
END
done
