"""`SMFSurvivalCV`: the search for survival times."""

from __future__ import annotations

from typing import Any, Self

from superfactor._arrays import NumpyArray
from superfactor.estimators.progress import with_callbacks
from superfactor.outcomes import outcome_named
from superfactor.selection.search.base import Search
from superfactor.selection.search.chosen import ChosenModel, available_if, given_beside, refits


class SMFSurvivalCV(ChosenModel, Search):
    """`SMFSurvival` with rank, model and weights chosen by cross-validation.

    Parameters
    ----------
    n_components : int, list of int or "auto", default="auto"
        "auto" is two, and three only where that scores better by more than a standard error.
    model : {"filter", "feature"} or a list of both, default="filter"
    xi, lam : float, list of float or "auto", default="auto"
        "auto" is a grid in the units of the data.
    lam_covariates : float, None or "auto", default="auto"
        As for `SMFSurvival`.
    ties : {"breslow", "efron"}, default="breslow"
        As for `SMFSurvival`.
    preprocess, impute, rule
        As for `SMFClassifierCV`.
    cv : int, splitter, iterable of splits or None, default=None
        As for ``GridSearchCV``: None is 5-fold, every fold with its share of the events, not shuffled.
    scoring : str, callable or None, default=None
        One scorer; None is the log partial likelihood per event. It is shown the samples in other coordinates
        with the same inner products, and y as events and times (n_samples, 2).
    refit, n_jobs
        As for `SMFClassifierCV`.
    covariate_columns, search, prediction, tol, certify, random_state
        As for `SMFSurvival`; `search` and `certify` are for ``best_estimator_`` only.
    verbose : int, default=0
        As for `SMFClassifierCV`.

    Attributes
    ----------
    best_estimator_ : SMFSurvival, or Pipeline of what stands before it and "smf"
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
    >>> import numpy as np
    >>> from superfactor import SMFSurvivalCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 8))
    >>> time = rng.exponential(np.exp(-X[:, 0] - X[:, 1]))
    >>> event, time = time < 1.5, np.minimum(time, 1.5)  # observed until 1.5
    >>> search = SMFSurvivalCV().fit(X, np.column_stack([event, time]))
    >>> bool(search.score(X, np.column_stack([event, time])) > 0.75)
    True
    """

    _outcome = outcome_named("times")

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        model: Any = "filter",
        xi: Any = "auto",
        lam: Any = "auto",
        lam_covariates: float | str | None = "auto",
        ties: str = "breslow",
        preprocess: Any = "standardize",
        impute: Any = "lowrank",
        rule: str = "best",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        covariate_columns: Any = None,
        search: str = "auto",
        prediction: str = "exact",
        tol: float = 1e-8,
        certify: str | None = "residual",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.model = model
        self.xi = xi
        self.lam = lam
        self.lam_covariates = lam_covariates
        self.ties = ties
        self.preprocess = preprocess
        self.impute = impute
        self.rule = rule
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.covariate_columns = covariate_columns
        self.search = search
        self.prediction = prediction
        self.tol = tol
        self.certify = certify
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Score every candidate on every split, choose, and fit the chosen one to all samples.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : structured array of shape (n_samples,), or array-like or DataFrame of shape (n_samples, 2)
            Events and times, as for `SMFSurvival`. Samples without a time are in the training part of every
            fold, and never scored.
        covariates : array-like of shape (n_samples, n_covariates), optional
            Enter the hazard as they are. Given here, they are needed for prediction too.
        sample_weight : array-like of shape (n_samples,), optional
            Reaches every fit, the preprocessing (where it is a name) and the scorer, which has to take it.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        return self._search(X, y, covariates, sample_weight, groups)

    @available_if(refits)
    def predict_survival_function(
        self, X: Any, covariates: Any = None, times: Any = None, strata: Any = None
    ) -> NumpyArray:
        """The chance to have had no event (n_samples, n_times), by ``best_estimator_``."""
        return self._curves("predict_survival_function", X, covariates, times, strata)

    @available_if(refits)
    def predict_cumulative_hazard_function(
        self, X: Any, covariates: Any = None, times: Any = None, strata: Any = None
    ) -> NumpyArray:
        """Cumulative hazards (n_samples, n_times), by ``best_estimator_``."""
        return self._curves("predict_cumulative_hazard_function", X, covariates, times, strata)

    def _curves(self, method: str, X: Any, covariates: Any, times: Any, strata: Any) -> NumpyArray:
        chosen = self._chosen(X)
        for _, step in getattr(chosen, "steps", [])[:-1]:  # pipelines know scikit-learn's methods only
            X = step.transform(X)
        last = chosen.steps[-1][1] if hasattr(chosen, "steps") else chosen
        return getattr(last, method)(X, times=times, strata=strata, **given_beside(covariates))
