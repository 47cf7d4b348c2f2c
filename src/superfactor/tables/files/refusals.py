"""Files that are not read: one line each that says how to convert them."""

from __future__ import annotations

from pathlib import Path

from superfactor.tables.notes import FileError

__all__ = ["READ", "refuse"]

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
    ".gct": "delete its first two lines and call it .tsv",
    ".soft": "take the file of the series that ends in _series_matrix.txt.gz",
    ".cel": "normalise raw arrays first, for example with oligo::rma in R, and write the result as CSV",
    ".arff": "in R: write.csv(foreign::read.arff('{file}'), 'table.csv', row.names=FALSE)",
}


def refuse(path: Path) -> FileError:
    """The error for a file that is of none of the kinds that are read."""
    endings = [ending.lower() for ending in path.suffixes]
    packed = endings[-1:] == [".gz"]
    if endings[-2:] == [".tar", ".gz"]:
        return FileError(f"{path}: {endings[-2]}{endings[-1]} is not read; {_UNPACK}")
    kind = next(iter(endings[-2:-1] if packed else endings[-1:]), "")
    how = _HOW.get(kind)
    if how is None:
        return FileError(f"{path}: the name has to end in {READ}")
    return FileError(f"{path}: {kind} is not read; {how.format(file=path.name)}")
