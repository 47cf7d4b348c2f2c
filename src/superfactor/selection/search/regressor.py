"""`SMFRegressorCV`: the search for real targets and counts."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin

from superfactor.estimators import SMFRegressor
from superfactor.estimators.progress import with_callbacks
from superfactor.estimators.targets import exposure_of
from superfactor.outcomes import outcome_named
from superfactor.selection.search.base import Search
from superfactor.selection.search.chosen import ChosenModel


class SMFRegressorCV(ChosenModel, RegressorMixin, Search):
    """`SMFRegressor` with rank, model and weights chosen by cross-validation.

    Chooses what ``GridSearchCV`` over `SMFRegressor` would choose, for much less, by the search of
    `SMFClassifierCV`: wide X enters through one Gram matrix that all folds share, and the solution
    of one candidate is where its neighbour starts.

    Parameters
    ----------
    n_components : int, list of int or "auto", default="auto"
        "auto" is one more than there are targets, and half as many again only where that scores better by
        more than a standard error.
    model : {"filter", "feature"} or a list of both, default="filter"
    loss : {"squared", "poisson"}, default="squared"
        "squared" is for measurements, "poisson" for counts, as for `SMFRegressor`.
    exposure_column : column name or index, default=None
        As for `SMFRegressor`. It passes imputation and preprocessing as it is; with a transformer of your own
        it is a column of what that makes of X, which has to leave it alone.
    xi, lam : float, list of float or "auto", default="auto"
        "auto" is a grid in the units of the data, so that the choice depends neither on the units of X and y
        nor on the number of samples.
    lam_covariates : float, None or "auto", default="auto"
        As for `SMFRegressor`.
    preprocess, impute, rule
        As for `SMFClassifierCV`. y is taken as it is.
    cv : int, splitter, iterable of splits or None, default=None
        As for ``GridSearchCV``: None is 5-fold, in the order of the samples. Where that means something (by
        date, by y), take ``KFold(5, shuffle=True)``.
    scoring : str, callable or None, default=None
        One scorer; None is R², of counts the share of deviance explained, the mean over several targets. It
        is shown the samples in other coordinates with the same inner products.
    refit, n_jobs
        As for `SMFClassifierCV`.
    fit_intercept, covariate_columns, search, prediction, tol
    certify, unlabeled, random_state
        As for `SMFRegressor`; `search` and `certify` are for ``best_estimator_`` only.
    verbose : int, default=0
        As for `SMFClassifierCV`.

    Attributes
    ----------
    best_estimator_ : SMFRegressor, or Pipeline of what stands before it and "smf"
    best_params_ : dict with n_components, model, xi and lam
    best_score_ : float
        Mean score of the chosen candidate over the splits.
    best_index_, cv_results_, scree_, scorer_, n_splits_, refit_time_, n_features_in_, feature_names_in_
        As for `SMFClassifierCV`.

    Notes
    -----
    The search itself, Ctrl-C and callbacks are as for `SMFClassifierCV`. ``best_score_`` is the best of many,
    and a little too good: `superfactor.selection.nested_scores` is honest.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from superfactor import SMFRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = SMFRegressorCV().fit(X, y)
    >>> sorted(search.best_params_)
    ['lam', 'model', 'n_components', 'xi']
    >>> bool(0.45 < search.best_score_ < 0.55)
    True
    """

    _parameter_constraints: ClassVar = {
        **Search._parameter_constraints,
        "loss": SMFRegressor._parameter_constraints["loss"],
    }

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        model: Any = "filter",
        loss: str = "squared",
        exposure_column: Any = None,
        xi: Any = "auto",
        lam: Any = "auto",
        lam_covariates: float | str | None = "auto",
        preprocess: Any = "standardize",
        impute: Any = "lowrank",
        rule: str = "best",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        fit_intercept: bool = True,
        covariate_columns: Any = None,
        search: str = "auto",
        prediction: str = "exact",
        tol: float = 1e-8,
        certify: str | None = "residual",
        unlabeled: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_components,
            model=model,
            xi=xi,
            lam=lam,
            lam_covariates=lam_covariates,
            preprocess=preprocess,
            impute=impute,
            rule=rule,
            cv=cv,
            scoring=scoring,
            refit=refit,
            n_jobs=n_jobs,
            fit_intercept=fit_intercept,
            covariate_columns=covariate_columns,
            search=search,
            prediction=prediction,
            tol=tol,
            certify=certify,
            unlabeled=unlabeled,
            random_state=random_state,
            verbose=verbose,
        )
        self.loss = loss
        self.exposure_column = exposure_column

    _outcome = outcome_named("numbers")

    @with_callbacks
    def fit(
        self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Score every candidate on every split, choose, and fit the chosen one to all samples.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers. Samples without any (None, NaN, NA, `unlabeled`) are in the training part of every
            fold, and never scored.
        covariates : array-like of shape (n_samples, n_covariates), optional
            Enter the regression as they are. Given here, they are needed for prediction too.
        sample_weight : array-like of shape (n_samples,), optional
            Reaches every fit, the preprocessing (where it is a name) and the scorer, which has to take it.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        exposure_of(self.exposure_column, self.loss)
        return self._search(X, y, covariates, sample_weight, groups)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
