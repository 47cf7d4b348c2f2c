"""Tables on disk: CSV and TSV (gzipped too) and Parquet, wide ones above all.

General readers spend most of a wide file's time on its columns, of which 50,000 is usual here. Rows
are few, so each row becomes numbers in one go, and all numeric columns lie in one block of memory.
On 104 x 22,283 cells that takes two thirds of pyarrow's time; on long, narrow tables pyarrow would be
faster, by a quarter of a second for 18,000 rows, but knows neither lines nor stray text (see messages).
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CUMIDA", "MISSING", "ROW_NAMES", "is_number", "read_table"]

# What people write into a cell where there is no value.
MISSING = frozenset(["", "NA", "N/A", "#N/A", "NaN", "nan", "NAN", "null", "NULL"])
# The first two columns of a table of the Curated Microarray Database: sample and label.
CUMIDA = ("samples", "type")
# The column of row names that R and pandas write without a name of its own.
ROW_NAMES = "row name"

_DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".tab": "\t", ".txt": "\t,;"}
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?inf(inity)?\s*", re.I)
_CELL_LIMIT = 1 << 24

Progress = Callable[[int, int], None]


def read_table(
    path: str | Path, *, text: Collection[str] = (), progress: Progress | None = None
) -> pd.DataFrame:
    """Read a table with a header, one sample a row.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.tab`` or ``.txt`` in UTF-8, the delimiter taken from the header, and
        each of them also with ``.gz``; or ``.parquet``.
    text : names of columns to keep as they are written
        Identifiers like ``007``. Names the table does not have are ignored.
    progress : callable(done, total), optional
        Called now and then with bytes.

    Returns
    -------
    table : DataFrame of shape (n_samples, n_columns)
        Numeric columns are float64, with NaN where a cell is empty or says NA; every other column
        is text, with None there. The index says where a sample stands in the file: its ``line``, or
        its ``row`` counted from 1 in a Parquet file. A first column without a name, as R and pandas
        write their row names, is called ``row name`` and is text; so are ``samples`` and ``type``
        where a table begins with them, as those of CuMiDa do. A name that occurs again is numbered,
        ``TP53``, ``TP53.1``, with a warning.

    Raises
    ------
    OSError
        The file cannot be opened.
    ValueError
        It is no table of these kinds; the message says where it goes wrong.
    """
    path = Path(path)
    kind = _kind(path)
    if kind == ".parquet":
        return _read_parquet(path, text)
    try:
        return _read_delimited(path, _DELIMITERS[kind], text, progress)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not UTF-8 text (byte 0x{error.object[error.start]:02x}); save it as UTF-8"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path}: not a complete gzip file ({error}); copy or download it again"
        ) from None


def is_number(cell: str) -> bool:
    """Is this a number as tables write it? Python's own float() also takes 1_000."""
    return _NUMBER.fullmatch(cell) is not None


def _kind(path: Path) -> str:
    """The last ending but ``.gz``, in lower case."""
    endings = [ending.lower() for ending in path.suffixes]
    zipped = endings[-1:] == [".gz"]
    kind = (endings[:-1] if zipped else endings)[-1:]
    if kind == [".parquet"] and not zipped:
        return ".parquet"
    if not kind or kind[0] not in _DELIMITERS:
        raise ValueError(
            f"{path}: the name has to end in .csv, .tsv, .tab or .txt (each also with .gz), or in "
            ".parquet"
        )
    return kind[0]


# --- delimited text -------------------------------------------------------------------------------


@contextmanager
def _lines(path: Path) -> Iterator[tuple[io.TextIOWrapper, IO[bytes]]]:
    """The text of a file, and the file underneath, whose position shows the progress."""
    with open(path, "rb") as raw:
        data: Any = raw
        if path.suffix.lower() == ".gz":
            data = io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 20)
        with io.TextIOWrapper(data, encoding="utf-8-sig", newline="") as lines:
            yield lines, raw


