"""The commands and their options. Whatever takes time to import is imported when it is needed."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import superfactor
from superfactor.cli.errors import DONE, INTERRUPTED, UserError
from superfactor.cli.options import (
    Adjust,
    Balance,
    Block,
    By,
    ByOfModel,
    Certify,
    Covariates,
    Drop,
    DropRare,
    FeaturesOut,
    Folds,
    Group,
    Id,
    Impute,
    Json,
    Kind,
    Lam,
    Layer,
    Layout,
    Log2,
    Markers,
    MinClass,
    Model,
    Permutations,
    Phenotype,
    Positive,
    Quiet,
    Rank,
    Repeats,
    Resamples,
    Rotation,
    Seed,
    Sheet,
    Stable,
    StableOfModel,
    Standardize,
    Table,
    Target,
    Unlabeled,
    Xi,
)
from superfactor.cli.told.screen import Screen
from superfactor.cli.values import columns_of, repeats_of, settings_of, source_of, wishes_of

# typer has its own copy of click's exceptions since 0.26 and no public name for their root.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    name="superfactor",
    help="Supervised matrix factorization: from a table to factors you can read and a label they predict.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # two columns of plain text: readable at 80 columns, and sooner there
    context_settings={"help_option_names": ["-h", "--help"]},
)
# What was typed, to be written into models and pages.
_command = ["superfactor"]


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; usage errors become one line."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    _command[1:] = words
    command = typer.main.get_command(app)
    try:
        with warnings.catch_warnings():
            # Notes count these samples, by the names of columns that people know.
            warnings.filterwarnings("ignore", "confounders: ")
            code = command.main(words, prog_name="superfactor", standalone_mode=False) or DONE
    except _UsageError as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "superfactor")
        raise UserError(f"{error.format_message()} ({where} --help lists what there is)") from None
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer has swallowed it
        raise KeyboardInterrupt
    return code


def _version(wanted: bool) -> None:
    if wanted:
        print(f"superfactor {superfactor.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# --- commands --------------------------------------------------------------------------------------


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to put table, model and page.")] = Path(
        "superfactor-demo"
    ),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Try it on real data: genes of CD4 and CD8 T cells.

    Writes a table, a model and a page to look at.
    """
    from superfactor.cli.commands import demo

    demo.run(out, shlex.join(_command), Screen(quiet=quiet, as_json=json))


@app.command()
def fit(
    *,
    table: Table = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The model, by convention .skops.", show_default=False)
    ],
    target: Target = None,
    id: Id = None,
    covariates: Covariates = None,
    adjust: Adjust = None,
    group: Group = None,
    drop: Drop = None,
    block: Block = None,
    phenotype: Phenotype = None,
    layout: Layout = None,
    sheet: Sheet = None,
    layer: Layer = None,
    impute: Impute = "lowrank",
    unlabeled: Unlabeled = None,
    drop_rare: DropRare = False,
    min_class: MinClass = None,
    rank: Rank = "auto",
    xi: Xi = "auto",
    lam: Lam = "auto",
    model: Kind = "filter",
    standardize: Standardize = True,
    balance: Balance = False,
    log2: Log2 = False,
    repeats: Repeats = "auto",
    permutations: Permutations = 0,
    test_size: Annotated[
        float, typer.Option(metavar="F", help="Share of the samples to hold out besides.")
    ] = 0.0,
    seed: Seed = 0,
    cv: Folds = None,
    markers: Markers = None,
    stability: Resamples = 0,
    stable: Stable = None,
    by: By = "correlation",
    rotation: Rotation = None,
    positive: Positive = None,
    certify: Certify = "residual",
    report: Annotated[
        Path | None, typer.Option(metavar="HTML", help="Write a page about the model, too.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Write predictions of the samples without a label, too."),
    ] = None,
    features_out: FeaturesOut = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit factors and classifier to a table and save the model.

    Rank and weights are chosen by cross-validation, and the model that is saved is fitted to all
    samples. How well this predicts is measured by nested cross-validation: the whole choice is made
    again without the samples it is judged by, beside simpler methods.
    """
    from superfactor.cli.commands import fit
    from superfactor.cli.told.findings import Looks

    times = repeats_of(repeats)
    if permutations and not times:
        raise UserError("--permutations needs nested cross-validation: leave out --repeats 0")
    settings = replace(
        settings_of(rank, xi, lam, model, standardize, balance, seed, cv, certify),
        test_size=test_size,
        repeats=times,
        permutations=permutations,
    )
    outputs = fit.Outputs(
        out,
        report,
        markers,
        Looks(stability, stable, by, rotation, positive),
        shlex.join(_command),
        predictions=predictions,
        features=features_out,
    )
    source = source_of(table, block, phenotype, layout, sheet, layer)
    wishes = wishes_of(log2, impute, unlabeled, drop_rare, min_class)
    columns = columns_of(target, id, covariates, drop, group, adjust)
    fit.run(source, columns, wishes, settings, outputs, Screen(quiet=quiet, as_json=json))


@app.command()
def predict(
    *,
    model: Model,
    table: Table = None,
    out: Annotated[Path, typer.Option(metavar="CSV", help="Where to write predictions.", show_default=False)],
    id: Id = None,
    block: Block = None,
    phenotype: Phenotype = None,
    layout: Layout = None,
    sheet: Sheet = None,
    layer: Layer = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the samples of another table.

    Writes a row a sample: its name, the predicted label and the probability of each class.
    """
    from superfactor.cli.commands import predict

    source = source_of(table, block, phenotype, layout, sheet, layer)
    predict.run(model, source, id, out, Screen(quiet=quiet, as_json=json))


