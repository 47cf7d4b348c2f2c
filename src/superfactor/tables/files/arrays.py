"""Arrays in ``.npz`` files: a sparse matrix from SciPy or a dense one, with names and columns."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from superfactor.tables.grids.cells import some, unique
from superfactor.tables.grids.grid import TableFile, about_samples
from superfactor.tables.notes import FileError, note

# Possible names of the array with feature names; the first match is used.
_FEATURES = ("feature_names", "features", "vocabulary", "words", "genes", "var_names", "columns")
_SAMPLES = ("row name", "row_names", "obs_names", "sample_names")
_SPARSE = ("data", "indices", "indptr", "shape")
_COORDINATES = ("data", "row", "col", "shape")


def read(path: Path, *, layout: str, text: Collection[str]) -> TableFile:
    """Return the samples of a file; see `superfactor.tables.open_table`.

    Arrays with one entry per sample become columns of the frame, with their names.
    """
    found = _arrays(path)
    matrix, used = _matrix(path, found)
    if layout == "features":
        matrix = matrix.T
    if sparse.issparse(matrix):
        matrix = sparse.csr_matrix(matrix, dtype=np.float64)
    else:
        matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    n, p = matrix.shape
    rest = {name: values for name, values in found.items() if name not in used}
    named = next((name for name in _FEATURES if rest.get(name, np.empty(())).shape == (p,)), None)
    if named is None:
        features = [f"feature {j}" for j in range(1, p + 1)]
    else:
        features = unique(path, _words(rest.pop(named)), what="features")
    called = next((name for name in _SAMPLES if rest.get(name, np.empty(())).shape == (n,)), None)
    samples = None if called is None else _words(rest.pop(called))
    columns = {name: _column(values) for name, values in rest.items() if values.shape == (n,)}
    unused = [name for name in rest if name not in columns and name not in ("format", "_is_array")]
    notes = (note("left out", f"arrays of another length are left out: {some(unused, 5)}"),) if unused else ()
    return TableFile(about_samples(n, columns, text, samples), matrix, features, notes=notes)


def _arrays(path: Path) -> dict[str, Any]:
    """Return all arrays of a file, without pickles, because these can run code."""
    with open(path, "rb") as raw:
        if raw.read(2) not in (b"PK", b""):
            raise FileError(f"{path}: not an .npz file; write it with numpy.savez")
    name = ""
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {}
            for name in file.files:
                found[name] = file[name]
            return found
    except (zipfile.BadZipFile, EOFError):
        raise FileError(f"{path}: not a complete .npz file; write or copy it again") from None
    except ValueError as error:
        if not _holds_objects(path, name):
            raise FileError(f"{path}: array {name!r} cannot be read ({error})") from None
        raise FileError(
            f"{path}: array {name!r} holds Python objects, which are not opened; write text as "
            "numpy.array(values, dtype=str) and save it again"
        ) from None


def _holds_objects(path: Path, name: str) -> bool:
    """Return whether an array holds objects, from its header only."""
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as member:
        try:
            old = npy.read_magic(member) == (1, 0)
            _, _, kind = (npy.read_array_header_1_0 if old else npy.read_array_header_2_0)(member)
        except ValueError:
            return False
        return bool(kind.hasobject)


def _matrix(path: Path, found: dict[str, Any]) -> tuple[Any, set[str]]:
    """Return the values (samples, features), and the names of their arrays."""
    kind = _words(found["format"])[0] if "format" in found else None
    try:
        if kind == "coo" or (kind is None and set(_COORDINATES) <= set(found)):
            data, row, col, shape = (found[name] for name in _COORDINATES)
            return sparse.coo_matrix((data, (row, col)), tuple(shape)), {*_COORDINATES, "format"}
        if kind in ("csr", "csc") or (kind is None and set(_SPARSE) <= set(found)):
            data, indices, indptr, shape = (found[name] for name in _SPARSE)
            make = sparse.csc_matrix if kind == "csc" else sparse.csr_matrix
            matrix = make((data, indices, indptr), tuple(shape))
            matrix.check_format()  # indices out of range would read foreign memory
            return matrix, {*_SPARSE, "format"}
    except (KeyError, ValueError) as error:
        raise FileError(f"{path}: not a sparse matrix ({error}); scipy.sparse.save_npz writes one") from None
    flat = [name for name, values in found.items() if values.ndim == 2 and values.dtype.kind in "biuf"]
    name = "X" if "X" in flat else flat[0] if len(flat) == 1 else None
    if name is None:
        raise FileError(
            f"{path}: it has the arrays {some(list(found), 8)}; X (samples × features), or the arrays of "
            "scipy.sparse.save_npz, are required"
        )
    return found[name], {name}


def _column(values: Any) -> Any:
    return _words(values) if values.dtype.kind == "S" else values


def _words(values: Any) -> list[str]:
    cells = np.atleast_1d(values)
    return [cell.decode() if isinstance(cell, bytes) else str(cell) for cell in cells]
