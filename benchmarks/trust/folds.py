"""Whether folds are sealed: what a training part yields must not change with what stands in its test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.trust.draw import Problem
from superfactor import SMFClassifierCV
from superfactor.selection import nested_scores

#: What is put into test rows: where the folds that learn from these rows refuse it, the next one.
LARGE = (1e300, 1e150, 1e15)
OPTIONS: dict[str, Any] = {"n_splits": 3, "n_repeats": 1, "baselines": False}


class _Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that knows only which samples it was asked about: X is their numbers."""

    asked: list[Any] = []  # noqa: RUF012 - clones share it

    def fit(self, X: Any, y: Any) -> _Recorder:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        self.asked.append(np.asarray(X)[:, 0].astype(int))
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_parts(y: Any) -> list[Any]:
    """Positions of the test samples of every outer fold: they depend on the labels alone."""
    _Recorder.asked.clear()
    nested_scores(
        _Recorder(), np.arange(len(y), dtype=float)[:, None], y, groups=np.arange(len(y)), **OPTIONS
    )
    return list(_Recorder.asked)


def refuses(error: Exception) -> bool:
    """Whether this is a clear refusal: a ValueError of one line, and no LinAlgError, which is one too."""
    failed = isinstance(error, np.linalg.LinAlgError)
    return isinstance(error, ValueError) and not failed and "\n" not in str(error)


def suits(p: Problem) -> bool:
    """Whether the problem has labels enough for nested folds; weights and gaps have no part in this check."""
    return p.outcome == "two classes" and bool(np.bincount(p.y).min() >= 5)


def differences(p: Problem, rng: np.random.Generator) -> list[tuple[str, str]]:
    """What changes in an outer fold when half of its test rows are made as large as floats allow.

    Compared bit for bit: the chosen parameters, and the probabilities of the other half. The other folds
    learn from these rows: they may refuse them by a ValueError, and nothing else.

    Returns
    -------
    found : the kind of each violation, "unequal folds" or "exception", and what it is
    """
    X, y = p.X.astype(float), p.y
    # Every sample is a group of its own: otherwise folds keep copies together, which depend on all rows.
    alone = np.arange(len(y))
    search = SMFClassifierCV(p.parameters["n_components"], model=p.model)
    parts = test_parts(y)
    k = int(rng.integers(len(parts)))
    half = parts[k][::2]
    other = parts[k][1::2]
    before = nested_scores(search, X, y, groups=alone, **OPTIONS)
    found = []
    for size in LARGE:
        large = X.copy()
        large[half] = size * rng.choice([-1.0, 1.0], (len(half), X.shape[1]))
        try:
            after = nested_scores(search, large, y, groups=alone, **OPTIONS)
        except Exception as error:
            if refuses(error):
                continue
            words = f"nested_scores, {size:g} in test rows: {type(error).__name__}: {error}"
            found.append(("exception", words))
            continue
        with_it = f"with {size:g} in test rows"
        for name, value in before.chosen[k].items():
            if after.chosen[k][name] != value:
                words = f"{name} of fold {k} is {value!r}, {with_it} {after.chosen[k][name]!r}"
                found.append(("unequal folds", words))
        if not np.array_equal(before.predictions[other], after.predictions[other]):
            far = np.abs(before.predictions[other] - after.predictions[other]).max()
            found.append(("unequal folds", f"probabilities of fold {k} move by {far:.2g} {with_it}"))
        break
    return found
