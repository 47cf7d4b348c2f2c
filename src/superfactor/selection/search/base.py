"""Rank, model and weights by cross-validation, at the price of a few fits, whatever y is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.metrics import check_scoring, get_scorer
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import HasMethods, StrOptions

from superfactor.estimators import parameters
from superfactor.estimators.covariates import IndicatorColumns
from superfactor.estimators.inputs import column_names, covariate_indices
from superfactor.estimators.progress import CallbackSupportMixin
from superfactor.outcomes import Outcome, Target, outcome_of
from superfactor.preprocessing import LowRankImputer
from superfactor.selection.copies import find_copies, group_folds
from superfactor.selection.giveaways import find_giveaways, given_columns
from superfactor.selection.rank import Scree, scree
from superfactor.selection.rows.prepared import Prepared, prepared, with_indicators
from superfactor.selection.rows.preprocessing import (
    IMPUTATION,
    PREPROCESSING,
    is_transformer,
    scaler_of,
    steps_of,
)
from superfactor.selection.search import grid, results
from superfactor.selection.search.board import Board, Fold, board_for, score_here, score_in_parallel
from superfactor.selection.search.folds import score_fold
from superfactor.selection.search.progress import SearchProgress
from superfactor.solvers.interruption import deferred_interrupt
from superfactor.spectrum.rows import column_positions
from superfactor.units import WeightUnits

# Parameters that are each candidate's own, or the search's and not its estimator's.
_NOT_SHARED = {
    *("n_components", "model", "xi", "lam", "covariate_columns", "exposure_column", "impute", "verbose")
}


@dataclass(frozen=True)
class OwnScore:
    """A scorer, that of an outcome; unlike a method of it, skops can save it."""

    outcome: Outcome

    def __call__(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.outcome.choose_by(model, X, y, sample_weight)


class Search(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The search of all kinds of y: what differs is asked of their `Outcome`."""

    _outcome: ClassVar[Outcome]
    # Those of the candidates are checked one by one, those of the estimator by it.
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
    # Whether this is a fit in nested cross-validation: X is preprocessed already, `scree_` is not needed.
    _nested: bool = False
    #: A parameter of searches for counts.
    exposure_column: Any = None

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
        self.fit_intercept = fit_intercept
        self.covariate_columns = covariate_columns
        self.search = search
        self.prediction = prediction
        self.tol = tol
        self.certify = certify
        self.unlabeled = unlabeled
        self.random_state = random_state
        self.verbose = verbose

    # --- the search --------------------------------------------------------------------------------

    def _search(self, X: Any, y: Any, covariates: Any, sample_weight: Any, groups: Any) -> Self:
        """Score every candidate on every split, choose, and fit the chosen one to all samples."""
        self._validate_params()
        name = type(self).__name__
        grid.check_choices(self.n_components, self.model, self.xi, self.lam, name)
        outcome = outcome_of(self, y)
        estimator = outcome.estimator
        shared = {*estimator._get_param_names()} & {*self._get_param_names()} - _NOT_SHARED
        base = estimator(**{name: getattr(self, name) for name in shared})
        parameters.check_parameters(base)  # now, and not after the search
        data = prepared(self, outcome, X, y, covariates, sample_weight, name)
        self.__dict__.update(outcome.fitted_attributes(data.target))
        splits = self._splits(data, X, groups)
        if not self._nested:
            find_giveaways(
                *(outcome, data.target.truth, data.labelled, X), **given_columns(self), covariates=covariates
            ).warn()
        _check_splits(splits, outcome, data.target, self.scoring)
        self.n_splits_ = len(splits)
        largest = min(*(len(train) for train, _ in splits), data.rows.n_factorized)
        units = self._measured(base, data, largest)
        points = grid.candidates(
            self.n_components,
            self.model,
            self.xi,
            self.lam,
            steps=outcome.steps,
            units=units,
            n_outputs=outcome.n_outputs(data.target),
            largest=largest,
        )
        _check_ranks(points, largest)

        own = self.scoring is None
        self.scorer_ = OwnScore(outcome) if own else check_scoring(base, self.scoring)
        score_weight = data.weight
        if score_weight is None and sample_weight is not None:
            score_weight = np.ones(data.rows.n_samples)
        fold = partial(
            score_fold,
            *(base, data.rows, outcome, data.target, points),
            scorer=self.scorer_,
            score_weight=score_weight,
        )
        metadata = {"covariates": covariates, "sample_weight": sample_weight, "groups": groups}
        metadata = {name: value for name, value in metadata.items() if value is not None}
        for earlier in ("cv_results_", "best_estimator_"):  # this fit may end without
            self.__dict__.pop(earlier, None)
        elsewhere = effective_n_jobs(self.n_jobs) > 1
        with board_for(len(splits), len(points), shared=elsewhere) as board:
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
            y = outcome.refitted(y, data.target.given)
            self._refit(base, X, y, covariates, sample_weight, data.rows.imputer, progress)
        if interrupted:
            raise KeyboardInterrupt(
                f"{type(self).__name__}: the best candidate after {progress.n_reported} of "
                f"{progress.total} scores is kept"
            )
        progress.end()
        return self

    def _splits(self, data: Prepared, X: Any, groups: Any) -> list[Any]:
        """Return the folds; those that `cv` and `groups` leave open keep copies of samples together."""
        if self._nested:
            return data.splits(self.cv, groups)
        copies, labelled, together = find_copies(X), data.labelled, None
        n_splits = 5 if self.cv is None else self.cv
        if groups is None and isinstance(n_splits, Integral):
            together = copies.for_folds(
                lambda own: data.outcome.sizes(data.target.truth, own[labelled]), int(n_splits)
            )
        if together is None:
            splits = data.splits(self.cv, groups)
        else:
            stratified = data.outcome.search_strata(data.target.given.labelled) is not None
            splits = data.splits(group_folds(stratified, int(n_splits)), together)
        copies.warn(splits, kept=together is not None)
        return splits

    def _measured(self, base: Any, data: Prepared, largest: int) -> WeightUnits:
        """Set ``scree_`` and return the units of the grid; both need all rows preprocessed, folds do not."""
        rows = data.rows.factorized(data.target.given.marked, preprocessed=self._nested)
        if not self._nested:
            self.scree_ = _scree(rows, data.weight, largest)
        return _units(base, rows, data)

    def _score(self, fold: Fold, splits: list[Any], board: Board, progress: SearchProgress) -> bool:
        """Fill the board until a stop is requested; return whether Ctrl-C requested it."""
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
        """Return the state without the callback; a scorer of scikit-learn is its name, for model files."""
        state = dict(super().__getstate__())
        state.pop("_on_progress", None)
        if "scorer_" in state and isinstance(self.scoring, str):
            state["scorer_"] = self.scoring
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("scorer_"), str):
            state = state | {"scorer_": get_scorer(state["scorer_"])}
        super().__setstate__(state)

    def _refit(
        self, base: Any, X: Any, y: Any, covariates: Any, weight: Any, imputer: Any, progress: SearchProgress
    ) -> None:
        start = time.perf_counter()
        smf = base.set_params(**self.best_params_, covariate_columns=self.covariate_columns)
        if self.exposure_column is not None:
            smf.set_params(exposure_column=self.exposure_column)
        if self.impute is not None:  # new samples may have missing values although X has none
            smf.set_params(impute="factors")
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

    def _steps(self, smf: Any, X: Any, imputer: Any) -> list[tuple[str, Any]]:
        """What stands before the chosen model; tells it where its covariates stand after that."""
        if is_transformer(self.preprocess):
            return steps_of(self.preprocess, X)
        passed = self.exposure_column
        names = column_names(X)
        if names and isinstance(passed, Integral):  # positions change where words become indicators
            passed = names[passed]
            smf.set_params(exposure_column=passed)
        own = None if self._nested and self.covariate_columns is None else self.preprocess
        scaler = scaler_of(own, sparse=sp.issparse(X), passed=passed)
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
            imputer.set_params(passthrough_columns=_both(table, smf.covariate_columns, passed))
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


