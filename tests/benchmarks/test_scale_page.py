import re

import pytest
from benchmarks.pages import renewed
from benchmarks.scale.page import BLOCKS, PAGE, kept

MACHINE = {"processor": "abacus", "cores": 2, "device": "beads", "torch": "9.1", "cupy": "8.2"}
SIZE = {"n": 4_000, "p": 50, "classes": 3, "rank": 2}
COSTS = {"s an iteration": 0.25, "s a question": 0.125, "s a round": 0.0625}
PEAKS = "anonymous MB, less codes and y", "resident MB, less codes and y"
ROWS = {
    "growth": [
        {"series": "dense", "n": 4_000, "nnz": 9_000, "κ": 2, **COSTS},
        {"series": "dense", "exponent in": "n", **COSTS},
    ],
    "memory": [
        {"storage": "npy", "n": 4_000, "p": 50, "codes and y MB": 3.0, "scratch MB": 1_500.0}
        | dict.fromkeys(PEAKS, 80.0),
        {"storage": "npy", "asked at most": 0.2} | dict.fromkeys(PEAKS, 0.07),
    ],
    "million": [
        {"X": "file", **SIZE, "s": 9.0, "bare pass s": 4e-4, "passes": 11.0} | {"s beyond reading": 8.5},
        {"X": "memory", **SIZE, "s": 7.0},
    ],
    "precision": [{**SIZE, "float32 s": 3.0, "float64 s": 6.5, "relative difference": 2e-6}],
    "gpu": [
        {"library": "torch", "type": "float64", "model": "filter", **SIZE} | {"s without certificate": 5.5},
        {"library": "cupy", "type": "float32", "model": "feature", **SIZE}
        | {"s without certificate": 1.5, "s": 2.5, "relative difference": 4e-6},
    ],
    "cluster": [
        {"who": "plain process", **SIZE, "s": 40.0, "objective": 1.0},
        {"who": "1 worker", **SIZE, "s": 42.0, "objective": 1.0, "relative difference": 3e-12},
        {"who": "2 workers against 1", "times faster": 1.75},
        {"who": "overhead", "n": 2_000, "ms a question, alone": 1.5} | {"ms a question, whole fit": 2.5},
    ],
    "faults": [
        {"fit": 0, "s": 2.0, "objective": 1.0},
        {"fit": 1, "s": 4.0, "killed": True, "relative difference": 5e-9},
        {"fit": 2, "s": 1.0, "killed": False, "relative difference": 1.0},
    ],
}
# What each block must say of these.
SAID = {
    "growth": "| dense | exponent in | n | | **0.25** | **0.12** | **0.06** |",
    "memory": "| npy | 4,000 | 80 MB | 80 MB | 3 MB | 1,500 MB |",
    "million": "| file | 9 s | 11 | 8.5 s |",
    "precision": "3 s against 6.5 s, objectives 2e-06 apart",
    "gpu": "| cupy | float32 | feature | 1.5 s | 2.5 s | 4e-06 |",
    "cluster": "Two workers are 1.75 times as fast as one",
    "faults": "1 fits on two workers",
}


def _made():
    figures = {name: {"machine": MACHINE, "rows": rows} for name, rows in ROWS.items()}
    return renewed(PAGE.read_text(), figures, BLOCKS)


def test_the_page_is_what_the_kept_numbers_make_it():
    assert PAGE.read_text() == renewed(PAGE.read_text(), kept(), BLOCKS)


@pytest.mark.parametrize("name", BLOCKS)
def test_numbers_arrive_in_their_block(name):
    assert PAGE.read_text().count(f"<!-- benchmark: {name} -->") == 1
    block = _made().split(f"<!-- benchmark: {name} -->")[1].split("<!-- end -->")[0]
    assert SAID[name] in re.sub(r"(?<!\|)\n(?!\|)", " ", block)
