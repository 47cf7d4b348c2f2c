"""Select parts of an AnnData: a modality, labels, covariates, genes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np


def one_modality(data: Any, mod: str | None) -> Any:
    """Return an AnnData unchanged, or the modality `mod` of a MuData."""
    modalities = getattr(data, "mod", None)
    if modalities is None:
        if not (hasattr(data, "obsm") and hasattr(data, "varm")):
            raise TypeError(f"adata: an AnnData is required, got {type(data).__name__}")
        if mod is not None:
            raise ValueError(f"mod={mod!r}: only a MuData has modalities; leave it out")
        return data
    if mod not in modalities:
        known = ", ".join(map(repr, modalities))
        raise ValueError(
            f"mod={mod!r}: one of the modalities {known} is required; "
            "superfactor.preprocessing.join_blocks joins all of them"
        )
    return modalities[mod]


def to_write_to(data: Any, mod: str | None, copy: bool) -> tuple[Any, Any]:
    """Return the given object and its AnnData, or copies of both, ready for writing results."""
    adata = one_modality(data, mod)
    if copy:
        if adata.isbacked:
            raise ValueError("copy=True: X is on disk; False is required, or adata.to_memory() as adata")
        data = data.copy()
        adata = one_modality(data, mod)
    _make_actual(adata)
    return data, adata


def check_key(key_added: str) -> None:
    """Raise a ValueError for names with "/", which is a folder in .h5ad files."""
    if "/" in key_added:
        raise ValueError(
            f"key_added={key_added!r}: a name without '/' is required, which .h5ad files cannot hold"
        )


def _make_actual(adata: Any) -> None:
    """Turn a view into an independent AnnData, as scanpy does; results cannot be written to a view."""
    if not adata.is_view:
        return
    if adata.isbacked:
        raise ValueError(
            "adata: a view of a file cannot be written to; adata.to_memory() returns an independent AnnData"
        )
    warnings.warn("adata is a view of another AnnData: it becomes independent", UserWarning, stacklevel=4)
    adata._init_as_actual(adata.copy())


def column(data: Any, adata: Any, name: str, said: str) -> Any:
    """Return a column of ``obs``; for a MuData, of its modality, otherwise its own."""
    if name in adata.obs:
        return adata.obs[name]
    if data is not adata and name in data.obs:
        return data.obs[name].reindex(adata.obs_names)
    known = ", ".join(repr(column) for column in adata.obs.columns[:20]) or "none"
    raise ValueError(f"{said}={name!r}: no such column in adata.obs; its columns: {known}")


def labels(values: Any) -> Any:
    """Return a column of labels (n,) as NumPy; with missing labels, objects or numbers with NaN."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if values.isna().any():
        if is_numeric_dtype(values) and not is_bool_dtype(values):
            return values.to_numpy(dtype=float, na_value=np.nan)
        return values.astype(object).where(values.notna(), np.nan).to_numpy(dtype=object)
    if hasattr(values, "cat"):
        return np.asarray(values.cat.categories)[values.cat.codes]
    return values.to_numpy()


def covariate_table(data: Any, adata: Any, names: str | Sequence[str]) -> Any:
    """Return the columns of covariates as a DataFrame (n, q); None if there are none."""
    chosen = [names] if isinstance(names, str) else list(names)
    if not chosen:
        return None
    import pandas as pd

    return pd.DataFrame({name: column(data, adata, name, "covariates") for name in chosen})


def chosen_genes(adata: Any, mask_var: Any) -> np.ndarray:
    """Return positions of the genes to fit; "auto" selects highly variable genes if marked, otherwise all."""
    names = adata.var_names
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise ValueError(
            f"adata.var_names: {str(twice)!r} occurs twice; adata.var_names_make_unique() makes names unique"
        )
    p = len(names)
    if isinstance(mask_var, str) and mask_var == "auto":
        mask_var = "highly_variable" if "highly_variable" in adata.var else None
    if mask_var is None:
        return np.arange(p)
    if isinstance(mask_var, str):
        if mask_var not in adata.var:
            raise ValueError(f"mask_var={mask_var!r}: no such column in adata.var")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.shape != (p,) or mask.dtype != bool:
        raise ValueError(
            f"mask_var: True or False for each of {p} genes is required, got {mask.dtype} of "
            f"shape {mask.shape}"
        )
    if not mask.any():
        raise ValueError("mask_var: it selects no gene; at least one is required")
    return np.flatnonzero(mask)
