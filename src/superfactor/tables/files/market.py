"""MatrixMarket files, and folders of 10x Genomics with a matrix and files of names.

Such a folder has ``matrix.mtx``, with features in rows, ``features.tsv`` (earlier ``genes.tsv``) and
``barcodes.tsv``, each possibly with ``.gz``, and with a common prefix.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse

from superfactor.tables.files.delimited import read_text
from superfactor.tables.grids.cells import unique
from superfactor.tables.grids.grid import TableFile, about_samples
from superfactor.tables.notes import FileError, Note, Setting, note

_FEATURES = ("features.tsv", "genes.tsv")
_BARCODES = ("barcodes.tsv",)
_SYMBOL = 1


def read(path: Path, *, layout: str) -> TableFile:
    """Return the samples of a file or folder; see `superfactor.tables.open_table`."""
    from scipy.io import mmread

    file = _matrix_in(path) if path.is_dir() else path
    stem = file.name[: file.name.lower().rfind("matrix.mtx")] if "matrix.mtx" in file.name.lower() else ""
    rows_of_features, cells = _beside(file, stem, _FEATURES), _beside(file, stem, _BARCODES)
    with open(file, "rb"):
        pass  # raises an OSError with the name of the file
    try:
        matrix = mmread(file, spmatrix=False)
    except (ValueError, EOFError, OverflowError, gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{file}: not a MatrixMarket file ({error}); write it again") from None
    features = None if rows_of_features is None else _symbols(rows_of_features)
    samples = None if cells is None else [row[0] for row in cells]
    notes: tuple[Note, ...] = ()
    if _turn(file, matrix.shape, features, samples, layout):
        matrix = matrix.T
    elif layout == "auto" and features is None and samples is None:
        line = "no files of names: rows are read as samples ("
        notes = (note("layout", line, Setting("layout", "features"), " transposes it)"),)
    n, p = matrix.shape
    if sparse.issparse(matrix):
        matrix = sparse.csr_matrix(matrix, dtype=np.float64)
    else:
        matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    names = [f"feature {j}" for j in range(1, p + 1)] if features is None else features
    return TableFile(
        about_samples(n, {}, names=samples), matrix, unique(file, names, what="features"), notes=notes
    )


def _turn(
    file: Path, shape: tuple[int, int], features: list[str] | None, samples: list[str] | None, layout: str
) -> bool:
    """Return whether rows are features: as in the format of 10x, unless names only fit otherwise."""
    here = [None if names is None else len(names) for names in (features, samples)]
    fits = [
        all(known in (None, size) for known, size in zip(here, sizes, strict=True))
        for sizes in (shape, shape[::-1])
    ]
    turned = fits[0] if layout == "auto" and any(here) else layout == "features"
    if not fits[0 if turned else 1]:
        what = ", ".join(
            f"{size} {name}" for size, name in zip(here, ("features", "barcodes"), strict=True) if size
        )
        raise FileError(
            f"{file}: the matrix is {shape[0]} × {shape[1]}, but there are names of {what}; check that all "
            "files are from the same run"
        )
    return turned


def _matrix_in(folder: Path) -> Path:
    found = [path for ending in ("matrix.mtx", "matrix.mtx.gz") for path in sorted(folder.glob(f"*{ending}"))]
    if not found:
        raise FileError(
            f"{folder}: a folder without matrix.mtx or matrix.mtx.gz; the name of a file is required"
        )
    if len(found) > 1:
        raise FileError(f"{folder}: several matrices ({found[0].name}, {found[1].name}); select one of them")
    return found[0]


def _beside(file: Path, stem: str, names: tuple[str, ...]) -> list[list[str]] | None:
    """Return the rows of the first of these files in the folder of the matrix."""
    for name in names:
        for ending in ("", ".gz"):
            path = file.with_name(f"{stem}{name}{ending}")
            if path.is_file():
                rows, _ = read_text(path, lambda lines, raw: list(csv.reader(lines, delimiter="\t")))
                return [row for row in rows if row]
    return None


def _symbols(rows: list[list[str]]) -> list[str]:
    """Return gene symbols, from the second column, or identifiers if there is no symbol."""
    return [row[_SYMBOL] if len(row) > _SYMBOL and row[_SYMBOL].strip() else row[0] for row in rows]
