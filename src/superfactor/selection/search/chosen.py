"""What a search hands through of the model that it has chosen: its methods and its fitted attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.metaestimators import available_if as _available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from superfactor._arrays import NumpyArray
from superfactor.estimators.inputs import (
    as_numpy,
    column_names,
    counted_missing,
    covariate_indices,
    exposure_index,
    refuse_other_objects,
)
from superfactor.outcomes import Outcome, outcome_of
from superfactor.preprocessing.columns import advising_reindex, is_frame
from superfactor.selection.rows.preprocessing import is_transformer

if TYPE_CHECKING:
    from superfactor.theory import Certificate

Method = TypeVar("Method", bound=Callable[..., Any])


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """scikit-learn's decorator of the same name, which says nothing of types."""
    return cast(Callable[[Method], Method], _available_if(check))


def refits(search: Any) -> bool:
    """Whether there is a model to predict with; scikit-learn hides the methods where not."""
    if not search.refit:
        raise AttributeError(
            f"refit=False: this {type(search).__name__} has best_params_ but no fitted model; "
            "refit=True is required to predict"
        )
    return True


def _handed_through(name: str, what: str, *, of_columns: bool = False) -> Any:
    """A fitted attribute of the chosen estimator as one of the search.

    One that weighs the columns of X, `of_columns`, only where the estimator sees X as it is.
    """

    def of_the_chosen(search: Any) -> Any:
        refits(search)
        if not hasattr(search, "best_estimator_"):
            raise AttributeError(f"{name}: this {type(search).__name__} is not fitted yet")
        chosen = search.best_estimator_
        if of_columns and isinstance(chosen, Pipeline):
            raise AttributeError(
                f"{name}: X is preprocessed first; best_estimator_[-1].{name} weighs the columns after that"
            )
        return getattr(chosen[-1] if isinstance(chosen, Pipeline) else chosen, name)

    return property(of_the_chosen, doc=f"{what}, of ``best_estimator_``.")


