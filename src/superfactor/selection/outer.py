"""One outer fold of a nested cross-validation: everything is chosen on its training part.

X is preprocessed by that part and turned into few coordinates with the same inner products once
(`superfactor.selection.coordinates`); the search and its rivals work on these. Inner folds only take their
own means off. The variances they see are those of the whole outer training part, so that nothing of the
outer test part reaches a choice.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from superfactor.estimators.inputs import take
from superfactor.estimators.targets import UNLABELLED
from superfactor.selection import rivals
from superfactor.selection.classifier import SMFClassifierCV
from superfactor.selection.coordinates import FoldRows
from superfactor.selection.prepared import strangers

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
    search : SMFClassifierCV, not fitted
    samples : X and covariates of all samples
    labelled : positions (m,) of the samples that have a label; codes, groups and splits count these alone
    unlabelled : positions of the others, which are in every training part
    codes : class numbers (m,)
    groups : (n,) of all samples, or None
    n_classes : c
    seed : of the inner folds
    balanced : whether classes weigh the same in the search; then they do for its rivals too
    """

    search: SMFClassifierCV
    samples: FoldRows
    labelled: Any
    unlabelled: Any
    codes: Any
    groups: Any
    n_classes: int
    seed: int
    balanced: bool = False

    @property
    def own_groups(self) -> Any:
        """Those of the labelled samples (m,), or None."""
        return None if self.groups is None else self.groups[self.labelled]

    def seen(self, codes: Any, train: Any, test: Any) -> Seen:
        """The samples as a fit on the labelled ones at `train`, and on unlabelled ones, sees them."""
        others = strangers(self.unlabelled, self.labelled[test], self.groups)
        y = np.full(self.samples.n_samples, None, dtype=object)
        y[self.labelled] = codes
        rows = self.samples.seen_by(np.concatenate([self.labelled[train], others]), y)
        if not len(self.unlabelled):
            return Seen(rows, rows[:0], others)
        return Seen(take(rows, self.labelled, axis=0), take(rows, others, axis=0), others)

    def probabilities(
        self, train: Any, test: Any, *, with_rivals: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Probabilities (n_test, c) of every method, and what the model's choice was."""
        seen = self.seen(self.codes, train, test)
        inner = self.inner(self.codes, train)
        own, chosen = self.choice(seen, self.codes, train, test, inner)
        found = {MODEL: own}
        if with_rivals:
            found |= rivals.rival_probabilities(
                *(seen.rows, self.samples.n_covariates, self.codes, train, test, inner),
                classes=self.n_classes,
                balanced=self.balanced,
                unlabelled=seen.unlabelled,
            )
        shares = np.bincount(self.codes[train], minlength=self.n_classes) / len(train)
        found[rivals.FREQUENT] = np.tile(shares, (len(test), 1))
        return found, chosen

    def inner(self, codes: Any, train: Any) -> list[Split]:
        """Folds of the choice, positions within `train`."""
        cv, own = self.search.cv, codes[train]
        groups = None if self.groups is None else self.own_groups[train]
        if cv is None or isinstance(cv, int):
            most = max(2, min(units_of(own, groups)))
            return stratified(own, groups, min(cv or INNER_SPLITS, most), self.seed)
        if hasattr(cv, "split"):
            return list(cv.split(np.zeros(len(own)), own, groups))
        raise ValueError(
            "search: its cv lists splits of all samples; None, a number or a splitter is required"
        )

    def choice(
        self, seen: Seen, codes: Any, train: Any, test: Any, inner: list[Split] | None = None
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
        search = clone(self.search).set_params(
            n_components=_possible(self.search.n_components, min(width - q, smallest)),
            preprocess=self.samples.recentring,
            impute=None,
            unlabeled=UNLABELLED,
            covariate_columns=list(range(width - q, width)) or None,
            cv=inner,
            refit=True,
            certify=None,
            search="off",
            tol=max(float(self.search.tol), TOLERANCE),
            n_jobs=None,
            verbose=0,
        )
        if search.scoring == "neg_log_loss":
            search.set_params(scoring=log_likelihood)
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


def log_likelihood(model: Any, X: Any, y: Any) -> float:
    """`neg_log_loss` of class numbers, without checks that take longer, classes unknown to a model too."""
    known = np.asarray(model.classes_)
    classes = int(max(known.max(), y.max())) + 1
    return rivals.log_likelihood(y, rivals.aligned(model.predict_proba(X), known, classes))


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
