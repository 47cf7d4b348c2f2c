"""What formats other than tables know of their samples, as the columns that tables have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._extras import needed_for
from superfactor.tables.grids.cells import ROW_NAMES
from superfactor.tables.grids.grid import frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["about_samples"]


def about_samples(
    n: int, columns: Mapping[str, Any], text: Collection[str] = (), names: Any = None
) -> pd.DataFrame:
    """A table of n samples like those that `read_table` gives.

    Parameters
    ----------
    columns : dict from a name to n values: numbers, booleans, or anything that is then text
    text : names of columns to keep as text
    names : of the samples (n,), for the column ``row name``; None if they have none
    """
    with needed_for("tables from files", "data"):
        import pandas as pd

    texts: dict[str, list[str | None]] = {}
    numeric: dict[str, Any] = {}
    if names is not None:
        texts[ROW_NAMES] = [str(name) for name in names]
    for name, values in columns.items():
        if name == ROW_NAMES and names is not None:
            continue
        series = pd.Series(values)
        kind = series.dtype
        if name not in text and (
            pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)
        ):
            numeric[name] = series.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            gone = series.isna()
            texts[name] = [None if empty else str(v) for v, empty in zip(series, gone, strict=True)]
    block = np.column_stack(list(numeric.values())) if numeric else np.empty((n, 0))
    order = [name for name in (ROW_NAMES, *columns) if name in texts or name in numeric]
    return frame(list(dict.fromkeys(order)), block, list(numeric), texts, range(1, n + 1), "row")
