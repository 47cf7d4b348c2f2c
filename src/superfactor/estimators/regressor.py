"""`SMFRegressor`: real targets or counts, one or several."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import StrOptions

from superfactor._arrays import Array, NumpyArray
from superfactor.constraints import ConvexSet
from superfactor.estimators import inputs, parameters, targets
from superfactor.estimators.base import SupervisedFactorization
from superfactor.estimators.progress import with_callbacks
from superfactor.losses import Loss, PoissonLoss, SquaredError


class SMFRegressor(RegressorMixin, SupervisedFactorization):
    """Supervised matrix factorization for regression, of numbers or of counts.

    Finds ``n_components`` factors that reconstruct X *and* predict y, and computes how far the
    solution can be from the global optimum. With κ targets it minimises

        ``F = Σ_i ‖y_i − a_i‖² + ξ‖X − codes @ components‖² + λ(‖A‖² + ‖γ‖²)``

    over matrices of rank at most ``n_components``. The activations are ``a_i = Aᵀx_i + γᵀx'_i``
    with ``A = Wβ`` in the filter model (SMF-W), and ``a_i = A_i + γᵀx'_i`` with ``A_i = βᵀh_i`` in
    the feature model (SMF-H), where ``h_i`` is the sample's code and ``x'_i`` its covariates. With
    ``loss="poisson"`` activations are logarithms of expected counts, and half the Poisson deviance,
    ``Σ_i e^{a_i} − y_i a_i + y_i log y_i − y_i``, replaces the squared error.

    Parameters
    ----------
    n_components : int, default=2
        r, from 1 to min(n_samples, n_features).
    model : {"filter", "feature"}, default="filter"
        "filter" predicts from projections of X, "feature" from the codes.
    loss : {"squared", "poisson"}, default="squared"
        "squared" is for measurements, "poisson" for counts: y >= 0, whole numbers or rates.
    exposure_column : column name or index, default=None
        With ``loss="poisson"``, the column of X with exposures, such as the time or amount of observation of
        each sample: positive numbers to which expected counts are proportional. It is neither factorized nor
        a covariate.
    xi : "auto" or float, default="auto"
        ξ > 0, weight of the reconstruction relative to the regression. "auto" is in the units of the data
        (`superfactor.units`); a number is used as in the paper. ``xi_`` is the value of the fit.
    lam : "auto" or float, default="auto"
        λ ≥ 0, ridge on the lifted coefficients A; "auto" as for `xi`. ``lam_`` is the value of the fit.
    lam_covariates : "auto", float or None, default="auto"
        Ridge on the coefficients of the covariates; the intercept is not penalized. "auto" is 0.08 times the
        variance of each covariate, which is weak and does not depend on units. None uses λ, as the paper
        does. ``lam_covariates_`` is the value of the fit.
    fit_intercept : bool, default=True
    covariate_columns : column name(s), index(es) or boolean mask, default=None
        Columns of X that enter the regression directly and are not factorized. Names require a DataFrame,
        Parquet or Arrow.
    constraint, solver, search, step_size, max_iter, tol
        A convex set Θ on the lifted variables, and parameters of the solver: as in `SMFClassifier`.
    prediction : {"exact", "fast"}, default="exact"
        Feature model only: "exact" minimises the sample's training term over its code and y, "fast" projects
        the sample. It may be changed after ``fit``.
    certify : {"residual", "ascent"} or None, default="residual"
        How the lower bound on F is computed: from the residuals of the fit, improved by ascent, or not.
    unlabeled : float, default=None
        A value of y that means "no target"; None, NaN and NA always do. Samples without targets are
        factorized like all others, but do not enter the regression.
    impute : {"factors"} or None, default=None
        Missing values (NaN) of new samples: as in `SMFClassifier`.
    device, checkpoint, random_state, verbose
        Device of the fit, checkpoint file, seed of random starts, and output: as in `SMFClassifier`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features without covariate columns)
        W transposed: rows are the atoms. Orthonormal in the filter model only, and not where they
        are non-negative.
    codes_ : array of shape (n_samples, n_components)
        H transposed, the codes of the training samples.
    patterns_ : array of shape (n_components, n_features without covariate columns)
        Regression of the features on the codes. Weights define how a code is computed; patterns show which
        features are related to it.
    factor_coef_ : array of shape (n_targets, n_components)
        β transposed, the change of the prediction per unit of each code.
    coef_ : array of shape ``(n_targets, n_features_in_)``
        Weights of the columns of X, including covariate columns: predictions are ``X @ coef_.T +
        intercept_``; for counts this is the log of the prediction minus the log of the exposure.
    covariate_coef_ : array of shape (n_targets, n_covariates)
        γ transposed; `covariate_columns` first, then the columns of `covariates`.
    intercept_ : array of shape (n_targets,)
    xi_, lam_ : float
        ξ and λ of the fit, as in the F of the paper.
    lam_covariates_ : array of shape (n_covariates,)
        The ridge of every covariate.
    n_labeled_ : int
        Number of training samples with a target.
    objective_ : float
        F at the solution, a sum over samples and not a mean.
    certificate_ : Certificate or None
        ``lower_bound``, ``gap``, ``relative_gap``, ``is_global``, ``statement``; and from the
        convergence theorem ``mu``, ``L``, ``condition_number``, ``step_window``, ``rate``.
    component_names_, column_names_, covariate_names_, covariate_levels_, covariate_columns_, n_covariates_in_
        Names of columns, and which of them are covariates: as in `SMFClassifier`.
    explained_variance_ratio_, score_mean_, score_covariance_, feature_importances_
        Properties of the factors: as in `SMFClassifier`.
    feature_mean_, feature_scale_
        Properties of the factors: as in `SMFClassifier`.
    factor_turn_, factor_contribution_, history_, n_iter_, violation_, n_features_in_, feature_names_in_
        As in `SMFClassifier`.

    Notes
    -----
    ``xi``, ``lam`` and ``objective_`` refer to a sum over samples: twice the data with the same ``lam`` means
    half the regularisation. ``sample_weight`` multiplies every term of a sample: weight 2 is equivalent to
    two copies of the sample, and weight 0 to leaving it out. `SMFClassifier` has a table of implementations
    by type of X. For type checkers, arrays are ``Any``, because their library depends on X.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from superfactor import SMFRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = SMFRegressor(n_components=3).fit(X, y)
    >>> reg.components_.shape, reg.factor_coef_.shape, reg.predict(X).shape
    ((3, 10), (1, 3), (442,))

    Counts in samples that were observed for different times:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.standard_normal((200, 5)), rng.uniform(1, 4, 200)])
    >>> y = rng.poisson(X[:, 5] * np.exp(X[:, 0]))
    >>> reg = SMFRegressor(loss="poisson", exposure_column=5).fit(X, y)
    >>> bool(reg.predict(X).min() > 0), bool(reg.score(X, y) > 0.5)
    (True, True)
    """

    _parameter_constraints: ClassVar = {
        **parameters.CONSTRAINTS,
        "loss": [StrOptions({"squared", "poisson"})],
    }
    n_labeled_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        model: str = "filter",
        loss: str = "squared",
        exposure_column: Any = None,
        xi: float | str = "auto",
        lam: float | str = "auto",
        lam_covariates: float | str | None = "auto",
        fit_intercept: bool = True,
        covariate_columns: Any = None,
        constraint: ConvexSet | None = None,
        solver: str = "auto",
        search: str = "auto",
        step_size: float | str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-8,
        prediction: str = "exact",
        certify: str | None = "residual",
        unlabeled: Any = None,
        impute: str | None = None,
        device: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.model = model
        self.loss = loss
        self.exposure_column = exposure_column
        self.xi = xi
        self.lam = lam
        self.lam_covariates = lam_covariates
        self.fit_intercept = fit_intercept
        self.covariate_columns = covariate_columns
        self.constraint = constraint
        self.solver = solver
        self.search = search
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.prediction = prediction
        self.certify = certify
        self.unlabeled = unlabeled
        self.impute = impute
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None) -> Self:
        """Fit factors and regression together.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            None, NaN, NA and `unlabeled` mean that a sample has no target. Of several targets, all or none
            must be known.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Enter the regression directly; strings, categories and booleans as indicators relative to their
            most frequent level. If given, they are required for prediction too.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies every term of a sample; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fit(X, y, covariates, sample_weight)

    @property
    def _counts(self) -> bool:
        return bool(self.loss == "poisson")

    @property
    def _exposure_column(self) -> Any:
        return targets.exposure_of(self.exposure_column, self.loss)

    def _checked_y(self, y: Any, X: Any) -> targets.CheckedY:
        given = targets.check_real_targets(y, X, type(self).__name__, self.unlabeled)
        return targets.check_counts(given) if self._counts else given

    def _targets(self, y: Any, X: Array, weight: Any, kept: Any) -> tuple[Any, Loss, Any]:
        given = self._checked_y(y, X).among(kept).of_some()
        self._flat = given.values.ndim == 1
        self.n_labeled_ = len(given.labelled)
        if given.names is not None:
            self._names["targets"] = list(given.names)
        values = given.values[:, None] if self._flat else given.values
        if not self._counts:
            return values, SquaredError(), given.loss_factor
        targets.check_some_counted(given)
        exposures = self._roles.exposures(X, kept)
        if exposures is None:
            return values, PoissonLoss(), given.loss_factor
        # e·ℓ(y/e, a) equals ℓ(y, a + log e): the loss of a rate, weighted by its exposure.
        exposure = inputs.as_numpy(exposures).astype(float)
        exposure = exposure if kept is None else exposure[kept]
        factor = exposure[:, 0] if given.loss_factor is None else exposure[:, 0] * given.loss_factor
        return values / exposure, PoissonLoss(), factor

    def predict(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return predicted targets; for counts, expected counts for the exposures in X.

        Parameters
        ----------
        X : array-like, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Required if they were given to ``fit``.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets), as y was at ``fit``
        """
        signal, offset = self._activations(X, covariates, "predict")
        a = self._coding.targets(signal, offset, self.prediction)
        a = targets.expected_counts(a) if self._counts else a
        return a[:, 0] if self._flat else a

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Return R², averaged over targets, for the samples that have targets.

        For counts it is D², the explained share of the Poisson deviance of one rate for all.

        Parameters
        ----------
        X : array-like, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
        covariates : array-like of shape (n_samples, n_covariates), optional

        Returns
        -------
        score : float
        """
        predicted = self.predict(X, covariates=covariates)
        given, weight = self._checked_y(y, predicted), inputs.check_weights(sample_weight, predicted)
        y, predicted, weight = (
            given.of_labelled(inputs.as_numpy(x)) for x in (given.values, predicted, weight)
        )
        if not self._counts:
            return float(r2_score(y, predicted, sample_weight=weight))
        exposures = inputs.as_numpy(self._roles.exposures(self._new_samples(X, "score", as_given=True)))
        return targets.deviance_explained(y, predicted, weight, given.of_labelled(exposures))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
