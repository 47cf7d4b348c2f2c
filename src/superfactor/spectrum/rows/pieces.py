"""The units in which Arrow data is stored, each read from its first row on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

# Most bytes that all columns of a Parquet file may read ahead together, and fewest of each: a page.
_READ_AHEAD, _PAGE = 2**26, 2**12


class Piece(NamedTuple):
    """Some rows that are stored together.

    `batches(names, size)` yields record batches of about `size` rows with these columns (and maybe others),
    in order. It can be pickled if the storage can.
    """

    rows: int
    batches: Callable[[list[str], int], Iterator[Any]]


class ParquetPlace:
    """Path of a Parquet file. Its footer, which may be large, is read once per process."""

    path: str
    filesystem: Any

    def __init__(self, path: str, filesystem: Any):
        self.path, self.filesystem = path, filesystem
        self._metadata: Any = None

    def open(self) -> Any:
        """Open the file with a buffer, so that a large row group is read in parts."""
        from pyarrow.parquet import ParquetFile, read_metadata

        if self._metadata is None:
            self._metadata = read_metadata(self.path, filesystem=self.filesystem)
        return ParquetFile(
            self.path,
            metadata=self._metadata,
            filesystem=self.filesystem,
            buffer_size=max(_READ_AHEAD // self._metadata.num_columns, _PAGE),
            pre_buffer=False,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_metadata": None}

    def batches(self, group: int, names: list[str], size: int) -> Iterator[Any]:
        """Yield the record batches of a row group."""
        with self.open() as file:
            yield from file.iter_batches(size, row_groups=[group], columns=names)


class OpenParquet:
    """A ParquetFile that the user has opened: one thread at a time reads from it."""

    def __init__(self, file: Any):
        self._file, self._lock = file, threading.Lock()

    def batches(self, group: int, names: list[str], size: int) -> Iterator[Any]:
        """Yield the record batches of a row group."""
        with self._lock:
            batches = self._file.iter_batches(size, row_groups=[group], columns=names)
        while True:
            with self._lock:
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def __reduce__(self) -> Any:
        raise TypeError(
            "an open pyarrow ParquetFile cannot be sent to another process; use its path: "
            "row_blocks('....parquet')"
        )


def _of_table(table: Any, names: list[str], size: int) -> Iterator[Any]:
    return iter(table.select(names).to_batches(max_chunksize=size))


def _of_ipc_file(path: str, filesystem: Any, names: list[str], size: int) -> Iterator[Any]:
    """Yield the record batches of a file (.arrow, .feather), with one at a time in memory."""
    from pyarrow import ipc

    with filesystem.open_input_file(path) as file:
        schema = ipc.open_file(file).schema
        fields = [schema.get_field_index(name) for name in names]
        reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=fields))
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def _of_fragment(fragment: Any, schema: Any, names: list[str], size: int) -> Iterator[Any]:
    """Yield the batches of a file in another format, or with columns from the name of its folder."""
    scanner = fragment.scanner(schema=schema, columns=names, batch_size=size, batch_readahead=1)
    return iter(scanner.to_batches())


def pieces_of_table(table: Any) -> list[Piece]:
    """Return the chunks of a pyarrow.Table, without copies."""
    return [Piece(b.num_rows, partial(_of_table, table.from_batches([b]))) for b in table.to_batches()]


def pieces_of_file(file: Any) -> list[Piece]:
    """Return the row groups of an open pyarrow ParquetFile."""
    opened, rows = OpenParquet(file), file.metadata
    return [Piece(rows.row_group(i).num_rows, partial(opened.batches, i)) for i in range(rows.num_row_groups)]


def pieces_of_dataset(dataset: Any) -> list[Piece]:
    """Return the row groups of a pyarrow Dataset, or its files if it has none."""
    from pyarrow.dataset import IpcFileFormat, ParquetFileFragment

    pieces: list[Piece] = []
    for fragment in dataset.get_fragments():
        path = getattr(fragment, "path", None)
        # Columns that are not in the file come from the name of its folder.
        complete = set(dataset.schema.names) <= set(fragment.physical_schema.names)
        if path and complete and isinstance(fragment, ParquetFileFragment):
            place = ParquetPlace(path, fragment.filesystem)
            pieces += [
                Piece(group.num_rows, partial(place.batches, group.id)) for group in fragment.row_groups
            ]
        elif path and complete and isinstance(fragment.format, IpcFileFormat):
            pieces.append(Piece(fragment.count_rows(), partial(_of_ipc_file, path, fragment.filesystem)))
        else:
            pieces.append(Piece(fragment.count_rows(), partial(_of_fragment, fragment, dataset.schema)))
    return pieces
