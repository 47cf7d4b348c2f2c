"""The code on the page about scaling runs: small data, no GPU."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


def _code(page: str) -> dict[str, str]:
    """What is to be run under every heading of a page."""
    parts = re.split("^## ", (ROOT / page).read_text(), flags=re.M)[1:]
    code = {part.splitlines()[0]: re.findall("^```python\n(.*?)^```", part, re.M | re.S) for part in parts}
    return {heading: "".join(blocks) for heading, blocks in code.items() if blocks}


CODE = _code("docs/scaling.md")
CASES = [
    pytest.param(name, marks=[pytest.mark.slow] if "Client(" in code else []) for name, code in CODE.items()
]


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster of two processes on loopback."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    with distributed.LocalCluster(dashboard_address="127.0.0.1:0", **options) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("name", CASES)
def test_code_runs(name, tmp_path, monkeypatch, request):
    code = CODE[name].replace('"cuda"', '"cpu"')
    if "Client(" in code:
        address = request.getfixturevalue("scheduler")
        code = re.sub(r"Client\(.*?\)", f"Client({address!r})", code)
    if "device=" in code:
        pytest.importorskip("torch")
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000, 12))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(1_000) > 0, "yes", "no")
    pd.DataFrame(X).rename(columns="x{}".format).assign(label=y).to_parquet("table.parquet")
    names = {"X": X, "y": y}
    exec("from superfactor import SMFClassifier\n" + code, names)
    if "client" in names:
        names["client"].close()
    model = names["model"]
    assert model.components_.shape == (3, 12)
    assert model.score(names.get("X_there", names["X"]), y) > 0.8
