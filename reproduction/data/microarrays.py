"""Gene expression with labels, one sample a row: the layout of the Curated Microarray Database.

A CuMiDa table has the columns ``samples`` and ``type`` and then one per probe or gene. Its files lie
at https://sbcb.inf.ufrgs.br/cumida under names like ``Breast_GSE70947``: the tissue and the series.
"""

from __future__ import annotations

import csv
import gzip
import re
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.data import files
from superfactor.datasets import Microarray
from superfactor.tables import read_table

__all__ = ["PAPER", "find_microarrays", "load_microarray"]

# The two of the paper, with their number of samples.
PAPER = {"Pancreatic_GSE16515": 51, "Breast_GSE70947": 289}
# The id in a git repository of the file that the paper's authors used, where it is known.
_GIT_ID = {"Pancreatic_GSE16515": "7f7940d633213518663f23b2a983603fd5d89b5f"}

_HOME = "https://sbcb.inf.ufrgs.br/cumida"
_ADDRESS = "https://sbcb.inf.ufrgs.br/data/cumida/Genes/{tissue}/{series}/{name}.csv"
_NAME = re.compile(r"([A-Z][A-Za-z]+)_(GSE\d+\w*)")
_ENDINGS = (".csv", ".csv.gz", ".npz")
_BEGINNING = 200  # characters of a file that show how its header begins
_ARRAYS = {"X", "y", "feature_names"}
# How a table of CuMiDa begins: sample and label.
CUMIDA = ("samples", "type")


def load_microarray(name_or_path: str | Path, data_dir: str | Path | None = None) -> Microarray:
    r"""Read a microarray data set.

    Parameters
    ----------
    name_or_path : str or Path
        A name such as "Pancreatic_GSE16515" or "Breast_GSE70947", or a path. Files are tables in the layout
        of CuMiDa (``.csv``, ``.csv.gz`` and whatever `read_table` reads), or ``.npz`` with arrays X (n, p),
        y (n,) and feature_names (p,).
    data_dir : str or Path, optional
        Folder in which ``name.csv``, ``name.csv.gz`` or ``name.npz`` is looked for. Not given or not
        there: the folder named by the environment variable SUPERFACTOR_DATA_DIR, the user's cache, a
        download from CuMiDa.

    Returns
    -------
    data : Microarray
        Expression, classes and names of the features.
    """
    path = Path(name_or_path).expanduser()
    if not path.is_file():
        path = _found(str(name_or_path), data_dir)
    name = _stem(path)
    note = ""
    if path.suffix.lower() == ".npz":
        X, y, features = _read_arrays(path)
    else:
        X, y, features = _read_cumida(path)
        if name in PAPER and (difference := _difference(files.contents(path), name)):
            note = f" ({difference})"
    if not X.size:
        raise ValueError(f"{path}: no columns with values; one for each feature is required")
    if not np.all(np.isfinite(X)):
        column = features[np.argmin(np.all(np.isfinite(X), axis=0))]
        raise ValueError(
            f"{path}: column {str(column)!r} has values that are missing or no numbers; "
            "fill them in or leave it out"
        )
    return Microarray(name, X, y, features, path.name + note)


def find_microarrays(data_dir: str | Path | None = None) -> list[str]:
    r"""Names for `load_microarray` of what lies in a folder, those of the paper first.

    The folder is `data_dir`; if that is not given, the one that SUPERFACTOR_DATA_DIR names; if there
    is none, the user's cache. Of each file only the beginning is read.

    Parameters
    ----------
    data_dir : str or Path, optional
        Where to look.

    Returns
    -------
    names : list of str
        For `load_microarray`.
    """
    folder = next(files.folders(data_dir), None)
    paths = folder.iterdir() if folder is not None and folder.is_dir() else ()
    names = {_stem(path) for path in paths if path.name.endswith(_ENDINGS) and _is_one(path)}
    return [name for name in PAPER if name in names] + sorted(names - set(PAPER))


