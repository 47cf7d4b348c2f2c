"""The roles of columns; columns without a role are features."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from superfactor.tables.notes import Setting, TableError, shortened


@dataclass(frozen=True)
class Columns:
    """The columns that are not features, by role.

    Attributes
    ----------
    target : the outcome, one or more columns
    time, event : a survival time, and whether it ends with an event
    exposure : the exposure of a count: hours, area, library size
    id, group : names of samples, and of groups of samples
    covariates : predictors that are not factorized
    drop : columns to leave out
    adjust : confounders, which are regressed out of the features
    """

    target: tuple[str, ...] = ()
    id: str | None = None
    covariates: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str | None = None
    adjust: tuple[str, ...] = ()
    time: str | None = None
    event: str | None = None
    exposure: str | None = None

    @property
    def outcome(self) -> tuple[str, ...]:
        """The outcome columns: targets, or time and event."""
        timed = (self.time, self.event)
        return (*self.target, *(name for name in timed if name is not None))

    @property
    def special(self) -> set[str]:
        """All columns that have a role."""
        named = {*self.outcome, self.exposure, self.id, self.group}
        named |= {*self.covariates, *self.drop, *self.adjust}
        return {name for name in named if name is not None}

    @property
    def compared(self) -> set[str]:
        """The columns in which two files must agree."""
        return self.special - {self.id, *self.drop}


def check_roles(path: Any, names: Iterable[Any], features: Iterable[str], roles: Columns) -> None:
    """Check that every named column exists and has one role."""
    names = [str(name) for name in names]
    present, droppable = set(names), set(features)
    asked: list[tuple[str, str | None]] = [("target", name) for name in roles.target]
    asked += [(role, getattr(roles, role)) for role in ("time", "event", "exposure", "id")]
    asked += [("covariates", name) for name in roles.covariates]
    asked += [("drop", name) for name in roles.drop]
    # The column of sample names may also be the group.
    if roles.group != roles.id:
        asked.append(("group", roles.group))
    # A confounder may also be a covariate or the group.
    taken = {*roles.covariates, roles.group}
    asked += [("adjust", name) for name in roles.adjust if name not in taken]
    for role, name in asked:
        known = present | droppable if role == "drop" else present
        if name is not None and name not in known:
            raise no_such_column(path, role, name, names)
    found: dict[str, str] = {}
    for role, name in asked:
        if name is not None and found.setdefault(name, role) != role:
            both = (Setting(found[name]), " and as ", Setting(role))
            raise TableError(
                f"column {name!r} is given both as ",
                *both,
                "; leave it out of one",
                kind="roles",
                column=name,
            )


def no_such_column(path: Any, role: str, name: str, names: Iterable[Any]) -> TableError:
    """Return the error for a missing column; its field `close` lists similar names."""
    names = [str(column) for column in names]
    # The user may have written a name with a comma where commas separate names.
    close = [own for own in names if "," in own and name in map(str.strip, own.split(","))][:3]
    close = close or difflib.get_close_matches(name, names[:2000], n=3, cutoff=0.6)
    what = f"did you mean {shortened(close)}?" if close else f"the columns are {shortened(names)}"
    line = (f"{path}: ", Setting(role), f": there is no column {name!r}; {what}")
    return TableError(*line, kind="roles", column=name, close=close)
