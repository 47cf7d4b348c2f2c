"""`superfactor report`: the page about a model, from its file and its training table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from superfactor.cli.commands.fit import read_markers
from superfactor.cli.commands.learning import few_threads, revealing_columns
from superfactor.cli.commands.loading import open_with, read_for
from superfactor.cli.errors import UserError
from superfactor.cli.options import Analysis, Labels
from superfactor.cli.output import out_of_fold
from superfactor.cli.output.factor_table import check_positive
from superfactor.cli.output.files import check_table
from superfactor.cli.output.findings import find, recorded_nearness
from superfactor.cli.output.page import check_page, write_features, write_page
from superfactor.cli.output.screen import Screen
from superfactor.cli.record import checksum, recorded_scores, recorded_search, unique_names, verdict_of
from superfactor.saving import Saved, versions
from superfactor.tables.joining.source import Sources
from superfactor.tables.study import Study


def run(model: Path, source: Sources, out: Path, analysis: Analysis, screen: Screen) -> None:
    """Write the page; samples that the model was not fitted to count as held out."""
    features = analysis.features_out
    outputs = {"--out": out, "--features-out": features}
    loaded, files = open_with(model, source, outputs, screen, analysis.markers)
    check_table("--features-out", features)
    notes = read_markers(analysis.markers)
    about = loaded.about
    analysis = analysis.with_defaults(about)
    check_positive(analysis.positive, about)
    check_page(about.get("outcome", "classes"))
    with screen.step("read"):
        # A table without some features is not the one of the fit, which `_parts` says.
        samples = read_for(loaded, files, None, screen, outcome=Labels(), allow_absent=True)
    for note in samples.notes:
        screen.note(note)
    train, others = _parts(loaded, samples)
    revealing_columns(samples, screen)
    X, y = samples.design[train], samples.y[train]
    with few_threads(X):
        found = find(
            loaded.model,
            X,
            y,
            analysis,
            screen,
            groups=about["groups"],
            folds=about["search"]["n_splits"],
            seed=about["seed"],
            verdict=verdict_of(about),
            held=out_of_fold.recorded(about, **analysis.shown),
            near=recorded_nearness(about),
        )
    returns = found.show(found.factors(), screen)
    written = {"report": str(out)}
    if features is not None:
        with screen.step("features"):
            write_features(features, found, X, y)
        written["features"] = str(features)
    with screen.step("report"):
        more = {"search": recorded_search(about["search"]), "nested": recorded_scores(about.get("nested"))}
        write_page(out, found, about, samples, train, others, screen, markers=notes, **more)
    if analysis.stability or found.stable is not None:
        screen.print()
    screen.fields(
        [
            ("model", str(model)),
            ("table", files.title),
            ("samples", f"{len(train):,} fitted, {len(others):,} held out"),
            *written.items(),
        ]
    )
    counts = {"fitted": len(train), "held_out": len(others)}
    screen.finish({"versions": versions(), "samples": counts, **returns, "files": written})


def _parts(loaded: Saved, samples: Study) -> tuple[list[int], list[int]]:
    """Return positions of the training samples, in their order, and of all other samples."""
    position: dict[Any, int] = {name: i for i, name in enumerate(unique_names(samples.ids).tolist())}
    train = [position.get(name, -1) for name in loaded.about["training_ids"].tolist()]
    known = loaded.about["training_checksum"]
    if -1 in train or checksum(samples.design[train], samples.y[train]) != known:
        raise UserError(
            f"{samples.path}: not the training table of this model ({loaded.about['table']}), or its "
            "values or labels have changed; a report requires the training table, use superfactor predict "
            "for new samples"
        )
    seen = set(train)
    there = samples.labeled
    return train, [i for i in range(len(samples.ids)) if i not in seen and there[i]]
