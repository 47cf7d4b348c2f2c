"""`superfactor evaluate`: how good a model is on samples from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from superfactor.cli.errors import as_user_error
from superfactor.cli.learning import few_threads
from superfactor.cli.model_file import ModelFile
from superfactor.cli.output import check_paths
from superfactor.cli.predict import open_model, read_for
from superfactor.cli.prepare import PreparedTable
from superfactor.cli.record import versions
from superfactor.cli.screen import Screen
from superfactor.cli.summary import (
    class_counts,
    counted,
    figure,
    headline_row,
    interval,
    show_verdict,
)
from superfactor.cli.trained import NEW, trained_on


def run(model: Path, path: Path, identifier: str | None, screen: Screen) -> None:
    """Figures, their intervals and a verdict."""
    import numpy as np

    from superfactor.selection.external import external_scores

    check_paths({}, path, model)
    loaded = open_model(model, screen)
    with screen.step("read"):
        samples = read_for(loaded, path, identifier, screen, labels=True)
    classes = loaded.estimator.classes_
    with screen.step("evaluate"), as_user_error(), few_threads(samples.X):
        codes = np.searchsorted(classes, samples.y)  # classes are sorted
        found = external_scores(codes, loaded.estimator.predict_proba(samples.X), classes)
    _note_known(loaded, samples, screen)
    screen.fields(
        [
            ("model", str(model)),
            ("table", str(path)),
            ("samples", f"{len(samples.y):,} ({', '.join(counted(samples.y))})"),
        ]
    )
    _show(found, screen)
    screen.finish(
        {
            "versions": versions(),
            "samples": len(samples.y),
            "classes": class_counts(samples.y),
            **found.as_dict(),
        }
    )


def _note_known(loaded: ModelFile, samples: PreparedTable, screen: Screen) -> None:
    """Samples that the model was fitted to are no test of it."""
    marks = trained_on(loaded.metadata, samples)
    known = len(marks) - marks.count(NEW)
    if known:
        screen.note(
            f"{known} of {len(marks)} samples have the values or names of samples that the model was fitted "
            "to: figures are optimistic; leave these samples out"
        )


def _show(found: Any, screen: Screen) -> None:
    from superfactor.selection.verdict import WORDS

    rows = [
        [WORDS[metric], figure(metric, value["mean"]), interval(metric, value)]
        for metric, value in found.summary.items()
        if metric != "calibration_intercept"
    ]
    columns = [("", "left"), ("model", "right"), ("95 % interval", "right")]
    screen.table("On these samples", columns, rows, chosen=headline_row(rows, found))
    names = [str(name) for name in found.classes]
    shown = [("true class", "left"), *((f"predicted {name}", "right") for name in names)]
    table = [[name, *map(str, row)] for name, row in zip(names, found.confusion, strict=True)]
    if len(names) <= 6:
        screen.table("Predictions", shown, table)
    show_verdict(found.verdict, screen)
