"""Transfer of arguments to blocks on another device, and of sums back.

The solver's own arrays are small: NumPy finishes an operation on them before a GPU kernel starts. They are
therefore NumPy arrays for every X, and only arguments and sums are transferred, as on a cluster.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from superfactor._arrays import Array, moved, namespace, to_numpy, wide
from superfactor.samples.block import Along

_HOME = (float, int, tuple, np.ndarray, np.generic)


def there(argument: Any, like: Array) -> Any:
    """Return an argument with its NumPy arrays in the library and on the device of `like`, same dtype."""
    if isinstance(argument, np.ndarray):
        return moved(argument, like)
    if isinstance(argument, tuple | list):
        return type(argument)(there(part, like) for part in argument)
    if isinstance(argument, Along):
        coef, directions = there((argument.coef, argument.directions), like)
        return replace(argument, coef=coef, directions=directions)
    return argument


def here(sums: Any) -> Any:
    """Return the sums of a block, numbers, arrays or tuples of them, with arrays as NumPy float64."""
    if not isinstance(sums, tuple):
        return here((sums,))[0]
    home = [here(x) if isinstance(x, tuple) else x for x in sums]
    away = [i for i, x in enumerate(home) if not isinstance(x, _HOME)]
    if len(away) == 1:
        home[away[0]] = to_numpy(home[away[0]])
    elif away:
        # In one transfer, since each waits for all pending work of the device.
        parts = [home[i] for i in away]
        xp, ends = namespace(*parts), np.cumsum([math.prod(x.shape) for x in parts])
        flat = to_numpy(xp.concat([xp.reshape(x, (-1,)) for x in parts]))
        for i, x, values in zip(away, parts, np.split(flat, ends[:-1]), strict=True):
            home[i] = values.reshape(tuple(x.shape))
    return tuple(wide(x) if isinstance(x, np.ndarray) else x for x in home)
