"""One outer fold of a nested cross-validation: everything is learned from its training part.

`OuterFold` is what all have in common, `SearchFold` evaluates a search of ours. For it X is preprocessed by
the training part and turned into few coordinates with the same inner products once
(`superfactor.selection.rows.coordinates`); the search and its baselines work on these. Inner folds only take
their own means off. The variances they see are those of the whole outer training part, so that nothing of
the outer test part reaches a choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from superfactor.estimators import inputs
from superfactor.estimators.targets import CheckedY
from superfactor.outcomes import Outcome, Target, outcome_of
from superfactor.selection.evaluation import baselines
from superfactor.selection.rows.coordinates import FoldRows, joined
from superfactor.selection.rows.prepared import prepared, strangers

#: The model among its baselines.
MODEL = "model"
# Of the choice inside an outer fold, unless the search says otherwise: fewer folds than a search of its own
# has, since there is one in every outer fold.
INNER_SPLITS = 3
# The same from `baselines.MANY` samples on: half of them suffice to compare candidates.
FEW_INNER_SPLITS = 2
# Of the objective, relative: choices and probabilities then agree with exact ones to about three digits.
TOLERANCE = 1e-3

Split = tuple[Any, Any]


@dataclass(frozen=True)
class Seen:
    """Samples as one outer fold sees them: in few coordinates, covariates last.

    Both parts stay apart: a tall table leaves no memory for one more array of all rows.

    Attributes
    ----------
    inside : (n_train, k) of the labelled samples learned from
    outside : (n_test, k) of those asked about
    unlabelled : (u, k) of those without a label that belong to no group of the test part
    strangers : their positions (u,) among all samples
    """

    inside: Any
    outside: Any
    unlabelled: Any
    strangers: Any


@dataclass(frozen=True)
class OuterFold(ABC):
    """All that outer folds share.

    Attributes
    ----------
    estimator : the model that is evaluated, not fitted
    outcome : the kind of y
    target : y of all samples
    samples : X and covariates of all samples as the baselines see them; None without baselines
    labelled : positions (m,) of the samples that have a value; truth, groups and splits count these alone
    unlabelled : positions of the others, which are in every training part
    groups : (n,) of all samples, or None
    covariate_names : of the covariates, as far as they have any
    seed : of the inner folds
    """

    estimator: Any
    outcome: Outcome
    target: Target
    samples: FoldRows | None
    labelled: Any
    unlabelled: Any
    groups: Any
    covariate_names: Sequence[str]
    seed: int

    @property
    def truth(self) -> Any:
        """(m, …) of the samples that have a value."""
        return self.target.truth

    @property
    def balanced(self) -> bool:
        """Whether classes weigh the same in what is evaluated; then they do for its baselines too."""
        return self.outcome.balanced(self.estimator)

    @property
    def own_groups(self) -> Any:
        """Those of the labelled samples (m,), or None."""
        return None if self.groups is None else self.groups[self.labelled]

    def seen(self, truth: Any, train: Any, test: Any) -> Seen:
        """The samples as a fit on the labelled ones at `train`, and on unlabelled ones, sees them."""
        assert self.samples is not None
        others = strangers(self.unlabelled, self.labelled[test], self.groups)
        values = self.outcome.values(truth)
        y = np.full((self.samples.n_samples, *values.shape[1:]), None, dtype=object)
        y[self.labelled] = values
        inside, outside = self.samples.seen_by(
            np.concatenate([self.labelled[train], others]), self.labelled[test], y
        )
        return Seen(inside[: len(train)], outside, inside[len(train) :], others)

    @abstractmethod
    def seen_with(self, truths: list[Any], train: Any, test: Any) -> Iterator[tuple[Any, Any]]:
        """What `choice` needs of a fold for each of the shuffled truths, beside them."""

    @abstractmethod
    def choice(
        self, seen: Any, truth: Any, train: Any, test: Any, inner: list[Split] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """What is evaluated, learned at `train`: rows (n_test, k) at `test`, and what it chose."""

    def rows(self, train: Any, test: Any, *, with_baselines: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        """Rows (n_test, k) of every method, and what the model's choice was."""
        seen = None if self.samples is None else self.seen(self.truth, train, test)
        inner = self.inner(self.truth, train)
        own, chosen = self.choice(seen, self.truth, train, test, inner)
        found = {MODEL: own}
        if with_baselines:
            assert seen is not None
            assert self.samples is not None
            found |= baselines.baseline_rows(
                *(self.outcome, seen.inside, seen.outside, self.samples.n_covariates),
                *(self.truth[train], self.truth[test], inner),
                columns=len(self.target.names),
                balanced=self.balanced,
                unlabelled=seen.unlabelled,
                last_use=True,
            )
        columns = len(self.target.names)
        found[self.outcome.guess_name] = self.outcome.guessed(self.truth[train], self.truth[test], columns)
        return found, chosen

    def check_shuffled(self) -> None:  # noqa: B027 (most kinds can be shuffled)
        """Raise a ValueError where the truth cannot be shuffled."""

    def inner(self, truth: Any, train: Any, n_splits: int | None = None) -> list[Split]:
        """Folds to tune by, positions within `train`; fewer where a stratum has fewer samples or groups."""
        if n_splits is None:
            n_splits = INNER_SPLITS if len(train) < baselines.MANY else FEW_INNER_SPLITS
        own = truth[train]
        groups = None if self.groups is None else self.own_groups[train]
        most = max(2, min(self.outcome.sizes(own, groups)))
        return self.outcome.splits(own, groups, min(n_splits, most), self.seed)

    def inner_splits(self, train: Any) -> int | None:
        """How many folds choose within `train`; None where the model chooses by itself."""
        return None

    def marked(self, values: Any, n: int) -> Any:
        """Values of samples, followed by n samples that have none."""
        if not n:
            return values
        everyone = np.concatenate([values, np.repeat(values[:1], n, axis=0)])
        return CheckedY(everyone, np.arange(len(everyone)) < len(values)).marked


