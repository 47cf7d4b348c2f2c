"""Without the extras: packages import, and a missing library gives one line with the extra that has it."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A call, the library it needs, and the extra to be named.
CALLS = {
    "s.supervised_factors(model)": ("pandas", "pandas"),
    "s.top_features(model)": ("pandas", "pandas"),
    "s.covariate_effects(model, X, y, covariates=age)": ("pandas", "pandas"),
    "s.block_shares(model, X, {'a': [0], 'b': [1, 2]})": ("pandas", "pandas"),
    "s.stability(model, X, y, covariates=age)": ("pandas", "pandas"),
    "s.confounding(adjusted, X)": ("pandas", "pandas"),
    "preprocessing.join_blocks({})": ("pandas", "pandas"),
    "tables.open_table('t.csv')": ("pandas", "pandas"),
    "tables.open_table('t.parquet')": ("pyarrow", "cli"),
    "tables.open_table('t.xlsx')": ("openpyxl", "excel"),
    "tables.open_table('t.h5ad')": ("anndata", "anndata"),
    "plotting.FactorsDisplay.from_estimator(model, X, y)": ("matplotlib", "plot"),
    "plotting.ConvergenceDisplay.from_estimator(model)": ("matplotlib", "plot"),
    "superfactor.save(model, 'm.skops')": ("skops", "cli"),
    "report.write_report('p.html', model, X, y, covariates=age)": ("jinja2", "report"),
    "superfactor.row_blocks('t.zarr')": ("zarr", "scale"),
    "superfactor.row_blocks('t.parquet')": ("pyarrow", "scale"),
    "superfactor.SMFClassifier(1, device='cuda').fit(X, y)": ("torch", "torch"),
    "importlib.import_module('superfactor.distributed')": ("distributed", "dask"),
}
PROGRAM = """
import importlib, json, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LIBRARIES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())

import numpy as np
import superfactor
import superfactor.interpretation as s
from superfactor import plotting, preprocessing, report, tables
import superfactor.anndata, superfactor.cli, superfactor.selection
from sklearn.pipeline import make_pipeline

for end in ("csv", "parquet", "xlsx", "h5ad", "zarr"):
    with open(f"t.{end}", "w") as file:
        file.write("a,b\\n1,2\\n3,4\\n")
X = np.random.default_rng(0).normal(size=(20, 3))
y, age = np.arange(20) % 2, X[:, :1]
model = superfactor.SMFClassifier(1, certify=None).fit(X, y, covariates=age)
adjusted = make_pipeline(
    preprocessing.Adjuster([2]), superfactor.SMFClassifier(1, certify=None)
).fit(X, y)
said = {}
for call in CALLS:
    try:
        eval(call)
    except (ImportError, ValueError) as error:
        said[call] = str(error)
print(json.dumps(said))
"""


def extras():
    """Libraries by extra, with those of nested extras."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    stated = tomllib.loads(text)["project"]["optional-dependencies"]

    def libraries(extra):
        for line in stated[extra]:
            name, inner = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", line).groups()
            if name == "superfactor":
                for other in inner.split(","):
                    yield from libraries(other)
            else:
                yield name.replace("-", "_")

    return {extra: set(libraries(extra)) for extra in stated}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """The message of each call without the libraries of any extra."""
    libraries = set().union(*extras().values())
    head = f"LIBRARIES = {sorted(libraries)}\nCALLS = {list(CALLS)}\n"
    done = subprocess.run(
        [sys.executable, "-c", head + PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path_factory.mktemp("bare"),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", CALLS)
def test_one_line_names_the_extra(call, said):
    library, extra = CALLS[call]
    assert library.lower() in said[call].lower()
    assert re.search(rf"pip install ['\"]superfactor\[{extra}\]['\"]", said[call]), said[call]
    assert "\n" not in said[call]


@pytest.mark.parametrize("call", CALLS)
def test_the_extra_has_the_library(call):
    library, extra = CALLS[call]
    assert library in extras()[extra]