def _read_delimited(
    path: Path, delimiters: str, text: Collection[str], progress: Progress | None
) -> pd.DataFrame:
    table = _Rows(path, delimiters, set(text))
    table.read(progress)
    if table.surprises:
        # Text further down in columns that began with numbers: once more, knowing which they are.
        table = _Rows(path, delimiters, set(text) | table.surprises)
        table.read(progress)
    return table.frame()


class _Rows:
    """One pass over a delimited file.

    Attributes
    ----------
    names : the header
    texts : dict from the position of a text column to its cells so far
    surprises : names of columns that began with a number and went on with text
    """

    def __init__(self, path: Path, delimiters: str, text: set[str]):
        self.path = path
        self.delimiters = delimiters
        self.text = text
        self.names: list[str] = []
        self.texts: dict[int, list[str | None]] = {}
        self.surprises: set[str] = set()
        self._numbers: list[Any] = []
        self._line: list[int] = []

    def read(self, progress: Progress | None) -> None:
        """Take in the whole file."""
        size = os.path.getsize(self.path)
        limit = csv.field_size_limit(_CELL_LIMIT)
        try:
            with _lines(self.path) as (lines, raw):
                header = lines.readline()
                delimiter = max(self.delimiters, key=header.count)
                # A quoted header may run over several lines; the reader takes up where it has to.
                rows = csv.reader(_chain(header, lines), delimiter=delimiter, strict=True)
                self._header(next(rows, []))
                for cells in rows:
                    if cells:  # blank lines are nothing
                        self._row(cells, rows.line_num)
                    if progress is not None:
                        progress(raw.tell(), size)
        except csv.Error as error:
            raise ValueError(
                f"{self.path}: line {rows.line_num}: {error}; look for a stray quotation mark"
            ) from None
        finally:
            csv.field_size_limit(limit)
        if not self._line:
            raise ValueError(f"{self.path}: no samples below the header; one a line is required")

    def _header(self, cells: list[str]) -> None:
        if not any(cell.strip() for cell in cells):
            raise ValueError(
                f"{self.path}: empty, or no header on its first line; names of columns are required"
            )
        self.names = [cell.strip() for cell in cells]

    def _begin(self, cells: list[str]) -> None:
        """The first sample shows the row names, and which columns hold text."""
        if len(cells) == len(self.names) + 1:  # R leaves the name of its row names out
            self.names.insert(0, "")
        self.names[0] = self.names[0] or ROW_NAMES
        self.text = _kept_as_text(self.names, self.text)
        self.names = _unique(self.path, self.names, self.text)
        for position, (name, cell) in enumerate(zip(self.names, cells, strict=False)):
            if name in self.text or not (is_number(cell) or cell.strip() in MISSING):
                self.texts[position] = []

    def _row(self, cells: list[str], line: int) -> None:
        if not self._line:
            self._begin(cells)
        if len(cells) != len(self.names):
            raise ValueError(
                f"{self.path}: line {line} has {len(cells)} cells, but the header has "
                f"{len(self.names)} columns; a cell with a delimiter in it needs quotation marks"
            )
        self._line.append(line)
        for position, column in self.texts.items():
            cell = cells[position].strip()
            column.append(None if cell in MISSING else cell)
            cells[position] = "nan"
        try:
            self._numbers.append(_row_of_numbers(cells))
        except ValueError:
            self._numbers.append(self._cell_by_cell(cells))

    def _cell_by_cell(self, cells: list[str]) -> Any:
        """A row with empty cells or unexpected text; NaN for either."""
        values = np.full(len(cells), np.nan)
        for position, cell in enumerate(cells):
            try:
                values[position] = float(cell if "_" not in cell else "text")
            except ValueError:
                if cell.strip() not in MISSING:
                    self.surprises.add(self.names[position])
        return values

    def frame(self) -> pd.DataFrame:
        """What was read, columns in the order of the file."""
        texts = {self.names[j]: column for j, column in self.texts.items()}
        numeric = [name for name in self.names if name not in texts]
        is_numeric = np.ones(len(self.names), dtype=bool)
        is_numeric[list(self.texts)] = False
        block = np.empty((len(self._line), len(numeric)))
        for i, row in enumerate(self._numbers):
            block[i] = row[is_numeric]
        return _frame(self.names, block, numeric, texts, self._line, "line")