class SearchFold(OuterFold):
    """An outer fold of a search of ours, in coordinates that its candidates and its baselines share."""

    samples: FoldRows

    @classmethod
    def of(
        cls, search: Any, X: Any, y: Any, covariates: Any, groups: Any, *, baselines: bool, seed: int
    ) -> Self:
        """What the outer folds of a search share; its baselines need nothing more."""
        # Levels of words are those of all samples: a rare one may be missing from a fold.
        data = prepared(clone(search), outcome_of(search, y), X, y, covariates, None, "nested_scores")
        return cls(
            data.outcome.for_codes(search, data.target.names),
            *(
                data.outcome.settled(data.target.truth),
                data.target,
                data.rows,
                data.labelled,
                data.unlabelled,
            ),
            checked_groups(groups, data.target.given),
            data.covariate_names,
            seed,
        )

    def seen_with(self, truths: list[Any], train: Any, test: Any) -> Iterator[tuple[Any, Any]]:
        """Preprocessed once, unless that sees y."""
        seen = None
        for truth in truths:
            if seen is None or self.samples.sees_labels:
                seen = self.seen(truth, train, test)
            yield seen, truth

    def inner(self, truth: Any, train: Any, n_splits: int | None = None) -> list[Split]:
        """Folds of the choice: as many as the search says, or its splitter's own."""
        cv = self.estimator.cv
        if cv is None or isinstance(cv, int):
            return super().inner(truth, train, cv or n_splits)
        if hasattr(cv, "split"):
            groups = None if self.groups is None else self.own_groups[train]
            return list(cv.split(np.zeros(len(train)), self.outcome.strata(truth[train]), groups))
        raise ValueError(
            "search: its cv lists splits of all samples; None, a number or a splitter is required"
        )

    def inner_splits(self, train: Any) -> int | None:
        return len(self.inner(self.truth, train))

    def choice(
        self, seen: Any, truth: Any, train: Any, test: Any, inner: list[Split] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The search on the rows at `train`: what it says (n_test, k) of those at `test`, and what it chose.

        Parameters
        ----------
        seen : as `self.seen(truth, train, test)` gives them
        truth : (m, …), perhaps another than `self.truth`
        inner : as `self.inner` gives them, the default
        """
        inner = self.inner(truth, train) if inner is None else inner
        width, q = int(seen.inside.shape[1]), self.samples.n_covariates
        others = int(seen.unlabelled.shape[0])
        smallest = min(len(fit) for fit, _ in inner) + others
        search = clone(self.estimator).set_params(
            n_components=_possible(self.estimator.n_components, min(width - q, smallest)),
            preprocess=self.samples.recentring,
            impute=None,
            **self.samples.roles(width),
            cv=inner,
            refit=True,
            certify=None,
            search="off",
            tol=max(float(self.estimator.tol), TOLERANCE),
            n_jobs=None,
            verbose=0,
        )
        if hasattr(search, "unlabeled"):  # a value of the user's y, which the truth is not
            search.set_params(unlabeled=None)
        if isinstance(search.scoring, str) and search.scoring == "neg_log_loss":
            search.set_params(scoring=None)  # the same, and faster
        X, asked, exposures = seen.inside, seen.outside, self.outcome.exposures(truth)
        if exposures is not None:  # those of this truth, which may be shuffled
            X, asked = joined([X, exposures[train]]), joined([asked, exposures[test]])
        y = self.marked(self.outcome.values(truth[train]), others)
        if others:
            stack = sp.vstack if sp.issparse(X) else np.vstack
            X = stack([X, self.samples.exposed(seen.unlabelled, seen.strangers)])
        groups = None
        if self.groups is not None:
            groups = np.concatenate([self.own_groups[train], self.groups[seen.strangers]])
        search._nested = True
        search.fit(X, y, groups=groups)
        names = np.arange(len(self.target.names))
        return self.outcome.rows(search, asked, names), dict(search.best_params_)


def checked_groups(groups: Any, given: CheckedY) -> Any:
    """Numbers of the groups (n,) of all samples, or None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    inputs.check_length("groups", groups, given.values)
    return np.unique(groups, return_inverse=True)[1].ravel()


def _possible(n_components: Any, largest: int) -> Any:
    """The ranks asked for, as far as a fold allows them."""
    if isinstance(n_components, str):
        return n_components
    if np.ndim(n_components) == 0:
        return min(int(n_components), largest)
    return [_possible(rank, largest) for rank in n_components]
