"""AnnData and MuData files: samples × features in ``.h5ad``, several such side by side in ``.h5mu``.

Only what is asked for is read: one matrix of perhaps ten, the names, and what is known of the samples.
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
from superfactor.tables.grids.cells import some, unique
from superfactor.tables.grids.grid import TableFile, about_samples
from superfactor.tables.notes import FileError, Note, note

if TYPE_CHECKING:
    import pandas as pd


RAW = "raw"


def read(path: Path, *, layout: str, layer: str | None, text: Collection[str]) -> TableFile:
    """The samples of a file; see `superfactor.tables.open_table`."""
    if layout == "features":
        raise FileError(f"{path}: in this format rows are always samples; leave the layout out")
    try:
        import anndata  # noqa: F401
        import h5py
    except ImportError:
        raise FileError(f"{path}: reading it needs anndata: pip install 'superfactor[anndata]'") from None
    with open(path, "rb"):
        pass  # what cannot be opened is an OSError that says so, unlike h5py's own
    try:
        with h5py.File(path) as file, warnings.catch_warnings():
            # Old ways of writing are read all the same; their owners cannot change them now.
            warnings.simplefilter("ignore", category=FutureWarning)
            several = "mod" in file
            return _several(path, file, layer, text) if several else _one(path, file, layer, text)
    except (OSError, KeyError) as error:
        line = str(error).splitlines()[0]
        raise FileError(f"{path}: not a file of AnnData or MuData ({line}); write it again") from None


@dataclass
class _Modality:
    """One AnnData: names of samples and features, values (n, p), what is known of the samples."""

    samples: list[str]
    features: list[str]
    values: Any
    obs: pd.DataFrame


def _one(path: Path, file: Any, layer: str | None, text: Collection[str]) -> TableFile:
    if layer is not None and layer not in _layers(file):
        raise FileError(_no_layer(path, layer, _layers(file)))
    data = _modality(path, file, layer)
    frame = about_samples(len(data.samples), _columns(data.obs), text, data.samples)
    return TableFile(frame, data.values, unique(path, data.features, what="features"))


def _several(path: Path, file: Any, layer: str | None, text: Collection[str]) -> TableFile:
    """Modalities side by side; samples that one of them lacks are NaN there, or left out if sparse."""
    if int(file.attrs.get("axis", 0)) != 0:
        raise FileError(f"{path}: its parts share features, not samples; write one part as .h5ad")
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
            notes.append(note("layer", f"without a layer {layer!r}, so X was taken: {some(others, 5)}"))
    parts = {
        name: _modality(path, group, layer if layer in _layers(group) else None)
        for name, group in groups.items()
    }
    obs = _element(file["obs"])
    obs.index = obs.index.map(str)
    if not obs.index.is_unique:
        twice = obs.index[obs.index.duplicated()][0]
        raise FileError(f"{path}: two samples are called {twice!r}; rename one, then write it again")
    samples, lost = _whose(list(obs.index), parts)
    notes += lost
    values = [_at(part, samples) for part in parts.values()]
    matrix = sparse.hstack(values, format="csr") if _any_sparse(parts) else np.hstack(values)
    ends = np.cumsum([len(part.features) for part in parts.values()]).tolist()
    blocks = dict(zip(parts, zip([0, *ends[:-1]], ends, strict=True), strict=True))
    columns = _columns(obs.loc[samples])
    for name, part in parts.items():
        for column, cells in part.obs.reindex(samples).items():
            # The names that MuData itself gives them where it pulls them together.
            columns.setdefault(f"{name}:{column}", cells)
    frame = about_samples(len(samples), columns, text, samples)
    return TableFile(frame, matrix, _names_of(path, parts), blocks, tuple(notes))


def _whose(samples: list[str], parts: dict[str, _Modality]) -> tuple[list[str], list[Note]]:
    """The samples to read, and a note where some were left out."""
    common = set(samples).intersection(*(part.samples for part in parts.values()))
    count = len(samples)
    lacking = count - len(common)
    if not lacking:
        return samples, []
    if _any_sparse(parts):
        # A gap in a sparse matrix would be a zero, which is a value.
        why = "not in every modality and were left out: sparse data cannot have gaps"
        samples = [sample for sample in samples if sample in common]
    else:
        why = "not in every modality: missing there"
    return samples, [note("modality", f"{lacking} of {count} samples are {why}", samples=lacking)]


def _at(part: _Modality, samples: list[str]) -> Any:
    """The values of these samples (n, p), NaN for those that a dense part does not have."""
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
    """Features of all parts; a name that two of them have gets that of its part in front."""
    each = {name: list(dict.fromkeys(part.features)) for name, part in parts.items()}
    called = {name: dict(zip(each[name], own, strict=True)) for name, own in distinct_names(each).items()}
    names = [called[name][feature] for name, part in parts.items() for feature in part.features]
    return unique(path, names, what="features")


def _modality(path: Path, group: Any, layer: str | None) -> _Modality:
    """One AnnData, with the values of a layer that it has."""
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


def _columns(obs: pd.DataFrame) -> dict[str, Any]:
    return {str(name): cells for name, cells in obs.items()}


def _element(place: Any) -> Any:
    from anndata.io import read_elem

    return read_elem(place)


def _layers(group: Any) -> list[str]:
    return [*group.get("layers", ()), *([RAW] if RAW in group else [])]


def _no_layer(path: Path, layer: str, layers: list[str]) -> str:
    known = f"there are {some(layers, 5)}" if layers else "there are none"
    return f"{path}: there is no layer {layer!r}; {known}"
