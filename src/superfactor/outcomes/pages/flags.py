"""The page for several yes/no labels: a ROC curve and a row of a table for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from superfactor.outcomes.metrics.proportions import area_interval
from superfactor.outcomes.pages.base import Page
from superfactor.outcomes.pages.classes import roc

_NOT_KNOWN = 2


class FlagPage(Page):
    """Truth (n, κ) is 0, 1 or NaN. A sample has one colour per label; the reader selects the label."""

    folder = "flags"
    own_term = "own AUC"
    scorer = "log-likelihood"
    target = "the labels"
    predictor = "classifier"
    lacking = "any label"
    influence = "the labels influence"
    prediction_heading = "How good the predictions are, label by label"
    features_heading = "Which features go with labels and factors"
    effect_column = ("auc", 0.5)

    def groups(self, names: Sequence[str]) -> list[str]:
        return ["no", "yes", "not known"]

    def sorts(self, truth: Any) -> Any:
        """Return the state of the first label."""
        return _states(truth)[:, 0]

    def colours(self, truth: Any) -> list[Any]:
        """Return the state of every label: no, yes or not known."""
        return _states(truth).tolist()

    def said(self, truth: Any, row: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        own: list[tuple[str, Any]] = []
        for k, name in enumerate(names):
            state = "" if truth is None else f" ({self.groups(names)[_states(truth[None])[0, k]]})"
            own.append((f"{name}{state}: probability", float(row[k])))
        return own

    def summary(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        return [(f"{name}: yes", int(np.sum(truth[:, k] == 1))) for k, name in enumerate(names)]

    def describe(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        return [(name, int(np.sum(truth[:, k] == 1))) for k, name in enumerate(names)]

    def towards(self, effect: Any, up: int, names: Sequence[str]) -> tuple[str, str]:
        if not np.any(effect):
            return "", ""
        k = int(np.argmax(np.abs(effect)))
        return names[k] if effect[k] > 0 else f"not {names[k]}", ""

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        areas = [_area(values, score)[0] for values in truth.T]
        k = int(np.argmax(np.abs(effect) if np.any(effect) else np.abs(np.nan_to_num(areas) - 0.5)))
        return areas[k], k

    def rows_of(self, activations: Any) -> Any:
        return expit(activations)

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """Return a curve and a row of the table for each label."""
        labels, curves = [], []
        for k, name in enumerate(names):
            values, known = truth[:, k], np.isfinite(truth[:, k])
            area, low, high = _area(values, rows[:, k])
            share = float(np.mean(values[known])) if known.any() else math.nan
            labels.append(
                {
                    "name": name,
                    "known": int(known.sum()),
                    "share": share,
                    "area": area,
                    "low": low,
                    "high": high,
                }
            )
            if math.isfinite(area):
                curves.append(roc(values[known] == 1, rows[known, k], k))
        return {"labels": labels, "curves": curves}


def _states(truth: Any) -> Any:
    return np.where(np.isfinite(truth), np.nan_to_num(truth), _NOT_KNOWN).astype(int)


def _area(values: Any, score: Any) -> tuple[float, float, float]:
    """Return the ROC area of known values and its 95 % interval.

    NaN if all known values are the same.
    """
    known = np.isfinite(values)
    yes = int(np.sum(values[known] == 1))
    no = int(known.sum()) - yes
    if not yes or not no:
        return math.nan, math.nan, math.nan
    a = float(roc_auc_score(values[known], score[known]))
    return a, *area_interval(a, yes, no)
