"""Missing values in the microarrays: the error of imputation, and the loss of accuracy of a classifier.

Entries are removed at random (2, 10 and 30 %), and in two practical patterns: probes that one batch of
samples did not measure, and a block of columns that some samples do not have. The error is the root mean
square over the removed entries, in standard deviations of the remaining entries of their columns; the whole
table is imputed. Accuracy is that of `SMFClassifier(2)` on standardised columns, the mean of ten random
halves. Model and imputer are fitted to one half; both halves have missing values.

`absent` removes features from the test half only, until they have a share of the weight of the prediction: at
random, or the heaviest ones first. The model completes them from its factors.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction.data import VARIABLE, load_microarray
from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.preprocessing import LowRankImputer

Mask = np.ndarray
# Shares of the weight of the prediction that absent features have.
WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)


def missing(quick: bool = False) -> list[dict[str, Any]]:
    """Return errors, processor time and accuracies for each table and pattern of missing values."""
    rows = []
    for name, X, y in [_small()] if quick else _tables(Path(os.environ.get(VARIABLE, "."))):
        halves = _halves(y, 2 if quick else 10)
        whole = _accuracy(None, X, y, halves, lambda shape, seed: np.zeros(shape, dtype=bool))
        for pattern, remove in PATTERNS.items():
            rows.append({"case": f"{name}, {X.shape[0]} × {X.shape[1]}", "pattern": pattern})
            rows[-1] |= _errors(X, remove(X.shape, 0))
            rows[-1]["accuracy, all entries"] = whole
            for method in ("mean", "low rank"):
                rows[-1][f"accuracy, {method}"] = _accuracy(IMPUTERS[method], X, y, halves, remove)
    return rows


def absent(quick: bool = False) -> list[dict[str, Any]]:
    """Return how predictions without some features compare with complete ones, for each table and share."""
    rows = []
    for name, X, y in [_small()] if quick else _tables(Path(os.environ.get(VARIABLE, "."))):
        found = [_without(X, y, *half, seed) for seed, half in enumerate(_halves(y, 2 if quick else 10))]
        for (order, weight), first in found[0].items():
            each = [half[order, weight] for half in found]
            rows.append({"case": f"{name}, {X.shape[0]} × {X.shape[1]}", "absent": order, "weight": weight})
            rows[-1] |= {key: float(np.mean([one[key] for one in each])) for key in first}
            rows[-1]["correlation, worst"] = float(np.min([one["correlation"] for one in each]))
    return rows


def _without(X: np.ndarray, y: np.ndarray, train: Any, test: Any, seed: int) -> dict[Any, dict[str, float]]:
    """Return figures of a test half by which features are absent and their weight."""
    model = make_pipeline(StandardScaler(), SMFClassifier(2, impute="factors")).fit(X[train], y[train])
    whole = model.predict_proba(X[test])
    smf, found = model[-1], {}
    weights = (smf.feature_importances_ * smf.feature_scale_) ** 2
    orders = {
        "at random": np.random.default_rng(seed).permutation(X.shape[1]),
        "heaviest first": np.argsort(-weights),
    }
    for order, features in orders.items():
        sums = np.cumsum(weights[features]) / weights.sum()
        for weight in WEIGHTS:
            gone = features[: np.searchsorted(sums, weight) + 1]
            holes = X[test]
            holes[:, gone] = np.nan
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                left = model.predict_proba(holes)
            found[order, weight] = {
                "features": len(gone) / X.shape[1],
                "correlation": float(np.corrcoef(whole[:, 0], left[:, 0])[0, 1]),
                "accuracy, complete": 100 * float(np.mean(smf.classes_[whole.argmax(axis=1)] == y[test])),
                "accuracy": 100 * float(np.mean(smf.classes_[left.argmax(axis=1)] == y[test])),
            }
    return found


def _small() -> tuple[str, np.ndarray, np.ndarray]:
    found = load_prostate()
    return "prostate", found.X[:, :300], found.y


def _tables(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The microarrays in the folder; intensities in logarithms."""
    patterns = ("chowdary*.csv.gz", "singh*.npz", "GSE*.csv.gz")
    paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not paths:
        raise SystemExit(f"no microarrays in {folder}: set {VARIABLE} to the folder that has them")
    for path in paths:
        found = load_microarray(path)
        X = np.log2(np.maximum(found.X, 1)) if found.X.max() > 100 else found.X
        yield path.name.split("_")[0], X.astype(np.float64), found.y


# --- patterns of missing values ----------------------------------------------------------------------


def _at_random(share: float) -> Callable[[tuple[int, int], int], Mask]:
    return lambda shape, seed: np.random.default_rng(seed).random(shape) < share


def _batch(shape: tuple[int, int], seed: int) -> Mask:
    """Return a mask: a third of the samples lacks a fifth of the probes."""
    rng = np.random.default_rng(seed)
    return np.outer(rng.random(shape[0]) < 1 / 3, rng.random(shape[1]) < 1 / 5)


def _block(shape: tuple[int, int], seed: int) -> Mask:
    """Return a mask: a fifth of the samples has only the first half of the columns."""
    rng = np.random.default_rng(seed)
    return np.outer(rng.random(shape[0]) < 1 / 5, np.arange(shape[1]) >= shape[1] // 2)


PATTERNS = {
    "2 % at random": _at_random(0.02),
    "10 % at random": _at_random(0.1),
    "30 % at random": _at_random(0.3),
    "1/5 of probes, 1/3 of samples": _batch,
    "half the columns, 1/5 of samples": _block,
}


# --- measures --------------------------------------------------------------------------------------------

IMPUTERS: dict[str, Any] = {
    "mean": SimpleImputer(),
    "5 neighbours": KNNImputer(),
    "low rank": LowRankImputer(),
}


def _errors(X: np.ndarray, gone: Mask) -> dict[str, float]:
    """Return root mean square errors, and processor seconds for all imputers except the mean."""
    holes = np.where(gone, np.nan, X)
    centre, scale = np.nanmean(holes, axis=0), np.nanstd(holes, axis=0)
    scale[scale == 0] = 1.0
    holes, truth = (holes - centre) / scale, ((X - centre) / scale)[gone]
    errors, seconds = {}, {}
    for method, imputer in IMPUTERS.items():
        start = time.process_time()
        filled = imputer.fit_transform(holes)[gone]
        seconds[f"CPU s, {method}"] = time.process_time() - start
        errors[f"error, {method}"] = float(np.sqrt(np.mean((filled - truth) ** 2)))
    del seconds["CPU s, mean"]
    return {**errors, **seconds}


def _halves(y: np.ndarray, repeats: int) -> list[tuple[np.ndarray, np.ndarray]]:
    splits = StratifiedShuffleSplit(repeats, test_size=0.5, random_state=0)
    return list(splits.split(y, y))


def _accuracy(imputer: Any, X: np.ndarray, y: np.ndarray, halves: list[Any], remove: Any) -> float:
    """Return the accuracy on the test halves in per cent."""
    model = make_pipeline(imputer, StandardScaler(), SMFClassifier(2))
    scores = []
    for seed, (train, test) in enumerate(halves):
        holes = np.where(remove(X.shape, seed), np.nan, X)
        scores.append(model.fit(holes[train], y[train]).score(holes[test], y[test]))
    return 100 * float(np.mean(scores))
