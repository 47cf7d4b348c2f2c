"""What all files of a study say, one sample a row, before anything is made of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.tables.grids.cells import CUMIDA, ROW_NAMES
from superfactor.tables.notes import Note
from superfactor.tables.roles import Columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Combined", "Ranges", "ranges_of_kept", "with_defaults"]

# name of a block → its first feature, and the one behind its last
Ranges = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Combined:
    """All that the files say.

    Attributes
    ----------
    path : the first file, for messages
    title : names of all files, for people
    frame : DataFrame of n rows: columns that may have a role and, where `matrix` is None, the features
    roles : with the defaults that show only now
    matrix : (n, p) features, dense or CSR, or None
    features : their names, or None
    blocks : where the features of each block are; empty where there are none
    joined : who was lost in a join and why, as `superfactor.tables.joining.joining` counts them
    notes : what the user should know about how the files were read
    """

    path: Path
    title: str
    frame: pd.DataFrame
    roles: Columns
    matrix: Any = None
    features: Sequence[str] | None = None
    blocks: Ranges = field(default_factory=dict)
    joined: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def said(self) -> str:
        """What messages call it that could be about any of the files."""
        return self.title if self.joined else str(self.path)

    def rows(self, keep: Any, *notes: Note) -> Combined:
        """Only the samples `keep` (n,), and further notes."""
        matrix = None if self.matrix is None else self.matrix[keep]
        return replace(self, frame=self.frame[keep], matrix=matrix, notes=(*self.notes, *notes))


def with_defaults(roles: Columns, frame: pd.DataFrame) -> Columns:
    """Target and names of samples where the table itself says which they are."""
    names = list(frame.columns[:2])
    cumida = tuple(names) == CUMIDA
    target = roles.target or (CUMIDA[1] if cumida else None)
    sample = roles.id or (CUMIDA[0] if cumida else None)
    if sample is None and names[:1] == [ROW_NAMES]:
        sample = ROW_NAMES
    return replace(roles, target=target, id=sample)


def ranges_of_kept(blocks: Mapping[str, tuple[int, int]], positions: Sequence[int]) -> Ranges:
    """Where blocks begin and end when only the features at these positions are kept."""
    ranges = {
        name: (bisect_left(positions, start), bisect_left(positions, stop))
        for name, (start, stop) in blocks.items()
    }
    return {name: (start, stop) for name, (start, stop) in ranges.items() if stop > start}
