"""`SMFClassifierCV`: rank, model and weights by cross-validation, at the price of a few fits."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import HasMethods, StrOptions

from superfactor.estimators import SMFClassifier, parameters
from superfactor.estimators.indicators import IndicatorColumns
from superfactor.estimators.parameters import shown
from superfactor.estimators.progress import CallbackSupportMixin, with_callbacks
from superfactor.estimators.targets import Given
from superfactor.losses import Link
from superfactor.preprocessing import LowRankImputer
from superfactor.selection import grid, results
from superfactor.selection.board import Board, board_for
from superfactor.selection.chosen import ChosenModel
from superfactor.selection.folds import score_fold
from superfactor.selection.prepared import Prepared, prepared, with_indicators
from superfactor.selection.preprocessing import (
    IMPUTATION,
    PREPROCESSING,
    is_transformer,
    scaler_of,
    steps_of,
)
from superfactor.selection.progress import SearchProgress
from superfactor.selection.rank import Scree, scree
from superfactor.selection.scoring import Fold, score_here, score_in_parallel
from superfactor.solvers.interruption import deferred_interrupt

_SHARED = (
    "lam_covariates",
    "link",
    "fit_intercept",
    "class_weight",
    "search",
    "prediction",
    "tol",
    "certify",
    "unlabeled",
    "random_state",
)


class SMFClassifierCV(
    ChosenModel,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
    BaseEstimator,
):
    """`SMFClassifier` with rank, model and weights chosen by cross-validation.

    Chooses what ``GridSearchCV`` over `SMFClassifier` would choose, for much less: wide X enters
    through one Gram matrix that all folds share, and the solution of one candidate is where its
    neighbour starts.

    Parameters
    ----------
    n_components : int, list of int or "auto", default="auto"
        "auto" is the number of classes, and half as many again only where that scores better by more
        than a standard error: the mean over the splits of the difference between the best of either
        rank. ``scree_`` shows what X itself would suggest.
    model : {"filter", "feature"} or a list of both, default="filter"
    xi, lam : float, list of float or "auto", default="auto"
        "auto" is a grid in the units of the data, so that the choice depends neither on the units
        of X nor on the number of samples: that of `superfactor.units`, with the values of t in
        `superfactor.selection.grid`. ``lam = 0`` is allowed, but has no optimum,
        and scores that mean little, where a model can tell the classes of the samples apart.
    lam_covariates : float, None or "auto", default="auto"
        As for `SMFClassifier`.
    preprocess : {None, "center", "standardize"} or transformer, default=None
        What happens to X in every fold, learned from its training part. ``best_estimator_`` is
        then a pipeline that begins with it. Columns of X that are covariates are scaled as well;
        `covariates` given to ``fit`` are not. A transformer, or a pipeline of several, sees X as it is
        given; `covariate_columns` are then columns of what it makes of X.
    impute : {"lowrank", "mean"}, transformer or None, default="lowrank"
        What completes X where values are missing (NaN), in every fold by its training part, before it is
        scaled: `superfactor.preprocessing.LowRankImputer`, or the mean of every column. ``best_estimator_``
        then begins with it, and its certificate speaks of the completed table. None refuses gaps.
        A transformer in `preprocess` has to complete them itself.
    rule : {"best", "one_standard_error"}, default="best"
        "one_standard_error" takes the simplest candidate whose mean score lies within one standard
        error of the best: fewest components, then largest `lam`, then largest `xi`.
    cv : int, splitter, iterable of splits or None, default=None
        As for ``GridSearchCV``: None is 5-fold, stratified and not shuffled.
    scoring : str, callable or None, default=None
        One scorer; None is accuracy. The scorer is shown the samples in other coordinates with the
        same inner products (and covariates as last columns): its X is not the X given to ``fit``.
    refit : bool, default=True
        Fit the chosen model to all samples. Without it there is nothing to predict with.
    n_jobs : int or None, default=None
        Folds to work on at once, as in joblib.
    link, fit_intercept, covariate_columns, class_weight, search, prediction, tol
        As for `SMFClassifier`; `search` concerns ``best_estimator_`` only.
    certify, unlabeled, random_state
        As for `SMFClassifier`; `certify` concerns ``best_estimator_`` only.
    verbose : int, default=0
        1 prints a line for each split and for the choice, and on a terminal shows how far the search
        is; 2 prints every score.

    Attributes
    ----------
    best_estimator_ : SMFClassifier, or Pipeline of what stands before it and "smf"
    best_params_ : dict with n_components, model, xi and lam
    best_score_ : float
        Mean score of the chosen candidate over the splits.
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
    Candidates in the folds start at their neighbours' solutions and, unlike `SMFClassifier`, do not
    try other starts where nothing is proven; the final fit does, and carries the certificate.

    Ctrl-C ends the search after its current candidate: the best one so far is chosen and fitted to all
    samples, and KeyboardInterrupt raised. A second one while candidates are scored ends it at once, with
    ``cv_results_`` and ``best_params_`` but without a fit; one in the final fit is as in `SMFClassifier`.
    Callbacks (``on_progress``; ``set_callbacks`` where scikit-learn has them) hear of every score and
    may end the search, which then goes on to its choice.

    NumPy, pandas and SciPy-sparse X of any shape are welcome; arrays of other libraries are copied
    to NumPy for the search.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from superfactor import SMFClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SMFClassifierCV(n_components=[1, 2, 3], preprocess="standardize").fit(X, y)
    >>> sorted(search.best_params_)
    ['lam', 'model', 'n_components', 'xi']
    >>> bool(search.best_score_ > 0.95)
    True
    """

    # Those of the candidates are checked one by one, those of SMFClassifier by it.
    _parameter_constraints: ClassVar = {
        "preprocess": [StrOptions(set(PREPROCESSING)), HasMethods(["fit", "transform"]), None],
        "impute": [StrOptions(set(IMPUTATION)), HasMethods(["fit", "transform"]), None],
        "rule": [StrOptions(set(results.RULES))],
        "scoring": [str, callable, None],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }
    _on_progress: Callable[[int, int], object] | None = None

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        model: Any = "filter",
        xi: Any = "auto",
        lam: Any = "auto",
        lam_covariates: float | str | None = "auto",
        preprocess: Any = None,
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
        self.n_components = n_components
        self.model = model
        self.xi = xi
        self.lam = lam
        self.lam_covariates = lam_covariates
        self.preprocess = preprocess
        self.impute = impute
        self.rule = rule
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.link = link
        self.fit_intercept = fit_intercept
        self.covariate_columns = covariate_columns
        self.class_weight = class_weight
        self.search = search
        self.prediction = prediction
        self.tol = tol
        self.certify = certify
        self.unlabeled = unlabeled
        self.random_state = random_state
        self.verbose = verbose

    # --- the search --------------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        covariates: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Score every candidate on every split, choose, and fit the chosen one to all samples.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, two classes or more. Samples without one (None, NaN, NA, `unlabeled`) are in the
            training part of every fold, and never judged.
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
        self._validate_params()
        grid.check_choices(self.n_components, self.model, self.xi, self.lam)
        base = SMFClassifier(**{name: getattr(self, name) for name in _SHARED})
        parameters.check_parameters(base)  # now, and not after the search
        name = type(self).__name__
        data = prepared(self, X, y, covariates, sample_weight, name)
        self.classes_ = data.classes
        splits = data.splits(self.cv, groups)
        _check_splits(splits, data.given)
        self.n_splits_ = len(splits)
        largest = min(*(len(train) for train, _ in splits), data.rows.n_factorized)
        self.scree_, variation = self._scree(data, largest)
        points = grid.candidates(
            self.n_components,
            self.model,
            self.xi,
            self.lam,
            scale=self.scree_,
            n=data.labelled_weight,
            ridge=variation * data.labelled_weight / data.total_weight,
            n_classes=len(self.classes_),
            largest=largest,
        )
        _check_ranks(points, largest)

        self.scorer_ = check_scoring(base, self.scoring)
        score_weight = data.weight
        if score_weight is None and sample_weight is not None:
            score_weight = np.ones(data.rows.n_samples)
        fold = partial(
            score_fold,
            *(base, data.rows, data.given, points),
            scorer=self.scorer_,
            score_weight=score_weight,
        )
        metadata = {"covariates": covariates, "sample_weight": sample_weight, "groups": groups}
        metadata = {name: value for name, value in metadata.items() if value is not None}
        for name in (
            "cv_results_",
            "best_estimator_",
        ):  # of an earlier fit: this one may end without
            self.__dict__.pop(name, None)
        shared = effective_n_jobs(self.n_jobs) > 1
        with board_for(len(splits), len(points), shared=shared) as board:
            progress = SearchProgress(
                *(self, X, y, metadata),
                board=board,
                points=points,
                listener=self._on_progress,
                conclude=partial(self._conclude, points),
            )
            try:
                interrupted = self._score(fold, splits, board, progress)
            except KeyboardInterrupt:  # at once: what is scored is kept, nothing more is fitted
                if board.n_scored:
                    self._conclude(points, board.scores)
                raise
            if board.n_scored == 0:
                raise KeyboardInterrupt
            self._conclude(points, board.scores)
        progress.choice()
        if self.refit:
            marked = y if data.given.known is None else data.given.marked
            self._refit(base, X, marked, covariates, sample_weight, data.rows.imputer, progress)
        if interrupted:
            raise KeyboardInterrupt(
                f"{type(self).__name__}: the best candidate after {progress.n_told} of "
                f"{progress.total} scores is kept"
            )
        progress.end()
        return self

    def _scree(self, data: Prepared, largest: int) -> tuple[Scree, float]:
        """Of the X that the final fit will see, weighted; the elbow no larger than a fold allows.

        And σ₁² of that X without its mean, as the unit of λ has it (`superfactor.units`).
        """
        samples = data.rows
        rows = samples.factorized(data.given.marked)
        if samples.weight is not None:
            root = np.sqrt(samples.weight)[:, None]
            rows = rows.multiply(root).tocsr() if hasattr(rows, "multiply") else rows * root
        found = scree(rows, n_values=min(50, largest), center=False)
        # Rounding leaves a trace of what has been centred away.
        if not found.total > 1e-25 * samples.squared_norm:
            raise ValueError("X: all zero after preprocessing; features that vary are required")
        centred = samples.preprocess is not None or not self.fit_intercept
        about = found if centred else scree(rows, n_values=1, center=True)
        return found, float(about.singular_values[0] ** 2)

    def _score(self, fold: Fold, splits: list[Any], board: Board, progress: SearchProgress) -> bool:
        """Fill the board, until somebody wants to stop: True if that was by Ctrl-C."""
        with progress.shown(), deferred_interrupt() as interruption:

            def watch() -> bool:
                return progress() or interruption.requested

            if board.is_shared:
                score_in_parallel(fold, splits, board, watch, self.n_jobs)
            else:
                score_here(fold, splits, board, watch)
        return interruption.requested

    def _conclude(self, points: list[dict[str, Any]], scores: np.ndarray) -> None:
        """The table of scores (splits, candidates, 3) so far, and the choice among them."""
        self.cv_results_ = results.tabulate(points, scores)
        counted = results.splits_that_count(scores)
        reluctant = grid.is_auto(self.n_components) and self.rule == "best"
        self.best_index_ = results.choose(self.cv_results_, self.rule, counted, reluctant)
        self.best_params_ = points[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])

    def on_progress(self, callback: Callable[[int, int], object] | None) -> Self:
        """Have ``fit`` tell how far it is, and end the search on request.

        Parameters
        ----------
        callback : callable, or None for none
            Called as ``callback(done, total)``: before the first score, after each (every candidate has
            one in every split), and at the end, where ``done == total``, one more than there are scores.
            Where it returns True after a score, the search ends there and goes on to its choice. It can
            read ``cv_results_`` and ``best_score_`` as they would be then. With `n_jobs` it is called from
            another thread. It is no parameter: clones, copies and pickles do not know it.

        Returns
        -------
        self
        """
        self._on_progress = callback
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Who listens is no part of a model, and often cannot be pickled."""
        state = dict(super().__getstate__())
        state.pop("_on_progress", None)
        return state

    def _refit(
        self,
        base: SMFClassifier,
        X: Any,
        y: Any,
        covariates: Any,
        weight: Any,
        imputer: Any,
        progress: SearchProgress,
    ) -> None:
        start = time.perf_counter()
        smf = base.set_params(**self.best_params_, covariate_columns=self.covariate_columns)
        steps = self._steps(smf, X, imputer)
        given = {"covariates": covariates, "sample_weight": weight}
        # Before it is fitted: Ctrl-C leaves what there is of it.
        self.best_estimator_: Any = smf
        if steps:
            self.best_estimator_ = Pipeline([*steps, ("smf", smf)])
            given = {f"smf__{name}": value for name, value in given.items()}
            if "scaler" in dict(steps):
                given["scaler__sample_weight"] = weight
        with progress.task_of("refit", self.best_estimator_):
            self.best_estimator_.fit(X, y, **given)
        self.refit_time_ = time.perf_counter() - start

    def _steps(self, smf: SMFClassifier, X: Any, imputer: Any) -> list[tuple[str, Any]]:
        """What stands before the chosen model; tells it where its covariates stand after that."""
        if is_transformer(self.preprocess):
            return steps_of(self.preprocess, X)
        scaler = scaler_of(self.preprocess)
        named = (("imputer", imputer), ("scaler", scaler))
        steps = [(name, step) for name, step in named if step is not None]
        for _, step in steps:
            step.set_output(transform="pandas" if hasattr(X, "columns") else "default")
        table, columns = with_indicators(X, self.covariate_columns)
        if steps and table is not X:  # words pass neither
            words = IndicatorColumns(self.covariate_columns).set_output(transform="pandas")
            smf.set_params(covariate_columns=columns)
            steps.insert(0, ("words", words))
        if isinstance(imputer, LowRankImputer):
            imputer.set_params(passthrough_columns=smf.covariate_columns)
        return steps

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.impute is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.best_params_["n_components"])


def _check_splits(splits: list[Any], given: Given) -> None:
    for k, (train, test) in enumerate(splits, start=1):
        if not len(test):
            raise ValueError(f"cv: no sample in the test part of split {k} has a label")
        classes = np.unique(given.among(train).labelled)
        if not len(classes):
            raise ValueError(f"cv: no sample in the training part of split {k} has a label")
        if len(classes) < 2:
            raise ValueError(
                f"cv: the training part of split {k} has one class only: {shown(classes[0])}; two or more "
                "are required (fewer splits, or stratified ones)"
            )


def _check_ranks(points: list[dict[str, Any]], largest: int) -> None:
    wanted = max(point["n_components"] for point in points)
    if wanted > largest:
        raise ValueError(
            f"n_components={wanted}: at most {largest} is allowed, the samples in the smallest "
            "training part of cv or the features, whichever are fewer"
        )
