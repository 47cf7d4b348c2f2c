"""`SupervisedFactorization`: fit and transform of all estimators."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from superfactor._arrays import Array, NumpyArray, cast, eps, moved, namespace
from superfactor.estimators import fitting, inputs, parameters
from superfactor.estimators.covariates import ColumnRoles, CovariateEncoder, as_table, learn_inside
from superfactor.estimators.covariates.naming import NamedColumns
from superfactor.estimators.fitted import scores
from superfactor.estimators.fitted.linear import LinearPredictions
from superfactor.estimators.fitted.new_samples import NewSamples
from superfactor.estimators.inputs import by_blocks, devices
from superfactor.estimators.progress import CallbackSupportMixin, Progress, has_callbacks
from superfactor.estimators.targets import CheckedY
from superfactor.losses import Loss
from superfactor.models import model_named
from superfactor.options import Options
from superfactor.problem import Problem, state
from superfactor.solution import Solution
from superfactor.solvers import Solver
from superfactor.solvers.interruption import deferred_interrupt
from superfactor.spectrum import RowSource
from superfactor.theory import Certificate, certify

# Stack level from a warning in _fit to the user's line; scikit-learn's decorator of fit adds a frame.
_USERS_LINE = 3 + has_callbacks
# Violation of a constraint, relative to the largest entry, above which a warning is raised.
VIOLATION_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Stated:
    """The problem of a user's data."""

    problem: Problem  # for the samples of positive weight
    everyone: Array | RowSource  # factorized columns of X, all samples
    kept: Any  # positions of the samples of positive weight; None for all samples


