"""Counts: what they may be, how well they are predicted, and numbers that look like them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import CheckedY
from superfactor.losses import PoissonLoss

# Of counts: as many different values at least, and variances of this share of the mean.
_FEWEST_VALUES, _LEAST_DISPERSION = 5, 0.5
# Labels are used about equally often; of counts the most frequent is this much more so than the median one.
_UNEVEN = 1.5


def check_counts(given: CheckedY) -> CheckedY:
    """The same; a ValueError where a number is negative."""
    bad = given.labelled[given.labelled < 0]
    if bad.size:
        raise ValueError(
            f"y: loss='poisson' requires counts or rates >= 0, but {bad.size} of the values are negative, "
            f"{shown(float(bad.flat[0]))} first; loss='squared' takes them"
        )
    return given


def exposure_of(column: Any, loss: str) -> Any:
    """`exposure_column` as it is; a ValueError where the loss knows no exposures."""
    if column is not None and loss != "poisson":
        raise ValueError(
            f"exposure_column={shown(column)}: loss='poisson' is required, or exposure_column=None with "
            f"loss={loss!r}"
        )
    return column


def check_some_counted(given: CheckedY) -> None:
    """A ValueError where nothing was counted: the best logarithm of a rate is then minus infinity."""
    columns = given.labelled.reshape(len(given.labelled), -1)
    if len(columns) and not np.all(columns.max(axis=0) > 0):
        which = "" if columns.shape[1] == 1 else f" in column {int(np.argmin(columns.max(axis=0)))}"
        raise ValueError(f"y: some counts > 0 are required{which}, but all of them are 0")


def expected_counts(a: Array) -> Array:
    """``e^a``, and the largest float where that is larger than any."""
    xp = namespace(a)
    return xp.exp(xp.clip(a, max=math.log(float(xp.finfo(a.dtype).max))))


def half_deviances(counts: Any, expected: Any) -> Any:
    """Half the Poisson deviance of each count, arrays of one shape; an expectation of 0 is almost 0."""
    counts, expected = (np.asarray(x, dtype=float)[..., None] for x in (counts, expected))
    return PoissonLoss().value(np.log(np.maximum(expected, np.finfo(float).tiny)), counts)


def beyond_exposure(counts: Any, exposures: Any) -> Any:
    """What counts (n, κ) say beside their exposures (n, 1): (count − expected)/√expected, by one rate.

    These are Pearson's residuals. All vary about alike, while rates of little exposure are mostly noise.
    """
    counts = np.asarray(counts, dtype=float)
    expected = exposures * np.maximum(counts.sum(axis=0) / np.sum(exposures), np.finfo(float).tiny)
    return (counts - expected) / np.sqrt(expected)


def deviance_explained(counts: Any, expected: Any, weight: Any = None, exposures: Any = None) -> float:
    """D²: one less the deviance over that of one rate for all, averaged over the columns; NaN of one sample.

    Parameters
    ----------
    counts, expected : (n,) or (n, κ)
    weight : (n,) or None
    exposures : (n, 1) or None; the rate is that of a unit of exposure
    """
    counts, expected = (np.asarray(x, dtype=float).reshape(len(counts), -1) for x in (counts, expected))
    if len(counts) < 2:
        return float("nan")
    weight = np.ones(len(counts)) if weight is None else np.asarray(weight, dtype=float)
    exposures = np.ones((len(counts), 1)) if exposures is None else np.asarray(exposures, dtype=float)
    rate = (weight @ counts) / (weight @ exposures)
    left = weight @ half_deviances(counts, expected)
    whole = weight @ half_deviances(counts, exposures * rate)
    explained = 1.0 - left / np.where(whole > 0, whole, 1.0)
    # As for R²: nothing to explain is explained by those who say so.
    return float(np.mean(np.where(whole > 0, explained, np.where(left > 0, 0.0, 1.0))))


def looks_like_counts(y: Any) -> bool:
    """Whether the values (n,) are probably counts: whole numbers from 0 on, small ones more often.

    At least five different ones; 0 or 1 among them; a variance not far below the mean or above it; and not
    all about equally frequent, as class numbers are. NaN and None are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.estimators.targets import looks_like_counts
    >>> rng = np.random.default_rng(0)
    >>> looks_like_counts(rng.poisson(2.0, 200)), looks_like_counts(np.arange(200) % 10)
    (True, False)
    """
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        return False
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        return False
    values = values[~np.isnan(values)]
    if not len(values) or not np.all(np.isfinite(values)) or np.any(values < 0) or np.any(values % 1):
        return False
    found, times = np.unique(values, return_counts=True)
    if len(found) < _FEWEST_VALUES or found[0] > 1 or values.var() < _LEAST_DISPERSION * values.mean():
        return False
    if len(found) > len(values) / 2:  # hardly any occurs twice: large counts spread over orders of magnitude
        return bool(np.median(values) < values.mean())
    # Small ones are frequent, large ones are rare.
    return bool(
        times.max() > _UNEVEN * np.median(times) and times[found <= np.median(values)].max() > times[-1]
    )
