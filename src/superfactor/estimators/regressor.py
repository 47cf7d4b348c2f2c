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

    Finds ``n_components`` factors that reconstruct X *and* predict y, and says how far from the
    global optimum the answer can be. With κ targets it minimises

        ``F = Σ_i ‖y_i − a_i‖² + ξ‖X − codes @ components‖² + λ(‖A‖² + ‖γ‖²)``

    over matrices of rank at most ``n_components``. The activations are ``a_i = Aᵀx_i + γᵀx'_i``
    with ``A = Wβ`` in the filter model (SMF-W), and ``a_i = A_i + γᵀx'_i`` with ``A_i = βᵀh_i`` in
    the feature model (SMF-H), where ``h_i`` is the sample's code and ``x'_i`` its covariates. With
    ``loss="poisson"`` activations are logarithms of expected counts, and half the Poisson deviance,
    ``Σ_i e^{a_i} − y_i a_i + y_i log y_i − y_i``, stands in place of the squared error.

    Parameters
    ----------
    n_components : int, default=2
        r, from 1 to min(n_samples, n_features).
    model : {"filter", "feature"}, default="filter"
        "filter" predicts from projections of X, "feature" from the codes.
    loss : {"squared", "poisson"}, default="squared"
        "squared" is for measurements, "poisson" for counts: y >= 0, whole numbers or rates.
    exposure_column : column name or index, default=None
        With ``loss="poisson"`` the column of X that says how long, or how much, of each sample was observed:
        positive numbers, to which expected counts are proportional. It is neither factorized nor a covariate.
    xi : "auto" or float, default="auto"
        ξ > 0, weight of the reconstruction against the regression. "auto" is in the units of the data
        (`superfactor.units`); a number is the paper's. ``xi_`` says what it was.
    lam : "auto" or float, default="auto"
        λ ≥ 0, ridge on the lifted coefficients A, likewise; ``lam_``.
    lam_covariates : "auto", float or None, default="auto"
        Ridge on the coefficients of the covariates; the intercept is free. "auto" is 0.08 times the
        variance of each covariate: weak, and the same in every unit. None is the paper's: the same
        λ. ``lam_covariates_`` says what it was.
    fit_intercept : bool, default=True
    covariate_columns : column name(s), index(es) or boolean mask, default=None
        Columns of X that enter the regression as they are and are not factorized. Names need a
        DataFrame, Parquet or Arrow.
    constraint, solver, search, step_size, max_iter, tol
        A convex set Θ on the lifted variables, and how the minimum is found: as in `SMFClassifier`.
    prediction : {"exact", "fast"}, default="exact"
        Feature model only: "exact" minimises the sample's training term over its code with y free,
        "fast" projects it. May be changed after ``fit``.
    certify : {"residual", "ascent"} or None, default="residual"
        The lower bound on F: at the residuals of the fit, tightened by ascent, or none.
    unlabeled : float, default=None
        A value of y that means "no target"; None, NaN and NA always do. Samples without targets are
        factorized like all others, and have no part in the regression.
    device, checkpoint, random_state, verbose
        Where to fit, a file to resume from, the random starts, and what is printed: as in `SMFClassifier`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features without covariate columns)
        W transposed: rows are the atoms. Orthonormal in the filter model only, and not where they
        are non-negative.
    codes_ : array of shape (n_samples, n_components)
        H transposed, the codes of the training samples.
    patterns_ : array of shape (n_components, n_features without covariate columns)
        How the features go with the codes. Weights say how a code is computed, patterns what it goes with.
    factor_coef_ : array of shape (n_targets, n_components)
        β transposed, what one unit of each code adds to the prediction.
    coef_ : array of shape ``(n_targets, n_features_in_)``
        Weights of the columns of X, covariate columns included: predictions are ``X @ coef_.T + intercept_``;
        of counts this is the logarithm of a prediction, less that of the exposure.
    covariate_coef_ : array of shape (n_targets, n_covariates)
        γ transposed; `covariate_columns` first, then the columns of `covariates`.
    intercept_ : array of shape (n_targets,)
    xi_, lam_ : float
        ξ and λ of the fit, those of the paper's F.
    lam_covariates_ : array of shape (n_covariates,)
        The ridge of every covariate.
    n_labeled_ : int
        Training samples that have a target.
    objective_ : float
        F at the solution, a sum over samples and not a mean.
    certificate_ : Certificate or None
        ``lower_bound``, ``gap``, ``relative_gap``, ``is_global``, ``statement``; and from the
        convergence theorem ``mu``, ``L``, ``condition_number``, ``step_window``, ``rate``.
    component_names_, column_names_, covariate_names_, covariate_levels_, covariate_columns_, n_covariates_in_
        What columns are called, and which of them are covariates: as in `SMFClassifier`.
    explained_variance_ratio_, score_mean_, score_covariance_, feature_scale_, feature_importances_
        What describes the factors: as in `SMFClassifier`.
    factor_turn_, factor_contribution_, history_, n_iter_, violation_, n_features_in_, feature_names_in_
        Likewise.

    Notes
    -----
    ``xi``, ``lam`` and ``objective_`` are those of a sum over samples: twice the data with the same
    ``lam`` is half the regularisation. ``sample_weight`` multiplies every term of a sample, so that
    weight 2 is the sample twice and weight 0 no sample at all. The table of implementations by type
    of X is that of `SMFClassifier`. For type checkers, arrays are ``Any``: which library's they are
    depends on X.

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
            None, NaN, NA and `unlabeled` mean that a sample has no target, or none of several.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Enter the regression as they are, words (strings, categories, booleans) as indicators
            against their most frequent level. Given here, they are needed for prediction too.
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
        # e·ℓ(y/e, a) is ℓ(y, a + log e): a rate that weighs as much as there is exposure.
        exposure = inputs.as_numpy(exposures).astype(float)
        exposure = exposure if kept is None else exposure[kept]
        factor = exposure[:, 0] if given.loss_factor is None else exposure[:, 0] * given.loss_factor
        return values / exposure, PoissonLoss(), factor

    def predict(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Predicted targets; of counts the expected ones, for the exposures in X.

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
        """R², the coefficient of determination, averaged over targets, of the samples that have them.

        Of counts it is D², the share of the Poisson deviance that is explained, against one rate for all.

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
        exposures = inputs.as_numpy(self._roles.exposures(self._new_samples(X, "score")))
        return targets.deviance_explained(y, predicted, weight, given.of_labelled(exposures))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
