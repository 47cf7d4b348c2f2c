"""Libraries that only some rooms need: where one is missing, a line that says how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needed_for"]


@contextmanager
def needed_for(purpose: str, extra: str) -> Iterator[None]:
    """Imports inside that fail become one line with the extra of superfactor that brings the library.

    Parameters
    ----------
    purpose : what cannot be done without it, as the beginning of a sentence: "tables of factors"
    extra : its name in `pyproject.toml`
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or str(error)).partition(".")[0]
        raise ImportError(
            f'{purpose} need {library}, which is not installed: pip install "superfactor[{extra}]"',
            name=library,
        ) from error
