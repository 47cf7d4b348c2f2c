"""One outer fold of a nested cross-validation: everything is learned from its training part.

`OuterFold` is what all have in common, `SearchFold` judges an `SMFClassifierCV`. For it X is preprocessed by
the training part and turned into few coordinates with the same inner products once
(`superfactor.selection.coordinates`); the search and its rivals work on these. Inner folds only take their
own means off. The variances they see are those of the whole outer training part, so that nothing of the
outer test part reaches a choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from superfactor.estimators import inputs
from superfactor.estimators.inputs import take
from superfactor.estimators.targets import UNLABELLED, Given
from superfactor.selection import rivals
from superfactor.selection.coordinates import FoldRows
from superfactor.selection.prepared import prepared, strangers

#: The model among its rivals.
MODEL = "model"
# Of the choice inside an outer fold, unless the search says otherwise: fewer folds than a search of its own
# has, since there is one in every outer fold.
INNER_SPLITS = 3
# Of the objective, relative: choices and probabilities then agree with exact ones to about three digits.
TOLERANCE = 1e-3

Split = tuple[Any, Any]


@dataclass(frozen=True)
class Seen:
    """Samples as one outer fold sees them: in few coordinates, covariates last.

    Attributes
    ----------
    rows : (m, k) of the labelled samples
    unlabelled : (u, k) of those without a label that belong to no group of the test part
    strangers : their positions (u,) among all samples
    """

    rows: Any
    unlabelled: Any
    strangers: Any


@dataclass(frozen=True)
class OuterFold:
    """All that outer folds share.

    Attributes
    ----------
    judged : classifier, not fitted
    samples : X and covariates of all samples as rivals see them; None where there are no rivals
    classes : labels (c,)
    labelled : positions (m,) of the samples that have a label; codes, groups and splits count these alone
    unlabelled : positions of the others, which are in every training part
    codes : class numbers (m,)
    groups : (n,) of all samples, or None
    covariate_names : of the covariates, as far as they have any
    seed : of the inner folds
    """

    judged: Any
    samples: FoldRows | None
    classes: Any
    labelled: Any
    unlabelled: Any
    codes: Any
    groups: Any
    covariate_names: Sequence[str]
    seed: int

    @property
    def n_classes(self) -> int:
        """c."""
        return len(self.classes)

    @property
    def balanced(self) -> bool:
        """Whether classes weigh the same in what is judged; then they do for its rivals too."""
        weight = getattr(self.judged, "class_weight", None)
        return isinstance(weight, str) and weight == "balanced"

    @property
    def own_groups(self) -> Any:
        """Those of the labelled samples (m,), or None."""
        return None if self.groups is None else self.groups[self.labelled]

    def seen(self, codes: Any, train: Any, test: Any) -> Seen:
        """The samples as a fit on the labelled ones at `train`, and on unlabelled ones, sees them."""
        assert self.samples is not None
        others = strangers(self.unlabelled, self.labelled[test], self.groups)
        y = np.full(self.samples.n_samples, None, dtype=object)
        y[self.labelled] = codes
        inside, outside = self.samples.seen_by(
            np.concatenate([self.labelled[train], others]), self.labelled[test], y
        )
        known, strange = inside[: len(train)], inside[len(train) :]
        return Seen(_in_place(known, train, outside, test), strange, others)

    def seen_with(self, labels: list[Any], train: Any, test: Any) -> Iterator[tuple[Any, Any]]:
        """What `choice` needs of a fold for each of the shuffled labels, beside them."""
        raise NotImplementedError

    def choice(
        self, seen: Any, codes: Any, train: Any, test: Any, inner: list[Split] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """What is judged, learned at `train`: probabilities (n_test, c) at `test`, and what it chose."""
        raise NotImplementedError

    def probabilities(
        self, train: Any, test: Any, *, with_rivals: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Probabilities (n_test, c) of every method, and what the model's choice was."""
        seen = None if self.samples is None else self.seen(self.codes, train, test)
        inner = self.inner(self.codes, train)
        own, chosen = self.choice(seen, self.codes, train, test, inner)
        found = {MODEL: own}
        if with_rivals:
            assert seen is not None
            assert self.samples is not None
            found |= rivals.rival_probabilities(
                *(seen.rows, self.samples.n_covariates, self.codes, train, test, inner),
                classes=self.n_classes,
                balanced=self.balanced,
                unlabelled=seen.unlabelled,
            )
        shares = np.bincount(self.codes[train], minlength=self.n_classes) / len(train)
        found[rivals.FREQUENT] = np.tile(shares, (len(test), 1))
        return found, chosen

    def inner(self, codes: Any, train: Any, n_splits: int = INNER_SPLITS) -> list[Split]:
        """Folds to tune by, positions within `train`; fewer where a class has fewer samples or groups."""
        own = codes[train]
        groups = None if self.groups is None else self.own_groups[train]
        most = max(2, min(units_of(own, groups)))
        return stratified(own, groups, min(n_splits, most), self.seed)


