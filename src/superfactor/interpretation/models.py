"""What counts as a fitted model: the estimator inside it, and the steps that X passes before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from superfactor.estimators import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.estimators.covariates import IndicatorColumns


@dataclass(frozen=True)
class FittedModel:
    """An estimator and what stands before it.

    Attributes
    ----------
    estimator : the fitted `SMFClassifier`, `SMFRegressor` or `SMFSurvival`
    steps : fitted transformers that X passes first, in order
    """

    estimator: Any
    steps: tuple[Any, ...]

    def preprocess(self, X: Any) -> Any:
        """X as the estimator sees it, with the transformers as they were fitted."""
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def feature_names(self) -> Any:
        """Names (p,) of the columns of ``components_``, as the user called them."""
        names = self.column_names
        if names is None:
            return self.estimator.component_names_
        return np.delete(names, self.estimator.covariate_columns_)

    @property
    def covariate_names(self) -> list[str]:
        """Names of the columns of ``covariate_coef_``, as the user called them."""
        own, given = list(self.estimator.covariate_names_), self._covariates_inside
        if given is None:
            return own
        inside = self.estimator._roles.words_inside.column_names(given)
        return [*inside, *own[len(inside) :]]

    @property
    def covariate_levels(self) -> dict[str, list[Any]]:
        """The levels, the reference first, of covariates that are words; the median where there are gaps."""
        levels, given = dict(self.estimator.covariate_levels_), self._covariates_inside
        if given is not None:
            levels |= self.estimator._roles.words_inside.named(given)
        for step in self.steps:
            levels |= step.levels_ if isinstance(step, IndicatorColumns) else {}
        return levels

    @property
    def _covariates_inside(self) -> list[str] | None:
        """Names of the covariate columns of X, where the estimator has them from a step before."""
        columns = self.estimator.covariate_columns_
        names = self.column_names if columns and self.estimator.column_names_ is None else None
        return None if names is None else [str(names[j]) for j in columns]

    @property
    def column_names(self) -> Any:
        """Names of all columns that the estimator was given, an array; None where unknown.

        A transformer hands on an array without names, so that they are followed from the first
        step through ``get_feature_names_out``. Steps that cannot say are taken to keep the columns
        where they have as many as came in.
        """
        estimator = self.estimator
        names = estimator.column_names_
        if names is not None or not self.steps:
            return names
        names = getattr(self.steps[0], "feature_names_in_", None)
        for step in self.steps:
            try:
                names = step.get_feature_names_out(names)
            except (AttributeError, TypeError, ValueError):
                continue
        if names is None or len(names) != estimator.n_features_in_:
            return None
        return np.asarray(names, dtype=object)


def _transformers(steps: Any) -> Iterator[Any]:
    """Those that do something, out of pipelines within the pipeline too."""
    for _, step in steps:
        if isinstance(step, Pipeline):
            yield from _transformers(step.steps)
        elif step is not None and not isinstance(step, str):  # "passthrough"
            yield step


def fitted_model(model: Any) -> FittedModel:
    """The estimator inside a model: pipelines and searches are opened, at any depth."""
    if isinstance(model, SMFClassifier | SMFRegressor | SMFSurvival):
        check_is_fitted(model)
        return FittedModel(model, ())
    if isinstance(model, Pipeline):
        inner = fitted_model(model.steps[-1][1])
        return FittedModel(inner.estimator, (*_transformers(model.steps[:-1]), *inner.steps))
    if hasattr(model, "best_estimator_"):
        return fitted_model(model.best_estimator_)
    if hasattr(model, "refit"):
        raise NotFittedError(
            f"model={type(model).__name__}: a search is shown by its best_estimator_, which it has "
            "after fit with refit=True"
        )
    raise TypeError(
        f"model={type(model).__name__}: a fitted SMFClassifier, SMFRegressor or SMFSurvival, a Pipeline "
        "that ends in one, or a search with its best_estimator_ is required"
    )
