"""The pieces Arrow data is stored in, each read from its first row on."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Bytes that all columns of a Parquet file together may read ahead; a page is the least of each.
_READ_AHEAD, _PAGE = 2**26, 2**12


class Piece(ABC):
    """Some rows that are stored together."""

    rows: int

    @abstractmethod
    def batches(self, names: list[str], size: int) -> Iterator[Any]:
        """Record batches of about `size` rows with these columns (and maybe others), in order."""


@dataclass(frozen=True)
class TablePiece(Piece):
    """A part of a table in memory."""

    table: Any
    rows: int

    def batches(self, names: list[str], size: int) -> Iterator[Any]:
        return iter(self.table.select(names).to_batches(max_chunksize=size))


class ParquetPlace:
    """Where a Parquet file is; its footer, which may be large, is read once a process."""

    path: str
    filesystem: Any

    def __init__(self, path: str, filesystem: Any):
        self.path, self.filesystem = path, filesystem
        self._metadata: Any = None

    def open(self) -> Any:
        """The file, with a buffer: a tall row group need not be in memory to be read in parts."""
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


@dataclass(frozen=True)
class RowGroup(Piece):
    """A row group of a Parquet file that can be opened again and again."""

    place: ParquetPlace
    group: int
    rows: int

    def batches(self, names: list[str], size: int) -> Iterator[Any]:
        with self.place.open() as file:
            yield from file.iter_batches(size, row_groups=[self.group], columns=names)


@dataclass(frozen=True)
class OpenRowGroup(Piece):
    """A row group of a ParquetFile somebody else has opened: one thread at a time reads from it."""

    file: Any
    lock: Any
    group: int
    rows: int

    def batches(self, names: list[str], size: int) -> Iterator[Any]:
        with self.lock:
            batches = self.file.iter_batches(size, row_groups=[self.group], columns=names)
        while True:
            with self.lock:
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def __reduce__(self) -> Any:
        raise TypeError(
            "an open pyarrow ParquetFile cannot go to another process; its path can: "
            "row_blocks('....parquet')"
        )


@dataclass(frozen=True)
class IpcFile(Piece):
    """A file of record batches (.arrow, .feather), of which one at a time is in memory."""

    path: str
    filesystem: Any
    rows: int

    def batches(self, names: list[str], size: int) -> Iterator[Any]:
        from pyarrow import ipc

        with self.filesystem.open_input_file(self.path) as file:
            schema = ipc.open_file(file).schema
            fields = [schema.get_field_index(name) for name in names]
            reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=fields))
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)


@dataclass(frozen=True)
class Fragment(Piece):
    """A file of a dataset in another format, or with columns from its folder's name."""

    fragment: Any
    schema: Any
    rows: int

    def batches(self, names: list[str], size: int) -> Iterator[Any]:
        scanner = self.fragment.scanner(schema=self.schema, columns=names, batch_size=size, batch_readahead=1)
        return iter(scanner.to_batches())


def pieces_of_table(table: Any) -> list[Piece]:
    """The chunks of a pyarrow.Table: cutting it there copies nothing."""
    return [TablePiece(table.from_batches([b]), b.num_rows) for b in table.to_batches()]


def pieces_of_file(file: Any) -> list[Piece]:
    """The row groups of an open pyarrow ParquetFile."""
    lock = threading.Lock()
    return [
        OpenRowGroup(file, lock, i, file.metadata.row_group(i).num_rows)
        for i in range(file.metadata.num_row_groups)
    ]


def pieces_of_dataset(dataset: Any) -> list[Piece]:
    """The row groups (or, failing these, the files) of a pyarrow Dataset."""
    from pyarrow.dataset import IpcFileFormat, ParquetFileFragment

    pieces: list[Piece] = []
    for fragment in dataset.get_fragments():
        path = getattr(fragment, "path", None)
        # Columns that are not in the file itself are in the name of its folder.
        complete = set(dataset.schema.names) <= set(fragment.physical_schema.names)
        if path and complete and isinstance(fragment, ParquetFileFragment):
            place = ParquetPlace(path, fragment.filesystem)
            pieces += [RowGroup(place, group.id, group.num_rows) for group in fragment.row_groups]
        elif path and complete and isinstance(fragment.format, IpcFileFormat):
            pieces.append(IpcFile(path, fragment.filesystem, fragment.count_rows()))
        else:
            pieces.append(Fragment(fragment, dataset.schema, fragment.count_rows()))
    return pieces
