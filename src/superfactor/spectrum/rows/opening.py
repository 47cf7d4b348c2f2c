"""Which source of rows an object or a path is."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from superfactor.spectrum.rows import pieces
from superfactor.spectrum.rows.arrow import ArrowRows
from superfactor.spectrum.rows.chunked import HDF5Rows, SparseRows, ZarrRows
from superfactor.spectrum.rows.columns import column_positions
from superfactor.spectrum.rows.mapped import MemmapRows, is_mapped
from superfactor.spectrum.rows.source import RowSource, is_a

_SUFFIXES = {
    ".npy": "npy",
    ".zarr": "zarr",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}


def as_rows(X: Any) -> RowSource | None:
    """X (n, p) as a source of rows where it is stored that way, None where it is anything else.

    Sources are `numpy.memmap` (two dimensions, numbers), ``zarr.Array``, ``h5py.Dataset``, what AnnData
    calls ``CSRDataset``, and pyarrow's ``Table``, ``ParquetFile`` and ``Dataset``; a `RowSource` is itself.
    """
    if isinstance(X, RowSource):
        return X
    if is_mapped(X) and (X.ndim != 2 or X.dtype.kind not in "biuf"):
        return None  # an array like any other, to be refused like any other
    source = _stored(X)
    return None if source is None else source.settled()


def row_blocks(source: Any, *, columns: Any = None, exclude: Any = None, dtype: Any = None) -> RowSource:
    """Data larger than memory as X: read in blocks of rows, never whole.

    Parameters
    ----------
    source : path, array, zarr.Array, h5py.Dataset, CSRDataset, pyarrow Table, ParquetFile or Dataset
        Arrays are `numpy.memmap` or others. Blocks of an ``anndata.abc.CSRDataset``, a sparse matrix on
        disk, are sparse. Paths end in .npy, .zarr, .parquet, .arrow or .feather; any other folder is one
        of Parquet files. A `RowSource` is itself.
    columns : column names, indices or boolean mask, optional
        The columns of X, in this order. All of them by default.
    exclude : column names, indices or boolean mask, optional
        Columns to leave out: labels, identifiers.
    dtype : {"float32", "float64"}, optional
        The type to compute in. By default float64, or float32 where the storage is.

    Returns
    -------
    rows : RowSource
        To be given as X to ``fit``, ``predict``, ``transform`` and so on. ``rows.read(start, stop)``
        gives some rows as a NumPy array.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from superfactor import SMFClassifier, row_blocks
    >>> path = pathlib.Path(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, np.random.default_rng(0).standard_normal((100, 4)))
    >>> X = row_blocks(path)
    >>> X.shape, X.read(0, 2).shape
    ((100, 4), (2, 4))
    >>> SMFClassifier(n_components=2).fit(X, np.arange(100) % 2).components_.shape
    (2, 4)
    """
    if columns is not None and exclude is not None:
        raise ValueError(f"columns={columns!r}, exclude={exclude!r}: only one of the two may be given")
    given = isinstance(source, RowSource)
    rows = source if given else _opened(source)
    p = rows.shape[1]
    if columns is not None:
        rows = rows.select(column_positions(columns, p, rows.names, f"columns={columns!r}"))
    if exclude is not None:
        out = set(column_positions(exclude, p, rows.names, f"exclude={exclude!r}"))
        rows = rows.select([j for j in range(p) if j not in out])
    if rows.shape[1] == 0:
        raise ValueError(f"columns={columns!r}, exclude={exclude!r}: no column of {p} is left")
    return rows if given and dtype is None else rows.settled(dtype)


def _stored(X: Any) -> RowSource | None:
    """The source an object is. Who has such an object has its library loaded."""
    if is_mapped(X):
        return MemmapRows(X)
    if is_a(X, "zarr", "Array"):
        return ZarrRows(X)
    if is_a(X, "h5py", "Dataset"):
        return HDF5Rows(X)
    if is_a(X, "anndata.abc", "CSRDataset"):
        group = X.group
        return SparseRows(group["data"], group["indices"], group["indptr"], X.shape)
    if is_a(X, "pyarrow", "Table"):
        return _columns_of(pieces.pieces_of_table(X), X.schema)
    if is_a(X, "pyarrow.parquet", "ParquetFile"):
        return _columns_of(pieces.pieces_of_file(X), X.schema_arrow)
    if is_a(X, "pyarrow.dataset", "Dataset"):
        return _columns_of(pieces.pieces_of_dataset(X), X.schema)
    return None


def _columns_of(stored: list[pieces.Piece], schema: Any) -> ArrowRows:
    """The columns of a table; the index of a DataFrame is stored as one, but is none."""
    rows = ArrowRows(stored, schema)
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    chosen = [j for j, name in enumerate(schema.names) if name not in index]
    return rows if len(chosen) == rows.shape[1] else rows.select(chosen)


def _opened(source: Any) -> RowSource:
    if isinstance(source, str | os.PathLike):
        source = _at_path(os.fspath(source))
    rows = _stored(source)
    if rows is not None:
        return rows
    if isinstance(source, np.ndarray):
        return MemmapRows(source)
    raise TypeError(
        "source: a path, a NumPy array, a Zarr array, or pyarrow's Table, "
        f"ParquetFile or Dataset is required, got {type(source).__module__}.{type(source).__name__}"
    )


def _at_path(path: str) -> Any:
    """The object stored at a path."""
    suffixes = [part.suffix.lower() for part in (Path(path), *Path(path).parents)]
    kind = _SUFFIXES.get(suffixes[0])
    if kind is None and ".zarr" in suffixes:  # an array inside a group
        kind = "zarr"
    if kind is None and os.path.isdir(path):
        kind = "parquet"
    if kind is None:
        raise ValueError(f"source={path!r}: a path ending in {', '.join(_SUFFIXES)} is required")
    if "://" not in path and not os.path.exists(path):
        raise FileNotFoundError(f"source={path!r}: there is no such file or folder")
    try:
        return _stored_as(kind, path)
    except (ValueError, FileNotFoundError) as error:  # what NumPy, pyarrow and Zarr say of no such file
        reason = str(error).partition("\n")[0]
        raise ValueError(f"source={path!r}: cannot be read as {kind} ({reason})") from error


def _stored_as(kind: str, path: str) -> Any:
    if kind == "npy":
        return np.lib.format.open_memmap(path, mode="r")
    if kind == "zarr":
        array = _library("zarr", path).open(path, mode="r")
        if not is_a(array, "zarr", "Array"):
            inside = sorted(name for name, _ in array.arrays())
            raise ValueError(f"a group; give the path of one of its arrays {inside}")
        return array
    dataset = _library("pyarrow.dataset", path).dataset(path, format=kind)
    if not dataset.files:
        raise ValueError("a folder without files")
    return dataset


def _library(name: str, path: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        library = name.partition(".")[0]
        raise ImportError(
            f"source={path!r}: reading it needs {library}, which is not installed: "
            'pip install "superfactor[scale]"'
        ) from error
