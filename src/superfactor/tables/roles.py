"""Which column of a table is what; all others are features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from superfactor.tables.columns.numbers import shortened
from superfactor.tables.errors import TableError


@dataclass(frozen=True)
class Columns:
    """The columns that are no features, by what they are.

    Attributes
    ----------
    target, id, group : labels, names of samples, what belongs together
    covariates : help to predict and are not factorized
    drop : left out
    adjust : confounders, whose share is taken out of the features
    """

    target: str | None = None
    id: str | None = None
    covariates: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str | None = None
    adjust: tuple[str, ...] = ()

    @property
    def special(self) -> set[str]:
        """All of them."""
        named = {self.target, self.id, self.group, *self.covariates, *self.drop, *self.adjust}
        return {name for name in named if name is not None}

    @property
    def compared(self) -> set[str]:
        """Those that say something of a sample, in which two files must not contradict each other."""
        return self.special - {self.id, *self.drop}


def check_roles(path: Any, names: Iterable[Any], features: Iterable[str], columns: Columns) -> None:
    """Every column that is named is there, and is named once.

    Parameters
    ----------
    path : the file, for messages
    names : of the columns that can be something
    features : names that can only be dropped
    """
    names = [str(name) for name in names]
    present, droppable = set(names), set(features)
    asked = [("--target", columns.target), ("--id", columns.id)]
    asked += [("--covariates", name) for name in columns.covariates]
    asked += [("--drop", name) for name in columns.drop]
    # Samples may be called by the name of their group.
    if columns.group != columns.id:
        asked.append(("--group", columns.group))
    # What is adjusted for may help to predict as well, and samples of one batch may belong together.
    taken = {*columns.covariates, columns.group}
    asked += [("--adjust", name) for name in columns.adjust if name not in taken]
    for option, name in asked:
        known = present | droppable if option == "--drop" else present
        if name is not None and name not in known:
            raise TableError(unknown(path, option, name, names))
    roles: dict[str, str] = {}
    for option, name in asked:
        if name is not None and roles.setdefault(name, option) != option:
            raise TableError(
                f"column {name!r} is given both as {roles[name]} and as {option}; leave it out of one"
            )


def unknown(path: Any, option: str, name: str, names: Iterable[Any]) -> str:
    """What to say of a column that is not there."""
    import difflib

    names = [str(column) for column in names]
    close = difflib.get_close_matches(name, names[:2000], n=3, cutoff=0.6)
    what = f"did you mean {shortened(close)}?" if close else f"the columns are {shortened(names)}"
    return f"{path}: {option}: there is no column {name!r}; {what}"