class ChosenModel:
    """The chosen model's methods and fitted attributes, for a search that has `best_estimator_`."""

    _outcome: ClassVar[Outcome]
    refit: bool
    impute: Any
    preprocess: Any
    covariate_columns: Any
    exposure_column: Any
    n_features_in_: int
    scoring: Any
    scorer_: Any
    best_estimator_: Any

    components_: NumpyArray = _handed_through("components_", "Atoms (n_components, n_features)")
    codes_: NumpyArray = _handed_through("codes_", "Codes of the training samples (n_samples, n_components)")
    factor_coef_: NumpyArray = _handed_through(
        "factor_coef_", "Effects of the codes (n_outputs, n_components)"
    )
    coef_: NumpyArray = _handed_through(
        "coef_", "Weights of the columns of X (n_outputs, n_features)", of_columns=True
    )
    patterns_: NumpyArray = _handed_through(
        "patterns_", "Regression of X on the codes (n_components, n_features)"
    )
    feature_importances_: NumpyArray = _handed_through(
        "feature_importances_", "How much each feature counts ``(n_features_in_,)``"
    )
    covariate_coef_: NumpyArray = _handed_through("covariate_coef_", "Those of the covariates")
    intercept_: NumpyArray = _handed_through("intercept_", "Intercepts (n_outputs,)")
    explained_variance_ratio_: NumpyArray = _handed_through(
        "explained_variance_ratio_", "Share of X's sum of squares of each factor (n_components,)"
    )
    xi_: float = _handed_through("xi_", "ξ of the fit")
    lam_: float = _handed_through("lam_", "λ of the fit")
    lam_covariates_: NumpyArray = _handed_through(
        "lam_covariates_", "Ridge of every covariate (n_covariates,)"
    )
    objective_: float = _handed_through("objective_", "F at the solution")
    history_: dict[str, list[float]] = _handed_through(
        "history_", "Objective, seconds and step of every iteration"
    )
    n_iter_: int = _handed_through("n_iter_", "Iterations")
    certificate_: Certificate | None = _handed_through(
        "certificate_", "How far from the global optimum it can be"
    )

    def _chosen(self, X: Any) -> Any:
        """The model that is to be shown X; a warning counts the values that its imputer completes."""
        check_is_fitted(self)
        refuse_other_objects(X)  # before a scaler sees it, which knows no way out
        if is_frame(X) and not set(getattr(self, "feature_names_in_", ())) <= set(X.columns):
            with advising_reindex(self, X, advise=self.impute is not None):  # a scaler gives no advice
                validate_data(self, X, reset=False, skip_check_array=True)
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                f"{type(self).__name__}: the search was interrupted before its choice was fitted"
            )
        if isinstance(self.best_estimator_, Pipeline) and not is_transformer(self.preprocess):
            self._warn_of_imputed(X, self.best_estimator_.named_steps.get("imputer"))
        return self.best_estimator_

    def _warn_of_imputed(self, X: Any, imputer: Any) -> None:
        """Warn if an imputer will fill features of X; models that complete them by themselves warn too."""
        X = X if is_frame(X) else np.asarray(X)
        width, names = self.n_features_in_, column_names(X)
        if imputer is None or X.shape[1:] != (width,):
            return
        apart = covariate_indices(self.covariate_columns, width, names)
        exposure = exposure_index(self.exposure_column, apart, width, names)
        apart += [] if exposure is None else [exposure]
        features = _safe_indexing(X, np.delete(np.arange(width), apart), axis=1) if apart else X
        gone = np.isnan(np.asarray(features, dtype=float))
        if gone.any():
            name = type(imputer).__name__
            warnings.warn(f"X: {counted_missing(gone)}; {name} completes them", UserWarning, stacklevel=4)

    @available_if(refits)
    def predict(self, X: Any, covariates: Any = None) -> NumpyArray:
        """What ``best_estimator_`` predicts of each sample."""
        return self._chosen(X).predict(X, **given_beside(covariates))

    @available_if(refits)
    def transform(self, X: Any) -> NumpyArray:
        """Codes (n_samples, n_components) of new samples, by ``best_estimator_``."""
        codes = self._chosen(X).transform(X)
        # scikit-learn does it for methods of the class itself, which a search may have to hide.
        return _wrap_data_with_container("transform", codes, X, self)

    @available_if(refits)
    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """The score of ``best_estimator_``, among samples that have a label.

        By the `scoring` of the search; where that is None, by its own: accuracy, R² or concordance.
        """
        chosen = self._chosen(X)
        outcome = outcome_of(self)
        given = outcome.read_as(self, as_numpy(y), X, type(self).__name__).of_some()
        if given.known is not None:
            labelled = np.flatnonzero(given.known)
            X, covariates, sample_weight = (
                None if x is None else _safe_indexing(x, labelled) for x in (X, covariates, sample_weight)
            )
        y = given.labelled
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        if covariates is not None:
            chosen = _WithCovariates(chosen, covariates, outcome)
        elif self.scoring is None:
            y = outcome.as_given(y)
        if self.scoring is None:
            return float(chosen.score(X, y, **weight))
        return float(self.scorer_(chosen, X, y, **weight))


class ChosenClassifier(ChosenModel):
    """The same, where the chosen model tells classes apart."""

    @available_if(refits)
    def predict_proba(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Class probabilities (n_samples, n_classes), by ``best_estimator_``."""
        return self._chosen(X).predict_proba(X, **given_beside(covariates))

    @available_if(refits)
    def predict_log_proba(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Logarithms of the class probabilities, by ``best_estimator_``."""
        return self._chosen(X).predict_log_proba(X, **given_beside(covariates))

    @available_if(refits)
    def decision_function(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Scores of the classes, by ``best_estimator_``."""
        return self._chosen(X).decision_function(X, **given_beside(covariates))


class _WithCovariates(BaseEstimator):
    """A fitted model that brings the covariates of the samples along: scorers pass X alone."""

    def __init__(self, model: Any, covariates: Any, outcome: Outcome):
        self.model = model
        self.covariates = covariates
        self.outcome = outcome

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.model, name)
        predicts = name.startswith("predict") or name == "decision_function"
        if not predicts:
            return found
        # Scorers look at the name of the method they call.
        return update_wrapper(partial(found, covariates=self.covariates), found)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        truth = self.outcome.observed(y, self.model, X)
        return self.outcome.measure(truth, self.predict(X), sample_weight)


def given_beside(covariates: Any) -> dict[str, Any]:
    """Pipelines pass on every argument, None too; a model without covariates accepts none."""
    return {} if covariates is None else {"covariates": covariates}
