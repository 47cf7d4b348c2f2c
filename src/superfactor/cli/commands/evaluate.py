"""`superfactor evaluate`: performance of a model on new samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from superfactor.cli.commands.learning import few_threads
from superfactor.cli.commands.loading import open_with, read_for
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Labels
from superfactor.cli.output.screen import Screen
from superfactor.cli.output.summary import figure, headline_row, interval, show_verdict, verdict_facts
from superfactor.cli.training_samples import NEW, NO_LABEL, trained_on
from superfactor.outcomes import outcome_named
from superfactor.outcomes.descriptions import description_of
from superfactor.saving import Saved, versions
from superfactor.selection import external_scores, find_copies
from superfactor.selection.copies import COUNTED
from superfactor.tables.joining.source import Sources
from superfactor.tables.study import Study
from superfactor.tables.targets.columns import known


def run(model: Path, source: Sources, labels: Labels, screen: Screen) -> None:
    """Print scores with intervals and a verdict."""
    loaded, files = open_with(model, source, {}, screen)
    with screen.step("read"):
        samples = read_for(loaded, files, labels.id, screen, outcome=labels, allow_absent=labels.allow_absent)
    for note in samples.notes:
        screen.note(note)
    new = _new_samples(loaded, samples, screen)
    X, y = samples.design[new], known(samples.y[new])
    if copies := find_copies(samples.X[new]):
        screen.note(f"{copies.statement(samples.ids[new])}; {COUNTED}")
    with screen.step("evaluate"), as_user_error(), few_threads(X):
        found = external_scores(loaded.model, X, y)
    description = description_of(samples.outcome)
    counts = f"{len(y):,} ({', '.join(description.samples(y, samples.targets))})"
    screen.fields([("model", str(model)), ("table", files.title), ("samples", counts)])
    _show(found, screen)
    screen.finish(
        {
            "versions": versions(),
            "samples": len(y),
            **description.sample_facts(y, samples.targets),
            **found.as_dict(),
            "verdict": verdict_facts(found.verdict),
        }
    )


def _new_samples(loaded: Saved, samples: Study, screen: Screen) -> Any:
    """Return the positions of labeled samples whose outcome was not in the training data."""
    labeled, lacking = np.flatnonzero(samples.labeled), description_of(samples.outcome).lacking
    if not len(labeled):
        raise UserError(f"{samples.path}: no sample has a {lacking}; the evaluation requires some")
    if len(labeled) < len(samples.y):
        screen.note(
            f"{len(samples.y) - len(labeled)} of {len(samples.y)} samples have no {lacking} and are excluded"
        )
    marks = np.array(trained_on(loaded.about, samples))[labeled]
    new = labeled[np.isin(marks, (NEW, NO_LABEL))]
    seen, unlabeled = len(labeled) - len(new), int(np.sum(marks == NO_LABEL))
    if not len(new):
        raise UserError(
            f"{samples.path}: the model was fitted to all of these {seen} samples; new samples are required"
        )
    if seen:
        screen.note(
            f"{seen} of {len(labeled)} samples have the values or names of training samples and are excluded"
        )
    if unlabeled:
        screen.note(
            f"{unlabeled} of these {len(new)} samples contributed to the factors without a {lacking}; "
            "other samples may be harder to predict"
        )
    return new


def _show(found: Any, screen: Screen) -> None:
    outcome = outcome_named(found.outcome)
    rows = [
        [outcome.words(metric), figure(outcome, metric, value["mean"]), interval(outcome, metric, value)]
        for metric, value in found.summary.items()
        if metric != "calibration_intercept"
    ]
    columns = [("", "left"), ("model", "right"), ("95 % interval", "right")]
    screen.table("On these samples", columns, rows, chosen=headline_row(rows, found))
    names = [str(name) for name in found.names]
    shown = [("true class", "left"), *((f"predicted {name}", "right") for name in names)]
    if found.confusion is not None and len(names) <= 6:
        table = [[name, *map(str, row)] for name, row in zip(names, found.confusion, strict=True)]
        screen.table("Predictions", shown, table)
    show_verdict(found.verdict, screen)
