"""Choose the reader of a file and the layout of its table, and advise how to convert other formats."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from superfactor.tables.files import series_matrix
from superfactor.tables.files.delimited import DELIMITERS, Progress, read_delimited
from superfactor.tables.files.excel import read_sheet
from superfactor.tables.files.parquet import read_parquet
from superfactor.tables.grids.grid import Grid, TableFile
from superfactor.tables.grids.transposing import has_features_in_rows, perhaps, turned
from superfactor.tables.notes import FileError, Setting, TableError

if TYPE_CHECKING:
    import pandas as pd

LAYOUTS = ("auto", "samples", "features")
PARQUET, ARRAYS, MARKET = ".parquet", ".npz", ".mtx"
EXCEL = (".xlsx", ".xlsm")
ANNOTATED = (".h5ad", ".h5mu")


def open_table(
    path: str | Path,
    *,
    layout: str = "auto",
    sheet: str | None = None,
    layer: str | None = None,
    text: Collection[str] = (),
    progress: Progress | None = None,
) -> TableFile:
    """Read the samples of a file in any supported format and layout.

    Parameters
    ----------
    path : a file or folder
        Tables: delimited text (``.csv``, ``.tsv``, ``.tab``, ``.txt``, each also with ``.gz``), a series
        matrix of GEO, ``.parquet``, ``.xlsx``. Formats with a separate feature matrix: ``.h5ad``, ``.h5mu``,
        ``.npz``, ``.mtx`` or a folder of 10x Genomics with ``matrix.mtx``, ``barcodes.tsv`` and
        ``features.tsv``.
    layout : "auto", "samples" or "features"
        The meaning of rows. "auto" reads rows as features only if this is certain: the first column has
        distinct names of genes or probes, and all others are numbers or annotations of genes.
    sheet : str, optional
        The sheet of an Excel file; required if several have cells.
    layer : str, optional
        The layer of an ``.h5ad`` or ``.h5mu`` file to use instead of X; "raw" for the raw values.
    text : names of columns to keep as written
        Identifiers like ``007``. Names that the file does not have are ignored.
    progress : callable(done, total), optional
        Called repeatedly with bytes, for delimited text.

    Returns
    -------
    table : TableFile

    Raises
    ------
    OSError
        The file cannot be opened.
    TableError
        A ValueError: the format is not supported or the file has an error; the message has the place or
        advice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from superfactor.tables import open_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "arrays.tsv")
    >>> lines = ["probe\\tGSM1\\tGSM2", "type\\ttumour\\tnormal", "1007_s_at\\t7.5\\t8", "117_at\\t6\\t5.5"]
    >>> _ = path.write_text("\\n".join(lines))
    >>> table = open_table(path, text=["type"])
    >>> table.frame.to_numpy().tolist()
    [['GSM1', 'tumour', 7.5, 6.0], ['GSM2', 'normal', 8.0, 5.5]]
    >>> print(table.notes[0])
    features in rows: transposed to 2 samples with 3 columns (layout='samples' keeps the table)
    """
    path = Path(path)
    if layout not in LAYOUTS:
        raise TableError(Setting("layout", layout), ": auto, samples or features is required", kind="layout")
    kind = _kind(path)
    if sheet is not None and kind not in EXCEL:
        raise FileError(f"{path}: only Excel files have a sheet ({sheet!r}); leave it out")
    if layer is not None and kind not in ANNOTATED:
        raise FileError(f"{path}: only .h5ad and .h5mu files have a layer ({layer!r}); leave it out")
    # Imported here, because they import SciPy's sparse matrices.
    if kind in ANNOTATED:
        from superfactor.tables.files import annotated

        return annotated.read(path, layout=layout, layer=layer, text=text)
    if kind == MARKET:
        from superfactor.tables.files import market

        return market.read(path, layout=layout)
    if kind == ARRAYS:
        from superfactor.tables.files import arrays

        return arrays.read(path, layout=layout, text=text)
    if kind in DELIMITERS and series_matrix.is_one(path):
        return series_matrix.read(path, text=text, progress=progress)
    keep = layout != "samples"

    def read(words: Collection[int]) -> Grid:
        if kind == PARQUET:
            return read_parquet(path, text, words=words)
        if kind in EXCEL:
            return read_sheet(path, sheet, text, words=words, keep=keep)
        return read_delimited(path, DELIMITERS[kind], text, words=words, keep=keep, progress=progress)

    return _table(path, read, layout, text)


def _table(
    path: Path, read: Callable[[Collection[int]], Grid], layout: str, text: Collection[str]
) -> TableFile:
    """Return the table with samples in rows; `read` gets the positions of text columns."""
    # Names of features are text even if they look like numbers.
    grid = read([0] if layout == "features" else [])
    if layout == "features" or (layout == "auto" and has_features_in_rows(grid, text)):
        table, notes = turned(path, grid)
        return TableFile(table, notes=(*grid.notes, *notes))
    if grid.stray:
        # Some columns begin with numbers but contain text: read again with these as text.
        grid = read(grid.stray)
    notes = perhaps(grid) if layout == "auto" else ()
    return TableFile(grid.samples(), notes=(*grid.notes, *notes))


def read_table(
    path: str | Path,
    *,
    text: Collection[str] = (),
    sheet: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Read a table with a header and one sample per row.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.tab`` or ``.txt``, each also with ``.gz``, with the delimiter detected from the
        header; ``.parquet`` or ``.xlsx``.
    text : names of columns to keep as written
        Identifiers like ``007``. Names that the table does not have are ignored.
    sheet : str, optional
        The sheet of an Excel file; required if several have cells.
    progress : callable(done, total), optional
        Called repeatedly with bytes.

    Returns
    -------
    table : DataFrame of shape (n_samples, n_columns)
        Numeric columns are float64, with NaN for empty cells and NA; other columns are text, with None for
        these. The index is the place of a sample in the file: its ``line``, or its ``row``, from 1, in a
        Parquet or Excel file. A first column without a name (row names of R and pandas) is named ``row name``
        and is text. The first columns ``samples`` and ``type`` of CuMiDa tables are text, too. Repeated names
        are numbered, ``TP53``, ``TP53.1``, with a warning.

    Raises
    ------
    OSError
        The file cannot be opened.
    TableError
        A ValueError: the format is not supported or the file has an error; the message has the place.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from superfactor.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "table.csv")
    >>> _ = path.write_text("patient;status;gene\\nP1;tumour;7,5\\nP2;normal;NA\\n")
    >>> read_table(path).to_dict("list")
    {'patient': ['P1', 'P2'], 'status': ['tumour', 'normal'], 'gene': [7.5, nan]}
    """
    table = open_table(path, layout="samples", text=text, sheet=sheet, progress=progress)
    if table.matrix is not None:
        raise FileError(f"{path}: not a plain table; superfactor.tables.open_table reads it")
    for note in table.notes:
        warnings.warn(f"{path}: {note}", UserWarning, stacklevel=2)
    return table.frame


