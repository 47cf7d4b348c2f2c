"""Codes and activations of new samples, whose missing values a model may complete from its factors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from superfactor._arrays import Array, NumpyArray, namespace
from superfactor.estimators import inputs
from superfactor.estimators.covariates import ColumnRoles
from superfactor.estimators.inputs import by_blocks, devices
from superfactor.models import Coding
from superfactor.preprocessing.completion import factors_of_model
from superfactor.spectrum import RowSource


class NewSamples(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Codes and activations of new samples by a fitted model, and samples from codes."""

    components_: NumpyArray
    factor_coef_: NumpyArray
    covariate_coef_: NumpyArray
    intercept_: NumpyArray
    patterns_: NumpyArray
    score_covariance_: NumpyArray
    feature_mean_: NumpyArray
    feature_scale_: NumpyArray
    device: Any
    #: None also in models of versions without this parameter, and in estimators that have none.
    impute: Any = None
    _coding: Coding
    _roles: ColumnRoles

    def _by_output(self, coef: Array) -> Array:
        """Convert coefficients (κ, m) to those of the outputs of a prediction, (outputs, m)."""
        return coef

    def _by_activation(self, coef: Array) -> Array:
        """Convert coefficients (outputs, m) to those of the activations of the loss, (κ, m)."""
        return coef

    def _symmetric(self, effect: Any) -> Any:
        """Convert effects (κ, m) to all outputs, without a reference class."""
        return effect

    def _activations(self, X: Any, covariates: Any, method: str) -> tuple[Array, Array]:
        """Return the parts of the activations due to factors and due to covariates, (n, κ) each."""
        codes, offset = self._split(X, covariates, method)
        return codes @ self._by_activation(self.factor_coef_).T, offset

    def _split(self, X: Any, covariates: Any, method: str) -> tuple[Array, Array]:
        """Return the codes (n, r) of new samples and their offset γᵀx' + intercept (n, κ)."""
        X = self._new_samples(X, method)
        extra = self._roles.check_covariates(covariates, X, method)
        codes, offset = by_blocks(self._code_and_offset, X, extra)
        return codes, offset

    def _new_samples(self, X: Any, method: str, *, as_given: bool = False) -> Array | RowSource:
        """Check the user's X (n, p) and move it to the device of the model.

        With `as_given`, missing values that the model could complete stay.
        """
        check_is_fitted(self)
        X = self._numbers(X)
        rows = inputs.check_rows(self, X, reset=False, method=method)
        if rows is not None:
            return rows
        if inputs.is_foreign(X):
            X = devices.moved(X, self.device)
        return self._checked(X, method, (lambda X: X) if as_given else self._completed)

    def _checked(self, X: Any, method: str, complete: Callable[[NumpyArray], NumpyArray]) -> Array:
        """Return X (n, p) in memory, checked; `complete` replaces missing values if the model does that."""
        given = None if self.impute is None else complete
        return inputs.check_data(self, X, reset=False, method=method, complete=given)

    def _completed(self, X: NumpyArray) -> NumpyArray:
        """Return X (n, p) with the missing values of the factorized columns filled from the factors."""
        name = type(self).__name__
        if not hasattr(self, "feature_mean_"):
            raise ValueError(
                f"X: this {name} of an earlier version lacks feature_mean_, from which missing values are "
                "completed; fit it again"
            )
        gone = np.isnan(X)
        for j in self._roles.inside:
            if gone[:, j].any():
                names = getattr(self, "feature_names_in_", None)
                raise ValueError(
                    f"X: covariate {j if names is None else names[j]!r} is missing in {gone[:, j].sum()} of "
                    f"{len(X)} samples, but was never missing in fit; only features are completed"
                )
        factorized = np.delete(np.arange(X.shape[1]), self._roles.apart)
        gone = gone[:, factorized]
        factors, noise = factors_of_model(self.patterns_, self.score_covariance_, self.feature_scale_)
        X = np.array(X)
        features = [str(feature) for feature in self.component_names_]
        factors.complete(X, factorized, self.feature_mean_, noise, features)
        warnings.warn(
            f"X: {inputs.counted_missing(gone)}; {name} completes them from its factors",
            UserWarning,
            stacklevel=2,
        )
        return X

    def _numbers(self, X: Any) -> Any:
        return self._roles.numbers(X, getattr(self, "feature_names_in_", None))

    def _code_and_offset(self, X: Array, extra: Array | None) -> tuple[Array, Array]:
        """Return the same as `_split` for checked arrays X (n, p) and covariates."""
        exposures = self._roles.exposures(X)
        X, inside = self._roles.split(X)
        xp = namespace(self.components_)
        offset = self._by_activation(self.intercept_)[None, :]
        if exposures is not None:
            offset = offset + xp.log(xp.astype(exposures, self.components_.dtype))
        regressors = self._roles.regressors(inside, extra)
        if regressors is not None:
            regressors = xp.astype(regressors, self.components_.dtype)
            offset = regressors @ self._by_activation(self.covariate_coef_).T + offset
        codes = self._code(X)
        return codes, offset + xp.zeros_like(codes[:, :1])

    def _code(self, X: Array) -> Array:
        """Return codes (n, r) of the factorized columns, in the dtype of the factors."""
        if not sp.issparse(X):
            X = namespace(X).astype(X, self.components_.dtype, copy=False)
        return self._coding.codes(X)

    def transform(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return codes of new samples.

        Parameters
        ----------
        X : array-like, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Codes do not depend on them. They are checked if given, so that a pipeline can pass the same
            metadata to all methods.

        Returns
        -------
        codes : array of shape (n_samples, n_components)
            Filter model ``X @ components_.T``; feature model ``X @ pinv(components_)``. These are the codes
            of *new* samples. In the feature model, ``codes_`` depends on the labels and differs from
            ``transform`` of the training data. With a ``constraint`` both differ in either model, because
            ``transform`` ignores constraints: after ``solver="bcd"`` with ``NonNegative()`` it may be
            negative where ``codes_`` is not.
        """
        X = self._new_samples(X, "transform")
        if covariates is not None:
            self._roles.check_covariates(covariates, X, "transform")
        (codes,) = by_blocks(lambda block: (self._code(self._roles.split(block)[0]),), X)
        return codes

    def inverse_transform(self, X: Any) -> NumpyArray:
        """Return samples from codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Codes.

        Returns
        -------
        samples : array of shape (n_samples, n_features without covariate columns)
            ``codes @ components_``.
        """
        check_is_fitted(self)
        codes = inputs.check_codes(X, self.components_)
        return codes @ self.components_

    def split_columns(self, X: Any, covariates: Any = None) -> tuple[Array, Array | None]:
        """Return the columns that the model factorizes and its covariates, checked as in ``predict``.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            The factorized columns do not depend on them.

        Returns
        -------
        factorized : array or sparse matrix of shape (n_samples, n_features without covariate columns)
            The columns of ``components_``; without covariate columns X itself.
        covariates : array of shape (n_samples, n_covariates) or None
            The columns of ``covariate_coef_``: covariate columns of X, then `covariates`. None if the model
            has no covariates, or if it was fitted with `covariates` and they are not given here.
        """
        check_is_fitted(self)
        X = self._checked(self._numbers(X), "split_columns", self._completed)
        missing = covariates is None and self._roles.n_beside > 0
        extra = None if missing else self._roles.check_covariates(covariates, X, "split_columns")
        X, inside = self._roles.split(X)
        return X, None if missing else self._roles.regressors(inside, extra)
