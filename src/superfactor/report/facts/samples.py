"""Samples with their names, outcomes, predictions and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.targets import CheckedY
from superfactor.interpretation import FactorView
from superfactor.outcomes import Outcome
from superfactor.report.formats import label


@dataclass(frozen=True)
class SampleResults:
    """Samples with their names, outcomes, predictions and scores."""

    ids: list[str]  # n names
    truth: Any  # (n, …), in the form of the kind of y; None without labels
    rows: Any  # (n, k): probabilities, values or risks
    scores: Any  # (n, r), computed without labels, in display order and sign
    out_of_fold: Any = None  # (n, r), the same from models fitted without the samples; None without any

    def __len__(self) -> int:
        return len(self.ids)


def labels_of(name: str, y: Any, ids: list[str], outcome: Outcome, unlabeled: Any) -> CheckedY:
    """Return the labels of samples, and which samples have one; `name` is the parameter for errors."""
    # A table of several columns, or of events and times, is passed to the kind of y unchanged.
    labels = y if np.ndim(y) == 2 and min(np.shape(y)) > 1 else np.ravel(np.asarray(as_numpy(y)))
    if len(labels) != len(ids):
        raise ValueError(f"{name}: {len(labels)} labels for {len(ids)} samples; the numbers must agree")
    given = outcome.read(labels, np.empty((len(ids), 0)), "write_report", unlabeled)
    if given.known is not None and not given.known.any():
        raise ValueError(f"{name}: none of the {len(ids)} samples has a label; some are required")
    return given


def parts_of(
    name: str,
    given: CheckedY,
    outcome: Outcome,
    estimator: Any,
    view: FactorView,
    ids: list[str],
    X: Any,
    covariates: Any,
) -> tuple[SampleResults, SampleResults | None]:
    """Return the results of the samples with a label and of those without; X (n, p) is preprocessed."""
    classes, truth = outcome.recognised(estimator, given, name)
    known = X if given.known is None else _safe_indexing(X, np.flatnonzero(given.known))
    truth = outcome.observed(truth, estimator, known)

    def results(ids: list[str], truth: Any, X: Any, covariates: Any) -> SampleResults:
        rows = outcome.rows(estimator, X, classes, covariates=covariates)
        rows = np.asarray(as_numpy(rows), dtype=np.float64)
        scores = view.scores_of(estimator.transform(X))
        return SampleResults(ids, truth, outcome.page.cleaned(rows), scores)  # type: ignore[union-attr]

    if given.known is None:
        return results(ids, truth, X, covariates), None
    parts = []
    for there, own in ((given.known, truth), (~given.known, None)):
        at = np.flatnonzero(there)
        extra = None if covariates is None else _safe_indexing(covariates, at)
        parts.append(results([ids[i] for i in at], own, _safe_indexing(X, at), extra))
    return parts[0], parts[1]


def names_of(ids: Sequence[Any] | None, X: Any, X_test: Any) -> tuple[list[str], list[str]]:
    """Return names of the training and of the held-out samples."""
    n, m = np.shape(X)[0], 0 if X_test is None else np.shape(X_test)[0]
    if ids is None:
        return _own_names(X, n, ""), _own_names(X_test, m, "held-out ")
    given = [label(name) for name in ids]
    if len(given) == n + m:
        return given[:n], given[n:]
    if len(given) == n:
        return given, _own_names(X_test, m, "held-out ")
    allowed = f"{n} (training samples)" + (f" or {n + m} (then held-out ones)" if m else "")
    raise ValueError(f"ids: {len(given)} names are given, {allowed} are required")


def _own_names(X: Any, n: int, prefix: str) -> list[str]:
    """Return the index of a DataFrame, otherwise numbers from 1."""
    index = getattr(X, "index", None)
    if index is not None and not callable(index):
        return [label(name) for name in index]
    return [f"{prefix}{i + 1}" for i in range(n)]
