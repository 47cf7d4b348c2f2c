"""How well a whole procedure predicts: repeated nested cross-validation, beside simpler methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from joblib import Parallel, delayed

from superfactor._arrays import few_threads
from superfactor._deprecated import renamed_parameters, warn_deprecated
from superfactor.outcomes import Outcome, outcome_of
from superfactor.outcomes.base import FEWEST_SPLITS
from superfactor.selection.copies import find_copies
from superfactor.selection.evaluation.conclusions import concluded
from superfactor.selection.evaluation.direct import DirectFold
from superfactor.selection.evaluation.figures import NestedScores
from superfactor.selection.evaluation.out_of_fold import OutOfFold
from superfactor.selection.evaluation.outer import MODEL, OuterFold, SearchFold
from superfactor.selection.evaluation.permutation import PermutationTest, one_value_each, shuffled
from superfactor.selection.giveaways import find_giveaways, given_columns
from superfactor.selection.procedure import procedure_of
from superfactor.selection.search.base import Search
from superfactor.selection.search.classifier import SMFClassifierCV

# Up to this number of samples the folds are drawn twice: few samples need it most, and cost least.
TWICE = 1000
# From this number of folds on, other draws change little.
MANY_SPLITS = 20

P = ParamSpec("P")


def _data_first(function: Callable[P, NestedScores]) -> Callable[P, NestedScores]:
    """Accept the call of superfactor 1.0: ``nested_scores(X, y, search=…)``."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> NestedScores:
        model_first = any(map(_is_model, args)) or len(args) > 2
        if model_first or (not args and "search" in kwargs):
            return function(*args, **kwargs)
        warn_deprecated("nested_scores(X, y, search=…)", "nested_scores(search, X, y)")
        search = kwargs.pop("search", None)
        options = {key: kwargs.pop(key) for key in ("preprocess", "covariate_columns") if key in kwargs}
        if search is None:
            search = SMFClassifierCV(scoring="neg_log_loss", **options)
        return function(search, *args, **kwargs)

    return wrapper


def _is_model(value: Any) -> bool:
    return isinstance(value, type) or hasattr(value, "get_params")


