"""Parsers of option values; bad values raise a one-line UserError."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from superfactor.cli.errors import UserError


def one_of(option: str, *words: str) -> Callable[[str], str]:
    """Return a parser that accepts one of these words."""

    def parse(text: str) -> str:
        if text not in words:
            several = ", ".join(words[:-1]) + f" or {words[-1]}"
            raise UserError(f"{option} {text}: {several} is required")
        return text

    return parse


def numbers(
    option: str, kind: Any, least: float, required: str, *, open_end: bool = False
) -> Callable[[str], Any]:
    """Return a parser of ``auto``, a number, or comma-separated numbers (as a list)."""

    def allowed(value: float) -> bool:
        return (least < value if open_end else least <= value) and value < float("inf")

    def parse(text: str) -> Any:
        if text == "auto":
            return text
        try:
            values = [kind(word) for word in text.split(",")]
        except ValueError:
            values = []
        if not values or not all(map(allowed, values)):
            raise UserError(f"{option} {text}: {required} is required, or several separated by commas")
        return values[0] if len(values) == 1 else values

    return parse


def repeats(text: str) -> int | str:
    """Parse ``auto`` or a number of repeats."""
    if text != "auto" and not text.isdecimal():
        raise UserError(f"--repeats {text}: auto or an integer of at least 0 is required")
    return text if text == "auto" else int(text)


def class_size(text: str) -> int:
    """Parse a number of samples, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"--min-class {text}: an integer of at least 1 is required")
    return int(text)


def blocks(words: Iterable[str] | None) -> dict[str, Path]:
    """Parse ``name=FILE`` items to files by name."""
    named: dict[str, Path] = {}
    for word in words or ():
        name, _, file = word.partition("=")
        if not name.strip() or not file:
            raise UserError(f"--block {word}: name=FILE is required, as in rna=expression.csv")
        if name.strip() in named:
            raise UserError(f"--block {word}: two blocks are named {name!r}; rename one")
        named[name.strip()] = Path(file)
    return named


def names(values: Iterable[str] | None) -> tuple[str, ...]:
    """Parse names from repeated options or comma-separated lists; quote a name that contains a comma."""
    every = (name.strip() for row in csv.reader(values or (), skipinitialspace=True) for name in row)
    return tuple(dict.fromkeys(name for name in every if name))
