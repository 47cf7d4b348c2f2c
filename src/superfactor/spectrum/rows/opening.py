"""Open an object or a path as a source of rows."""

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
    """Return X (n, p) as a source of rows if it is stored on disk or as an Arrow table, otherwise None.

    Sources are `numpy.memmap` (two dimensions, numbers), ``zarr.Array``, ``h5py.Dataset``, AnnData's
    ``CSRDataset``, and pyarrow's ``Table``, ``ParquetFile`` and ``Dataset``. A `RowSource` is returned
    unchanged.
    """
    if isinstance(X, RowSource):
        return X
    if is_mapped(X) and (X.ndim != 2 or X.dtype.kind not in "biuf"):
        return None  # checked later, like any other array
    source = _stored(X)
    return None if source is None else source.settled()


def row_blocks(source: Any, *, columns: Any = None, exclude: Any = None, dtype: Any = None) -> RowSource:
    """Open data larger than memory as X, which is read in blocks of rows.

    Parameters
    ----------
    source : path, array, zarr.Array, h5py.Dataset, CSRDataset, pyarrow Table, ParquetFile or Dataset
        Arrays may be `numpy.memmap`. Blocks of an ``anndata.abc.CSRDataset``, a sparse matrix on disk, are
        sparse. Paths end in .npy, .zarr, .parquet, .arrow or .feather; any other folder is read as Parquet
        files. A `RowSource` is returned with its columns selected.
    columns : column names, indices or boolean mask, optional
        The columns of X, in this order. By default all of them.
    exclude : column names, indices or boolean mask, optional
        Columns to leave out, such as labels and identifiers.
    dtype : {"float32", "float64"}, optional
        Floating type of all computations. By default that of the storage for float32, otherwise float64.

    Returns
    -------
    rows : RowSource
        The X of ``fit``, ``predict``, ``transform`` and other methods. ``rows.read(start, stop)`` returns
        some rows as a NumPy array.

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
    """Return the source of an object, without importing its library."""
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
    """Return the columns of a table without the index of a DataFrame, which is stored as a column."""
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
    """Return the object stored at a path."""
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
    except (ValueError, FileNotFoundError) as error:  # raised by NumPy, pyarrow and Zarr
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
