"""`SMFClassifierCV`: the search for labels."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassifierMixin

from superfactor.estimators.progress import with_callbacks
from superfactor.losses import Link
from superfactor.outcomes import outcome_named
from superfactor.selection.search.base import Search
from superfactor.selection.search.chosen import ChosenClassifier


class SMFClassifierCV(ChosenClassifier, ClassifierMixin, Search):
    """`SMFClassifier` with rank, model and weights chosen by cross-validation.

    Chooses what ``GridSearchCV`` over `SMFClassifier` would choose, for much less: wide X enters
    through one Gram matrix that all folds share, and the solution of one candidate is where its
    neighbour starts.

    Parameters
    ----------
    n_components : int, list of int or "auto", default="auto"
        "auto" is the number of classes, and half as many again only where that scores better by more
        than a standard error. ``scree_`` shows what X itself would suggest.
    model : {"filter", "feature"} or a list of both, default="filter"
    xi, lam : float, list of float or "auto", default="auto"
        "auto" is a grid in the units of the data, so that the choice depends neither on the units of X nor
        on the number of samples.
    lam_covariates : float, None or "auto", default="auto"
        As for `SMFClassifier`.
    preprocess : {None, "center", "standardize"} or transformer, default="standardize"
        What happens to X in every fold, learned from its training part; ``best_estimator_`` is a pipeline
        that begins with it. "standardize" leaves the means of sparse X, "center" refuses it. Columns of X
        that are covariates are scaled as well; `covariates` given to ``fit`` are not. A transformer sees X
        as it is given; `covariate_columns` are then columns of what it makes of X.
    impute : {"lowrank", "mean"}, transformer or None, default="lowrank"
        What completes missing values (NaN) in every fold, before scaling:
        `superfactor.preprocessing.LowRankImputer`, or the mean of every column. The certificate is then that
        of the completed table. None refuses missing values; a transformer in `preprocess` has to complete
        those of ``fit`` itself. If X has none in ``fit``, nothing is imputed there, and those of new samples
        are completed from the factors of the model (``impute="factors"`` of `SMFClassifier`). A warning
        counts them.
    rule : {"best", "one_standard_error"}, default="best"
        "one_standard_error" takes the simplest candidate whose mean score lies within one standard
        error of the best: fewest components, then largest `lam`, then largest `xi`.
    cv : int, splitter, iterable of splits or None, default=None
        As for ``GridSearchCV``: None is 5-fold, stratified and not shuffled.
    scoring : str, callable or None, default=None
        One scorer; its figures are those of ``score``. None chooses by the likelihood ("neg_log_loss"), and
        ``score`` is then accuracy. A scorer is shown the samples in other coordinates with the same inner
        products, covariates as last columns: its X is not the X given to ``fit``.
    refit : bool, default=True
        Fit the chosen model to all samples. Without it there is nothing to predict with.
    n_jobs : int or None, default=None
        Folds to work on at once, as in joblib.
    link, fit_intercept, covariate_columns, class_weight, search, prediction, tol
    certify, unlabeled, random_state
        As for `SMFClassifier`; `search` and `certify` are for ``best_estimator_`` only.
    verbose : int, default=0
        1 prints a line for each split and for the choice, and on a terminal shows how far the search
        is; 2 prints every score.

    Attributes
    ----------
    best_estimator_ : SMFClassifier, or Pipeline of what stands before it and "smf"
    best_params_ : dict with n_components, model, xi and lam
    best_score_ : float
        Mean score of the chosen candidate over the splits: with ``scoring=None`` the mean logarithm of
        the probability of the true class.
    best_index_ : int
    cv_results_ : dict of arrays
        As for ``GridSearchCV``. NaN for what a search that ended early has not scored; its means are
        over the splits that all candidates are scored in, or, where there is none, over those begun.
    scree_ : Scree
        Of the preprocessed X.
    scorer_, n_splits_, refit_time_, classes_, n_features_in_, feature_names_in_
        As for ``GridSearchCV``.

    Notes
    -----
    Candidates in the folds start at their neighbours' solutions and try no other starts; the final fit does,
    and carries the certificate. Arrays of other libraries are copied to NumPy for the search.

    Ctrl-C ends the search after its current candidate: the best one so far is fitted to all samples, and
    KeyboardInterrupt raised. A second one ends it at once, without a fit. Callbacks (``on_progress``;
    ``set_callbacks`` where scikit-learn has them) are called after every score and may end the search, which
    then goes on to its choice.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from superfactor import SMFClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SMFClassifierCV(n_components=[1, 2, 3]).fit(X, y)
    >>> sorted(search.best_params_)
    ['lam', 'model', 'n_components', 'xi']
    >>> bool(search.score(X, y) > 0.95)
    True
    """

    _outcome = outcome_named("classes")
    classes_: Any

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        model: Any = "filter",
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
        link: str | Link = "logistic",
        fit_intercept: bool = True,
        covariate_columns: Any = None,
        class_weight: Any = None,
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
        self.link = link
        self.class_weight = class_weight

    @with_callbacks
    def fit(
        self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Score every candidate on every split, choose, and fit the chosen one to all samples.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels, two classes or more; or several columns of yes/no labels. Samples without one (None, NaN,
            NA, `unlabeled`) are in the training part of every fold, and never scored.
        covariates : array-like of shape (n_samples, n_covariates), optional
            Enter the classifier as they are. Given here, they are needed for prediction too.
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
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags
