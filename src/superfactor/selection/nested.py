"""How well the whole procedure predicts: repeated nested cross-validation, beside simpler methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from superfactor._arrays import few_threads
from superfactor.estimators import inputs
from superfactor.estimators.parameters import shown
from superfactor.selection.classifier import SMFClassifierCV
from superfactor.selection.measures import (
    METRICS,
    bounded,
    chance_of,
    corrected_interval,
    headline_metric,
    measures,
    widened,
)
from superfactor.selection.out_of_fold import OutOfFold
from superfactor.selection.outer import MODEL, OuterFold, Seen, stratified, units_of
from superfactor.selection.permutation import PermutationTest, shuffled
from superfactor.selection.prepared import prepared
from superfactor.selection.proportions import NORMAL_975, balanced_interval, wilson
from superfactor.selection.rivals import FREQUENT
from superfactor.selection.verdict import Verdict, judge

# Up to these numbers of samples, so many repeats: few samples need them most, and cost least.
REPEATS = ((1000, 2),)
#: Of each class, samples or groups: one to judge by, two for the choice.
FEWEST_UNITS = 3


@dataclass(frozen=True)
class NestedScores:
    """Figures of samples that the models had not seen, over all folds and repeats.

    Attributes
    ----------
    classes : array of shape (c,)
        Labels.
    counts : array of shape (c,)
        Samples of each class.
    n_splits, n_repeats : int
        Outer folds, and how often they were drawn.
    headline : str
        The metric that counts, "accuracy", or "balanced_accuracy" where classes are unequal.
    folds : dict
        Method → metric → (n_repeats, n_splits); the model itself is "model".
    repeats : dict
        Method → metric → (n_repeats,), for two classes with slope and intercept of the calibration.
    summary : dict
        Metric → mean, low, high of the model: 95 % intervals corrected for shared training samples.
    rivals : dict
        Rival → the same.
    differences : dict
        Rival → metric (the headline), mean, low, high of the model's score less the rival's.
    predictions : array of shape (n, c)
        Out-of-fold probabilities of the first repeat, of the samples that have a label.
    predicted : array of shape (n,)
        Class numbers by the mean out-of-fold probabilities of all repeats.
    chance : float
        p-value of `predicted` against labels that know nothing of them.
    chosen : tuple of dict
        Parameters of every choice, repeat by repeat and fold by fold.
    permutation : PermutationTest, optional
        Shuffled labels, or None.
    verdict : Verdict
        All of it in words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor.selection import nested_scores
    >>> scores = nested_scores(*load_iris(return_X_y=True), n_repeats=1, rivals=False)
    >>> scores.headline, scores.n_splits
    ('accuracy', 5)
    >>> scores.predictions.shape
    (150, 3)
    >>> {name: round(value, 2) for name, value in scores.summary["accuracy"].items()}
    {'mean': 0.97, 'low': 0.93, 'high': 1.0}
    """

    classes: Any
    counts: Any
    n_splits: int
    n_repeats: int
    headline: str
    folds: dict[str, dict[str, Any]]
    repeats: dict[str, dict[str, Any]]
    summary: dict[str, dict[str, float]]
    rivals: dict[str, dict[str, dict[str, float]]]
    differences: dict[str, dict[str, Any]]
    predictions: Any
    predicted: Any
    chance: float
    chosen: tuple[dict[str, Any], ...]
    permutation: PermutationTest | None
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as scripts get them; the verdict too."""
        return {
            "n_splits": self.n_splits,
            "n_repeats": self.n_repeats,
            "headline": self.headline,
            "summary": self.summary,
            "rivals": self.rivals,
            "differences": self.differences,
            "chance": self.chance,
            "repeats": {
                method: {metric: values.tolist() for metric, values in found.items()}
                for method, found in self.repeats.items()
            },
            "permutation": None if self.permutation is None else self.permutation.as_dict(),
            "verdict": self.verdict.as_dict(),
        }


