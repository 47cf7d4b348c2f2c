"""Values that colour cells: a column of ``obs``, a gene, or the outcome of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.anndata.reading import cells, matrix
from superfactor.anndata.reading.outcome import OutcomeRequest
from superfactor.estimators.targets import survival_y


def default(adata: Any, key: str, own: list[str]) -> str:
    """Return the default: the first column `own` of a fit's outcome, or the first predicted column."""
    if own:
        return own[0]
    predicted = [name for name in adata.obs if str(name).startswith((f"{key}_predicted", f"{key}_risk"))]
    return str((predicted or [name for name in adata.obs if str(name).startswith(f"{key}_")] or [key])[0])


def column(data: Any, adata: Any, name: str, layer: str | None, use_raw: bool | None) -> Any:
    """Return a column of ``obs``, or the expression of a gene, as a Series (n,)."""
    raw = adata.raw
    if use_raw and raw is None:
        raise ValueError("use_raw=True: adata.raw is None; leave it out")
    if use_raw and layer is not None:
        raise ValueError(f"layer={layer!r}: use_raw=True uses adata.raw; only one of the two is allowed")
    of_raw = raw is not None and layer is None if use_raw is None else bool(use_raw)
    genes = raw.var_names if of_raw else adata.var_names
    if name in adata.obs or (data is not adata and name in data.obs):
        return cells.column(data, adata, name, "color")
    if name not in genes:
        known = ", ".join(repr(column) for column in adata.obs.columns[:10]) or "none"
        where = "adata.raw.var_names" if of_raw else "adata.var_names"
        raise ValueError(
            f"color={name!r}: neither a column of adata.obs nor a gene of {where}; columns: {known}"
        )
    import pandas as pd

    X = raw.X if of_raw else matrix.stored_matrix(adata, layer)
    values = X[:, [int(genes.get_loc(name))]]
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    return pd.Series(values[:, 0].astype(float), index=adata.obs_names, name=name)


def known(column: Any, fit: Any) -> Any:
    """Return which cells (n,) have a value; for the outcome of a fit, without its `unlabeled` value."""
    there = column.notna().to_numpy()
    mark = None if fit is None else fit["params"].get("unlabeled")
    return there if mark is None else there & (column.astype(object) != mark).to_numpy()


def classes(column: Any, values: Any, known: Any, fit: Any) -> tuple[list[str] | None, Any]:
    """Return the classes in the order of the legend, and the class of each cell; for numbers None and values.

    Numbers that were fitted as classes are classes: 1, and also 1.0 in a column with missing labels.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    names: dict[Any, str] = {}
    if fit is not None and "categories" in fit:
        names = {label: str(label) for label in np.asarray(fit["categories"]).tolist()}
    elif hasattr(column, "cat"):
        names = {label: str(label) for label in column.cat.categories}
    elif is_numeric_dtype(column) and not is_bool_dtype(column):
        return None, column.to_numpy(dtype=float, na_value=np.nan)
    found = values[known].tolist()
    names |= {label: str(label) for label in sorted(set(found) - set(names))}
    labels = np.full(len(values), "", dtype=object)
    labels[known] = [names[label] for label in found]
    return list(dict.fromkeys(names.values())), labels


def events(data: Any, adata: Any, asked: OutcomeRequest) -> Any:
    """Return which cells had an event (n,), bool; None if the outcome of the fit is not survival."""
    if asked.time is None:
        return None
    time, event = (cells.column(data, adata, name, "color").astype(object) for name in asked.columns)
    return survival_y(event, time, asked.event_word)[0]["event"]


def palette(adata: Any, color: str, column: Any) -> dict[str, str]:
    """Return the colours that scanpy has set, if any."""
    chosen = adata.uns.get(f"{color}_colors")
    if chosen is None or not hasattr(column, "cat"):
        return {}
    return dict(zip(map(str, column.cat.categories), map(str, chosen), strict=False))
