"""Split, select, fit, score: what `fit` and `demo` share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, train_test_split

from superfactor import _arrays
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Choice, Settings
from superfactor.cli.told.screen import Screen
from superfactor.outcomes import outcome_named, outcome_of
from superfactor.selection import SMFClassifierCV, nested_scores
from superfactor.selection.judging.verdict import too_few
from superfactor.tables.columns.labels import is_labeled, known
from superfactor.tables.study import Study

FOLDS = 5
# Into so many parts groups are cut at most, to hold out some of them.
PARTS = 20
# What to do about a class with too few samples.
LEAVE_OUT = "--drop-rare leaves out classes with fewer than 3 samples, --min-class N those with fewer than N"


@dataclass(frozen=True)
class Learned:
    """A model and what it was learned from.

    Attributes
    ----------
    search : SMFClassifierCV, fitted to the training samples
    train, held_out : positions of the samples in the table; those without a label are in `train`
    scores : "held_out" and "training", each a dict of figures or None where there are no samples
    nested : NestedScores of the training samples, or None where nothing was measured
    verdict : on the nested scores, or on what is missing for them; None where nobody asked
    """

    samples: Study
    settings: Settings
    search: Any
    train: Any
    held_out: Any
    scores: dict[str, Any]
    nested: Any = None
    verdict: Any = None

    @property
    def model(self) -> Any:
        """The fitted pipeline."""
        return self.search.best_estimator_

    @property
    def estimator(self) -> Any:
        """The SMFClassifier at its end."""
        return self.model[-1]

    @property
    def known(self) -> Any:
        """Positions of the training samples with a label."""
        return self.train[self.samples.labeled[self.train]]

    @property
    def unlabeled(self) -> Any:
        """Positions of those without."""
        return self.train[~self.samples.labeled[self.train]]

    def part(self, positions: Any) -> tuple[Any, Any]:
        """X and labels of some of the samples."""
        return self.samples.design[positions], self.samples.y[positions]

    def labeled_part(self, positions: Any) -> tuple[Any, Any]:
        """X and labels of samples that have one."""
        return self.samples.design[positions], known(self.samples.y[positions])


def learn(samples: Study, settings: Settings, screen: Screen) -> Learned:
    """Choose rank and weights and fit, on all samples but those held out; measure by doing it again."""
    with screen.step("select and fit"), screen.progress("choosing rank and weights") as progress:
        train, held_out = split(samples, settings)
        X, y = samples.design[train], samples.y[train]
        groups = None if samples.groups is None else samples.groups[train]
        search = search_for(samples, settings, y, groups, settings.certify)
        fit_search(search, X, y, progress, groups)
    search.best_estimator_[-1].set_feature_names(samples.model_names, samples.encoding)
    learned = Learned(samples, settings, search, train, held_out, {})
    with screen.step("score"), few_threads(X):
        learned.scores.update(_scores(learned))
    if not settings.repeats:
        return learned
    with screen.step("measure"), screen.progress("measuring how well this predicts") as progress:
        nested, verdict = measure(learned, progress)
    return replace(learned, nested=nested, verdict=verdict)


def measure(learned: Learned, progress: Any) -> tuple[Any, Any]:
    """Nested cross-validation of the samples learned from, and the verdict; None for too few samples."""
    samples, settings = learned.samples, learned.settings
    X, y = learned.part(learned.train)
    groups = None if samples.groups is None else samples.groups[learned.train]
    outcome = outcome_of(learned.search)
    target = outcome.target(y, X, "nested_scores", learned.search.unlabeled)
    own = None if groups is None else groups[is_labeled(y)]
    if min(outcome.sizes(target.truth, own)) < outcome.fewest_units:
        return None, too_few(outcome, target, own)
    with as_user_error(), few_threads(X):
        found = nested_scores(
            # The folds inside are drawn for each part, and fewer.
            clone(learned.search).set_params(cv=None),
            X,
            y,
            groups=groups,
            covariate_names=tuple(samples.encoding),
            n_splits=settings.cv or FOLDS,
            n_repeats=settings.repeats,
            permutations=settings.permutations,
            random_state=settings.seed,
            progress=progress,
        )
    return found, found.verdict


def fit_search(search: Any, X: Any, y: Any, progress: Any, groups: Any = None) -> None:
    """Fit an SMFClassifierCV to X (n, p) and labels (n,), calling ``progress(done, total)``."""
    with as_user_error(), few_threads(X):
        search.on_progress(progress).fit(X, y, groups=groups)


def few_threads(X: Any) -> Any:
    """One thread for the linear algebra of small X (n, p), as a context."""
    return _arrays.few_threads(X.shape)


def split(samples: Study, settings: Settings) -> tuple[Any, Any]:
    """Positions of the samples to learn from and of those held out, class by class."""
    if not 0 <= settings.test_size < 1:
        raise UserError(f"--test-size {settings.test_size:g}: from 0 up to but without 1 is required")
    everyone = np.arange(len(samples.y))
    if settings.test_size == 0:
        return everyone, everyone[:0]
    there = everyone[samples.labeled]
    y = known(samples.y)
    classes, counts = np.unique(y, return_counts=True)
    # Two for the cross-validation, one to hold out.
    if counts.min() < 3:
        raise UserError(
            f"{samples.path}: class {str(classes[counts.argmin()])!r} has {counts.min()} sample(s); 3 are "
            f"required, or 2 with --test-size 0; {LEAVE_OUT}"
        )
    if samples.groups is not None:
        held_out = there[_held_out_groups(samples, y, samples.groups[there], settings)]
    else:
        with as_user_error(f"--test-size {settings.test_size:g}: "):
            _, held_out = train_test_split(
                there, test_size=settings.test_size, stratify=y, random_state=settings.seed
            )
    held_out = np.sort(held_out)
    return np.setdiff1d(everyone, held_out), held_out


def _held_out_groups(samples: Study, y: Any, groups: Any, settings: Settings) -> Any:
    """Positions among the labels (n,) that are held out, whole groups: so many folds as make that share."""
    parts = min(PARTS, *outcome_named("classes").sizes(y, groups))
    held = round(parts * settings.test_size)
    if not 0 < held < parts:
        raise UserError(
            f"--test-size {settings.test_size:g}: no such share can be made of the groups of "
            f"{samples.roles.group!r}; another one, or more groups of each class, are required"
        )
    splitter = StratifiedGroupKFold(parts, shuffle=True, random_state=settings.seed)
    folds = [test for _, test in splitter.split(np.zeros(len(y)), y, groups)]
    return np.concatenate(folds[:held])


def search_for(
    samples: Study, settings: Choice, y: Any, groups: Any = None, certify: str = "residual"
) -> Any:
    """The search with the folds these labels (n,) and groups allow, not yet fitted."""
    labels = known(y)
    units = outcome_named("classes").sizes(labels, None if groups is None else groups[is_labeled(y)])
    fewest = min(units)
    if fewest < 2:
        raise UserError(
            f"{samples.path}: class {str(np.unique(labels)[int(np.argmin(units))])!r} has one "
            f"{'sample' if groups is None else 'group'} to learn from; cross-validation needs 2 of each: "
            f"{LEAVE_OUT}"
        )
    folds = min(settings.cv or FOLDS, fewest)
    _check_ranks(settings.rank, len(y) - -(-len(labels) // folds), samples.n_features)
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    return SMFClassifierCV(
        settings.rank,
        model=settings.model,
        xi=settings.xi,
        lam=settings.lam,
        **samples.search_options(standardize=settings.standardize),
        cv=splitter(folds, shuffle=True, random_state=settings.seed),
        class_weight="balanced" if settings.balance else None,
        certify=certify,
        random_state=settings.seed,
    )


def _check_ranks(rank: Any, n_samples: int, n_features: int) -> None:
    largest = min(n_samples, n_features)
    for value in [] if rank == "auto" else rank if isinstance(rank, list) else [rank]:
        if not 1 <= value <= largest:
            raise UserError(
                f"--rank {value}: from 1 to {largest} is possible here ({n_samples} samples in the "
                f"smallest training part of the cross-validation, {n_features} features)"
            )


def _scores(learned: Learned) -> dict[str, Any]:
    outcome, classes = outcome_of(learned.model), learned.model.classes_
    counts = np.bincount(np.searchsorted(classes, learned.labeled_part(learned.known)[1]))
    frequent = classes[counts.argmax()]

    def figures(positions: Any) -> dict[str, Any] | None:
        if not len(positions):
            return None
        X, y = learned.labeled_part(positions)
        truth = np.searchsorted(classes, y)  # classes are sorted
        rows = outcome.rows(learned.model, X, classes)
        found = outcome.figures(truth, rows)
        return {
            "samples": len(y),
            "accuracy": found["accuracy"],
            "accuracy_interval_95": list(outcome.least_intervals(truth, rows)["accuracy"]),
            "balanced_accuracy": found["balanced_accuracy"],
            "roc_auc": found["roc_auc"],
            "confusion": outcome.confusion(truth, rows).tolist(),
            "most_frequent_class": {"label": str(frequent), "accuracy": float(np.mean(y == frequent))},
        }

    return {"held_out": figures(learned.held_out), "training": figures(learned.known)}