def _both(X: Any, covariates: Any, exposure: Any) -> Any:
    """Columns of X that are not factorized."""
    if exposure is None:
        return covariates
    if covariates is None:
        return [exposure]
    names, width = column_names(X), int(np.shape(X)[1])
    apart = [*covariate_indices(covariates, width, names), *column_positions([exposure], width, names, "X")]
    return apart if names is None else [names[j] for j in apart]


def _scree(rows: Any, weight: Any, largest: int) -> Scree:
    """Of the X (n, m) that the final fit will see, weighted; the elbow no larger than a fold allows."""
    if weight is not None:
        root = np.sqrt(weight)[:, None]
        rows = rows.multiply(root).tocsr() if hasattr(rows, "multiply") else rows * root
    return scree(rows, n_values=min(50, largest), center=False)


def _units(base: Any, rows: Any, data: Prepared) -> WeightUnits:
    """Those of the estimator itself: the grid is around the weights that its "auto" has for all samples."""
    alone = clone(base).set_params(n_components=1, model="filter", xi="auto", lam="auto")
    if data.rows.exposures is not None:
        alone.set_params(exposure_column=int(rows.shape[1]))
        rows = data.rows.exposed(rows, slice(None))
    with config_context(assume_finite=True):  # checked before
        return WeightUnits.of(alone.state(rows, data.target.given.marked, None, data.weight).problem)


def _check_splits(splits: list[Any], outcome: Outcome, target: Target, scoring: Any) -> None:
    fewest = outcome.fewest_test_samples if scoring is None else 1
    for k, (train, test) in enumerate(splits, start=1):
        if not len(test):
            raise ValueError(f"cv: no sample in the test part of split {k} has a label")
        if len(test) < fewest:
            raise ValueError(
                f"cv: the test part of split {k} has {len(test)} of the {fewest} samples that the default "
                "score needs; fewer splits are required, or a scoring such as 'neg_mean_squared_error'"
            )
        outcome.check_training(target, k, train)


def _check_ranks(points: list[dict[str, Any]], largest: int) -> None:
    wanted = max(point["n_components"] for point in points)
    if wanted > largest:
        raise ValueError(
            f"n_components={wanted}: at most {largest} is allowed, the samples in the smallest "
            "training part of cv or the features, whichever are fewer"
        )
