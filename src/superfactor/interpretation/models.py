"""The estimator inside a fitted model, the steps before it, and preprocessed data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from superfactor._arrays import to_numpy
from superfactor.estimators import inputs
from superfactor.estimators.base import SupervisedFactorization
from superfactor.estimators.covariates import IndicatorColumns
from superfactor.estimators.targets import CheckedY
from superfactor.outcomes import Outcome, outcome_of


@dataclass(frozen=True)
class FittedModel:
    """An estimator and the steps before it.

    Attributes
    ----------
    estimator : the fitted `SMFClassifier`, `SMFRegressor` or `SMFSurvival`
    steps : fitted transformers that X passes first, in order
    """

    estimator: Any
    steps: tuple[Any, ...]

    @property
    def outcome(self) -> Outcome:
        """The kind of y."""
        return outcome_of(self.estimator)

    def preprocess(self, X: Any) -> Any:
        """Return X after the fitted transformers."""
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def feature_names(self) -> Any:
        """Names (p,) of the columns of ``components_``, as in the user's table."""
        names = self.column_names
        if names is None:
            return self.estimator.component_names_
        return np.delete(names, self.estimator._roles.apart)

    @property
    def covariate_names(self) -> list[str]:
        """Names of the columns of ``covariate_coef_``, as in the user's table."""
        own, given = list(self.estimator.covariate_names_), self._covariates_inside
        if given is None:
            return own
        inside = self.estimator._roles.words_inside.column_names(given)
        return [*inside, *own[len(inside) :]]

    @property
    def covariate_levels(self) -> dict[str, list[Any]]:
        """Levels of categorical covariates, the reference first; the median of those with missing values."""
        levels, given = dict(self.estimator.covariate_levels_), self._covariates_inside
        if given is not None:
            levels |= self.estimator._roles.words_inside.named(given)
        for step in self.steps:
            levels |= step.levels_ if isinstance(step, IndicatorColumns) else {}
        return levels

    @property
    def _covariates_inside(self) -> list[str] | None:
        """Names of the covariate columns of X, if only a step before the estimator has them."""
        columns = self.estimator.covariate_columns_
        names = self.column_names if columns and self.estimator.column_names_ is None else None
        return None if names is None else [str(names[j]) for j in columns]

    @property
    def column_names(self) -> Any:
        """Names of all columns that the estimator received, as an array; None if unknown."""
        # Transformers return arrays without names; get_feature_names_out gives them. A step without that
        # method is taken to keep the columns if their number stays the same.
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
    """Yield all transformers, those of nested pipelines too, without "passthrough" and None."""
    for _, step in steps:
        if isinstance(step, Pipeline):
            yield from _transformers(step.steps)
        elif step is not None and not isinstance(step, str):  # "passthrough"
            yield step


def fitted_model(model: Any) -> FittedModel:
    """Return the estimator inside a model; pipelines and searches are opened at any depth."""
    if isinstance(model, SupervisedFactorization):
        check_is_fitted(model)
        return FittedModel(model, ())
    if isinstance(model, Pipeline):
        inner = fitted_model(model.steps[-1][1])
        return FittedModel(inner.estimator, (*_transformers(model.steps[:-1]), *inner.steps))
    if hasattr(model, "best_estimator_"):
        return fitted_model(model.best_estimator_)
    if hasattr(model, "refit"):
        raise NotFittedError(
            f"model={type(model).__name__}: a search with best_estimator_ is required; call fit with "
            "refit=True"
        )
    raise TypeError(
        f"model={type(model).__name__}: a fitted SMFClassifier, SMFRegressor or SMFSurvival, a Pipeline "
        "that ends in one, or a search with best_estimator_ is required"
    )


@dataclass(frozen=True)
class ModelData:
    """A user's data after preprocessing, in NumPy.

    Attributes
    ----------
    X : (n, p), the columns that are factorized; dense or sparse
    given : labels or targets, and which samples have one
    covariates : (n, q) or None: covariate columns of X first, then those passed separately
    exposures : (n, 1) or None; of counts
    """

    X: Any
    given: CheckedY
    covariates: Any
    exposures: Any = None

    @property
    def y(self) -> Any:
        """The outcome as ``fit`` takes it, None or NaN for samples without a label."""
        return self.given.marked

    def refit(self, estimator: Any, X: Any, y: Any, at: Any = slice(None), **options: Any) -> Any:
        """Fit a `refittable` estimator to X, which represents the samples at `at`, with their exposures."""
        if self.exposures is not None:
            estimator.set_params(exposure_column=int(X.shape[1]))
            stack = sp.hstack if sp.issparse(X) else np.hstack
            X = stack([X, self.exposures[at]])
        return estimator.fit(X, y, **options)


def model_data(fitted: FittedModel, X: Any, y: Any, covariates: Any, where: str) -> ModelData:
    """Return preprocessed data, checked as in ``fit`` and against the training data."""
    estimator = fitted.estimator
    whole = fitted.preprocess(X)
    X, regressors = estimator.split_columns(whole, covariates)
    if covariates is None:  # which may be an error
        inputs.check_covariates(None, X, estimator.n_covariates_in_, where)
    given = estimator._checked_y(y, X)
    exposures = inputs.exposures_in(whole, estimator._exposure_column)
    return ModelData(inputs.as_numpy(X), given, inputs.as_numpy(regressors), exposures)


def refittable(estimator: Any, **params: Any) -> Any:
    """Return a clone for `ModelData.refit`: covariates are passed separately, and no certificate is made."""
    fixed = {"covariate_columns": None, "certify": None, "checkpoint": None, "verbose": 0}
    return clone(estimator).set_params(**fixed, **params)


def numbers(values: Any) -> Any:
    """Return an array of any library in NumPy's float64."""
    return np.asarray(to_numpy(values), dtype=np.float64)


def covariate_ridge(estimator: Any) -> Any:
    """Return ρ of the covariates (q,), or one number for all of them."""
    lam = float(getattr(estimator, "lam_", estimator.lam))
    return np.asarray(getattr(estimator, "lam_covariates_", lam), dtype=np.float64)


def against_first(estimator: Any, signal: Any) -> Any:
    """Return the activations (κ, n) of outputs (outputs, n): with several classes relative to the first."""
    kept = numbers(estimator._by_activation(signal))
    return kept - signal[:1] if len(kept) < len(signal) else kept