@_data_first
@renamed_parameters(rivals="baselines")
def nested_scores(
    search: Any,
    X: Any,
    y: Any = None,
    *,
    covariates: Any = None,
    groups: Any = None,
    covariate_names: Sequence[str] = (),
    n_splits: int | str = "auto",
    n_repeats: int | str = "auto",
    baselines: bool = True,
    permutations: int = 0,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> NestedScores:
    """Repeated nested cross-validation of a model, compared with simpler methods on the same folds.

    Parameters
    ----------
    search : SMFClassifierCV, SMFRegressorCV, SMFSurvivalCV, or any scikit-learn classifier or regressor
        What is evaluated, fitted or not: a clone is fitted in every outer fold, to its training part, with
        all that it chooses. A classifier needs ``predict_proba``. The inner folds of a search of ours whose
        `cv` is None or a number are stratified and shuffled, and no more than the classes or events allow;
        None is 3, or 2 if the outer training part has 10,000 samples or more.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels, three samples of each class at least; several columns of yes/no labels; numbers, also several;
        or times, three events at least, as for `SMFSurvival`. Samples without one (None, NaN, NA, the
        `unlabeled` of the search) are in every training part where `search` can use them, and never scored.
    covariates : array-like of shape (n_samples, n_covariates), optional
        As for ``fit`` of the search.
    groups : array-like of shape (n_samples,), optional
        Samples of one group, repeated measures of one patient, never lie on both sides of a fold. By
        default copies of a sample are a group (`find_copies`).
    covariate_names : sequence of str, optional
        What the verdict calls the covariates; default the names of their columns.
    n_splits : int or "auto", default="auto"
        Outer folds; fewer where the rarest class, or the event, has fewer samples (or groups). "auto" is 5.
        For classes it is 20 up to 60 samples and 10 below 100, for several yes/no labels 10 below 100: models
        of four fifths of so few samples would be clearly worse than that of all.
    n_repeats : int or "auto", default="auto"
        How often the folds are drawn. "auto" is 2 up to 1,000 samples with fewer than 20 folds, otherwise 1.
    baselines : bool, default=True
        Tuned PCA + regression and ridge regression with the same loss too, and the covariates alone where
        there are any. The prediction that knows nothing (always the most frequent class, the mean, no order)
        is there in any case. Baselines see X as the evaluated search does, or else as the default search
        would.
    permutations : int, default=0
        How often to shuffle the labels for a p-value: one repeat each, with the whole choice in it.
    random_state : int, default=0
    n_jobs : int or None, default=None
        Outer folds to work on at once, as in joblib.
    progress : callable, optional
        Called as ``progress(done, total)`` after every outer fold.

    Returns
    -------
    NestedScores

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.selection import nested_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> nested_scores(SMFClassifierCV(), X, y, n_repeats=1, baselines=False).verdict.grade
    'better'
    >>> plain = nested_scores(LogisticRegression(max_iter=1000), X, y, n_repeats=1, baselines=False)
    >>> plain.headline, round(plain.summary["accuracy"]["mean"], 2)
    ('accuracy', 0.96)
    """
    outcome = _check_model(search, y)
    _check_numbers(n_splits, n_repeats, permutations)
    kind = SearchFold if isinstance(search, Search) else DirectFold
    work = kind.of(search, X, y, covariates, groups, baselines=baselines, seed=random_state)
    if permutations:
        work.check_shuffled()
    truth, copies, kept = work.truth, find_copies(X), None
    wanted = outcome.n_splits(len(truth)) if n_splits == "auto" else int(n_splits)
    if groups is None:  # many folds of few samples may become fewer, so that copies stay together
        needed = min(wanted, FEWEST_SPLITS) if n_splits == "auto" else wanted
        kept = copies.for_folds(lambda own: outcome.sizes(truth, own[work.labelled]), needed)
        work = replace(work, groups=kept)
    own_groups = work.own_groups
    outcome.check_sizes(work.target, own_groups)
    n_splits = min(wanted, *outcome.sizes(truth, own_groups))
    few = len(truth) <= TWICE and n_splits < MANY_SPLITS
    repeats = (2 if few else 1) if n_repeats == "auto" else int(n_repeats)
    splits = [outcome.splits(truth, own_groups, n_splits, random_state + r) for r in range(repeats)]
    folds = ((work.labelled[train], work.labelled[test]) for train, test in splits[0])
    copies.warn(folds, kept=kept is not None)
    find_giveaways(outcome, truth, work.labelled, X, **given_columns(search), covariates=covariates).warn()
    run = _Run(n_jobs, progress, total=n_splits * (repeats + permutations))
    with few_threads(np.shape(X)):
        done = run(
            delayed(work.rows)(train, test, with_baselines=baselines)
            for repeat in splits
            for train, test in repeat
        )
        table = OutOfFold(work, splits, [rows for rows, _ in done])
        permutation = None
        if permutations:
            # Copies with different outcomes are no groups that shuffles could exchange.
            free = kept is not None and not one_value_each(truth, own_groups)
            permutation = _permuted(
                work, table, permutations, random_state, run, None if free else own_groups
            )
    chosen = tuple(choice for _, choice in done)
    names = covariate_names or work.covariate_names
    return concluded(procedure_of(search), work, table, chosen, permutation, names)


def _check_model(search: Any, y: Any) -> Outcome:
    """The kind of what is evaluated; a TypeError for what cannot be."""
    kind = type(search).__name__
    if isinstance(search, type) or not hasattr(search, "get_params"):
        raise TypeError(
            f"search={search.__name__ if isinstance(search, type) else kind}: the model to evaluate comes "
            "first, as in nested_scores(SMFClassifierCV(), X, y)"
        )
    outcome = outcome_of(search, y)
    outcome.check_evaluable(search)
    if y is None:
        raise TypeError("y=None: labels are required, as in nested_scores(SMFClassifierCV(), X, y)")
    return outcome


def _check_numbers(n_splits: Any, n_repeats: Any, permutations: int) -> None:
    if n_splits != "auto" and (isinstance(n_splits, str) or n_splits < 2):
        raise ValueError(f"n_splits={n_splits!r}: 'auto' or a number from 2 is required")
    if n_repeats != "auto" and (isinstance(n_repeats, str) or n_repeats < 1):
        raise ValueError(f"n_repeats={n_repeats!r}: 'auto' or a number from 1 is required")
    if permutations < 0:
        raise ValueError(f"permutations={permutations}: a number from 0 is required")


class _Run:
    """Tasks here or in other processes, counted."""

    def __init__(self, n_jobs: int | None, progress: Callable[[int, int], Any] | None, total: int):
        self._n_jobs, self._progress, self._total, self._done = n_jobs, progress, total, 0
        self._tell()

    def __call__(self, tasks: Iterable[Any]) -> list[Any]:
        return list(self._counted(Parallel(n_jobs=self._n_jobs, return_as="generator")(tasks)))

    def _counted(self, results: Iterable[Any]) -> Iterator[Any]:
        for result in results:
            self._done += 1
            self._tell()
            yield result

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)


def _permuted(
    work: OuterFold, table: OutOfFold, permutations: int, seed: int, run: _Run, groups: Any
) -> PermutationTest:
    splits, outcome = table.splits[0], work.outcome
    metric = outcome.metric(outcome.headline(table.truth))
    rng = np.random.default_rng(seed)
    groups, within = _exchangeable(outcome.exchangeable(work.truth), groups, splits)
    truths = [shuffled(work.truth, groups, within, rng) for _ in range(permutations)]
    done = run(
        delayed(work.choice)(seen, truth, train, test)
        for train, test in splits
        for seen, truth in work.seen_with(truths, train, test)
    )
    scores = np.empty((len(splits), permutations))
    each = iter(done)
    for k, (_, test) in enumerate(splits):
        for i, truth in enumerate(truths):
            rows, _chosen = next(each)
            scores[k, i] = metric.function(truth[test], rows)
    own = table.fold_scores(MODEL)[metric.name][0]
    return PermutationTest(metric.name, float(np.nanmean(own)), np.nanmean(scores, axis=0))


def _exchangeable(
    blocks: Any, groups: Any, splits: list[tuple[Any, Any]]
) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return groups and splits within which values are shuffled, so that none leaves its block (n,)."""
    if np.ptp(blocks) == 0:
        return groups, splits
    if groups is not None:
        groups = np.unique(
            np.column_stack([np.unique(groups, return_inverse=True)[1], blocks]), axis=0, return_inverse=True
        )[1].ravel()
    return groups, [
        (train, test[blocks[test] == b]) for train, test in splits for b in np.unique(blocks[test])
    ]
