"""The cells of a table as written in a file, and the samples of other formats, as frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._extras import needed_for
from superfactor.tables.grids.cells import ROW_NAMES, Label, stripped
from superfactor.tables.notes import Note

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Grid:
    """Columns of numbers in one block of memory, and columns of text.

    Attributes
    ----------
    names : unique names of all columns
    numeric : positions of the columns of numbers, ascending
    block : (rows, len(numeric)) float64
    texts : dict from the position of a text column to its cells
    where : the place of each row in the file, in `unit`, "line" or "row"
    stray : positions of columns of numbers that contain text (NaN in `block`)
    kept : dict from a row to its cells as written (all columns), for rows with such text and for rows whose
        first cell is a requested name; None if these are too many
    notes : notes on how the file was read
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
        """Return the table with rows as samples and columns in the order of the file."""
        numeric = [self.names[j] for j in self.numeric]
        texts = {self.names[j]: cells for j, cells in self.texts.items()}
        return frame(self.names, self.block, numeric, texts, self.where, self.unit)


def frame(
    names: list[str], block: Any, numeric: list[str], texts: dict[str, Any], where: Any, unit: str
) -> pd.DataFrame:
    """Return text columns and one block of numbers (n, len(numeric)) as a table with columns `names`."""
    with needed_for("tables from files", "pandas"):
        import pandas as pd

    index = pd.Index(where, name=unit)
    table = pd.DataFrame(block, index=index, copy=False)
    order = numeric
    if texts:
        words = pd.DataFrame(texts, index=index, dtype=object)
        table, order = pd.concat([words, table], axis=1), [*texts, *numeric]
    # Plain strings as names, because iterating over names of pandas' own type takes much longer.
    table.columns = pd.Index(order, dtype=object)
    return table if order == names else table[names]


def about_samples(
    n: int, columns: Mapping[str, Any], text: Collection[str] = (), names: Any = None
) -> pd.DataFrame:
    """Return a table of n samples in the form of `read_table`."""
    with needed_for("tables from files", "pandas"):
        import pandas as pd

    texts: dict[str, list[str | None]] = {}
    numeric: dict[str, Any] = {}
    if names is not None:
        texts[ROW_NAMES] = [str(name) for name in names]
    for name, values in columns.items():
        if name == ROW_NAMES and names is not None:
            continue
        series = pd.Series(values)
        kind = series.dtype
        if name not in text and (
            pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)
        ):
            numeric[name] = series.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            gone = series.isna()
            texts[name] = [None if empty else _text(v) for v, empty in zip(series, gone, strict=True)]
    block = np.column_stack(list(numeric.values())) if numeric else np.empty((n, 0))
    order = [name for name in (ROW_NAMES, *columns) if name in texts or name in numeric]
    return frame(list(dict.fromkeys(order)), block, list(numeric), texts, range(1, n + 1), "row")


def _text(cell: Any) -> str | None:
    text = stripped(str(cell))
    return Label(text) if text is not None and isinstance(cell, Label) else text


@dataclass(frozen=True)
class TableFile:
    """The samples of one file.

    Attributes
    ----------
    frame : DataFrame (n, columns), one sample per row
        In the form of `read_table`: float64 with NaN, or text with None. Names of samples without a column
        are in ``row name``. The index is the place of a sample in the file.
    matrix : None, or (n, p) float64, an array or CSR
        The features of a format with a separate feature matrix. None for a table, whose features are columns
        of `frame`.
    features : list of str, optional
        Unique names of the p columns of `matrix`, or None.
    blocks : dict from the name of a modality to the (start, stop) of its columns in `matrix`
        Empty without modalities.
    notes : tuple of Note
        Notes on how the file was read; each is a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.tables import open_table
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.npz")
    >>> np.savez(path, X=[[1, 2, 3], [4, 5, 6]], y=["a", "b"], feature_names=["f", "g", "h"])
    >>> table = open_table(path)
    >>> table.frame["y"].tolist(), table.matrix.shape, table.features
    (['a', 'b'], (2, 3), ['f', 'g', 'h'])
    """

    frame: pd.DataFrame
    matrix: Any = None
    features: list[str] | None = None
    blocks: dict[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
