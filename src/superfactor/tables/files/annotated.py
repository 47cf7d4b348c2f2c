"""AnnData and MuData files: samples × features in ``.h5ad``, several modalities in ``.h5mu``.

Only the requested matrix, the names and the data about the samples are read.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from superfactor.preprocessing.joining import distinct_names
from superfactor.tables.grids.cells import Label, some, unique
from superfactor.tables.grids.grid import TableFile, about_samples
from superfactor.tables.notes import FileError, Note, note

if TYPE_CHECKING:
    import pandas as pd


RAW = "raw"


def read(path: Path, *, layout: str, layer: str | None, text: Collection[str]) -> TableFile:
    """Return the samples of a file; see `superfactor.tables.open_table`."""
    if layout == "features":
        raise FileError(f"{path}: in this format rows are always samples; leave the layout out")
    try:
        import anndata  # noqa: F401
        import h5py
    except ImportError:
        raise FileError(f"{path}: reading it requires anndata: pip install 'superfactor[anndata]'") from None
    with open(path, "rb"):
        pass  # raises an OSError with a clear message, unlike h5py
    try:
        with h5py.File(path) as file, warnings.catch_warnings():
            # Files in old formats are read without warnings.
            warnings.simplefilter("ignore", category=FutureWarning)
            several = "mod" in file
            return _several(path, file, layer, text) if several else _one(path, file, layer, text)
    except (OSError, KeyError) as error:
        line = str(error).splitlines()[0]
        raise FileError(f"{path}: not a file of AnnData or MuData ({line}); write it again") from None


@dataclass
class _Modality:
    """One AnnData: names of samples and features, values (n, p), and data about the samples."""

    samples: list[str]
    features: list[str]
    values: Any
    obs: pd.DataFrame


def _one(path: Path, file: Any, layer: str | None, text: Collection[str]) -> TableFile:
    if layer is not None and layer not in _layers(file):
        raise FileError(_no_layer(path, layer, _layers(file)))
    data = _modality(path, file, layer)
    frame = about_samples(len(data.samples), about_cells(data.obs), text, data.samples)
    return TableFile(frame, data.values, unique(path, data.features, what="features"))


def _several(path: Path, file: Any, layer: str | None, text: Collection[str]) -> TableFile:
    """Join modalities; samples missing in one of them are NaN there, or left out if sparse."""
    if int(file.attrs.get("axis", 0)) != 0:
        raise FileError(f"{path}: its modalities share features, not samples; write one of them as .h5ad")
    order = file["mod"].attrs.get("mod-order", list(file["mod"]))
    groups = {str(name): file["mod"][name] for name in order}
    notes: list[Note] = []
    if layer is not None:
        having = [name for name, group in groups.items() if layer in _layers(group)]
        if not having:
            every = {known for group in groups.values() for known in _layers(group)}
            raise FileError(_no_layer(path, layer, sorted(every)))
        if len(having) < len(groups):
            others = [name for name in groups if name not in having]
            notes.append(
                note("layer", f"X is used for modalities without a layer {layer!r}: {some(others, 5)}")
            )
    parts = {
        name: _modality(path, group, layer if layer in _layers(group) else None)
        for name, group in groups.items()
    }
    obs = _element(file["obs"])
    obs.index = obs.index.map(str)
    if not obs.index.is_unique:
        twice = obs.index[obs.index.duplicated()][0]
        raise FileError(f"{path}: two samples are named {twice!r}; rename one, then write it again")
    samples, lost = _whose(list(obs.index), parts)
    notes += lost
    values = [_at(part, samples) for part in parts.values()]
    matrix = sparse.hstack(values, format="csr") if _any_sparse(parts) else np.hstack(values)
    ends = np.cumsum([len(part.features) for part in parts.values()]).tolist()
    blocks = dict(zip(parts, zip([0, *ends[:-1]], ends, strict=True), strict=True))
    columns = about_cells(obs.loc[samples])
    for name, part in parts.items():
        for column, cells in about_cells(part.obs.reindex(samples)).items():
            # The names that MuData uses for joined columns.
            columns.setdefault(f"{name}:{column}", cells)
    frame = about_samples(len(samples), columns, text, samples)
    return TableFile(frame, matrix, _names_of(path, parts), blocks, tuple(notes))


def _whose(samples: list[str], parts: dict[str, _Modality]) -> tuple[list[str], list[Note]]:
    """Return the samples to read, and a note if some are missing in a modality."""
    common = set(samples).intersection(*(part.samples for part in parts.values()))
    count = len(samples)
    lacking = count - len(common)
    if not lacking:
        return samples, []
    if _any_sparse(parts):
        # A missing entry of a sparse matrix would be a zero.
        why = "not in every modality and are left out: sparse data cannot have missing values"
        samples = [sample for sample in samples if sample in common]
    else:
        why = "not in every modality, and have missing values there"
    return samples, [note("modality", f"{lacking} of {count} samples are {why}", samples=lacking)]


def _at(part: _Modality, samples: list[str]) -> Any:
    """Return the values of these samples (n, p), NaN for samples that a dense part lacks."""
    if samples == part.samples:
        return part.values
    place = {name: row for row, name in enumerate(part.samples)}
    if sparse.issparse(part.values):
        return part.values[[place[name] for name in samples]]
    values = np.full((len(samples), len(part.features)), np.nan)
    here = [row for row, name in enumerate(samples) if name in place]
    values[here] = part.values[[place[samples[row]] for row in here]]
    return values


def _any_sparse(parts: dict[str, _Modality]) -> bool:
    return any(sparse.issparse(part.values) for part in parts.values())


def _names_of(path: Path, parts: dict[str, _Modality]) -> list[str]:
    """Return the features of all parts; a name in two parts gets the name of its part as prefix."""
    each = {name: list(dict.fromkeys(part.features)) for name, part in parts.items()}
    called = {name: dict(zip(each[name], own, strict=True)) for name, own in distinct_names(each).items()}
    names = [called[name][feature] for name, part in parts.items() for feature in part.features]
    return unique(path, names, what="features")


def _modality(path: Path, group: Any, layer: str | None) -> _Modality:
    """Read one AnnData with the values of a layer."""
    source = group[RAW] if layer == RAW else group
    obs, var = _element(group["obs"]), _element(source["var"])
    obs.index = obs.index.map(str)
    place = source["layers"][layer] if layer not in (None, RAW) else source.get("X")
    values = None if place is None else _element(place)
    if values is None:
        layers = _layers(group)
        choose = f"choose a layer: {some(layers, 5)}" if layers else "write it with its values"
        raise FileError(f"{path}: there is no X; {choose}")
    if sparse.issparse(values):
        values = sparse.csr_matrix(values, dtype=np.float64)
    else:
        values = np.asarray(values, dtype=np.float64)
    return _Modality(list(obs.index), list(map(str, var.index)), values, obs)


def about_cells(obs: pd.DataFrame) -> dict[str, Any]:
    """Return columns by name; text and categories as labels, because their type says so."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    def typed(cells: pd.Series[Any]) -> Any:
        if is_numeric_dtype(cells) or is_bool_dtype(cells):
            return cells
        cells = cells.astype("category")
        names = [Label(name) if isinstance(name, str) else name for name in cells.cat.categories]
        return [None if code < 0 else names[code] for code in cells.cat.codes]

    return {str(name): typed(cells) for name, cells in obs.items()}


def _element(place: Any) -> Any:
    from anndata.io import read_elem

    return read_elem(place)


def _layers(group: Any) -> list[str]:
    return [*group.get("layers", ()), *([RAW] if RAW in group else [])]


def _no_layer(path: Path, layer: str, layers: list[str]) -> str:
    known = f"there are {some(layers, 5)}" if layers else "there are none"
    return f"{path}: there is no layer {layer!r}; {known}"