def nested_scores(
    X: Any,
    y: Any,
    *,
    search: SMFClassifierCV | None = None,
    covariates: Any = None,
    groups: Any = None,
    preprocess: str | None = "standardize",
    covariate_columns: Any = None,
    covariate_names: Sequence[str] = (),
    n_splits: int = 5,
    n_repeats: int | str = "auto",
    rivals: bool = True,
    permutations: int = 0,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> NestedScores:
    """Repeated nested cross-validation of a search, beside simpler methods on the same folds.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels; three samples of each class at least. Those without one (None, NaN, NA, the `unlabeled` of
        the search) are in every training part, and never judged.
    search : SMFClassifierCV, optional
        Made anew in every outer fold, on its training part. Default
        ``SMFClassifierCV(scoring="neg_log_loss")`` with `preprocess` and `covariate_columns` as given
        here. Where its `cv` is None or a number, the inner folds are stratified and shuffled, and no more
        than the classes allow; None is 3.
    covariates : array-like of shape (n_samples, n_covariates), optional
        As for ``SMFClassifierCV.fit``.
    groups : array-like of shape (n_samples,), optional
        Samples of one group, repeated measures of one patient, never lie on both sides of a fold.
    preprocess, covariate_columns
        As for `SMFClassifierCV`; where there is a `search`, its own count.
    covariate_names : sequence of str, optional
        What the verdict calls the covariates; default the names of their columns.
    n_splits : int, default=5
        Outer folds; fewer where the rarest class has fewer samples (or groups).
    n_repeats : int or "auto", default="auto"
        How often the folds are drawn. "auto" is 2 up to 1,000 samples, 1 beyond.
    rivals : bool, default=True
        Tuned PCA + logistic regression and ridge logistic regression too, and the covariates alone where
        there are any. Always the most frequent class is there in any case.
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
    >>> from superfactor.selection import nested_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> nested_scores(X, y, n_repeats=1, rivals=False).verdict.grade
    'better'
    """
    _check_labels(y, search)
    if search is None:
        search = SMFClassifierCV(
            preprocess=preprocess, covariate_columns=covariate_columns, scoring="neg_log_loss"
        )
    # Levels of words are those of all samples: a rare one may be missing from a fold.
    data = prepared(clone(search), X, y, covariates, None, "nested_scores")
    covariate_names = covariate_names or data.covariate_names
    classes, codes = np.unique(data.given.labelled, return_inverse=True)
    if isinstance(search.class_weight, dict):  # folds know classes by their numbers
        numbers = {label: k for k, label in enumerate(classes.tolist())}
        weights = {numbers.get(label, label): w for label, w in search.class_weight.items()}
        search = clone(search).set_params(class_weight=weights)
    if groups is not None:
        groups = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
        inputs.check_length("groups", groups, data.given.values)
    own_groups = None if groups is None else groups[data.labelled]
    _check(classes, codes, own_groups, n_splits, n_repeats, permutations)

    n_splits = min(n_splits, *units_of(codes, own_groups))
    repeats = _repeats(len(codes)) if n_repeats == "auto" else int(n_repeats)
    splits = [stratified(codes, own_groups, n_splits, random_state + r) for r in range(repeats)]
    balanced = search.class_weight == "balanced"
    work = OuterFold(
        search,
        data.rows,
        data.labelled,
        data.unlabelled,
        codes,
        groups,
        len(classes),
        random_state,
        balanced,
    )
    run = _Run(n_jobs, progress, total=n_splits * (repeats + permutations))
    with few_threads((data.rows.n_samples, data.rows.n_factorized)):
        done = run(
            delayed(work.probabilities)(train, test, with_rivals=rivals)
            for repeat in splits
            for train, test in repeat
        )
        found = [probabilities for probabilities, _ in done]
        table = OutOfFold(codes, len(classes), splits, found)
        permutation = None
        if permutations:
            permutation = _permuted(work, table, permutations, random_state, run)
    chosen = tuple(choice for _, choice in done)
    return _concluded(classes, own_groups, table, chosen, permutation, covariate_names, balanced)


def _repeats(n: int) -> int:
    return next((repeats for most, repeats in REPEATS if n <= most), 1)


def _check_labels(y: Any, search: Any) -> None:
    """Raise a TypeError or ValueError for real targets, which have neither probabilities nor a guess."""
    instead = (
        "for real targets cross_validate(SMFRegressorCV(…), X, y) is nested cross-validation too"
    )
    if search is not None and not isinstance(search, SMFClassifierCV):
        raise TypeError(
            f"search={type(search).__name__}: nested_scores judges an SMFClassifierCV; {instead}"
        )
    values = np.asarray(inputs.as_numpy(y))
    if values.dtype.kind == "f" and np.any(np.nan_to_num(values) % 1):
        raise ValueError(f"y: nested_scores judges classes; {instead}")


def _check(
    classes: Any, codes: Any, groups: Any, n_splits: int, n_repeats: Any, permutations: int
) -> None:
    if n_splits < 2:
        raise ValueError(f"n_splits={n_splits}: a number from 2 is required")
    if n_repeats != "auto" and (isinstance(n_repeats, str) or n_repeats < 1):
        raise ValueError(f"n_repeats={n_repeats!r}: 'auto' or a number from 1 is required")
    if permutations < 0:
        raise ValueError(f"permutations={permutations}: a number from 0 is required")
    units = units_of(codes, groups)
    if min(units) < FEWEST_UNITS:
        what = "samples" if groups is None else "groups"
        raise ValueError(
            f"y: class {shown(classes[int(np.argmin(units))])} has too few {what}, {min(units)}; nested "
            f"cross-validation needs {FEWEST_UNITS} of each class"
        )


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


def _seen_with(
    work: OuterFold, labels: list[Any], train: Any, test: Any
) -> Iterator[tuple[Seen, Any]]:
    """The samples of a fold with each of the shuffled labels; preprocessed once, unless that sees labels."""
    seen = None
    for codes in labels:
        if seen is None or work.samples.sees_labels:
            seen = work.seen(codes, train, test)
        yield seen, codes


def _permuted(
    work: OuterFold, table: OutOfFold, permutations: int, seed: int, run: _Run
) -> PermutationTest:
    splits = table.splits[0]
    metric = headline_metric(np.bincount(table.codes))
    rng = np.random.default_rng(seed)
    labels = [shuffled(work.codes, work.own_groups, splits, rng) for _ in range(permutations)]
    done = run(
        delayed(work.choice)(seen, codes, train, test)
        for train, test in splits
        for seen, codes in _seen_with(work, labels, train, test)
    )
    scores = np.empty((len(splits), permutations))
    each = iter(done)
    for k, (_, test) in enumerate(splits):
        for i, codes in enumerate(labels):
            probabilities, _chosen = next(each)
            scores[k, i] = measures(codes[test], probabilities)[metric]
    own = table.fold_scores(MODEL)[metric][0]
    return PermutationTest(metric, float(own.mean()), scores.mean(axis=0))


def _concluded(
    classes: Any,
    groups: Any,
    table: OutOfFold,
    chosen: tuple[dict[str, Any], ...],
    permutation: PermutationTest | None,
    covariate_names: Sequence[str],
    balanced: bool,
) -> NestedScores:
    counts = np.bincount(table.codes)
    headline = headline_metric(counts)
    folds = {method: table.fold_scores(method) for method in table.methods}
    repeats: dict[str, dict[str, Any]] = {}
    summaries: dict[str, dict[str, dict[str, float]]] = {}
    for method, found in folds.items():
        repeats[method] = {metric: np.nanmean(found[metric], axis=1) for metric in METRICS}
        summaries[method] = {
            metric: bounded(metric, corrected_interval(found[metric].ravel(), table.ratio))
            for metric in METRICS
        }
        # Folds that happen to agree are no certainty: never narrower than so many samples allow.
        for metric, ends in _shares(table, method).items():
            summaries[method][metric] = widened(summaries[method][metric], ends)
        if len(classes) == 2 and method != FREQUENT:
            fits = table.calibrations(method)
            for name in ("slope", "intercept"):
                values = np.array([fit[name] for fit in fits])
                error = float(np.mean([fit[f"{name}_error"] for fit in fits]))
                repeats[method][f"calibration_{name}"] = values
                summaries[method][f"calibration_{name}"] = _around(float(values.mean()), error)
    differences: dict[str, dict[str, Any]] = {
        rival: {"metric": headline}
        | corrected_interval((folds[MODEL][headline] - folds[rival][headline]).ravel(), table.ratio)
        for rival in table.methods
        if rival != MODEL
    }
    guess = summaries[FREQUENT][headline]["mean"]
    low, high = _shares(table, MODEL)[headline]
    differences[FREQUENT] = widened(differences[FREQUENT], (low - guess, high - guess))
    predicted = _predicted(table, MODEL)
    truth, votes, units = table.votes(groups)
    chance = chance_of(headline, truth, votes, len(classes))
    verdict = judge(
        headline,
        summaries[MODEL][headline],
        guess,
        differences,
        chance,
        counts=dict(zip(classes.tolist(), np.bincount(truth).tolist(), strict=True)),
        predicted=dict(
            zip(
                classes.tolist(),
                np.bincount(predicted, minlength=len(classes)).tolist(),
                strict=True,
            )
        ),
        units=units,
        covariates=covariate_names,
        balanced=balanced,
        permutation=None if permutation is None else permutation.as_dict(),
    )
    return NestedScores(
        classes=classes,
        counts=counts,
        n_splits=len(table.splits[0]),
        n_repeats=len(table.splits),
        headline=headline,
        folds=folds,
        repeats=repeats,
        summary=summaries.pop(MODEL),
        rivals=summaries,
        differences=differences,
        predictions=table.probabilities[MODEL][0],
        predicted=predicted,
        chance=chance,
        chosen=chosen,
        permutation=permutation,
        verdict=verdict,
    )


def _predicted(table: OutOfFold, method: str) -> Any:
    """Class numbers (n,) by the mean out-of-fold probabilities of all repeats."""
    return table.probabilities[method].mean(axis=0).argmax(axis=1)


def _shares(table: OutOfFold, method: str) -> dict[str, tuple[float, float]]:
    """Intervals of the shares of right answers as if each sample had been asked once."""
    confusion = np.zeros((table.n_classes,) * 2, dtype=int)
    np.add.at(confusion, (table.codes, _predicted(table, method)), 1)
    return {
        "accuracy": wilson(int(np.trace(confusion)), len(table.codes)),
        "balanced_accuracy": balanced_interval(confusion),
    }


def _around(mean: float, error: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - NORMAL_975 * error, "high": mean + NORMAL_975 * error}
