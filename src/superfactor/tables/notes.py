"""What there is to say about files and columns: notes, refusals, and the parameters that they speak of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A parameter of `read_study` that a message speaks of, perhaps with a value.

    Who shows the message says it in words of their own: the command line calls it an option.
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


Part = str | Setting
Words = Callable[[Setting], str]


def _said(parts: Sequence[Part], words: Words) -> str:
    return "".join(part if isinstance(part, str) else words(part) for part in parts)


@dataclass(frozen=True)
class Note:
    """Something to know about how a table was read; ``str(note)`` is a sentence.

    Attributes
    ----------
    kind : str
        What it is about: "layout", "identifier", "gaps", "join" and so on.
    parts : tuple of str and Setting
        The sentence, parameters of `read_study` apart from its words.
    fields : dict
        What it names, such as the ``column``.

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
        """The sentence, with the words that `words` has for a Setting."""
        return _said(self.parts, words)

    def __str__(self) -> str:
        return self.said()


def note(kind: str, *parts: Part, **fields: Any) -> Note:
    """A Note of these parts."""
    return Note(kind, parts, fields)


class TableError(ValueError):
    """Something about files or columns that the user can put right; one line says what and how.

    Parameters
    ----------
    *parts : str and Setting
        The line, parameters of `read_study` apart from its words.
    kind : str
        What it is about: "file", "roles", "cells", "labels", "covariates", "join" and so on.
    **fields
        What it names, such as the ``column``.

    Examples
    --------
    >>> from superfactor.tables import TableError, open_table
    >>> try:
    ...     open_table("cohort.sav")
    ... except TableError as error:
    ...     print(error.kind, "|", error)
    file | cohort.sav: .sav is not read; in Python: pandas.read_spss('cohort.sav').to_parquet('table.parquet')
    """

    kind = "table"

    def __init__(self, *parts: Part, kind: str | None = None, **fields: Any):
        super().__init__(*parts)
        self.kind = kind or self.kind
        self.fields = fields

    def said(self, words: Words = str) -> str:
        """The line, with the words that `words` has for a Setting."""
        return _said(self.args, words)

    def __str__(self) -> str:
        return self.said()


class FileError(TableError):
    """A file that cannot be read as what it is."""

    kind = "file"


class NoSamples(FileError):
    """A header with nothing below it."""


def shortened(names: Sequence[Any], most: int = 5) -> str:
    """The first few, and how many there are besides."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def occur_twice(names: Sequence[str], where: str = "") -> str:
    """What to say of names of samples that are not there once; nothing where all are."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if not twice:
        return ""
    what = "name of a sample" if len(twice) == 1 else "names of samples"
    verb = "occurs" if len(twice) == 1 else "occur"
    return f"{len(twice)} {what}{where} {verb} more than once: {shortened(twice)}"