@app.command()
def factors(
    *,
    model: Model,
    by: ByOfModel = None,
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Features at each end of a factor.")] = 5,
    markers: Markers = None,
    rotation: Rotation = None,
    positive: Positive = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Write all features of all factors: .csv, .parquet, .xlsx."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show the factors of a model.

    Needs the model alone: correlations and weights of all features are in it.
    """
    from superfactor.cli.commands import factors

    wishes = {"by": by, "rotation": rotation, "positive": positive}
    screen = Screen(quiet=quiet, as_json=json)
    factors.run(model, screen, wishes, n=n, markers=markers, out=out)


@app.command()
def evaluate(
    *,
    model: Model,
    table: Table = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column with the labels.", show_default="as the model was fitted"),
    ] = None,
    id: Id = None,
    block: Block = None,
    phenotype: Phenotype = None,
    layout: Layout = None,
    sheet: Sheet = None,
    layer: Layer = None,
    unlabeled: Unlabeled = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Measure a model on samples from elsewhere.

    Needs the column with the labels, under the name it had when the model was fitted or another.
    """
    from superfactor.cli.commands import evaluate

    source = source_of(table, block, phenotype, layout, sheet, layer)
    evaluate.run(model, source, id, Screen(quiet=quiet, as_json=json), target, unlabeled)


@app.command()
def select(
    *,
    table: Table = None,
    target: Target = None,
    id: Id = None,
    covariates: Covariates = None,
    adjust: Adjust = None,
    group: Group = None,
    drop: Drop = None,
    block: Block = None,
    phenotype: Phenotype = None,
    layout: Layout = None,
    sheet: Sheet = None,
    layer: Layer = None,
    impute: Impute = "lowrank",
    unlabeled: Unlabeled = None,
    drop_rare: DropRare = False,
    min_class: MinClass = None,
    rank: Rank = "auto",
    xi: Xi = "auto",
    lam: Lam = "auto",
    model: Kind = "filter",
    standardize: Standardize = True,
    balance: Balance = False,
    log2: Log2 = False,
    seed: Seed = 0,
    cv: Folds = None,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Write the scores of all settings.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare ranks and weights by cross-validation.

    Shows the scree and the best settings; fits no model.
    """
    from superfactor.cli.commands import select

    settings = settings_of(rank, xi, lam, model, standardize, balance, seed, cv)
    source = source_of(table, block, phenotype, layout, sheet, layer)
    wishes = wishes_of(log2, impute, unlabeled, drop_rare, min_class)
    columns = columns_of(target, id, covariates, drop, group, adjust)
    select.run(source, columns, wishes, settings, out, Screen(quiet=quiet, as_json=json))


@app.command()
def report(
    *,
    model: Model,
    table: Table = None,
    out: Annotated[Path, typer.Option(metavar="HTML", help="Where to write the page.", show_default=False)],
    block: Block = None,
    phenotype: Phenotype = None,
    layout: Layout = None,
    sheet: Sheet = None,
    layer: Layer = None,
    markers: Markers = None,
    stability: Resamples = 0,
    stable: StableOfModel = None,
    by: ByOfModel = None,
    rotation: Rotation = None,
    positive: Positive = None,
    features_out: FeaturesOut = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the page about a model.

    Needs the table the model was fitted to; its other samples count as held out.
    """
    from superfactor.cli.commands import report

    source = source_of(table, block, phenotype, layout, sheet, layer)
    screen = Screen(quiet=quiet, as_json=json)
    wishes = {"stability": stability, "stable": stable, "by": by, "rotation": rotation}
    wishes |= {"positive": positive}
    report.run(model, source, out, markers, wishes, screen, features_out)
