"""Notes and errors about files and columns, with the parameters that they mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A parameter of `read_study` in a message, with or without a value.

    The caller chooses how to write it; the command line writes it as an option.
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


Part = str | Setting
Words = Callable[[Setting], str]


def _join(parts: Sequence[Part], words: Words) -> str:
    return "".join(part if isinstance(part, str) else words(part) for part in parts)


@dataclass(frozen=True)
class Note:
    """A message about how a table was read; ``str(note)`` is a sentence.

    Attributes
    ----------
    kind : str
        The topic: "layout", "identifier", "gaps", "join" and so on.
    parts : tuple of str and Setting
        The sentence; parameters of `read_study` are separate parts.
    fields : dict
        Names in the message, such as the ``column``.

    Examples
    --------
    >>> from superfactor.tables.notes import Note, Setting
    >>> parts = ("column 'no' looks like an identifier: ", Setting("drop", "no"), " leaves it out")
    >>> note = Note("identifier", parts, {"column": "no"})
    >>> print(note)
    column 'no' looks like an identifier: drop='no' leaves it out
    >>> note.said(lambda setting: f"--{setting.name} {setting.value}")
    "column 'no' looks like an identifier: --drop no leaves it out"
    """

    kind: str
    parts: tuple[Part, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)

    def said(self, words: Words = str) -> str:
        """Return the sentence; `words` writes each Setting."""
        return _join(self.parts, words)

    def __str__(self) -> str:
        return self.said()


def note(kind: str, *parts: Part, **fields: Any) -> Note:
    """Return a Note."""
    return Note(kind, parts, fields)


class TableError(ValueError):
    """An error in files or columns that the user can correct; the message is one line.

    Parameters
    ----------
    *parts : str and Setting
        The message; parameters of `read_study` are separate parts.
    kind : str
        The topic: "file", "roles", "cells", "labels", "covariates", "join" and so on.
    **fields
        Names in the message, such as the ``column``.

    Examples
    --------
    >>> from superfactor.tables import TableError, open_table
    >>> try:
    ...     open_table("cohort.ods")
    ... except TableError as error:
    ...     print(error.kind, "|", error)
    file | cohort.ods: .ods is not supported; open it in LibreOffice and save it as .xlsx or .csv
    """

    kind = "table"

    def __init__(self, *parts: Part, kind: str | None = None, **fields: Any):
        super().__init__(*parts)
        self.kind = kind or self.kind
        self.fields = fields

    def said(self, words: Words = str) -> str:
        """Return the message; `words` writes each Setting."""
        return _join(self.args, words)

    def __str__(self) -> str:
        return self.said()


class FileError(TableError):
    """A file that cannot be read."""

    kind = "file"


class NoSamples(FileError):
    """A table without rows."""


def shortened(names: Sequence[Any], most: int = 5) -> str:
    """Return the first few names, and the number of others."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def occur_twice(names: Sequence[str], where: str = "") -> str:
    """Return a message about repeated sample names; empty if none repeat."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if not twice:
        return ""
    what = "sample name" if len(twice) == 1 else "sample names"
    verb = "occurs" if len(twice) == 1 else "occur"
    return f"{len(twice)} {what}{where} {verb} more than once: {shortened(twice)}"
