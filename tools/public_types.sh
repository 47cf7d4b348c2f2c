#!/usr/bin/env bash
# How many of the public names type checkers know: installs the package as users do and asks pyright.
# tools/public_types.sh [least share, in percent]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
least=${1:-95} # 96 when this was written

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/typed"
export PATH=$work/typed/bin:$PATH # pyright looks at the Python of the path, and at no other option
pip install -qq --disable-pip-version-check "$root[all]" pyright
cd "$work" # not in the repository: the installed package is meant
pyright --verifytypes superfactor --ignoreexternal --outputjson >types.json || [ $? = 1 ] # 1: some are not known
python - "$least" <<'END'
import json, sys

measured = json.load(open("types.json"))["typeCompleteness"]
names = sum(measured["exportedSymbolCounts"].values())
share, least = 100 * measured["completenessScore"], float(sys.argv[1])
print(f"types of {names} public names: {share:.1f} % are known, at least {least:g} % are required")
sys.exit(names < 1000 or share < least)
END
