"""Rows that are too long for any fit: a fold that is asked about one answers, and no square overflows.

F is a sum of squares. A fit refuses X whose sum of squares leaves the range of its type, and says so. A row
that a fold is only asked about must not end a search: it is shortened to a length that can be squared, and
its prediction stays as far off as that of any huge row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp


def _largest(dtype: Any) -> float:
    """The root of what a sum of squares may be in a fit (`superfactor.problem`)."""
    return float(np.finfo(dtype).tiny) ** -0.45


#: The longest row in double precision.
LONGEST = _largest(np.float64)


def longest_in(rows: Any) -> float:
    """The longest row in the type of these."""
    return _largest(rows.dtype) if rows.dtype == np.float32 else LONGEST


def too_long(rows: Any, longest: float) -> Any:
    """Positions of the rows of X (k, p) beyond this length; none of what is no array of floating numbers."""
    values = rows.data if sp.issparse(rows) else rows
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or not values.size:
        return np.empty(0, dtype=int)
    # fmax and fmin know no gaps.
    largest = max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None))
    if not float(largest) * math.sqrt(rows.shape[1]) > longest:
        return np.empty(0, dtype=int)
    return np.flatnonzero([_beyond(part, longest) for part in _each(rows)])


def shortened(rows: Any, longest: float) -> Any:
    """X (k, p) with rows beyond this length cut to it, in their direction; X itself where there are none.

    Gaps stay gaps.
    """
    long = too_long(rows, longest)
    if not len(long):
        return rows
    found = rows.tocsr(copy=True) if sp.issparse(rows) else np.array(rows)
    parts = _each(found)
    for i in long:
        direction = _direction(parts[i])
        parts[i][...] = direction * (longest / math.sqrt(np.nansum(direction**2)))
    return found


def _each(rows: Any) -> list[Any]:
    """The numbers of each row, as views where it is CSR."""
    if not sp.issparse(rows):
        return list(rows)
    rows = rows.tocsr()
    return np.split(rows.data, rows.indptr[1:-1])


def _direction(row: Any) -> Any:
    """Over its largest number: squares of this neither overflow nor vanish."""
    finite = np.nan_to_num(row, nan=np.nan).astype(np.float64)
    return finite / np.nanmax(np.abs(finite))


def _beyond(row: Any, longest: float) -> bool:
    largest = float(np.nanmax(np.abs(row), initial=0.0))
    if largest == 0:
        return False
    return math.sqrt(np.nansum(_direction(row) ** 2)) > longest / largest
