"""One fold of a search: paths of solutions over (ξ, λ), each scored on the samples left out."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone

from superfactor._arrays import one_blas_thread
from superfactor.outcomes import Outcome, Target
from superfactor.selection.rows.coordinates import FoldRows
from superfactor.solvers.newton import solve_path
from superfactor.solvers.newton.ridge_directions import ridge_directions

# Of what supervision can change of a candidate's objective. Scores of the best ones are then those of exact
# solutions but for less than a hundredth of their deviation between folds.
TOLERANCE = 1e-4


def score_fold(
    base: Any,
    samples: FoldRows,
    outcome: Outcome,
    target: Target,
    points: list[dict[str, Any]],
    train: Any,
    test: Any,
    scorer: Callable[..., float],
    score_weight: Any,
    post: Callable[[int, np.ndarray], bool] | None = None,
) -> np.ndarray:
    """Test score, seconds to fit and seconds to score of each candidate: (len(points), 3).

    `base` is the estimator whose candidates these are. `score_weight` (n,) reaches the scorer; None where the
    user gave no weights. `post` is called with the position and the numbers of each candidate when
    it is scored; if it returns True, the others stay NaN.
    """
    marked = target.given.marked
    inside, outside = samples.seen_by(train, test, marked)
    roles = samples.roles(int(inside.shape[1]))
    inside, outside = samples.exposed(inside, train), samples.exposed(outside, test)
    base = clone(outcome.for_training(base, target, train)).set_params(**roles, certify=None)
    weight = None if samples.weight is None else samples.weight[train]
    extra = {} if score_weight is None else {"sample_weight": score_weight[test]}
    results = np.full((len(points), 3), np.nan)
    # Many small products: threads would wait for each other. And the data have been checked.
    with one_blas_thread, config_context(assume_finite=True, skip_parameter_validation=True):
        for i, fitted, seconds in _fits(base, inside, marked[train], weight, points):
            start = time.perf_counter()
            score = outcome.score(scorer, fitted, outside, target, test, **extra)
            results[i] = score, seconds, time.perf_counter() - start
            if post is not None and post(i, results[i]):
                break
    return results


def _fits(
    base: Any, X: Any, y: Any, weight: Any, points: list[dict[str, Any]]
) -> Iterator[tuple[int, Any, float]]:
    """Position, fitted estimator and seconds of each candidate.

    The data are checked, and the problem stated and compressed, once a model. The candidates of one model and
    rank are one path: from the strongest ridge, where an optimum is easy to find, down.
    """

    def family(i: int) -> tuple[str, int]:
        return points[i]["model"], points[i]["n_components"]

    def along(i: int) -> tuple[Any, ...]:
        return *family(i), points[i]["xi"], -points[i]["lam"]

    stated: Any = None
    shared: Any = None
    start = time.perf_counter()
    for (model, rank), path in groupby(sorted(range(len(points)), key=along), key=family):
        if stated is None or stated.problem.model.name != model:
            first = clone(base).set_params(n_components=1, model=model, xi=1.0, lam=1.0)
            stated = first.state(X, y, None, weight)
            own = [_weights(point) for point in points if point["model"] == model]
            shared = ridge_directions(stated.problem, own)
        order = list(path)
        weights = [_weights(points[i]) for i in order]
        tol = max(float(base.tol), TOLERANCE)
        solutions = solve_path(stated.problem, rank, weights, tol=tol, search="off", shared=shared)
        for i, solution in zip(order, solutions, strict=True):
            at = stated.problem.restated(*_weights(points[i]))
            fitted = copy.copy(first).set_params(**points[i])
            fitted.adopt(replace(stated, problem=at), solution)
            yield i, fitted, time.perf_counter() - start
            start = time.perf_counter()


def _weights(point: dict[str, Any]) -> tuple[float, float]:
    return point["xi"], point["lam"]
