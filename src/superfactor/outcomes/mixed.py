"""Several outcomes of different kinds: factors are shared, and each outcome is evaluated separately."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from superfactor.estimators import SMFMixed
from superfactor.estimators.targets import CheckedY
from superfactor.losses import Loss
from superfactor.outcomes.numbers import Numbers, correlation
from superfactor.outcomes.reading import ShownOutputs, Statistics, by_columns, of_leading, with_numbers


class Mixed(Numbers):
    """Several outcomes. Outputs (n, κ) are in the units of the fit, NaN where an outcome is not known."""

    name = "mixed"
    estimator = SMFMixed
    page = None

    def check_evaluable(self, model: Any) -> None:
        raise TypeError(
            f"search={type(model).__name__}: outcomes of different kinds have no common metric; "
            "scores(X, y) returns one for each, and nested cross-validation is for one kind at a time"
        )

    def shown_outputs(self, estimator: Any, positive: Any = None) -> ShownOutputs:
        return ShownOutputs(None, tuple(estimator.output_names_)).towards(positive)

    def is_own(self, estimator: Any, given: CheckedY) -> bool:
        return True

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        raise TypeError("model=SMFMixed: an estimator with a single outcome is required")

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        rows = []
        for v in values.T:
            known = ~np.isnan(v)
            rows.append([correlation(v[known], t[known], weight[known]) for t in scores.T])
        table = np.array(rows)
        return of_leading(np.abs(view.coef), table, np.abs(table), view.outputs)

    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        found = []
        for v in values.T:
            known = np.flatnonzero(~np.isnan(v))
            own = None if weight is None else weight[known]
            found.append(by_columns(X[known], partial(with_numbers, Y=v[known, None], weight=own)))
        return {name: np.concatenate([one[name] for one in found]) for name in found[0]}

    def effect_kind(self, estimator: Any) -> str:
        return "coefficient"

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        found = []
        for column in values.T:
            known = np.flatnonzero(~np.isnan(column))
            found.append(super().ridge_directions(Z[known], column[known], strengths, weight[known]))
        return np.hstack(found)