def _found(name: str, data_dir: str | Path | None) -> Path:
    """The file of this name, downloaded if need be."""
    wanted = [name] if name.endswith(_ENDINGS) else [name + ending for ending in _ENDINGS]
    path = files.find(wanted, data_dir)
    if path is not None:
        return path
    series = _NAME.fullmatch(name.removesuffix(".csv"))
    if series is None:
        raise files.DataNotFound(
            f"microarray {name!r}: no such file in --data-dir (data_dir=) or {files.VARIABLE}, and "
            f"no name like 'Breast_GSE70947' to ask {_HOME} for"
        )
    url = _ADDRESS.format(tissue=series[1], series=series[2], name=series[0])
    return files.download(url, lambda data: _wrong(data, series[0]), _HOME)


def _wrong(data: bytes, name: str) -> str | None:
    """What is wrong with a download. The authors' copy need not be CuMiDa's byte for byte."""
    if not _begins_like_cumida(data[:_BEGINNING].decode("utf-8-sig", "replace")):
        return f"not a table that begins with the columns {CUMIDA[0]!r} and {CUMIDA[1]!r}"
    return _wrong_number(data, name)


def _wrong_number(data: bytes, name: str) -> str | None:
    n = len(data.splitlines()) - 1
    return None if n == PAPER.get(name, n) else f"{n} samples, not the paper's {PAPER[name]}"


def _difference(data: bytes, name: str) -> str | None:
    """How these contents differ from those of the paper's file, as far as it is known."""
    id = files.checksum(data, "git")
    another = None if id == _GIT_ID.get(name, id) else f"not the authors' copy: git id {id}"
    return _wrong_number(data, name) or another


def _stem(path: Path) -> str:
    """The name without its endings; there may be other dots in it."""
    return re.sub(r"(\.[a-z]+)(\.gz)?$", "", path.name, flags=re.IGNORECASE)


def _is_one(path: Path) -> bool:
    """Is this a microarray, by its header or the names of its arrays?"""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return set(arrays.files) >= _ARRAYS
        with opened(path, "rt", encoding="utf-8-sig", errors="replace") as lines:
            return _begins_like_cumida(lines.read(_BEGINNING))
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile):
        return False


def _begins_like_cumida(text: str) -> bool:
    header = next(csv.reader(text.splitlines()[:1]), [])
    return tuple(header[:2]) == CUMIDA


def _read_cumida(path: Path) -> tuple[Any, Any, Any]:
    with warnings.catch_warnings():
        # Several probes of one gene are usual in such tables; the docstring says what becomes of them.
        warnings.simplefilter("ignore", UserWarning)
        table = read_table(path)
    if tuple(table.columns[:2]) != CUMIDA:
        raise ValueError(
            f"{path}: the first columns have to be {CUMIDA[0]!r} and {CUMIDA[1]!r}, as in CuMiDa, "
            f"but are {list(map(str, table.columns[:2]))}"
        )
    values = table.iloc[:, 2:]
    words = [name for name, kind in values.dtypes.items() if kind != np.float64]
    if words:
        raise ValueError(f"{path}: column {words[0]!r} is not numeric; leave it out, or use read_table")
    if table[CUMIDA[1]].isna().any():
        raise ValueError(f"{path}: column {CUMIDA[1]!r} has empty cells; fill in or remove these samples")
    y = np.array(table[CUMIDA[1]].tolist(), dtype=np.str_)
    return values.to_numpy(np.float64), y, np.array(values.columns.tolist(), dtype=np.str_)


def _read_arrays(path: Path) -> tuple[Any, Any, Any]:
    if not _is_one(path):
        raise ValueError(f"{path}: not an .npz file with the arrays {', '.join(sorted(_ARRAYS))}")
    with np.load(path, allow_pickle=False) as arrays:
        X = np.asarray(arrays["X"], dtype=np.float64)
        y, features = (arrays[name].astype(np.str_) for name in ("y", "feature_names"))
    if X.ndim != 2 or y.shape != X.shape[:1] or features.shape != X.shape[1:]:
        raise ValueError(
            f"{path}: X {X.shape}, y {y.shape}, feature_names {features.shape}; "
            "(n, p), (n,) and (p,) are required"
        )
    return X, y, features
