"""`superfactor demo`: the main job on real data, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path

from superfactor.cli import prepare
from superfactor.cli.errors import UserError
from superfactor.cli.fit import Outputs, finish
from superfactor.cli.learning import Learned, Settings, few_threads, learn
from superfactor.cli.output import write_csv
from superfactor.cli.prepare import Columns
from superfactor.cli.screen import Screen

TARGET = "diagnosis"
RESAMPLES = 20


def run(folder: Path, command: str, screen: Screen) -> None:
    """Factors of 569 breast-cancer biopsies, as `superfactor fit` finds them."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder}: a file; the name of a folder is required")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "breast-cancer.csv"
    _write_table(table)
    with screen.step("read"):
        samples = prepare.for_fitting(table, Columns(TARGET), False, screen)
    learned = learn(samples, Settings(), screen)
    with few_threads(samples.X):
        _finish(learned, folder, command, screen)
    screen.say("\nOn a table of yours: superfactor fit TABLE --target COL --out MODEL")


def _finish(learned: Learned, folder: Path, command: str, screen: Screen) -> None:
    outputs = Outputs(
        folder / "model.skops", folder / "report.html", stability=RESAMPLES, command=command
    )
    finish(learned, False, outputs, screen)


def _write_table(path: Path) -> None:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    labels = data.target_names[data.target].tolist()
    rows = zip(labels, data.data.tolist(), strict=True)
    write_csv(path, [TARGET, *data.feature_names], ([label, *row] for label, row in rows))
