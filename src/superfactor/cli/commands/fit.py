"""`superfactor fit`: fit a model to a table, save it and report on it."""

from __future__ import annotations

from pathlib import Path

from superfactor import saving
from superfactor.cli.commands.learning import Learned, few_threads, learn
from superfactor.cli.errors import as_user_error
from superfactor.cli.options import Analysis, Outputs, Settings, TableReading
from superfactor.cli.output import summary
from superfactor.cli.output.effect_tables import show_blocks, show_confounding, show_covariates
from superfactor.cli.output.factor_table import check_positive, show_factors
from superfactor.cli.output.files import check_paths, check_table
from superfactor.cli.output.findings import Findings, find
from superfactor.cli.output.page import check_page, write_features, write_page
from superfactor.cli.output.predictions import of_unlabeled, show_unlabeled
from superfactor.cli.output.screen import Screen
from superfactor.cli.record import metadata
from superfactor.interpretation import read_markers as read
from superfactor.tables import read_study
from superfactor.tables.joining.source import Sources
from superfactor.tables.roles import Columns


def run(
    source: Sources,
    columns: Columns,
    reading: TableReading,
    settings: Settings,
    analysis: Analysis,
    outputs: Outputs,
    command: str,
    screen: Screen,
) -> None:
    """Fit a model to a table and save it; `command` is the command line as typed."""
    tables = {"--predictions": outputs.predictions, "--features-out": analysis.features_out}
    written = {"--out": outputs.out, "--report": outputs.report, **tables}
    check_paths(written, *source.files, analysis.markers)
    for option, path in tables.items():
        check_table(option, path)
    markers = read_markers(analysis.markers)
    saving.check_skops()
    with screen.step("read"), as_user_error(called=reading.called):
        samples = read_study(source, **vars(columns), **vars(reading.wishes), progress=screen.progress)
    check_positive(analysis.positive, samples.record)
    if outputs.report is not None:
        check_page(samples.outcome)
    learned = learn(samples, settings, screen)
    with few_threads(samples.design):
        finish(learned, analysis, outputs, command, screen, markers=markers)


def finish(
    learned: Learned,
    analysis: Analysis,
    outputs: Outputs,
    command: str,
    screen: Screen,
    *,
    markers: dict[str, str] | None = None,
) -> Findings:
    """Save the model, write the files, then print the results.

    Printing comes last because standard output may be a pipe that closes early.
    """
    _note(learned, markers, screen)
    found = _findings(learned, analysis, screen)
    about = metadata(learned, command) | found.record
    with screen.step("save"), screen.progress("saving the model"):
        saving.save(learned.model, outputs.out, about=about)
    files = {"model": str(outputs.out)}
    if outputs.report is not None:
        with screen.step("report"):
            parts = learned.train, learned.held_out
            more = {"search": learned.search, "nested": learned.nested, "markers": markers}
            write_page(outputs.report, found, about, learned.samples, *parts, screen, **more)
        files["report"] = str(outputs.report)
    unlabeled = of_unlabeled(learned)
    if outputs.predictions is not None:
        if unlabeled is None:
            screen.note(
                f"{outputs.predictions}: not written, because every sample has a "
                f"{learned.description.lacking}"
            )
        else:
            unlabeled.write(outputs.predictions)
            files["predictions"] = str(outputs.predictions)
    X, y = learned.part(learned.train)
    if analysis.features_out is not None:
        with screen.step("features"):
            write_features(analysis.features_out, found, X, y)
        files["features"] = str(analysis.features_out)
    summary.describe(learned, screen)
    factors = found.factors(markers)
    show_factors(factors, screen, about, by=analysis.ranked_by, covariates=bool(learned.samples.encoding))
    covariates = show_covariates(learned.model, X, y, learned.outcome, screen, analysis.positive, found.held)
    blocks = show_blocks(learned.model, X, screen, **analysis.shown)
    confounding = show_confounding(learned, screen, **analysis.shown)
    stability = found.show(factors, screen)
    predictions = show_unlabeled(unlabeled, learned.description.lacking, screen)
    summary.performance(learned, screen)
    summary.verdict(learned, screen, None if found.near is None else found.near.statement)
    screen.print()
    screen.fields(list(files.items()))
    screen.finish(
        {
            "command": command,
            "versions": about["versions"],
            "table": summary.table_facts(learned.samples),
            "copies": learned.copies,
            "given_away_by": learned.revealing,
            "params": about["params"],
            "selection": summary.selection_facts(learned.search, learned.samples.outcome),
            "scores": learned.scores,
            **summary.performance_facts(learned),
            "factors": factors,
            "covariates": covariates,
            "blocks": blocks,
            "confounding": confounding,
            "unlabeled": predictions,
            **stability,
            "certificate": summary.certificate_facts(learned.estimator),
            "files": files,
        }
    )
    return found


def _findings(learned: Learned, analysis: Analysis, screen: Screen) -> Findings:
    X, y = learned.part(learned.train)
    groups = learned.samples.groups
    return find(
        learned.model,
        X,
        y,
        analysis,
        screen,
        groups=None if groups is None else groups[learned.train],
        folds=learned.search.n_splits_,
        seed=learned.settings.seed,
        verdict=learned.verdict,
    )


def _note(learned: Learned, markers: dict[str, str] | None, screen: Screen) -> None:
    for note in learned.samples.notes:
        screen.note(note)
    if markers is not None:
        found = len(set(markers) & set(learned.samples.model_names))
        if found < len(markers) or not markers:
            screen.note(f"--markers: {found} of {len(markers)} are features of this table")


def read_markers(path: Path | None) -> dict[str, str] | None:
    """Return the notes by feature, or None without a file."""
    if path is None:
        return None
    with as_user_error(f"--markers {path}: "):
        return read(path)
