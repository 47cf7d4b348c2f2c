"""The commands. Whatever takes time to import is imported when it is needed."""

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
from superfactor.cli.fields import expanded
from superfactor.cli.options import (
    Choice,
    Files,
    Labels,
    Looks,
    ModelFile,
    Names,
    Outputs,
    Roles,
    Settings,
    TableReading,
    View,
    Voice,
)

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


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; usage errors become one line."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = typer.main.get_command(app)
    try:
        with warnings.catch_warnings():
            # Notes count these samples, by the names of columns that people know.
            warnings.filterwarnings("ignore", "confounders: ")
            code = command.main(words, prog_name="superfactor", standalone_mode=False, obj=words) or DONE
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


def _command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command, whose options are the fields of the dataclasses it takes."""
    of_model = "file" in inspect.signature(function).parameters
    app.command()(expanded(function, of_model=of_model))
    return function


def _typed(context: typer.Context) -> str:
    """What was typed, to be written into models and pages."""
    return shlex.join(["superfactor", *context.obj])


@_command
def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to put table, model and page.")] = Path(
        "superfactor-demo"
    ),
    *,
    voice: Voice,
) -> None:
    """Try it on real data: genes of CD4 and CD8 T cells.

    Writes a table, a model and a page to look at.
    """
    from superfactor.cli.commands import demo

    demo.run(out, _typed(context), voice.screen)


@_command
def fit(
    context: typer.Context,
    outputs: Outputs,
    roles: Roles,
    files: Files,
    reading: TableReading,
    settings: Settings,
    looks: Looks,
    voice: Voice,
) -> None:
    """Fit factors, and what they predict, to a table and save the model.

    Rank and weights are chosen by cross-validation, and the model that is saved is fitted to all
    samples. How well this predicts is measured by nested cross-validation: the whole choice is made
    again without the samples it is judged by, beside simpler methods.
    """
    from superfactor.cli.commands import fit

    source, columns = files.source, roles.columns
    fit.run(source, columns, reading, settings, looks, outputs, _typed(context), voice.screen)


@_command
def predict(
    file: ModelFile,
    files: Files,
    names: Names,
    out: Annotated[Path, typer.Option(metavar="CSV", help="Where to write predictions.", show_default=False)],
    voice: Voice,
) -> None:
    """Predict the samples of another table.

    Writes a row a sample: its name, the predicted label and the probability of each class.
    """
    from superfactor.cli.commands import predict

    predict.run(file.model, files.source, names.id, out, voice.screen)


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
    voice: Voice,
) -> None:
    """Show the factors of a model.

    Needs the model alone: correlations and weights of all features are in it.
    """
    from superfactor.cli.commands import factors

    factors.run(file.model, view, n, out, voice.screen)


@_command
def evaluate(file: ModelFile, files: Files, labels: Labels, voice: Voice) -> None:
    """Measure a model on samples from elsewhere.

    Needs the column with the labels, under the name it had when the model was fitted or another.
    """
    from superfactor.cli.commands import evaluate

    evaluate.run(file.model, files.source, labels, voice.screen)


@_command
def select(
    roles: Roles,
    files: Files,
    reading: TableReading,
    choice: Choice,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Write the scores of all settings.")] = None,
    *,
    voice: Voice,
) -> None:
    """Compare ranks and weights by cross-validation.

    Shows the scree and the best settings; fits no model.
    """
    from superfactor.cli.commands import select

    select.run(files.source, roles.columns, reading, choice, out, voice.screen)


@_command
def report(
    file: ModelFile,
    files: Files,
    out: Annotated[Path, typer.Option(metavar="HTML", help="Where to write the page.", show_default=False)],
    looks: Looks,
    voice: Voice,
) -> None:
    """Write the page about a model.

    Needs the table the model was fitted to; its other samples count as held out.
    """
    from superfactor.cli.commands import report

    report.run(file.model, files.source, out, looks, voice.screen)
