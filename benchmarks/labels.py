"""What is gained from samples without a label: accuracy on them, against the number of labels.

Of each table some samples of every class keep their labels, at least 4. `SMFClassifierCV` and the others see
all samples and these labels, and are asked for the hidden labels. Everybody's settings are chosen by
the same score in the same 4 folds of the labelled samples, the unlabelled ones in every training part.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from reproduction.coordinates import short_rows
from reproduction.data import VARIABLE, load_microarray
from superfactor import SMFClassifierCV

SHARES = (0.1, 0.15, 0.3, 0.6)
FEWEST = 4
OURS = "superfactor"
# C as in scikit-learn, for rows whose first principal component has variance 1.
C = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
RANKS = (2, 3, 5, 10, 20)

#: Probabilities (settings, n', c) of some rows of X (n, p), from y (n,) with -1 where there is no label.
Method = Callable[[Any, Any, Any], Any]


def labels(quick: bool = False, scoring: str = "neg_log_loss") -> list[dict[str, Any]]:
    """Mean accuracy in per cent on samples whose labels were hidden, for every table and number of labels."""
    rows = []
    for name, X, y in _tables():
        for share in SHARES[1:2] if quick else SHARES:
            found: dict[str, list[float]] = {}
            for seed in range(2 if quick else 10):
                for method, score in compare(X, y, labelled(y, share, seed), scoring).items():
                    found.setdefault(method, []).append(100 * score)
            means = {method: float(np.mean(scores)) for method, scores in found.items()}
            count = int(labelled(y, share, 0).sum())
            rows.append({"table": name, "share": share, "labels": count, **means})
    return rows


def _tables() -> Iterator[tuple[str, Any, Any]]:
    """Name, X in logarithms and class numbers of each microarray in the folder."""
    folder = Path(os.environ.get(VARIABLE, "."))
    paths = [p for kind in ("GSE*.csv.gz", "chowdary*.csv.gz", "singh*.npz") for p in folder.glob(kind)]
    if not paths:
        raise SystemExit(f"no microarrays in {folder}: set {VARIABLE} to the folder that has them")
    for path in paths:
        found = load_microarray(path).log2()
        yield path.name.split("_")[0], found.X, np.unique(found.y, return_inverse=True)[1]


def labelled(y: Any, share: float, seed: int) -> Any:
    """Which samples keep their labels, (n,) bool: this share of every class, and at least 4 of it."""
    rng, chosen = np.random.default_rng(seed), np.zeros(len(y), dtype=bool)
    for number in np.unique(y):
        own = np.flatnonzero(y == number)
        chosen[rng.choice(own, max(FEWEST, math.ceil(share * len(own) - 1e-9)), False)] = True
    return chosen


def compare(X: Any, y: Any, known: Any, scoring: str = "neg_log_loss") -> dict[str, float]:
    """The accuracy of every method on the samples that are not known, from the labels of those that are."""
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    search = SMFClassifierCV(preprocess="standardize", scoring=scoring, cv=folds, unlabeled=-1)
    given = np.where(known, y, -1)
    predicted = search.fit(X, given).predict(X[~known])
    scores = {OURS: float(accuracy_score(y[~known], predicted))}
    # The same inner products in few columns.
    rows = short_rows(StandardScaler().fit_transform(X))
    rows = rows * math.sqrt(len(rows)) / np.linalg.norm(rows, 2)
    positions = np.flatnonzero(known)
    splits = [positions[test] for _, test in folds.split(positions, y[known])]
    for name, method in METHODS.items():
        chosen = _best(method, rows, given, splits, scoring)
        found = method(rows, given, rows[~known])[chosen]
        scores[name] = float(accuracy_score(y[~known], found.argmax(axis=1)))
    return scores


def _best(method: Method, X: Any, y: Any, splits: list[Any], scoring: str) -> int:
    """The setting with the best mean score on the labelled samples that each split leaves out."""
    totals: Any = 0.0
    classes = np.unique(y[y >= 0])
    for test in splits:
        kept = np.setdiff1d(np.arange(len(y)), test)
        found = method(X[kept], y[kept], X[test])
        if scoring == "accuracy":
            each = [accuracy_score(y[test], P.argmax(axis=1)) for P in found]
        else:
            each = [-log_loss(y[test], P, labels=classes) for P in found]
        totals = totals + np.array(each)
    return int(np.argmax(totals))


# --- the others ------------------------------------------------------------------------------------------


def _regressions(A: Any, y: Any, B: Any) -> list[Any]:
    """Probabilities of the rows B by logistic regressions on A, one for each C."""
    return [LogisticRegression(C=c, max_iter=2000).fit(A, y).predict_proba(B) for c in C]


def on_labelled(X: Any, y: Any, new: Any) -> Any:
    """Logistic regression on the labelled samples."""
    return np.array(_regressions(X[y >= 0], y[y >= 0], new))


def on_pca_of_all(X: Any, y: Any, new: Any) -> Any:
    """Principal components of all samples, logistic regression on the labelled."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean, full_matrices=False)[2].T
    A, B = (X[y >= 0] - mean) @ axes, (new - mean) @ axes
    ranked = [_regressions(A[:, :r], y[y >= 0], B[:, :r]) for r in RANKS]
    return np.array([P for found in ranked for P in found])


def self_training(X: Any, y: Any, new: Any) -> Any:
    """Logistic regression that learns from its own predictions where it is sure of them."""
    found = []
    for c in C:
        for threshold in (0.75, 0.9):
            base = LogisticRegression(C=c, max_iter=2000)
            model = SelfTrainingClassifier(base, threshold=threshold)
            found.append(model.fit(X, y).predict_proba(new))
    return np.array(found)


def label_spreading(X: Any, y: Any, new: Any) -> Any:
    """Labels that spread to neighbours."""
    squares = (X**2).sum(axis=1)
    distance = np.median(squares[:, None] + squares - 2 * X @ X.T)
    kernels = [{"kernel": "knn", "n_neighbors": k} for k in (3, 5, 10, 20)]
    kernels += [{"kernel": "rbf", "gamma": g / distance} for g in (1, 3, 10, 30)]
    found = []
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")  # samples that no label reaches
        for kernel in kernels:
            for alpha in (0.05, 0.2, 0.8):
                model = LabelSpreading(alpha=alpha, max_iter=200, **kernel).fit(X, y)
                P = model.predict_proba(new)
                found.append(np.nan_to_num(P, nan=1 / P.shape[1]))
    return np.array(found)


METHODS: dict[str, Method] = {
    "LR on the labelled": on_labelled,
    "PCA of all + LR": on_pca_of_all,
    "self-training": self_training,
    "label spreading": label_spreading,
}
