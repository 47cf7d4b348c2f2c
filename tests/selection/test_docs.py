"""The code on the page about selection runs, and does what the page says."""

import re
import threading
import time
from pathlib import Path

import numpy as np
from tests.selection.searches import numbers

from superfactor import SMFClassifierCV
from superfactor.outcomes import outcome_named

PAGE = Path(__file__).parents[2] / "docs" / "selection.md"
CODE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_a_search_with_a_limit(monkeypatch, capsys):
    code, _ = CODE
    now = iter(range(0, 10_000, 250))  # seconds: the second score comes after ten minutes
    real, main = time.monotonic, threading.main_thread()  # other threads may ask for the time, too
    clock = lambda: next(now) if threading.current_thread() is main else real()  # noqa: E731
    monkeypatch.setattr(time, "monotonic", clock)
    X, y = numbers()
    names = {"SMFClassifierCV": SMFClassifierCV, "X": X, "y": y}
    exec(code.replace("n_jobs=-1, ", ""), names)
    table = names["search"].cv_results_
    scores = [table[key] for key in table if re.fullmatch(r"split\d_test_score", key)]
    assert np.count_nonzero(~np.isnan(scores)) == 2
    assert names["search"].predict(X).shape == y.shape


def test_nested_scores(capsys):
    _, code = CODE
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    exec(code, {"X": rng.normal(size=(20, 3)) + 3 * y[:, None], "y": y})
    assert capsys.readouterr().out.startswith("Better than guessing: ")


def test_grids_are_those_of_the_searches():
    (block,) = re.findall(r"<!-- grids -->(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.strip().splitlines()[2:]]
    for name, *cells in rows:
        steps = outcome_named("flags" if name == "several labels" else name).steps
        grids = [steps.xi["filter"], steps.lam["filter"], steps.xi["feature"], steps.lam["feature"]]
        assert [tuple(map(float, cell.split(","))) for cell in cells] == grids, name
    assert len(rows) == 5