class SearchFold(OuterFold):
    """An outer fold of an `SMFClassifierCV`, in coordinates that its candidates and its rivals share."""

    samples: FoldRows

    @classmethod
    def of(
        cls, search: Any, X: Any, y: Any, covariates: Any, groups: Any, *, rivals: bool, seed: int
    ) -> Self:
        """What the outer folds of a search share; its rivals need nothing more."""
        # Levels of words are those of all samples: a rare one may be missing from a fold.
        data = prepared(clone(search), X, y, covariates, None, "nested_scores")
        classes, codes = np.unique(data.given.labelled, return_inverse=True)
        if isinstance(search.class_weight, dict):  # folds know classes by their numbers
            numbers = {label: k for k, label in enumerate(classes.tolist())}
            weights = {numbers.get(label, label): w for label, w in search.class_weight.items()}
            search = clone(search).set_params(class_weight=weights)
        return cls(
            search,
            data.rows,
            classes,
            *(data.labelled, data.unlabelled, codes),
            checked_groups(groups, data.given),
            data.covariate_names,
            seed,
        )

    def seen_with(self, labels: list[Any], train: Any, test: Any) -> Iterator[tuple[Any, Any]]:
        """Preprocessed once, unless that sees labels."""
        seen = None
        for codes in labels:
            if seen is None or self.samples.sees_labels:
                seen = self.seen(codes, train, test)
            yield seen, codes

    def inner(self, codes: Any, train: Any, n_splits: int = INNER_SPLITS) -> list[Split]:
        """Folds of the choice: as many as the search says, or its splitter's own."""
        cv = self.judged.cv
        if cv is None or isinstance(cv, int):
            return super().inner(codes, train, cv or n_splits)
        if hasattr(cv, "split"):
            groups = None if self.groups is None else self.own_groups[train]
            return list(cv.split(np.zeros(len(train)), codes[train], groups))
        raise ValueError(
            "search: its cv lists splits of all samples; None, a number or a splitter is required"
        )

    def choice(
        self, seen: Any, codes: Any, train: Any, test: Any, inner: list[Split] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The search on the rows at `train`: its probabilities (n_test, c) at `test`, and what it chose.

        Parameters
        ----------
        seen : as `self.seen(codes, train, test)` gives them
        codes : class numbers (m,), perhaps others than `self.codes`
        inner : as `self.inner` gives them, the default
        """
        inner = self.inner(codes, train) if inner is None else inner
        width, q = int(seen.rows.shape[1]), self.samples.n_covariates
        others = int(seen.unlabelled.shape[0])
        smallest = min(len(fit) for fit, _ in inner) + others
        search = clone(self.judged).set_params(
            n_components=_possible(self.judged.n_components, min(width - q, smallest)),
            preprocess=self.samples.recentring,
            impute=None,
            unlabeled=UNLABELLED,
            covariate_columns=list(range(width - q, width)) or None,
            cv=inner,
            refit=True,
            certify=None,
            search="off",
            tol=max(float(self.judged.tol), TOLERANCE),
            n_jobs=None,
            verbose=0,
        )
        if isinstance(search.scoring, str) and search.scoring == "neg_log_loss":
            search.set_params(scoring=None)  # the same, and faster
        X, y = take(seen.rows, train, axis=0), codes[train]
        if others:
            stack = sp.vstack if sp.issparse(X) else np.vstack
            X = stack([X, seen.unlabelled])
            y = np.concatenate([y, np.full(others, UNLABELLED)])
        groups = None
        if self.groups is not None:
            groups = np.concatenate([self.own_groups[train], self.groups[seen.strangers]])
        search.fit(X, y, groups=groups)
        found = search.predict_proba(take(seen.rows, test, axis=0))
        found = rivals.aligned(found, search.classes_, self.n_classes)
        return found, dict(search.best_params_)


def _in_place(inside: Any, train: Any, outside: Any, test: Any) -> Any:
    """Rows (m, k), each at its position, from those of both parts of a split of all."""
    order = np.argsort(np.concatenate([train, test]))
    stack = sp.vstack if sp.issparse(inside) else np.vstack
    return take(stack([inside, outside]), order, axis=0)


def checked_groups(groups: Any, given: Given) -> Any:
    """Numbers of the groups (n,) of all samples, or None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    inputs.check_length("groups", groups, given.values)
    return np.unique(groups, return_inverse=True)[1].ravel()


def units_of(codes: Any, groups: Any) -> list[int]:
    """How many samples, or groups, have each class."""
    if groups is None:
        return [int(count) for count in np.unique(codes, return_counts=True)[1]]
    return [len(np.unique(groups[codes == k])) for k in np.unique(codes)]


def stratified(codes: Any, groups: Any, n_splits: int, seed: int) -> list[Split]:
    """Shuffled folds, all classes in equal shares, groups (n,) on one side of each."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(n_splits, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class with fewer samples than folds is absent from some test parts.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(splitter.split(np.zeros(len(codes)), codes, groups))
    if any(len(np.unique(codes[train])) < 2 for train, _ in splits):
        raise ValueError(
            "groups: without the groups of one fold a single class is left; more groups of each class "
            "are required"
        )
    return splits


def _possible(n_components: Any, largest: int) -> Any:
    """The ranks asked for, as far as a fold allows them."""
    if isinstance(n_components, str):
        return n_components
    if np.ndim(n_components) == 0:
        return min(int(n_components), largest)
    return [_possible(rank, largest) for rank in n_components]