class SupervisedFactorization(
    NewSamples, NamedColumns, CallbackSupportMixin, LinearPredictions, BaseEstimator, metaclass=ABCMeta
):
    """Fit, transform and input handling of `SMFClassifier`, `SMFRegressor` and `SMFSurvival`."""

    certificate_: Certificate | None
    components_: NumpyArray
    patterns_: NumpyArray
    score_mean_: NumpyArray
    score_covariance_: NumpyArray
    feature_mean_: NumpyArray
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
    #: Name of a prediction.
    _predicted: ClassVar[str] = "y"
    #: Column of X with exposures, for counts.
    _exposure_column: Any = None
    #: Problem sizes at which one method replaces another.
    options: ClassVar[Options] = Options()

    # --- fitting ---------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, covariates: Any, sample_weight: Any) -> Self:
        given = {"covariates": covariates, "sample_weight": sample_weight}
        parameters.check_parameters(self)
        seed = parameters.seed_of(self.random_state)
        solver = parameters.choose_solver(self.solver, self.constraint)
        progress = Progress(self, X, y, {k: v for k, v in given.items() if v is not None})
        in_passes = fitting.reads_passes(solver, self.certify)
        with progress.passes(), deferred_interrupt() as interruption:
            stated = self.state(
                X, y, covariates, sample_weight, in_passes=in_passes, on_block=progress.on_block
            )
            progress.begin(stated.everyone.shape, solver.name)
            callback = progress.or_when(lambda: interruption.requested)
            solution = self._solve(stated, solver, seed, callback)
            self.adopt(stated, solution)
            self._show(stated, solution)
            devices.return_to(X, self)
            self.certificate_ = None
            # Interrupted: skip the certificate.
            if self.certify is not None and not interruption.requested:
                self.certificate_ = certify(stated.problem, self.n_components, solution, method=self.certify)
        if interruption.requested:
            raise KeyboardInterrupt(f"{type(self).__name__}: the best model so far is kept")
        for warning in self._shortcomings(solution):
            warnings.warn(warning, stacklevel=_USERS_LINE)
        progress.end(solution.reason)
        return self

    def _solve(
        self, stated: Stated, solver: Solver, seed: Any, callback: Any, codes: bool = True
    ) -> Solution:
        return fitting.solve(
            stated.problem,
            self.n_components,
            solver,
            constraint=self.constraint,
            search=self.search,
            step_size=self.step_size,
            max_iter=self.max_iter,
            tol=float(self.tol),
            random_state=seed,
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

        For searches and studies that solve one problem many times: `superfactor.solvers` solve its
        ``problem``, and `adopt` sets the fitted attributes from a solution. Sets attributes that depend on
        the inputs only.

        Parameters
        ----------
        X, y, covariates, sample_weight : as for ``fit``
        in_passes : bool, default=False
            Whether X may be a source of rows that are read in passes; otherwise it is read into memory.
        on_block : callable, optional
            Called after each block of a pass as ``on_block(rows done, total rows)``.

        Returns
        -------
        stated : Stated
        """
        X, words_inside = learn_inside(X, self.covariate_columns)
        covariates = as_table(covariates)
        words_beside = CovariateEncoder.learn(covariates)
        data: Any = None
        if in_passes and not (isinstance(X, np.memmap) and devices.leaves_cpu(self.device)):
            data = inputs.check_rows(self, X, reset=True)
        if data is None:
            data = inputs.check_data(self, X, reset=True)
        data = devices.moved(data, self.device)
        # Names are read from X itself, because scikit-learn drops names that are NumPy strings.
        names = inputs.column_names(data if isinstance(data, RowSource) else X)
        columns = inputs.covariate_indices(self.covariate_columns, data.shape[1], names)
        beside_names = inputs.column_names(covariates)
        extra = inputs.check_covariates(words_beside.codes(covariates), data, None, "fit")
        weight = inputs.check_weights(sample_weight, data)
        kept = None if weight is None or np.all(weight > 0) else np.flatnonzero(weight)
        n_beside = 0 if extra is None else int(extra.shape[1])
        exposure = inputs.exposure_index(self._exposure_column, columns, data.shape[1], names)
        self._roles = ColumnRoles(columns, n_beside, beside_names, words_inside, words_beside, exposure)
        self.component_names_ = names and inputs.names_without(self._roles.apart, data.shape[1], names)
        targets, loss, class_weight = self._targets(y, data, weight, kept)
        self._loss: Any = loss
        everyone, inside = self._roles.split(data)
        data, regressors = everyone, self._roles.regressors(inside, extra)
        n_kept = data.shape[0] if kept is None else len(kept)
        parameters.check_rank(self.n_components, n_kept, data.shape[1])
        if kept is not None and isinstance(data, RowSource):  # rows of weight zero stay in the source
            targets, class_weight = (inputs.among(x, kept, data.shape[0]) for x in (targets, class_weight))
        elif kept is not None:  # samples of weight zero are removed
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

    def _shortcomings(self, solution: Any) -> list[Warning]:
        """Return warnings: no convergence, a certificate limited by rounding, or a violated constraint."""
        name, found = type(self).__name__, list[Warning]()
        proven = self.certificate_ is not None and self.certificate_.is_global
        # With tol=0 the user has requested a number of iterations.
        enough = self.tol == 0 and self.max_iter is not None and self.n_iter_ >= self.max_iter
        if not (solution.converged or solution.stopped_early or proven or enough):
            limit = "" if self.max_iter is None else f" (now {self.max_iter})"
            help = (
                f". A larger max_iter{limit} or tol (now {float(self.tol)}) may help; scaling the "
                "features often does"
            )
            said = f"{name} has not converged: {solution.reason}{help if self.lam_ > 0 else ''}"
            found.append(ConvergenceWarning(said))
        # In float32 this is usual, and the statement of the certificate mentions it.
        double = eps(solution.factors.components) < 1e-10
        if double and self.certificate_ is not None and self.certificate_.lost_to_rounding:
            found.append(UserWarning(f"{name}: {self.certificate_.statement}"))
        if self.violation_ > 0 and self.violation_ > VIOLATION_TOLERANCE * fitting.largest_entry(
            model_named(self.model), solution.factors
        ):
            found.append(
                UserWarning(
                    f"{name} violates its constraint by up to {self.violation_:.2g} per entry "
                    "(violation_), because the projection to rank n_components comes last; a larger "
                    "n_components may help"
                )
            )
        return found

    @abstractmethod
    def _checked_y(self, y: Any, X: Any) -> CheckedY:
        """Check y of the samples of X."""

    @abstractmethod
    def _targets(self, y: Any, X: Array, weight: Any, kept: Any) -> tuple[Any, Loss, Any]:
        """Return targets, the loss, and the class weights of the kept samples (n,) or None.

        Targets are class numbers 0 … κ (n,), or real numbers (n, κ).
        """

    def adopt(self, stated: Stated, solution: Solution) -> Self:
        """Set the fitted attributes that predictions need from a solution of the stated problem.

        ``certificate_`` and attributes that describe factors, such as ``patterns_``, are set by ``fit`` only.

        Parameters
        ----------
        stated : result of `state` of this estimator
        solution : result of one of `superfactor.solvers`

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
        self._coding = problem.model.coding(factors, solution.code_sizes, self.xi_, self.lam_)
        self.codes_ = factors.codes
        kept = stated.kept
        if kept is not None:
            # Samples of weight zero were not fitted: they are coded as new samples.
            rows = len(kept) + np.arange(stated.everyone.shape[0])
            rows[kept] = np.arange(len(kept))
            (new,) = by_blocks(lambda X: (self._coding.codes(X),), stated.everyone)
            both = xp.concat([factors.codes, new], axis=0)
            self.codes_ = inputs.take(both, rows, axis=0)
        history = solution.history
        self.history_ = {name: list(getattr(history, name)) for name in ("objective", "seconds", "step")}
        self.objective_ = float(solution.objective)
        self.n_iter_ = int(solution.n_iter)
        self.violation_ = float(solution.violation)
        return self

    def _show(self, stated: Stated, solution: Solution) -> None:
        """Set attributes that describe the factors: patterns, scores and contributions."""
        shown = scores.shown_factors(stated.problem, solution.factors, self._coding.weights, self._symmetric)
        moments = shown.moments
        found = {
            "patterns_": scores.patterns(moments),
            "score_mean_": moments.score_mean,
            "score_covariance_": moments.C,
            "feature_mean_": moments.feature_mean,
            "feature_scale_": moments.feature_scale,
            "factor_turn_": shown.turn,
            "factor_contribution_": shown.contribution,
        }
        for name, values in found.items():
            setattr(self, name, moved(values, self.components_))
        # Arrays with one entry per feature get the dtype of X. r × r matrices stay in float64, because the
        # rotation of factors needs double precision.
        for name in ("patterns_", "feature_mean_", "feature_scale_"):
            setattr(self, name, cast(getattr(self, name), self.components_))

    def fit_transform(
        self, X: Any, y: Any = None, covariates: Any = None, sample_weight: Any = None
    ) -> NumpyArray:
        """Fit, then return codes of the training samples as of new ones: ``fit(...).transform(X)``.

        Parameters are those of ``fit``.

        Returns
        -------
        codes : array of shape (n_samples, n_components)
        """
        self.fit(X, y, covariates=covariates, sample_weight=sample_weight)
        return self.transform(X)

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
