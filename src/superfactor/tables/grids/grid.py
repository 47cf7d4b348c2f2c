"""The cells of a table as they stand in a file, before anybody says whether its rows are samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from superfactor._extras import needed_for
from superfactor.tables.notes import Note

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Grid", "frame"]


@dataclass
class Grid:
    """Columns of numbers in one block of memory, and columns of text.

    Attributes
    ----------
    names : of all columns, different from one another
    numeric : positions of the columns of numbers, ascending
    block : (rows, len(numeric)) float64
    texts : dict from the position of a text column to its cells
    where : the place of each row in the file, in `unit`, "line" or "row"
    stray : positions of columns of numbers in which there is text all the same (NaN in `block`)
    kept : dict from a row to its cells as written (all columns), for the rows with such text and for
        those whose first cell is a name that was asked for; None where these are too many to keep
    notes : sentences about how it was read
    """

    names: list[str]
    numeric: list[int]
    block: Any
    texts: dict[int, list[str | None]]
    where: Sequence[int]
    unit: str
    stray: set[int] = field(default_factory=set)
    kept: dict[int, list[str]] | None = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def samples(self) -> pd.DataFrame:
        """The table with its rows as samples, columns in the order of the file."""
        numeric = [self.names[j] for j in self.numeric]
        texts = {self.names[j]: cells for j, cells in self.texts.items()}
        return frame(self.names, self.block, numeric, texts, self.where, self.unit)


def frame(
    names: list[str], block: Any, numeric: list[str], texts: dict[str, Any], where: Any, unit: str
) -> pd.DataFrame:
    """Text columns and one block of numbers (n, len(numeric)) as a table with the columns `names`."""
    with needed_for("tables from files", "data"):
        import pandas as pd

    index = pd.Index(where, name=unit)
    table = pd.DataFrame(block, index=index, copy=False)
    order = numeric
    if texts:
        words = pd.DataFrame(texts, index=index, dtype=object)
        table, order = pd.concat([words, table], axis=1), [*texts, *numeric]
    # Plain strings as names: looking at all of pandas' own, one after the other, takes much longer.
    table.columns = pd.Index(order, dtype=object)
    return table if order == names else table[names]
