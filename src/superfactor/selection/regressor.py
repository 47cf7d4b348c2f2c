"""`SMFRegressorCV`: the search for real targets."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from superfactor.estimators.progress import with_callbacks
from superfactor.selection.chosen import ChosenModel
from superfactor.selection.outcome import RealTargets
from superfactor.selection.search import Search


class SMFRegressorCV(ChosenModel, RegressorMixin, Search):
    """`SMFRegressor` with rank, model and weights chosen by cross-validation.

    Chooses what ``GridSearchCV`` over `SMFRegressor` would choose, for much less, by the search of
    `SMFClassifierCV`: wide X enters through one Gram matrix that all folds share, and the solution
    of one candidate is where its neighbour starts.

    Parameters
    ----------
    n_components : int, list of int or "auto", default="auto"
        "auto" is one more than there are targets, and half as many again only where that scores
        better by more than a standard error: the mean over the splits of the difference between the
        best of either rank. ``scree_`` shows what X itself would suggest.
    model : {"filter", "feature"} or a list of both, default="filter"
    xi, lam : float, list of float or "auto", default="auto"
        "auto" is a grid in the units of the data, so that the choice depends neither on the units
        of X and y nor on the number of samples: that of `superfactor.units`, with the values of t in
        `superfactor.selection.grid`.
    lam_covariates : float, None or "auto", default="auto"
        As for `SMFRegressor`.
    preprocess : {None, "center", "standardize"} or transformer, default="standardize"
        What happens to X in every fold, learned from its training part. ``best_estimator_`` is
        then a pipeline that begins with it. "standardize" leaves the means of sparse X, which would
        write out its zeros, and "center" refuses it; None takes X as it is. Columns of X that are
        covariates are scaled as well; `covariates` given to ``fit`` are not. A transformer, or a
        pipeline of several, sees X as it is given; `covariate_columns` are then columns of what it
        makes of X. y is taken as it is.
    impute : {"lowrank", "mean"}, transformer or None, default="lowrank"
        What completes X where values are missing (NaN), in every fold by its training part, before it is
        scaled: `superfactor.preprocessing.LowRankImputer`, or the mean of every column. ``best_estimator_``
        then begins with it, and its certificate speaks of the completed table. None refuses gaps.
        A transformer in `preprocess` has to complete them itself.
    rule : {"best", "one_standard_error"}, default="best"
        "one_standard_error" takes the simplest candidate whose mean score lies within one standard
        error of the best: fewest components, then largest `lam`, then largest `xi`.
    cv : int, splitter, iterable of splits or None, default=None
        As for ``GridSearchCV``: None is 5-fold, in the order of the samples. Where that means
        something (by date, by y), take ``KFold(5, shuffle=True)``.
    scoring : str, callable or None, default=None
        One scorer; None is R², the mean over several targets. The scorer is shown the samples in
        other coordinates with the same inner products (and covariates as last columns): its X is not
        the X given to ``fit``.
    refit : bool, default=True
        Fit the chosen model to all samples. Without it there is nothing to predict with.
    n_jobs : int or None, default=None
        Folds to work on at once, as in joblib.
    fit_intercept, covariate_columns, search, prediction, tol
        As for `SMFRegressor`; `search` concerns ``best_estimator_`` only.
    certify, unlabeled, random_state
        As for `SMFRegressor`; `certify` concerns ``best_estimator_`` only.
    verbose : int, default=0
        1 prints a line for each split and for the choice, and on a terminal shows how far the search
        is; 2 prints every score.

    Attributes
    ----------
    best_estimator_ : SMFRegressor, or Pipeline of what stands before it and "smf"
    best_params_ : dict with n_components, model, xi and lam
    best_score_ : float
        Mean score of the chosen candidate over the splits.
    best_index_ : int
    cv_results_ : dict of arrays
        As for ``GridSearchCV``. NaN for what a search that ended early has not scored; its means are
        over the splits that all candidates are scored in, or, where there is none, over those begun.
    scree_ : Scree
        Of the preprocessed X.
    scorer_, n_splits_, refit_time_, n_features_in_, feature_names_in_
        As for ``GridSearchCV``.

    Notes
    -----
    Candidates in the folds start at their neighbours' solutions and, unlike `SMFRegressor`, do not
    try other starts where nothing is proven; the final fit does, and carries the certificate.

    Ctrl-C and callbacks are as for `SMFClassifierCV`. ``cross_val_score`` of this search is nested
    cross-validation: ``best_score_`` is the best of many, and a little too good.

    NumPy, pandas and SciPy-sparse X of any shape are welcome; arrays of other libraries are copied
    to NumPy for the search.

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

    _outcome = RealTargets

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
            fold, and never judged.
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
        return self._search(X, y, covariates, sample_weight, groups)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
