"""The command ``superfactor``: from a table on disk to factors, predictions and a page to show.

============= ================================================================================
file          idea
============= ================================================================================
``app``       the commands, with nothing heavy imported
``options``   … what can be said to them, as dataclasses by what it is about
``fields``    … whose fields are options
``values``    … and what is typed after them
``errors``    one clear line and an exit code instead of a traceback
``commands/`` one file a command; ``learning`` is what ``fit`` and ``demo`` share
``told/``     what people see: screen, tables, files of results
``record``    what a model file tells about its model
``trained``   … and which samples it was trained on
============= ================================================================================
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
