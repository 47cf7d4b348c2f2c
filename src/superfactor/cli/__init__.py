"""The command ``superfactor``: fit a table on disk, predict, evaluate and write a report.

==================== =========================================================================
file                 idea
==================== =========================================================================
``app``              the commands; imports no large package
``options``          options of the commands, as dataclasses by topic
``option_fields``    dataclass fields that define an option
``option_values``    parsers of option values
``errors``           one-line error messages and exit codes
``commands/``        one file per command; ``learning`` is shared by ``fit`` and ``demo``
``output/``          terminal output, tables and other result files
``record``           metadata in a model file
``training_samples`` detection of samples that the model was trained on
==================== =========================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]

# The packages of the extra `cli`; numpy and scikit-learn are dependencies of the package.
_EXTRA = ("typer", "rich", "pandas", "pyarrow", "skops", "jinja2")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with 0 on success, else with a code of ``errors``.

    Parameters
    ----------
    arguments : the arguments after ``superfactor``; None takes those of the process
    """
    from superfactor.cli.errors import exit_with

    exit_with(_run, arguments)


def _run(arguments: Sequence[str] | None) -> int:
    from importlib.util import find_spec

    from superfactor.cli.errors import UserError

    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:  # checked first: a fitted model could not be saved
        raise UserError(f'{", ".join(missing)} missing; pip install "superfactor[cli]" installs all')
    from superfactor.cli.app import run

    return run(arguments)
