"""Entrywise bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor._arrays import Array, device, namespace, to_numpy
from superfactor.constraints.base import ConvexSet, Point, parts_of, same_form


class Box(ConvexSet):
    """``{Z : lower ≤ Z ≤ upper}`` entry by entry.

    Parameters
    ----------
    lower, upper : float or array
        Bounds that broadcast against the point; ``-inf`` and ``inf`` leave a side open. For a tuple
        they apply to each part, so arrays are for single parts (see ``Product``).

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.constraints import Box
    >>> Box(-1.0, [1.0, 5.0]).project(np.array([3.0, 3.0]))
    array([1., 3.])
    """

    def __init__(self, lower: float | Array = -math.inf, upper: float | Array = math.inf) -> None:
        # Small and independent of the data: kept as NumPy, moved to the point's library on use.
        low, high = _bound("lower", lower), _bound("upper", upper)
        if np.any(low > high):
            raise ValueError(f"lower={lower!r}: must nowhere exceed upper={upper!r}")
        # An empty box in disguise: no finite number lies at or beyond an infinite bound.
        if np.any(low == math.inf) or np.any(high == -math.inf):
            raise ValueError(f"lower={lower!r}, upper={upper!r}: the box contains no finite point")
        self.lower = lower
        self.upper = upper
        self._low = low
        self._high = high

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lower={self.lower!r}, upper={self.upper!r})"

    def project(self, Z: Point) -> Point:
        return same_form(Z, tuple(self._clip(part) for part in parts_of(Z)))

    def _clip(self, part: Array) -> Array:
        xp = namespace(part)
        for bound, nearest in ((self._low, xp.maximum), (self._high, xp.minimum)):
            if np.all(np.isinf(bound)):
                continue
            limit = xp.asarray(bound, dtype=part.dtype, device=device(part))
            part = nearest(part, xp.broadcast_to(limit, part.shape))
        return part


class NonNegative(Box):
    """The orthant ``{Z : Z ≥ 0}``.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor import SMFClassifier
    >>> from superfactor.constraints import NonNegative
    >>> NonNegative().project(np.array([-1.0, 2.0]))
    array([0., 2.])

    Supervised non-negative matrix factorization:

    >>> X, y = np.random.default_rng(0).random((20, 4)), np.arange(20) % 2
    >>> model = SMFClassifier(2, solver="bcd", constraint=NonNegative()).fit(X, y)
    >>> bool(model.components_.min() >= 0)
    True
    """

    def __init__(self) -> None:
        super().__init__(lower=0.0)

    def __repr__(self) -> str:
        return "NonNegative()"


def _bound(name: str, value: float | Array) -> Any:
    bound = np.asarray(to_numpy(value) if hasattr(value, "shape") else value, dtype=np.float64)
    if np.any(np.isnan(bound)):
        raise ValueError(f"{name}={value!r}: numbers without NaN are required")
    return bound
