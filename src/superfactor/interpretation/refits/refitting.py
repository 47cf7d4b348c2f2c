"""Fit a whole model again to some of the samples: an estimator, a pipeline or a search."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from superfactor.estimators import SMFMixed, inputs
from superfactor.estimators.base import SupervisedFactorization
from superfactor.estimators.targets import CheckedY
from superfactor.outcomes import Outcome
from superfactor.selection.giveaways import reported


class Refit:
    """An unfitted copy of a model for refits, without certificate, further starts and output.

    For a search, ``best_estimator_`` is used unless the search is to be repeated.
    """

    def __init__(self, model: Any, search_again: bool = False):
        self._searches = self._takes_groups = False
        # Prefixes of the arguments of fit, and of "groups", in a pipeline.
        self._prefix = self._groups_prefix = ""
        self._template = self._copy(model, search_again)
        if search_again and not self._searches:
            raise ValueError(
                f"search_again=True: {type(model).__name__} is not a search; a search such as "
                "SMFClassifierCV is required"
            )

    def _copy(self, model: Any, search_again: bool) -> Any:
        if hasattr(model, "best_estimator_") and not search_again:
            return self._copy(model.best_estimator_, search_again)
        again = clone(model)
        if isinstance(model, Pipeline):
            name, last = model.steps[-1]
            again.steps[-1] = name, self._copy(last, search_again)
            self._prefix, self._groups_prefix = (
                f"{name}__{inside}" for inside in (self._prefix, self._groups_prefix)
            )
            return again
        if hasattr(model, "best_estimator_"):
            _check_cv(model)
            self._searches, self._takes_groups = True, hasattr(model.cv, "split")
            again.set_params(n_jobs=None, verbose=0)
            if hasattr(again, "estimator"):  # a search of scikit-learn
                again.set_params(estimator=self._copy(again.estimator, search_again))
                self._groups_prefix = ""
                return again
        if isinstance(again, SMFMixed):  # y is a table
            raise TypeError("model=SMFMixed: an estimator with a single outcome is required")
        fixed: dict[str, Any] = {"certify": None, "search": "off", "verbose": 0}
        if isinstance(again, SupervisedFactorization):
            fixed["checkpoint"] = None
        return again.set_params(**fixed)

    def fit(
        self, X: Any, y: Any, rows: Any, covariates: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> Any:
        """Return the model fitted to the samples at `rows`.

        ξ and λ that are numbers mean the same as in a fit to all samples: each of the m of n samples has the
        weight n/m. This is equivalent to weights of 1 and ridges multiplied by m/n.
        """
        again = clone(self._template)
        if not self._searches:
            weight = np.ones(len(y)) if sample_weight is None else sample_weight
            _scale_ridges(again, float(weight[rows].sum() / weight.sum()))
        given = {}
        if sample_weight is not None:
            given[f"{self._prefix}sample_weight"] = sample_weight[rows]
        if covariates is not None:
            given[f"{self._prefix}covariates"] = _safe_indexing(covariates, rows)
        if groups is not None and self._takes_groups:
            given[f"{self._groups_prefix}groups"] = groups[rows]
        part = inputs.take(X, rows, axis=0) if inputs.is_foreign(X) else _safe_indexing(X, rows)
        with reported():
            return again.fit(part, y[rows], **given)


def shuffled(
    outcome: Outcome,
    given: CheckedY,
    rows: Any,
    rng: np.random.Generator,
    exposures: Any = None,
    groups: Any = None,
) -> Any:
    """Return an order (n,) of all samples that shuffles the answers of the labelled ones among `rows`.

    An answer is a whole row: counts with their exposures (n, 1), times with their strata, which it does not
    leave. Where each of the groups (n,) has one answer, groups are shuffled; otherwise samples within groups.
    """
    order = np.arange(len(given.values))
    known = rows if given.known is None else rows[given.known[rows]]
    values = given.values[known]
    blocks = outcome.exchangeable(values)
    if groups is not None:
        answers = outcome.out_of(values, None if exposures is None else exposures[known])
        _, first, own = np.unique(groups[known], return_index=True, return_inverse=True)
        if np.array_equal(answers, answers[first][own], equal_nan=answers.dtype.kind == "f"):
            order[known] = _within(known[first], blocks[first], rng)[own]
            return order
        blocks = np.unique(np.column_stack([own, blocks]), axis=0, return_inverse=True)[1].ravel()
    order[known] = _within(known, blocks, rng)
    return order


def _within(positions: Any, blocks: Any, rng: np.random.Generator) -> Any:
    """Return the positions (m,) in random order within each block (m,)."""
    if np.ptp(blocks) == 0:
        return rng.permutation(positions)
    found = positions.copy()
    found[np.argsort(blocks, kind="stable")] = positions[np.lexsort((rng.random(len(blocks)), blocks))]
    return found


def exposure_place(X: Any, exposures: Any) -> int:
    """Return the column of X that holds the exposures (n, 1) of the model."""
    table = X.tocsc() if sp.issparse(X) else X
    for j in range(X.shape[1]):
        if np.array_equal(_column(table, j), exposures[:, 0]):
            return j
    raise ValueError(
        "exposure_column: exposures that steps before the model leave unchanged are required, since they "
        "are shuffled together with their counts"
    )


def with_exposures(X: Any, place: int, exposures: Any) -> Any:
    """Return X with these exposures (n, 1) in the column at `place`."""
    if sp.issparse(X):
        parts = [X[:, :place], exposures, X[:, place + 1 :]]
        return sp.hstack([sp.csr_array(part) for part in parts], "csr")
    found = X.clone() if hasattr(X, "clone") else X.copy()
    if hasattr(found, "isetitem"):
        found.isetitem(place, exposures[:, 0])
    else:
        found[:, place] = inputs.like(exposures[:, 0], found) if inputs.is_foreign(X) else exposures[:, 0]
    return found


def _column(X: Any, j: int) -> Any:
    """Return column j of any table as numbers (n,); None if it has none."""
    try:
        return np.asarray(inputs.as_numpy(_dense(_safe_indexing(X, [j], axis=1))), dtype=float)[:, 0]
    except (TypeError, ValueError):
        return None


def _dense(x: Any) -> Any:
    return x.toarray() if sp.issparse(x) else x


def _check_cv(search: Any) -> None:
    cv = search.cv
    splits = cv is None or isinstance(cv, Integral) or hasattr(cv, "split")
    if isinstance(cv, PredefinedSplit) or not splits:
        raise ValueError(
            "search_again=True: the cv of the search is a list of fixed splits; None, an integer or a "
            "splitter is required"
        )


def _scale_ridges(model: Any, share: float) -> None:
    """Multiply the ridges that are numbers by a share of the samples."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    # In the feature model λ is a ridge per sample.
    names = ["lam_covariates"] if model.model == "feature" else ["lam", "lam_covariates"]
    values = {name: getattr(model, name) for name in names}
    model.set_params(**{k: v * share for k, v in values.items() if isinstance(v, Real)})
