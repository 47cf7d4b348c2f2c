"""The command ``superfactor``: from a table on disk to factors, predictions and a page to show.

================ ================================================================================
file             idea
================ ================================================================================
``app``          the commands and their options, with nothing heavy imported
``options``      … those that several commands share
``values``       … what is typed after them
``errors``       one clear line and an exit code instead of a traceback
``screen``       what people see: tables, notes, progress bars; or one JSON object for scripts
``output``       where to write, checked before the work, and how tables are written
``reading``      the files of a command become one table,
``joining``      … by the names of samples where there are several; who was lost, and why
``prepare``      a table becomes X, labels and names of samples
``roles``        … which of its columns is what
``matrix``       … X: features, then covariates, then confounders, dense or sparse
``cells``        … its numbers; cells that are none are named by sample, line and column
``gaps``         … its missing values
``labels``       … its labels
``covariates``   … its covariates, words as indicator columns
``confounders``  … what the features are adjusted for
``composing``    what X passes before it is factorized: filled in, adjusted, scaled
``learning``     split, select, fit, score: what ``fit`` and ``demo`` share
``findings``     what is found about a model besides how well it predicts:
``out_of_fold``  … its factors on samples not seen
``returning``    … which features return in parts of the samples
``factor_table`` the factors on the screen
``features``     all features on disk
``parts``        the tables of covariates, blocks and confounders
``predictions``  what a model says of samples, on disk and on the screen
``summary``      what else ``fit`` and ``demo`` say
``record``       what a model file tells about its model
``model_file``   a model on disk, in the skops format; nothing else is ever loaded
================ ================================================================================

and one file a command: ``demo``, ``fit``, ``predict``, ``factors``, ``evaluate``, ``select``, ``report``.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]

# What the extra `cli` brings; numpy and scikit-learn come with the package itself.
_EXTRA = ("typer", "rich", "pandas", "pyarrow", "skops", "jinja2")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with 0 when it is done, else with a code of ``errors``.

    Parameters
    ----------
    arguments : the words after ``superfactor``; None takes those of the process
    """
    from superfactor.cli.errors import exit_with

    exit_with(_run, arguments)


def _run(arguments: Sequence[str] | None) -> int:
    from importlib.util import find_spec

    from superfactor.cli.errors import UserError

    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:  # said now, and not when the model is fitted and cannot be saved
        raise UserError(f'{", ".join(missing)} missing; pip install "superfactor[cli]" brings all')
    from superfactor.cli.app import run

    return run(arguments)
