"""Optional libraries: if one is missing, the error gives the command that installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needed_for"]


@contextmanager
def needed_for(purpose: str, extra: str) -> Iterator[None]:
    """Turn a failed import inside the context into one line that names the extra to install.

    Parameters
    ----------
    purpose : what needs the library, as the start of a sentence: "tables of factors"
    extra : name of the extra in `pyproject.toml`
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or str(error)).partition(".")[0]
        raise ImportError(
            f'{purpose} need {library}, which is not installed: pip install "superfactor[{extra}]"',
            name=library,
        ) from error