def _row_of_numbers(cells: list[str]) -> Any:
    """Cells (k,) as float64; a ValueError where one is none. NumPy alone would take 1_000 for one."""
    if "_" in "".join(cells):
        raise ValueError("an underscore is no part of a number")
    return np.array(cells, dtype=np.float64)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _kept_as_text(names: list[str], text: Collection[str]) -> set[str]:
    """Names of samples and labels are no numbers, even where they look like some."""
    return {ROW_NAMES, *text, *(CUMIDA if tuple(names[:2]) == CUMIDA else ())}


def _unique(path: Path, names: list[str], text: set[str]) -> list[str]:
    """The names, repeated ones numbered: several probes of one gene are usual."""
    taken = set(names)
    if len(taken) == len(names) and all(names):
        return names
    result: list[str] = []
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name:
            raise ValueError(f"{path}: column {position} has no name in the header; give it one")
        if name not in seen:
            seen[name] = 0
            result.append(name)
            continue
        if name in text:
            raise ValueError(f"{path}: two columns are called {name!r}; rename one")
        while f"{name}.{seen[name]}" in taken or not seen[name]:
            seen[name] += 1
        result.append(f"{name}.{seen[name]}")
        taken.add(result[-1])
    new = [name for name, old in zip(result, names, strict=True) if name != old]
    some = ", ".join(new[:3]) + ", …" * (len(new) > 3)
    warnings.warn(
        f"{path}: {len(new)} columns repeat the name of another and were numbered ({some})",
        UserWarning,
        stacklevel=2,
    )
    return result


# --- Parquet --------------------------------------------------------------------------------------


def _read_parquet(path: Path, text: Collection[str]) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with open(path, "rb") as raw:
            # Column by column on one thread: threads and data sets cost more than tiny columns do.
            table = parquet.ParquetFile(raw).read(use_threads=False)
    except pa.ArrowException as error:
        raise ValueError(
            f"{path}: not a Parquet file ({str(error).splitlines()[0]}); write it again, or as CSV"
        ) from None
    names = [ROW_NAMES if name == "__index_level_0__" else name for name in table.column_names]
    if not table.num_rows or not names:
        raise ValueError(f"{path}: no samples; a row for each is required")
    kept = _kept_as_text(names, text)
    names = _unique(path, names, kept)
    block = np.empty((table.num_rows, len(names)))
    numeric: list[int] = []
    texts: dict[str, list[str | None]] = {}
    for position, (name, column) in enumerate(zip(names, table.columns, strict=True)):
        if name not in kept and _holds_numbers(column.type):
            # Unsafe: whole numbers beyond 2⁵³ are rounded, as they are in text.
            block[:, len(numeric)] = column.cast(pa.float64(), safe=False).to_numpy()
            numeric.append(position)
        else:
            texts[name] = [None if cell is None else str(cell) for cell in column.to_pylist()]
    rows = range(1, table.num_rows + 1)
    return _frame(names, block[:, : len(numeric)], [names[j] for j in numeric], texts, rows, "row")


def _holds_numbers(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _frame(
    names: list[str], block: Any, numeric: list[str], texts: dict[str, Any], index: Any, unit: str
) -> pd.DataFrame:
    """Text columns and one block of numbers as a table with the columns `names`."""
    import pandas as pd

    where = pd.Index(index, name=unit)
    table = pd.DataFrame(block, index=where, copy=False)
    order = numeric
    if texts:
        words = pd.DataFrame(texts, index=where, dtype=object)
        table, order = pd.concat([words, table], axis=1), [*texts, *numeric]
    # Plain strings as names: looking at all of pandas' own, one after the other, takes much longer.
    table.columns = pd.Index(order, dtype=object)
    return table if order == names else table[names]
