"""`superfactor evaluate`: how good a model is on samples from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from superfactor.cli.commands.learning import few_threads
from superfactor.cli.commands.opening import open_with, read_for
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Labels
from superfactor.cli.told.screen import Screen
from superfactor.cli.told.summary import figure, headline_row, interval, show_verdict, verdict_facts
from superfactor.cli.trained import NEW, NO_LABEL, trained_on
from superfactor.outcomes import outcome_named
from superfactor.outcomes.telling import telling_of
from superfactor.saving import Saved, versions
from superfactor.selection import external_scores
from superfactor.tables.joining.source import Sources
from superfactor.tables.study import Study
from superfactor.tables.targets.columns import known


def run(model: Path, source: Sources, labels: Labels, screen: Screen) -> None:
    """Figures, their intervals and a verdict."""
    loaded, files = open_with(model, source, {}, screen)
    with screen.step("read"):
        samples = read_for(loaded, files, labels.id, screen, outcome=labels)
    for note in samples.notes:
        screen.note(note)
    new = _new_ones(loaded, samples, screen)
    X, y = samples.design[new], known(samples.y[new])
    with screen.step("evaluate"), as_user_error(), few_threads(X):
        found = external_scores(loaded.model, X, y)
    telling = telling_of(samples.outcome)
    who = f"{len(y):,} ({', '.join(telling.samples(y, samples.targets))})"
    screen.fields([("model", str(model)), ("table", files.title), ("samples", who)])
    _show(found, screen)
    screen.finish(
        {
            "versions": versions(),
            "samples": len(y),
            **telling.sample_facts(y, samples.targets),
            **found.as_dict(),
            "verdict": verdict_facts(found.verdict),
        }
    )


def _new_ones(loaded: Saved, samples: Study, screen: Screen) -> Any:
    """Positions of the samples whose outcome the model was not shown: the others are no test of it."""
    there, lacking = np.flatnonzero(samples.labeled), telling_of(samples.outcome).lacking
    if not len(there):
        raise UserError(f"{samples.path}: no sample has a {lacking}; they are what a model is measured by")
    if len(there) < len(samples.y):
        screen.note(
            f"{len(samples.y) - len(there)} of {len(samples.y)} samples have no {lacking}; they are left out"
        )
    marks = np.array(trained_on(loaded.about, samples))[there]
    new = there[np.isin(marks, (NEW, NO_LABEL))]
    seen, unlabeled = len(there) - len(new), int(np.sum(marks == NO_LABEL))
    if not len(new):
        raise UserError(
            f"{samples.path}: the model was fitted to every one of these {seen} samples; others are required"
        )
    if seen:
        screen.note(
            f"{seen} of {len(there)} samples have the values or names of samples that the model was "
            "fitted to; they are left out"
        )
    if unlabeled:
        screen.note(
            f"{unlabeled} of these {len(new)} samples shaped the factors, without their {lacking}s; "
            "strangers may be harder to predict"
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
