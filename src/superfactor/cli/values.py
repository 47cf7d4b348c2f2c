"""What is typed after an option becomes a value, or one clear line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from superfactor.cli.errors import UserError


def one_of(option: str, *words: str) -> Callable[[str], str]:
    """A parser of one of these words."""

    def parse(text: str) -> str:
        if text not in words:
            several = ", ".join(words[:-1]) + f" or {words[-1]}"
            raise UserError(f"{option} {text}: {several} is required")
        return text

    return parse


def numbers(
    option: str, kind: Any, least: float, required: str, *, open_end: bool = False
) -> Callable[[str], Any]:
    """A parser of ``auto``, one number, or several with commas between them as a list."""

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
            raise UserError(f"{option} {text}: {required} is required, or several with commas between")
        return values[0] if len(values) == 1 else values

    return parse


def repeats(text: str) -> int | str:
    """``auto`` or a number."""
    if text != "auto" and not text.isdecimal():
        raise UserError(f"--repeats {text}: auto or a whole number from 0 is required")
    return text if text == "auto" else int(text)


def from_one(text: str) -> int:
    """A number of samples."""
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"--min-class {text}: a whole number from 1 is required")
    return int(text)


def blocks(words: Iterable[str] | None) -> dict[str, Path]:
    """Files by the names in front of them, ``name=FILE``."""
    named: dict[str, Path] = {}
    for word in words or ():
        name, _, file = word.partition("=")
        if not name.strip() or not file:
            raise UserError(f"--block {word}: name=FILE is required, as in rna=expression.csv")
        if name.strip() in named:
            raise UserError(f"--block {word}: two blocks are called {name!r}; rename one")
        named[name.strip()] = Path(file)
    return named


def names(values: Iterable[str] | None) -> tuple[str, ...]:
    """Names that stand one after another, with commas, or both; one with a comma in quotes, as in a CSV."""
    every = (name.strip() for row in csv.reader(values or (), skipinitialspace=True) for name in row)
    return tuple(dict.fromkeys(name for name in every if name))
