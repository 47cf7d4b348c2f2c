"""What all estimators share: one fit, one transform."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from superfactor._arrays import Array, NumpyArray, cast, eps, moved, namespace
from superfactor.estimators import fitting, inputs, parameters, placing, scores
from superfactor.estimators.blockwise import by_blocks
from superfactor.estimators.covariates import CovariateEncoder, as_table, codes_inside, learn_inside
from superfactor.estimators.linear import LinearPredictions
from superfactor.estimators.naming import NamedColumns
from superfactor.estimators.progress import CallbackSupportMixin, Progress, users_stacklevel
from superfactor.estimators.targets import Given
from superfactor.losses import Loss
from superfactor.models import Coding, model_named
from superfactor.options import Options
from superfactor.problem import Problem, state
from superfactor.solution import Solution
from superfactor.solvers.interruption import deferred_interrupt
from superfactor.spectrum import RowSource

if TYPE_CHECKING:
    from superfactor.theory import Certificate

# How far outside its constraint a point may lie in silence, relative to its largest entry.
VIOLATION_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Stated:
    """A problem made of a user's data.

    Attributes
    ----------
    problem : over the samples of positive weight
    everyone : the factorized columns of X, all samples: an array, or a source of rows
    kept : positions of the samples of positive weight among them; None where that is all
    """

    problem: Problem
    everyone: Array | RowSource
    kept: Any


class SupervisedFactorization(
    NamedColumns,
    CallbackSupportMixin,
    LinearPredictions,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Fit, transform and input handling of `SMFClassifier`, `SMFRegressor` and `SMFSurvival`."""

    certificate_: Certificate | None
    components_: NumpyArray
    patterns_: NumpyArray
    score_mean_: NumpyArray
    score_covariance_: NumpyArray
    feature_scale_: NumpyArray
    factor_turn_: NumpyArray
    factor_contribution_: NumpyArray
    factor_coef_: NumpyArray
    covariate_coef_: NumpyArray
    intercept_: NumpyArray
    explained_variance_ratio_: NumpyArray
    lam_: float
    xi_: float
    lam_covariates_: NumpyArray
    codes_: NumpyArray
    history_: dict[str, list[float]]
    objective_: float
    n_iter_: int
    violation_: float

    _parameter_constraints: ClassVar = parameters.CONSTRAINTS
    #: What a prediction is called.
    _predicted: ClassVar[str] = "y"
    #: When which method runs: the sizes at which one takes over from another.
    options: ClassVar[Options] = Options()
    #: What the words among covariate columns of X, and among covariates beside it, stand for.
    _words_inside: CovariateEncoder = CovariateEncoder()
    _words_beside: CovariateEncoder = CovariateEncoder()

    # --- fitting ---------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, covariates: Any, sample_weight: Any) -> Self:
        given = {"covariates": covariates, "sample_weight": sample_weight}
        parameters.check_parameters(self)
        seed = parameters.seed_of(self.random_state)
        solver = parameters.choose_solver(self.solver, self.constraint)
        progress = Progress(self, X, y, {k: v for k, v in given.items() if v is not None})
        # The other solvers, and dual ascent, work on arrays.
        in_passes = solver == "lifted-newton" and self.certify != "ascent"
        with progress.passes(), deferred_interrupt() as interruption:
            stated = self.state(
                X, y, covariates, sample_weight, in_passes=in_passes, on_block=progress.on_block
            )
            progress.begin(stated.everyone.shape, solver)
            callback = progress.or_when(lambda: interruption.requested)
            solution = self._solve(stated, solver, seed, callback)
            self.adopt(stated, solution)
            self._show(stated, solution)
            placing.return_to(X, self)
            self.certificate_ = None
            # Who wants to stop does not want to wait for a proof.
            if self.certify is not None and not interruption.requested:
                from superfactor.theory import certify

                self.certificate_ = certify(stated.problem, self.n_components, solution, method=self.certify)
        if interruption.requested:
            raise KeyboardInterrupt(f"{type(self).__name__}: the best model so far is kept")
        self._warn(solution)
        progress.end(solution.reason)
        return self

    def _solve(self, stated: Stated, solver: str, seed: Any, callback: Any, codes: bool = True) -> Solution:
        return fitting.solve(
            stated.problem,
            self.n_components,
            solver,
            constraint=self.constraint,
            search=self.search,
            step_size=self.step_size,
            max_iter=self.max_iter,
            tol=float(self.tol),
            seed=seed,
            callback=callback,
            checkpoint=self.checkpoint,
            codes=codes,
        )

    def state(
        self,
        X: Any,
        y: Any,
        covariates: Any = None,
        sample_weight: Any = None,
        *,
        in_passes: bool = False,
        on_block: Any = None,
    ) -> Stated:
        """Check the data against the parameters and state the problem, without solving it.

        For searches and studies that solve one problem many times: `superfactor.solvers` take its
        ``problem``, and `adopt` makes a fitted estimator of an answer. Sets what inputs determine.

        Parameters
        ----------
        X, y, covariates, sample_weight : those of ``fit``
        in_passes : bool, default=False
            Whether X may be a source of rows that are read in passes; otherwise it is taken into memory.
        on_block : callable, optional
            Hears of each block of a pass, as ``on_block(rows done, rows in all)``.

        Returns
        -------
        stated : Stated
        """
        X, self._words_inside = learn_inside(X, self.covariate_columns)
        covariates = as_table(covariates)
        self._words_beside = CovariateEncoder.learn(covariates)
        data: Any = None
        if in_passes and not (isinstance(X, np.memmap) and placing.leaves_cpu(self.device)):
            data = inputs.check_rows(self, X, reset=True)
        if data is None:
            data = inputs.check_data(self, X, reset=True)
        data = placing.moved(data, self.device)
        # From X itself: scikit-learn keeps no names where they are NumPy's strings.
        names = inputs.column_names(data if isinstance(data, RowSource) else X)
        columns = inputs.covariate_indices(self.covariate_columns, data.shape[1], names)
        covariate_names = inputs.column_names(covariates)
        covariates = self._words_beside.codes(covariates)
        extra = inputs.check_covariates(covariates, data, None, "fit")
        weight = inputs.check_weights(sample_weight, data)
        kept = None if weight is None or np.all(weight > 0) else np.flatnonzero(weight)
        targets, loss, class_weight = self._targets(y, data, weight, kept)
        self._loss: Any = loss
        self._covariate_index = columns
        self._n_extra_covariates = 0 if extra is None else int(extra.shape[1])
        self._covariate_names = covariate_names
        self.component_names_ = names and inputs.names_without(columns, data.shape[1], names)
        everyone, inside = inputs.split_columns(data, columns)
        data, regressors = everyone, self._regressors(inside, extra)
        n_kept = data.shape[0] if kept is None else len(kept)
        parameters.check_rank(self.n_components, n_kept, data.shape[1])
        if kept is not None and isinstance(data, RowSource):  # rows of weight zero are left where they are
            targets, class_weight = (inputs.among(x, kept, data.shape[0]) for x in (targets, class_weight))
        elif kept is not None:  # a sample of weight zero is the same as no sample
            data = inputs.take(data, kept, axis=0)
            weight = weight[kept]
            if regressors is not None:
                regressors = inputs.take(regressors, kept, axis=0)
        problem = state(
            self.model,
            data,
            targets,
            loss,
            xi=self.xi,
            lam=self.lam,
            lam_covariates=self.lam_covariates,
            covariates=regressors,
            fit_intercept=bool(self.fit_intercept),
            sample_weight=weight,
            class_weight=class_weight,
            rank=self.n_components,
            on_block=on_block,
            options=self.options,
        )
        return Stated(problem, everyone, kept)

    def _warn(self, solution: Any) -> None:
        """Say what the answer falls short of: its tolerance, the digits of a proof, or its constraint."""
        name = type(self).__name__
        proven = self.certificate_ is not None and self.certificate_.is_global
        # Without a tolerance, a number of iterations is what was asked for.
        enough = self.tol == 0 and self.max_iter is not None and self.n_iter_ >= self.max_iter
        if not (solution.converged or solution.stopped_early or proven or enough):
            limit = "" if self.max_iter is None else f" (now {self.max_iter})"
            help = (
                f". A larger max_iter{limit} or tol (now {float(self.tol)}) may help; scaling the "
                "features often does"
            )
            warnings.warn(
                f"{name} has not converged: {solution.reason}{help if self.lam_ > 0 else ''}",
                ConvergenceWarning,
                stacklevel=users_stacklevel(),
            )
        # In float32 that is usual, and the certificate says it.
        double = eps(solution.factors.components) < 1e-10
        if double and self.certificate_ is not None and self.certificate_.lost_to_rounding:
            reason = self.certificate_.statement.split(". ")[0].rstrip(".")
            warnings.warn(f"{name}: {reason}", UserWarning, stacklevel=users_stacklevel())
        if self.violation_ > 0 and self.violation_ > VIOLATION_TOLERANCE * fitting.largest_entry(
            model_named(self.model), solution.factors
        ):
            warnings.warn(
                f"{name} lies outside its constraint by up to {self.violation_:.2g} an entry "
                "(violation_): the projection to rank n_components comes last; a larger "
                "n_components may help",
                UserWarning,
                stacklevel=users_stacklevel(),
            )

    @abstractmethod
    def _given(self, y: Any, X: Any) -> Given:
        """y of the samples of X, checked, and who has one."""

    @abstractmethod
    def _targets(self, y: Any, X: Array, weight: Any, kept: Any) -> tuple[Any, Loss, Any]:
        """Targets, the loss, and the class weight of each kept sample (n,) or None.

        Targets are class numbers 0 … κ (n,), or real (n, κ).
        """

    def adopt(self, stated: Stated, solution: Solution) -> Self:
        """Turn a solution of the stated problem into fitted attributes: all that predicting takes.

        ``certificate_`` and what describes factors, ``patterns_`` and so on, are ``fit``'s.

        Parameters
        ----------
        stated : what `state` of this estimator gave
        solution : of one of `superfactor.solvers`

        Returns
        -------
        self
        """
        factors = solution.factors
        xp = namespace(factors.components)
        q = int(factors.gamma.shape[0]) - int(self.fit_intercept)
        self.components_ = factors.components.T
        self.factor_coef_ = self._by_output(factors.beta.T)
        self.covariate_coef_ = self._by_output(factors.gamma[:q, :].T)
        intercept = factors.gamma[q:, :].T if self.fit_intercept else factors.beta[:1, :].T * 0
        self.intercept_ = self._by_output(intercept)[:, 0]
        self.explained_variance_ratio_ = fitting.shares(stated.problem, solution)
        self._n_features_out = int(self.n_components)
        problem = stated.problem
        self.xi_, self.lam_ = problem.users_weights
        self.lam_covariates_ = cast(moved(problem.covariate_ridge[:q], factors.gamma), factors.gamma)
        self._coding: Coding = problem.model.coding(factors, solution.code_sizes, self.xi_, self.lam_)
        self.codes_ = factors.codes
        kept = stated.kept
        if kept is not None:
            # Samples of weight zero took no part: their codes are those of new samples.
            rows = len(kept) + np.arange(stated.everyone.shape[0])
            rows[kept] = np.arange(len(kept))
            (new,) = by_blocks(lambda X: (self._coding.codes(X),), stated.everyone)
            both = xp.concat([factors.codes, new], axis=0)
            self.codes_ = inputs.take(both, rows, axis=0)
        history = solution.history
        self.history_ = {
            "objective": list(history.objective),
            "seconds": list(history.seconds),
            "step": list(history.step),
        }
        self.objective_ = float(solution.objective)
        self.n_iter_ = int(solution.n_iter)
        self.violation_ = float(solution.violation)
        return self

    def _show(self, stated: Stated, solution: Solution) -> None:
        """Keep what describes the factors: how features go with their scores, and what each is good for."""
        shown = scores.shown_factors(stated.problem, solution.factors, self._coding.weights, self._symmetric)
        moments = shown.moments
        found = {
            "patterns_": scores.patterns(moments),
            "score_mean_": moments.score_mean,
            "score_covariance_": moments.C,
            "feature_scale_": moments.feature_scale,
            "factor_turn_": shown.turn,
            "factor_contribution_": shown.contribution,
        }
        for name, values in found.items():
            setattr(self, name, moved(values, self.components_))
        # As large as X has features. What is r × r stays in float64: single precision would mix factors up.
        for name in ("patterns_", "feature_scale_"):
            setattr(self, name, cast(getattr(self, name), self.components_))

    def _by_output(self, coef: Array) -> Array:
        """Coefficients (κ, m) as those of the outputs of a prediction, (outputs, m)."""
        return coef

    def _by_activation(self, coef: Array) -> Array:
        """Coefficients (outputs, m) as those of the activations of the loss, (κ, m)."""
        return coef

    def _symmetric(self, effect: Any) -> Any:
        """Effects (κ, m) on all outputs, none of which is the one that others are compared with."""
        return effect

    # --- using the fit ---------------------------------------------------------------------------

    def _activations(self, X: Any, covariates: Any, method: str) -> tuple[Array, Array]:
        """What the factors and what the covariates give the activations of new samples, (n, κ) each."""
        codes, offset = self._split(X, covariates, method)
        return codes @ self._by_activation(self.factor_coef_).T, offset

    def _new_samples(self, X: Any, method: str) -> Array | RowSource:
        """X (n, p) of the user's, checked, and where the model is."""
        check_is_fitted(self)
        X = self._without_words(X)
        rows = inputs.check_rows(self, X, reset=False, method=method)
        if rows is not None:
            return rows
        if inputs.is_foreign(X):
            X = placing.moved(X, self.device)
        return inputs.check_data(self, X, reset=False, method=method)

    def _split(self, X: Any, covariates: Any, method: str) -> tuple[Array, Array]:
        """The codes (n, r) of new samples and their offset γᵀx' + intercept (n, κ)."""
        X = self._new_samples(X, method)
        extra = self._check_covariates(covariates, X, method)
        codes, offset = by_blocks(self._code_and_offset, X, extra)
        return codes, offset

    def _code_and_offset(self, X: Array, extra: Array | None) -> tuple[Array, Array]:
        """As `_split`, of checked arrays X (n, p) and the covariates beside it."""
        X, inside = inputs.split_columns(X, self._covariate_index)
        xp = namespace(self.components_)
        offset = self._by_activation(self.intercept_)[None, :]
        regressors = self._regressors(inside, extra)
        if regressors is not None:
            regressors = xp.astype(regressors, self.components_.dtype)
            offset = regressors @ self._by_activation(self.covariate_coef_).T + offset
        codes = self._code(X)
        return codes, offset + xp.zeros_like(codes[:, :1])

    def _check_covariates(self, covariates: Any, X: Array, method: str) -> Array | None:
        """The covariates beside X, checked; words as positions of their levels."""
        covariates = as_table(covariates)
        inputs.check_same_names(covariates, self._covariate_names)
        codes = self._words_beside.codes(covariates, self._covariate_names)
        return inputs.check_covariates(codes, X, self._n_extra_covariates, method)

    def _without_words(self, X: Any) -> Any:
        """X of new samples with codes in place of words and gaps in its covariate columns."""
        names, fitted = inputs.column_names(X), getattr(self, "feature_names_in_", None)
        if not self._covariate_index or not (fitted is None or names in (None, list(fitted))):
            return X  # other columns than at fit are scikit-learn's to refuse
        return codes_inside(X, self._covariate_index, self._words_inside)

    def _regressors(self, inside: Array | None, beside: Array | None) -> Array | None:
        """The columns of γ: covariate columns of X, then covariates beside it; words as indicators."""
        return _side_by_side(self._words_inside.expand(inside), self._words_beside.expand(beside))

    def _code_only(self, X: Array) -> tuple[Array]:
        X, _ = inputs.split_columns(X, self._covariate_index)
        return (self._code(X),)

    def _code(self, X: Array) -> Array:
        """Codes (n, r) of the columns to factorize, in the floating type of the factors."""
        if not sp.issparse(X):
            X = namespace(X).astype(X, self.components_.dtype, copy=False)
        return self._coding.codes(X)

    def transform(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Codes of new samples.

        Parameters
        ----------
        X : array-like, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Codes do not depend on them; where given they are checked, so that a pipeline may pass
            the same metadata everywhere.

        Returns
        -------
        codes : array of shape (n_samples, n_components)
            Filter model ``X @ components_.T``; feature model ``X @ pinv(components_)``. These are
            the codes of *new* samples: in the feature model ``codes_``, which has seen the labels,
            differs from ``transform`` of the training data. So it does in either model under a
            ``constraint``: this is the plain projection, which knows of none. After
            ``solver="bcd"`` with ``NonNegative()`` it may be negative where ``codes_`` is not.
        """
        X = self._new_samples(X, "transform")
        if covariates is not None:
            self._check_covariates(covariates, X, "transform")
        (codes,) = by_blocks(self._code_only, X)
        return codes

    def fit_transform(
        self, X: Any, y: Any = None, covariates: Any = None, sample_weight: Any = None
    ) -> NumpyArray:
        """Fit, then code the training samples as if they were new: ``fit(...).transform(X)``.

        Parameters are those of ``fit``.

        Returns
        -------
        codes : array of shape (n_samples, n_components)
        """
        self.fit(X, y, covariates=covariates, sample_weight=sample_weight)
        return self.transform(X)

    def inverse_transform(self, X: Any) -> NumpyArray:
        """Samples from codes.

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

    # --- the columns of X ------------------------------------------------------------------------

    def split_columns(self, X: Any, covariates: Any = None) -> tuple[Array, Array | None]:
        """What the model factorizes and what it regresses on, checked as in ``predict``.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            What is factorized does not depend on them.

        Returns
        -------
        factorized : array or sparse matrix of shape (n_samples, n_features without covariate columns)
            The columns of ``components_``; without covariate columns X itself.
        covariates : array of shape (n_samples, n_covariates) or None
            The columns of ``covariate_coef_``: covariate columns of X, then `covariates`. None where the
            model has none, or was fitted with `covariates` and is given none here.
        """
        check_is_fitted(self)
        X = self._without_words(X)
        X = inputs.check_data(self, X, reset=False, method="split_columns")
        missing = covariates is None and self.n_covariates_in_ > 0
        extra = None if missing else self._check_covariates(covariates, X, "split_columns")
        X, inside = inputs.split_columns(X, self.covariate_columns_)
        return X, None if missing else self._regressors(inside, extra)

    # --- scikit-learn's protocols ----------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.array_api_support = True
        return tags


def _side_by_side(*blocks: Array | None) -> Array | None:
    """Blocks of columns next to each other, missing ones left out."""
    present = [block for block in blocks if block is not None]
    if len(present) < 2:
        return present[0] if present else None
    return namespace(*present).concat(present, axis=1)
