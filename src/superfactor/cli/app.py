"""The commands. Large packages are imported only when a command needs them."""

from __future__ import annotations

import inspect
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import superfactor
from superfactor.cli.errors import DONE, INTERRUPTED, UserError
from superfactor.cli.option_fields import expanded
from superfactor.cli.options import (
    Analysis,
    Choice,
    Files,
    Labels,
    ModelFile,
    Names,
    Outputs,
    Roles,
    Settings,
    TableReading,
    Verbosity,
    View,
)

# Since 0.26 typer has its own copy of click's exceptions, without a public name for the base class.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    name="superfactor",
    help="Supervised matrix factorization: fit factors that predict a label from a table.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text is readable at 80 columns and faster to print
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; usage errors become one line."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = typer.main.get_command(app)
    try:
        with warnings.catch_warnings():
            # The notes on the table report these samples with the column names of the user.
            warnings.filterwarnings("ignore", "confounders: ")
            code = command.main(given, prog_name="superfactor", standalone_mode=False, obj=given) or DONE
    except _UsageError as error:
        command_name = getattr(getattr(error, "ctx", None), "command_path", "superfactor")
        raise UserError(f"{error.format_message()} ({command_name} --help lists all options)") from None
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer catches the exception
        raise KeyboardInterrupt
    return code


def _version(requested: bool) -> None:
    if requested:
        print(f"superfactor {superfactor.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command; its options are the fields of its dataclass parameters."""
    of_model = "file" in inspect.signature(function).parameters
    app.command()(expanded(function, of_model=of_model))
    return function


def _command_line(context: typer.Context) -> str:
    """Return the command line as typed, for models and reports."""
    return shlex.join(["superfactor", *context.obj])


@_command
def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for table, model and report.")] = Path(
        "superfactor-demo"
    ),
    *,
    verbosity: Verbosity,
) -> None:
    """Run an example: gene expression of CD4 and CD8 T cells.

    Writes a table, a model and a report.
    """
    from superfactor.cli.commands import demo

    demo.run(out, _command_line(context), verbosity.screen)


@_command
def fit(
    context: typer.Context,
    outputs: Outputs,
    roles: Roles,
    files: Files,
    reading: TableReading,
    settings: Settings,
    analysis: Analysis,
    verbosity: Verbosity,
) -> None:
    """Fit a supervised factor model to a table and save it.

    Cross-validation chooses rank and weights. The saved model is fitted to all samples. Nested
    cross-validation estimates its performance on unseen samples and compares it with simpler methods.
    """
    from superfactor.cli.commands import fit

    source, columns = files.source, roles.columns
    command = _command_line(context)
    fit.run(source, columns, reading, settings, analysis, outputs, command, verbosity.screen)


@_command
def predict(
    file: ModelFile,
    files: Files,
    names: Names,
    out: Annotated[Path, typer.Option(metavar="CSV", help="File for the predictions.", show_default=False)],
    verbosity: Verbosity,
) -> None:
    """Predict the samples of another table.

    Writes one row per sample: its name, the predicted label and the probability of each class.
    """
    from superfactor.cli.commands import predict

    predict.run(file.model, files.source, names.id, names.allow_absent, out, verbosity.screen)


@_command
def factors(
    file: ModelFile,
    view: View,
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Features at each end of a factor.")] = 5,
    out: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Write all features of all factors: .csv, .parquet, .xlsx."),
    ] = None,
    *,
    verbosity: Verbosity,
) -> None:
    """Show the factors of a model.

    Needs only the model: it contains the correlations and weights of all features.
    """
    from superfactor.cli.commands import factors

    factors.run(file.model, view, n, out, verbosity.screen)


@_command
def evaluate(file: ModelFile, files: Files, labels: Labels, verbosity: Verbosity) -> None:
    """Evaluate a model on new samples with known labels.

    The label column may have another name than in the training table (--target).
    """
    from superfactor.cli.commands import evaluate

    evaluate.run(file.model, files.source, labels, verbosity.screen)


@_command
def select(
    roles: Roles,
    files: Files,
    reading: TableReading,
    choice: Choice,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Write the scores of all settings.")] = None,
    *,
    verbosity: Verbosity,
) -> None:
    """Compare ranks and weights by cross-validation.

    Shows the scree and the best settings. Does not fit a model.
    """
    from superfactor.cli.commands import select

    select.run(files.source, roles.columns, reading, choice, out, verbosity.screen)


@_command
def report(
    file: ModelFile,
    files: Files,
    out: Annotated[Path, typer.Option(metavar="HTML", help="File for the report.", show_default=False)],
    analysis: Analysis,
    verbosity: Verbosity,
) -> None:
    """Write the HTML report of a model.

    Needs the training table. Other samples in it count as held out.
    """
    from superfactor.cli.commands import report

    report.run(file.model, files.source, out, analysis, verbosity.screen)
