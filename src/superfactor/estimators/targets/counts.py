"""Counts: checks, deviance, exposures, and detection of numbers that look like counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from superfactor._arrays import Array, namespace
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets.checked import CheckedY
from superfactor.losses import PoissonLoss

# Counts have at least this many different values, and a variance of at least this share of the mean.
_FEWEST_VALUES, _LEAST_DISPERSION = 5, 0.5
# The most frequent count exceeds the median frequency by this factor; labels have about equal frequencies.
_UNEVEN = 1.5


def check_counts(given: CheckedY) -> CheckedY:
    """Return y unchanged; raise a ValueError if a number is negative."""
    bad = given.labelled[given.labelled < 0]
    if bad.size:
        raise ValueError(
            f"y: loss='poisson' requires counts or rates >= 0, but {bad.size} of the values are negative, "
            f"{shown(float(bad.flat[0]))} first; loss='squared' allows them"
        )
    return given


def exposure_of(column: Any, loss: str) -> Any:
    """Return `exposure_column`; raise a ValueError if the loss does not support exposures."""
    if column is not None and loss != "poisson":
        raise ValueError(
            f"exposure_column={shown(column)}: loss='poisson' is required, or exposure_column=None with "
            f"loss={loss!r}"
        )
    return column


def check_some_counted(given: CheckedY) -> None:
    """Raise a ValueError if all counts are 0, because the best log-rate is then minus infinity."""
    columns = given.labelled.reshape(len(given.labelled), -1)
    if len(columns) and not np.all(columns.max(axis=0) > 0):
        which = "" if columns.shape[1] == 1 else f" in column {int(np.argmin(columns.max(axis=0)))}"
        raise ValueError(f"y: some counts > 0 are required{which}, but all of them are 0")


def expected_counts(a: Array) -> Array:
    """Return ``e^a``, at most the largest float."""
    xp = namespace(a)
    return xp.exp(xp.clip(a, max=math.log(float(xp.finfo(a.dtype).max))))


def half_deviances(counts: Any, expected: Any) -> Any:
    """Return half the Poisson deviance of each count; expectations of 0 are replaced by a tiny number."""
    counts, expected = (np.asarray(x, dtype=float)[..., None] for x in (counts, expected))
    return PoissonLoss().value(np.log(np.maximum(expected, np.finfo(float).tiny)), counts)


def beyond_exposure(counts: Any, exposures: Any, weight: Any = None) -> Any:
    """Return Pearson residuals (n, κ) of counts given exposures (n, 1) and one rate for all samples.

    The rate is that of samples with weights (n,), by default 1.

    Residuals are (count − expected)/√expected. Their variances are about equal, whereas rates of samples with
    little exposure are mostly noise.
    """
    counts = np.asarray(counts, dtype=float)
    weight = np.ones(len(counts)) if weight is None else weight
    expected = exposures * np.maximum(weight @ counts / (weight @ exposures), np.finfo(float).tiny)
    return (counts - expected) / np.sqrt(expected)


def deviance_explained(counts: Any, expected: Any, weight: Any = None, exposures: Any = None) -> float:
    """Return D²: 1 − deviance / deviance of one rate for all, averaged over columns; NaN for one sample.

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
    # As for R²: if there is nothing to explain, an exact prediction has the score 1 and others 0.
    return float(np.mean(np.where(whole > 0, explained, np.where(left > 0, 0.0, 1.0))))


def looks_like_counts(y: Any) -> bool:
    """Return whether the values (n,) are probably counts: non-negative integers, mostly small.

    There must be at least five different values, including 0 or 1, a variance of at least half the mean, and
    unequal frequencies, in contrast to class numbers. NaN and None are ignored.

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
    if len(found) > len(values) / 2:  # few values repeat: large counts spread over orders of magnitude
        return bool(np.median(values) < values.mean())
    # Small counts are frequent, large ones are rare.
    return bool(
        times.max() > _UNEVEN * np.median(times) and times[found <= np.median(values)].max() > times[-1]
    )
