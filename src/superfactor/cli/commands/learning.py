"""Split, select, fit and score: shared by `fit` and `demo`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count, parallel_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from superfactor import _arrays
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Choice, Settings
from superfactor.cli.output.option_names import ADVICE, option
from superfactor.cli.output.screen import Screen
from superfactor.outcomes import Outcome, Target, outcome_named
from superfactor.outcomes.descriptions import Description, description_of
from superfactor.selection import find_copies, nested_scores
from superfactor.selection import search_for as search_for_kind
from superfactor.selection.evaluation.verdict import too_few
from superfactor.selection.giveaways import find_giveaways
from superfactor.selection.rows.blocks import has_large_folds
from superfactor.tables.notes import Setting
from superfactor.tables.study import Study
from superfactor.tables.targets.columns import are_numbers, has_value, known

FOLDS = 5
# The same for large tables, whose scores vary little between folds.
FEW_FOLDS = 3
# Most folds of a large table at once, since each has its own copy of the rows.
MOST_FOLDS = 2
# Groups are divided into at most this many parts, some of which are held out.
PARTS = 20
# Advice for a class with too few samples.
LEAVE_OUT = "--drop-rare drops classes with fewer than 3 samples, --min-class N those with fewer than N"


@dataclass(frozen=True)
class Learned:
    """A model, its data and its scores.

    Attributes
    ----------
    search : SMFClassifierCV or that of another kind of y, fitted to the training samples
    train, held_out : positions of the samples in the table; samples without an outcome are in `train`
    scores : "held_out" and "training", each a dict of metrics or None without samples
    nested : NestedScores of the training samples, or None
    verdict : the verdict on the nested scores, or why there are none; None if not requested
    copies : plain values about samples that are copies of each other; None if there are none
    revealing : plain values about columns that give the outcome away
    """

    samples: Study
    settings: Settings
    search: Any
    train: Any
    held_out: Any
    scores: dict[str, Any]
    nested: Any = None
    verdict: Any = None
    copies: Any = None
    revealing: Any = ()

    @property
    def model(self) -> Any:
        """The fitted pipeline."""
        return self.search.best_estimator_

    @property
    def estimator(self) -> Any:
        """The estimator at the end of the pipeline."""
        return self.model[-1]

    @property
    def outcome(self) -> Outcome:
        """The kind of y."""
        return outcome_named(self.samples.outcome)

    @property
    def description(self) -> Description:
        """The texts about the kind of y."""
        return description_of(self.samples.outcome)

    @property
    def known(self) -> Any:
        """Positions of the training samples with an outcome."""
        return self.train[self.samples.labeled[self.train]]

    @property
    def unlabeled(self) -> Any:
        """Positions of the training samples without an outcome."""
        return self.train[~self.samples.labeled[self.train]]

    def part(self, positions: Any) -> tuple[Any, Any]:
        """Return X and y of the samples at these positions."""
        return self.samples.rows(positions), self.samples.y[positions]

    def labeled_part(self, positions: Any) -> tuple[Any, Any]:
        """Return X and y of samples that have an outcome."""
        return self.samples.rows(positions), known(self.samples.y[positions])


def learn(samples: Study, settings: Settings, screen: Screen) -> Learned:
    """Choose rank, ξ and λ, fit the training samples, and run the nested cross-validation."""
    with screen.step("copies"):
        samples, copies = keep_copies(samples, settings.cv, screen)
        revealing = revealing_columns(samples, screen)
    with screen.step("select and fit"), screen.progress("choosing rank and weights") as progress:
        train, held_out = split(samples, settings)
        X, y = samples.rows(train), samples.y[train]
        groups = None if samples.groups is None else samples.groups[train]
        search = search_for(samples, settings, y, groups, settings.certify)
        fit_search(search, X, samples.named(y), progress, groups)
    estimator = search.best_estimator_[-1]
    estimator.set_feature_names(samples.model_names, samples.encoding).set_target_names(samples.targets)
    learned = Learned(samples, settings, search, train, held_out, {}, copies=copies, revealing=revealing)
    with screen.step("score"), few_threads(X):
        learned.scores.update(_scores(learned))
    if not settings.repeats:
        return learned
    with screen.step("measure"), screen.progress("nested cross-validation") as progress:
        nested, verdict = evaluated(learned, progress)
    return replace(learned, nested=nested, verdict=verdict)


def keep_copies(samples: Study, cv: int | None, screen: Screen) -> tuple[Study, dict[str, Any] | None]:
    """Return the samples with copies as groups, and plain values about these; print a note on them."""
    ids = None if samples.roles.id is None else samples.ids
    copies = find_copies(samples.X, ids=ids)
    if not copies:
        return samples, None
    outcome, target = _target(samples, samples.y)
    folds = cv or default_folds(samples.design)
    together = copies.for_folds(lambda own: outcome.sizes(target.truth, own[samples.labeled]), folds)
    if samples.groups is not None:
        divided = len(np.unique(np.column_stack([copies.groups, samples.groups]), axis=0))
        kept = divided == copies.groups.max() + 1
    else:
        kept = together is not None
        samples = samples if together is None else replace(samples, groups=together)
    screen.note(
        f"{copies.statement(samples.ids)}; "
        + ("copies stay in one fold" if kept else "folds may separate them, which inflates scores")
        + ("; intervals of covariates count every copy" if samples.covariate_names else "")
    )
    members = [[str(samples.ids[i]) for i in own] for own in copies.members]
    return samples, {"groups": members, "reasons": list(copies.reasons), "kept_together": kept}


def revealing_columns(samples: Study, screen: Screen) -> list[dict[str, Any]]:
    """Return plain values about columns that give the outcome away; print a note on them."""
    outcome, target = _target(samples, samples.y)
    p, q = samples.n_features, len(samples.covariate_names)
    X = samples.design[:, : p + q]
    found = find_giveaways(
        *(outcome, target.truth, np.flatnonzero(samples.labeled), X),
        names=(*samples.names, *samples.covariate_names),
        covariate_columns=list(range(p, p + q)) or None,
    )
    # Notes on the table name columns that are the target in another unit.
    noted = {note.fields["column"] for note in samples.notes if note.kind == "copy"}
    if not {column.name for column in found.columns} <= noted:
        features = [column.name for column in found.columns if not column.covariate]
        if not features:
            advice = "leave {} out of --covariates"
        elif len(features) < len(found.columns):
            advice = "leave {} out"
        else:  # a question is raised by one feature only
            drop = option(Setting("drop", features[0])).replace("{", "{{").replace("}", "}}")
            advice = f"{drop} leaves {{}} out"
        screen.note(found.statement(advice))
    return found.as_dicts()


def evaluated(learned: Learned, progress: Any) -> tuple[Any, Any]:
    """Return nested scores of the training samples, None with too few samples, and the verdict."""
    samples, settings = learned.samples, learned.settings
    X, y = learned.part(learned.train)
    groups = None if samples.groups is None else samples.groups[learned.train]
    outcome = learned.outcome
    target = outcome.target(y, X, "nested_scores")
    own = None if groups is None else groups[has_value(y)]
    if min(outcome.sizes(target.truth, own)) < outcome.fewest_units:
        return None, too_few(outcome, target, own)
    with as_user_error(), folds_at_once(X):
        found = nested_scores(
            # The inner folds are made for each outer training part.
            clone(learned.search).set_params(cv=None),
            X,
            samples.named(y),
            groups=groups,
            covariate_names=tuple(samples.encoding),
            n_splits=settings.cv or (FEW_FOLDS if _is_large(samples.design) else "auto"),
            n_repeats=settings.repeats,
            permutations=settings.permutations,
            random_state=settings.seed,
            progress=progress,
        )
    found = replace(found, verdict=found.verdict.advising(ADVICE))  # the page shows it too
    return found, found.verdict


def fit_search(search: Any, X: Any, y: Any, progress: Any, groups: Any = None) -> None:
    """Fit a search to X (n, p) and y (n, …), calling ``progress(done, total)``."""
    with as_user_error(), folds_at_once(X):
        search.on_progress(progress).fit(X, y, groups=groups)


def few_threads(X: Any) -> Any:
    """Return a context with one thread for the linear algebra of small X (n, p)."""
    return _arrays.few_threads(X.shape)


def default_folds(X: Any) -> int:
    """Return the number of folds of every cross-validation of X (n, p)."""
    return FEW_FOLDS if _is_large(X) else FOLDS


def _is_large(X: Any) -> bool:
    return not sp.issparse(X) and has_large_folds(X.shape)


@contextmanager
def folds_at_once(X: Any) -> Iterator[None]:
    """Compute two folds of a large table X (n, p) at once, one thread each; as `few_threads` otherwise."""
    n_jobs = min(MOST_FOLDS, cpu_count())
    if not _is_large(X) or n_jobs == 1:
        with few_threads(X):
            yield
        return
    # Products with tall X take no less time with two threads. Threads share X, processes would not.
    with _arrays.one_blas_thread, parallel_config("threading", n_jobs=n_jobs):
        yield


def split(samples: Study, settings: Settings) -> tuple[Any, Any]:
    """Return positions of training and of held-out samples, with the same shares of each stratum."""
    if not 0 <= settings.test_size < 1:
        raise UserError(f"--test-size {settings.test_size:g}: at least 0 and below 1 is required")
    everyone = np.arange(len(samples.y))
    if settings.test_size == 0:
        return everyone, everyone[:0]
    there = everyone[samples.labeled]
    outcome, target = _target(samples, samples.y)
    groups = None if samples.groups is None else samples.groups[there]
    # Two samples for cross-validation, one to hold out.
    _check_sizes(
        samples, outcome, target, groups, 3, f"3 are required{outcome.of_each}, 2 with --test-size 0"
    )
    strata = outcome.strata(target.truth)
    if groups is not None:
        held_out = there[_held_out_groups(samples, outcome, target, groups, settings)]
    else:
        with as_user_error(f"--test-size {settings.test_size:g}: "):
            _, held_out = train_test_split(
                there, test_size=settings.test_size, stratify=strata, random_state=settings.seed
            )
    held_out = np.sort(held_out)
    return np.setdiff1d(everyone, held_out), held_out


def _target(samples: Study, y: Any) -> tuple[Outcome, Target]:
    """Return the kind of y (n, …), and y in its form."""
    outcome = outcome_named(samples.outcome)
    with as_user_error(f"{samples.path}: "):
        return outcome, outcome.target(y, np.empty((len(y), 0)), "superfactor")


def _check_sizes(
    samples: Study, outcome: Outcome, target: Target, groups: Any, fewest: int, required: str
) -> int:
    """Return the number of samples, or groups (m,), of the smallest stratum; raise if below `fewest`."""
    sizes = outcome.sizes(target.truth, groups)
    if min(sizes) < fewest:
        what = outcome.scarce(target, int(np.argmin(sizes)), "samples" if groups is None else "groups")
        # A class can be dropped.
        advice = f"; {LEAVE_OUT}" if outcome.of_each else ""
        if outcome.name == "classes" and are_numbers([str(name) for name in target.names]):
            advice += "; --task counts treats the numbers as counts, --task regression as measurements"
        raise UserError(f"{samples.path}: {what}, {min(sizes)}; {required}{advice}")
    return min(sizes)


def _held_out_groups(
    samples: Study, outcome: Outcome, target: Target, groups: Any, settings: Settings
) -> Any:
    """Return positions, among the samples with an outcome, of held-out groups that make up the share."""
    parts = min(PARTS, *outcome.sizes(target.truth, groups))
    held = round(parts * settings.test_size)
    if not 0 < held < parts:
        raise UserError(
            f"--test-size {settings.test_size:g}: the groups of {samples.roles.group or 'copies'!r} cannot "
            f"make up this share; another share, or more groups{outcome.of_each}, are required"
        )
    splitter = StratifiedGroupKFold(parts, shuffle=True, random_state=settings.seed)
    strata = outcome.strata(target.truth)
    folds = [test for _, test in splitter.split(np.zeros(len(strata)), strata, groups)]
    return np.concatenate(folds[:held])


def search_for(
    samples: Study, settings: Choice, y: Any, groups: Any = None, certify: str = "residual"
) -> Any:
    """Return an unfitted search with the folds that y (n, …) and the groups allow."""
    weights = {"class_weight": "balanced"} if settings.balance else {}
    if weights and not description_of(samples.outcome).has_classes:
        raise UserError(f"--balance: {samples.target!r} has no classes; leave the option out")
    outcome, target = _target(samples, y)
    there = has_value(y)
    own = None if groups is None else groups[there]
    least = 2 * outcome.fewest_test_samples
    required = f"cross-validation requires {least}{outcome.of_each}"
    fewest = _check_sizes(samples, outcome, target, own, least, required)
    folds = min(settings.cv or default_folds(samples.design), fewest // outcome.fewest_test_samples)
    _check_ranks(settings.rank, len(y) - -(-len(target.truth) // folds), samples.n_features)
    positions = np.flatnonzero(there)
    with as_user_error():
        splits = outcome.splits(target.truth, own, folds, settings.seed)
    search = search_for_kind(samples.outcome)()
    options = samples.search_options(standardize=settings.standardize)
    return search.set_params(
        n_components=settings.rank,
        model=settings.model,
        xi=settings.xi,
        lam=settings.lam,
        **options,
        cv=[(positions[train], positions[test]) for train, test in splits],
        certify=certify,
        random_state=settings.seed,
        **weights,
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
    outcome, description = learned.outcome, learned.description
    model = learned.model
    _, everyone = _target(learned.samples, learned.part(learned.train)[1])
    everyone_truth = outcome.observed(everyone.truth, model, learned.labeled_part(learned.train)[0])

    def figures(positions: Any) -> dict[str, Any] | None:
        if not len(positions):
            return None
        X, y = learned.labeled_part(positions)
        names, truth = outcome.recognised(model, outcome.read(y, X, "superfactor"))
        truth, rows = outcome.observed(truth, model, X), outcome.rows(model, X, names)
        return description.score_facts(outcome, names, truth, rows, everyone_truth)

    return {"held_out": figures(learned.held_out), "training": figures(learned.known)}
