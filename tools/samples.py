"""Update the terminal output in the pages: ``.venv/bin/python tools/samples.py``.

A sample is a code block between `<!-- sample -->` and `<!-- end -->`. Lines that begin with `$` are commands;
their output is written below them. The commands run one after another in one folder with the table of
`superfactor demo`; `typo.csv`, the same table with a word among its numbers; and `expression.tsv` and
`patients.csv`, prostate samples in two files.
"""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from superfactor.datasets import load_prostate, load_t_cells

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TABLE = "superfactor-demo/t_cells.csv"
MARKED = re.compile(r"<!-- sample -->\n\n```\n(.*?)```\n\n<!-- end -->\n", re.DOTALL)
# The terminal of the pages, and the program of this folder, even if another one is installed.
SETTINGS = {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT / "src")}


def prepare(folder: Path) -> None:
    """Put the tables of the samples into a folder."""
    data = load_t_cells()
    table = pd.DataFrame(data.X, columns=data.features).astype(object)
    table.insert(0, "type", data.y)
    (folder / TABLE).parent.mkdir()
    table.to_csv(folder / TABLE, index=False)
    table.iloc[3, 5] = "n.d."
    table.to_csv(folder / "typo.csv", index=False)
    genes, people = _two_files(load_prostate())
    genes.to_csv(folder / "expression.tsv", sep="\t")
    people.to_csv(folder / "patients.csv", index=False)


def _two_files(data: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return genes in rows, with missing values and a batch shift; and patients, some without a label."""
    rng = np.random.default_rng(0)
    n, p = data.X.shape
    batch = np.arange(n) // 2 % 2
    shift = rng.normal(scale=data.X.std(axis=0))
    X = np.where(rng.random((n, p)) < 0.02, np.nan, data.X + batch[:, None] * shift)
    names = [f"P{i:03}" for i in range(n)]
    genes = pd.DataFrame(X.T, index=pd.Index(data.features, name="probe"), columns=names).round(3)
    tissue = np.where(rng.random(n) < 0.9, data.y, "")
    people = pd.DataFrame({"patient": names, "tissue": tissue, "batch": np.array(["A", "B"])[batch]})
    return genes, people.drop(index=[3, 50])


def renewed(text: str, folder: Path, *more: str) -> str:
    """Return a page with updated samples; `more` are arguments for fits with nested cross-validation."""

    def sample(found: re.Match[str]) -> str:
        commands = [line for line in found[1].splitlines() if line.startswith("$ ")]
        body = "".join(f"{command}\n{printed(command[2:], folder, *more)}" for command in commands)
        return f"<!-- sample -->\n\n```\n{body}```\n\n<!-- end -->\n"

    return MARKED.sub(sample, text)


def printed(command: str, folder: Path, *more: str) -> str:
    """Return the output of a command, standard output first; raise if the command fails."""
    program, *words = shlex.split(command)
    if words[:1] == ["fit"] and "--repeats" not in words:
        words += more
    start = [sys.executable, "-m", "superfactor.cli"] if program == "superfactor" else [program]
    done = subprocess.run(
        [*start, *words],
        cwd=folder,
        env=os.environ | SETTINGS,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 2):  # success, or an error in the input
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stderr}")
    lines = (done.stdout + done.stderr).splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


@cache
def _genes() -> frozenset[str]:
    """Return the names of features of the T cells."""
    return frozenset(load_t_cells().features)


def shape(text: str) -> list[str]:
    """Return the lines of a sample without digits, names of features and widths of columns."""
    text = re.sub(r"\b(probe_|gene)\d+", "feature", text)
    text = re.sub(r"[\w.-]+", lambda word: "feature" if word[0] in _genes() else word[0], text)
    text = re.sub(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "0", text)
    return [re.sub(r"\s+", " ", re.sub("─+", "─", line)).strip() for line in text.splitlines()]


def main() -> None:
    """Update all pages that have samples."""
    with TemporaryDirectory() as name:
        prepare(Path(name))
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            if MARKED.search(text):
                page.write_text(renewed(text, Path(name)), encoding="utf-8")
                print(f"{page.relative_to(ROOT)}: {len(MARKED.findall(text))} samples")


if __name__ == "__main__":
    main()