def _kind(path: Path) -> str:
    """Return the last ending in lower case, without ``.gz``."""
    if path.is_dir():
        return MARKET
    endings = [ending.lower() for ending in path.suffixes]
    packed = endings[-1:] == [".gz"]
    kind = next(iter(endings[-2:-1] if packed else endings[-1:]), "")
    if kind in DELIMITERS or kind == MARKET:
        return kind
    if packed or kind not in (PARQUET, ARRAYS, *EXCEL, *ANNOTATED):
        raise refuse(path)
    return kind


READ = ".csv, .tsv, .tab, .txt or .mtx (each also with .gz), .parquet, .xlsx, .h5ad, .h5mu or .npz"

_R = "in R: write.csv(x, 'table.csv') for a table, writeMM(x, 'matrix.mtx') for a sparse matrix"
_WITH_PANDAS = "in Python: pandas.{reader}('{file}').to_parquet('table.parquet')"
_UNPACK = "unpack it and name the file inside"
_HOW = {
    ".rds": _R,
    ".rdata": _R,
    ".rda": _R,
    ".xls": "open it in Excel or LibreOffice and save it as .xlsx",
    ".xlsb": "open it in Excel or LibreOffice and save it as .xlsx",
    ".ods": "open it in LibreOffice and save it as .xlsx or .csv",
    ".numbers": "export it as CSV from Numbers",
    ".sav": _WITH_PANDAS.replace("{reader}", "read_spss"),
    ".dta": _WITH_PANDAS.replace("{reader}", "read_stata"),
    ".sas7bdat": _WITH_PANDAS.replace("{reader}", "read_sas"),
    ".xpt": _WITH_PANDAS.replace("{reader}", "read_sas"),
    ".feather": _WITH_PANDAS.replace("{reader}", "read_feather"),
    ".arrow": _WITH_PANDAS.replace("{reader}", "read_feather"),
    ".orc": _WITH_PANDAS.replace("{reader}", "read_orc"),
    ".json": _WITH_PANDAS.replace("{reader}", "read_json"),
    ".mat": "in Python: m = scipy.io.loadmat('{file}'), then numpy.savez('table.npz', X=m['X'], y=m['y'])",
    ".npy": "in Python: numpy.savez('table.npz', X=numpy.load('{file}'), y=labels)",
    ".pkl": "a pickle can run code, so it is not opened; in Python write the table with to_parquet",
    ".pickle": "a pickle can run code, so it is not opened; in Python write the table with to_parquet",
    ".joblib": "a pickle can run code, so it is not opened; in Python write the table with to_parquet",
    ".zip": _UNPACK,
    ".tar": _UNPACK,
    ".tgz": _UNPACK,
    ".7z": _UNPACK,
    ".rar": _UNPACK,
    ".bz2": _UNPACK,
    ".xz": _UNPACK,
    ".zst": _UNPACK,
    ".h5": "from Cell Ranger, in Python: scanpy.read_10x_h5('{file}').write_h5ad('cells.h5ad')",
    ".hdf5": "in Python: anndata.AnnData(X, obs=labels).write_h5ad('table.h5ad')",
    ".loom": "in Python: anndata.io.read_loom('{file}').write_h5ad('cells.h5ad')",
    ".zarr": "in Python: anndata.read_zarr('{file}').write_h5ad('cells.h5ad')",
    ".gct": "delete its first two lines and rename it to .tsv",
    ".soft": "use the file of the series that ends in _series_matrix.txt.gz",
    ".cel": "normalise raw arrays first, for example with oligo::rma in R, and write the result as CSV",
    ".arff": "in R: write.csv(foreign::read.arff('{file}'), 'table.csv', row.names=FALSE)",
}


def refuse(path: Path) -> FileError:
    """Return the error for a file in an unsupported format."""
    endings = [ending.lower() for ending in path.suffixes]
    packed = endings[-1:] == [".gz"]
    if endings[-2:] == [".tar", ".gz"]:
        return FileError(f"{path}: {endings[-2]}{endings[-1]} is not supported; {_UNPACK}")
    kind = next(iter(endings[-2:-1] if packed else endings[-1:]), "")
    how = _HOW.get(kind)
    if how is None:
        return FileError(f"{path}: a name that ends in {READ} is required")
    return FileError(f"{path}: {kind} is not supported; {how.format(file=path.name)}")
