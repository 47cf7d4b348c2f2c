"""A whole model, fitted again to some of the samples: the steps before the estimator, or a search, too."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from superfactor.estimators import SMFMixed, inputs
from superfactor.estimators.base import SupervisedFactorization
from superfactor.estimators.targets import CheckedY


class Refit:
    """An unfitted copy of a model for refits: nobody asks for a proof, other starts or a report.

    A search stands for its ``best_estimator_`` unless it is to be repeated.
    """

    def __init__(self, model: Any, search_again: bool = False):
        self._searches = self._takes_groups = False
        # What stands before the names of its estimator's arguments at fit, and before "groups".
        self._prefix = self._groups_prefix = ""
        self._template = self._copy(model, search_again)
        if search_again and not self._searches:
            raise ValueError(
                f"search_again=True: {type(model).__name__} has no choice to repeat; a search such as "
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
            if hasattr(again, "estimator"):  # scikit-learn's, around a model
                again.set_params(estimator=self._copy(again.estimator, search_again))
                self._groups_prefix = ""
                return again
        if isinstance(again, SMFMixed):  # whose y is a table, and has no figure
            raise TypeError(
                "SMFMixed: one outcome at a time is required here, as in the estimators of one kind"
            )
        quiet: dict[str, Any] = {"certify": None, "search": "off", "verbose": 0}
        if isinstance(again, SupervisedFactorization):
            quiet["checkpoint"] = None
        return again.set_params(**quiet)

    def fit(
        self, X: Any, y: Any, rows: Any, covariates: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> Any:
        """The model fitted to the samples at `rows`.

        ξ and λ that are numbers mean the same as in a fit to all samples: F of m of n samples, each with the
        weight n/m. That is F of the m samples with m/n times the ridges, which do not grow with the samples.
        """
        again = clone(self._template)
        if not self._searches:
            weight = np.ones(len(y)) if sample_weight is None else sample_weight
            _lighten(again, float(weight[rows].sum() / weight.sum()))
        given = {}
        if sample_weight is not None:
            given[f"{self._prefix}sample_weight"] = sample_weight[rows]
        if covariates is not None:
            given[f"{self._prefix}covariates"] = _safe_indexing(covariates, rows)
        if groups is not None and self._takes_groups:
            given[f"{self._groups_prefix}groups"] = groups[rows]
        part = inputs.take(X, rows, axis=0) if inputs.is_foreign(X) else _safe_indexing(X, rows)
        return again.fit(part, y[rows], **given)


def shuffled(given: CheckedY, rows: Any, rng: np.random.Generator) -> Any:
    """An order (n,) of all samples that mixes up those among `rows` with a label; the others stay."""
    order = np.arange(len(given.values))
    known = rows if given.known is None else rows[given.known[rows]]
    order[known] = rng.permutation(known)
    return order


def _check_cv(search: Any) -> None:
    cv = search.cv
    splits = cv is None or isinstance(cv, Integral) or hasattr(cv, "split")
    if isinstance(cv, PredefinedSplit) or not splits:
        raise ValueError(
            "search_again=True: the cv of the search lists splits of all samples; None, a number or a "
            "splitter is required"
        )


def _lighten(model: Any, share: float) -> None:
    """Multiply the ridges that are numbers by a share of the samples."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    # The feature model pays λ for every sample.
    names = ["lam_covariates"] if model.model == "feature" else ["lam", "lam_covariates"]
    values = {name: getattr(model, name) for name in names}
    model.set_params(**{k: v * share for k, v in values.items() if isinstance(v, Real)})
