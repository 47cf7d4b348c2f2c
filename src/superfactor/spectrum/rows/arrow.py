"""Arrow tables, Parquet files, and datasets of many files."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from superfactor.spectrum.rows.pieces import Piece
from superfactor.spectrum.rows.source import RowSource

# Number of columns that are copied to rows at a time, so that writes fill whole cache lines.
_COLUMNS_AT_A_TIME = 16


class ArrowRows(RowSource):
    """Rows of columns that are stored in pieces (row groups, files), with nulls as NaN.

    A piece can only be read from its beginning, so each thread stores its position: a pass from the first
    row to the last reads each piece once, for any size of the blocks.

    Parameters
    ----------
    pieces : in the order of the rows
    schema : pyarrow.Schema of all pieces
    """

    def __init__(self, pieces: Sequence[Piece], schema: Any):
        most = Counter(schema.names).most_common(1)
        if most and most[0][1] > 1:
            raise ValueError(f"X: column names must differ, but {most[0][0]!r} is there twice")
        self._pieces = [piece for piece in pieces if piece.rows]
        self._bounds = [0, *accumulate(piece.rows for piece in self._pieces)]
        self._schema = schema
        self._place = _Place()
        super().__init__(self._bounds[-1], len(schema.names), schema.names)

    def _edges(self) -> Sequence[int]:
        return self._bounds

    def _chosen(self, columns: list[int] | None) -> list[str]:
        names: list[str] = self._schema.names
        return names if columns is None else [names[j] for j in columns]

    def _stored_type(self, columns: list[int] | None) -> np.dtype[Any]:
        from pyarrow import types

        numeric = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
        kinds = [(name, self._schema.field(name).type) for name in self._chosen(columns)]
        for name, kind in kinds:
            if not (types.is_null(kind) or any(test(kind) for test in numeric)):
                raise TypeError(
                    f"X: column {name!r} is {kind}, but numbers are required; "
                    f"row_blocks(..., exclude=[{name!r}]) leaves it out"
                )
        single = bool(kinds) and all(types.is_float32(kind) for _, kind in kinds)
        return np.dtype(np.float32 if single else np.float64)

    def _stored(self, start: int, stop: int, columns: list[int] | None) -> np.ndarray:
        names = self._chosen(columns)
        out = np.empty((stop - start, len(names)), self.dtype)
        stream = self._stream(start, stop - start, names)
        filled = 0
        while filled < len(out):
            batch = stream.take(len(out) - filled)
            _fill(out[filled : filled + batch.num_rows], batch, names)
            filled += batch.num_rows
        return out

    def _stream(self, start: int, size: int, names: list[str]) -> _Stream:
        """This thread's stream, if it can still reach row `start` without reading from the beginning."""
        stream = self._place.stream
        piece = int(np.searchsorted(self._bounds, start, side="right")) - 1
        begin = self._bounds[piece]
        ahead = stream is not None and begin <= stream.row <= start
        if stream is None or not ahead or stream.names != names:
            stream = self._place.stream = _Stream(self._pieces[piece:], begin, names, size)
        stream.skip(start - stream.row)
        return stream

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_place": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _place=_Place())


class _Stream:
    """Record batches of some columns from the first row of a piece on, divided as requested.

    Attributes
    ----------
    row : the next row
    """

    def __init__(self, pieces: Sequence[Piece], row: int, names: list[str], size: int):
        self.row, self.names = row, names
        self._batches: Iterator[Any] = (b for piece in pieces for b in piece.batches(names, size))
        self._rest: Any = None

    def take(self, most: int) -> Any:
        """Return the next 1 to `most` rows as a batch."""
        while self._rest is None or self._rest.num_rows == 0:
            self._rest = next(self._batches)
        batch, self._rest = self._rest.slice(0, most), self._rest.slice(most)
        self.row += batch.num_rows
        return batch

    def skip(self, rows: int) -> None:
        while rows > 0:
            rows -= self.take(rows).num_rows


class _Place(threading.local):
    """Position at which this thread reads."""

    stream: _Stream | None = None


def _fill(out: np.ndarray, batch: Any, names: list[str]) -> None:
    """Copy a record batch of m rows into `out` (m, p)."""
    columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
    for j in range(0, len(columns), _COLUMNS_AT_A_TIME):
        some = [_numbers(column) for column in columns[j : j + _COLUMNS_AT_A_TIME]]
        out[:, j : j + len(some)] = np.stack(some, axis=1)


def _numbers(column: Any) -> np.ndarray:
    """Return an Arrow array (m,) as NumPy floats, with nulls as NaN."""
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))
