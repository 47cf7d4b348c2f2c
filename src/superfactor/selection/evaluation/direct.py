"""An outer fold of any model: a clone is fitted to X as it is given, and asked for its predictions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from superfactor.estimators.inputs import as_numpy
from superfactor.outcomes import outcome_of
from superfactor.selection.evaluation.outer import OuterFold, Split, checked_groups
from superfactor.selection.giveaways import reported
from superfactor.selection.rows.prepared import prepared, strangers
from superfactor.selection.search.base import Search


@dataclass(frozen=True)
class DirectFold(OuterFold):
    """y is that of the user, since parameters of a model may name its values.

    Attributes
    ----------
    X : of all samples, anything whose rows can be taken
    covariates : of all samples, for a model whose ``fit`` takes them, or None
    """

    X: Any = None
    covariates: Any = None

    @classmethod
    def of(
        cls, estimator: Any, X: Any, y: Any, covariates: Any, groups: Any, *, baselines: bool, seed: int
    ) -> Self:
        """What the outer folds of a model share; baselines see X as the default search does."""
        last = _last(estimator)
        if covariates is not None and not has_fit_parameter(last, "covariates"):
            raise TypeError(f"covariates: {type(last).__name__}.fit takes none; make them columns of X")
        unlabeled = getattr(last, "unlabeled", None)
        sized = np.empty((_num_samples(X), 0))
        outcome = outcome_of(estimator, y)
        target = outcome.target(as_numpy(y), sized, "nested_scores", unlabeled)
        samples, names = None, []
        if baselines:
            columns = getattr(estimator, "covariate_columns", None)
            reader = Search(covariate_columns=columns, unlabeled=unlabeled)
            reader.exposure_column = getattr(estimator, "exposure_column", None)
            try:
                data = prepared(reader, outcome, X, y, covariates, None, "nested_scores")
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"{error}; the baselines need this; baselines=False leaves them out") from error
            samples, names = data.rows, data.covariate_names
        known = target.given.known
        known = np.ones(_num_samples(X), dtype=bool) if known is None else known
        observed = outcome.observed(target.truth, estimator, _safe_indexing(X, np.flatnonzero(known)))
        target = replace(target, truth=observed)
        return cls(
            *(estimator, outcome.settled(target.truth), target, samples),
            *(np.flatnonzero(known), np.flatnonzero(~known)),
            checked_groups(groups, target.given),
            names,
            seed,
            X,
            covariates,
        )

    @property
    def balanced(self) -> bool:
        """Whether its last step says so."""
        return self.outcome.balanced(_last(self.estimator))

    def check_shuffled(self) -> None:
        """Exposures go with counts, and stand in X, which a model is given as it is."""
        if self.outcome.exposures(self.truth) is not None:
            raise ValueError(
                f"permutations: {type(self.estimator).__name__} with an exposure_column cannot be evaluated "
                "with shuffled counts; permutations=0 is allowed, or SMFRegressorCV with the same "
                "exposure_column"
            )

    def seen_with(self, truths: list[Any], train: Any, test: Any) -> Iterator[tuple[Any, Any]]:
        """Nothing is shared."""
        return ((None, truth) for truth in truths)

    def choice(
        self, seen: Any, truth: Any, train: Any, test: Any, inner: list[Split] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """A clone fitted at `train`: what it says (n_test, k) at `test`, and what a search chose."""
        model, last = clone(self.estimator), _last(self.estimator)
        rows, y = self.labelled[train], self.outcome.decoded(truth[train], self.target.names)
        if self.outcome.uses_unlabelled(last):
            others = strangers(self.unlabelled, self.labelled[test], self.groups)
            rows, y = np.concatenate([rows, others]), self.marked(y, len(others))
        given: dict[str, Any] = {}
        if self.covariates is not None:
            given["covariates"] = _safe_indexing(self.covariates, rows)
        if self.groups is not None and _takes_groups(last):
            given["groups"] = self.groups[rows]
        asked = self.labelled[test]
        beside = {}
        if self.covariates is not None:
            beside["covariates"] = _safe_indexing(self.covariates, asked)
        with reported(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            model.fit(_safe_indexing(self.X, rows), y, **_routed(model, given))
        found = self.outcome.rows(model, _safe_indexing(self.X, asked), self.target.names, **beside)
        return found, dict(getattr(model, "best_params_", {}))


def _last(model: Any) -> Any:
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _routed(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``fit``, under the name of the last step where there are several."""
    if not isinstance(model, Pipeline):
        return given
    return {f"{model.steps[-1][0]}__{name}": value for name, value in given.items()}


def _takes_groups(model: Any) -> bool:
    return isinstance(model, BaseSearchCV) or has_fit_parameter(model, "groups")
