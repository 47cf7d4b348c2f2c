"""The same problem said otherwise: its objective must not change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.trust.draw import Problem, changed

Generator = np.random.Generator


def repeated(p: Problem, rng: Generator) -> Problem | None:
    """Samples repeated instead of weighted, where weights are whole numbers."""
    if p.sample_weight is None or np.any(p.sample_weight % 1):
        return None
    if p.parameters.get("ties") == "efron":  # twice is a tie, and a weight of 2 is none
        return None
    rows = np.repeat(np.arange(len(p.X)), p.sample_weight.astype(int))
    return _rows(p, rows, "samples repeated instead of weighted", weight=None)


def samples_permuted(p: Problem, rng: Generator) -> Problem:
    """Samples in another order."""
    rows = rng.permutation(len(p.X))
    weight = None if p.sample_weight is None else p.sample_weight[rows]
    return _rows(p, rows, "samples permuted", weight=weight)


def features_permuted(p: Problem, rng: Generator) -> Problem:
    """Columns in another order."""
    columns = rng.permutation(p.X.shape[1])
    return changed(p, "features permuted", X=np.ascontiguousarray(p.X[:, columns]))


def classes_permuted(p: Problem, rng: Generator) -> Problem | None:
    """Other numbers for the classes: both of two; of several all but the first, which the ridge knows."""
    if p.outcome not in ("two classes", "classes"):
        return None
    present = np.unique(p.y)
    new = present[::-1] if len(present) == 2 else np.append(present[0], rng.permutation(present[1:]))
    return changed(p, "classes permuted", y=new[np.searchsorted(present, p.y)])


def shifted(p: Problem, rng: Generator) -> Problem | None:
    """Numbers further from zero, where there is an intercept; in float32 that would round them."""
    if p.outcome != "numbers" or not p.parameters.get("fit_intercept", True):
        return None
    if p.X.dtype != np.float64:
        return None
    far = 10 ** rng.uniform(0, 3) * np.std(p.y)
    return changed(p, f"y shifted by {far:.3g}", y=p.y + far)


def rescaled(p: Problem, rng: Generator) -> Problem | None:
    """X in another unit, a power of two so that nothing is rounded, where ξ and λ follow it."""
    if p.parameters["xi"] != "auto" or p.parameters["lam"] != "auto":
        return None
    unit = 2.0 ** int(rng.integers(-20, 21))
    return changed(p, f"X in units of {unit:g}", X=(p.X * unit).astype(p.X.dtype))


WAYS: tuple[Callable[[Problem, Generator], Problem | None], ...] = (
    repeated,
    samples_permuted,
    features_permuted,
    classes_permuted,
    shifted,
    rescaled,
)


def same(p: Problem, rng: Generator) -> Problem:
    """The problem said otherwise in one of the ways that apply to it."""
    ways = [said for way in WAYS if (said := way(p, rng)) is not None]
    return ways[int(rng.integers(len(ways)))]


def _rows(p: Problem, rows: Any, words: str, weight: Any) -> Problem:
    covariates, exposures = (None if part is None else part[rows] for part in (p.covariates, p.exposures))
    return changed(
        p, words, X=p.X[rows], y=p.y[rows], absent=p.absent[rows], covariates=covariates,
        sample_weight=weight, exposures=exposures,
    )  # fmt: skip
