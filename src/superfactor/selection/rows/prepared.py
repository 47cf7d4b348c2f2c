"""What a search makes of a user's data before its folds: X as folds see it, labels, and who has one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils.validation import validate_data

from superfactor.estimators import inputs
from superfactor.estimators.covariates import CovariateEncoder, IndicatorColumns, learn_inside
from superfactor.outcomes import Outcome, Target
from superfactor.preprocessing import LowRankImputer
from superfactor.selection.rows.coordinates import FoldRows, TransformedRows, gaps_again
from superfactor.selection.rows.preprocessing import imputer_for, is_transformer

Split = tuple[Any, Any]


@dataclass(frozen=True)
class Prepared:
    """A user's samples, checked.

    Attributes
    ----------
    rows : X and covariates, as every fold sees them
    outcome : the kind of y
    target : y, and who has one
    weight : (n,) or None
    covariate_names : of the columns of X and of the table beside it that are covariates, where they have any
    """

    rows: FoldRows
    outcome: Outcome
    target: Target
    weight: Any
    covariate_names: list[str]

    @property
    def labelled(self) -> Any:
        """Positions of the samples that have a label."""
        known = self.target.given.known
        return np.arange(self.rows.n_samples) if known is None else np.flatnonzero(known)

    @property
    def unlabelled(self) -> Any:
        """Positions of those that have none."""
        known = self.target.given.known
        return np.empty(0, dtype=int) if known is None else np.flatnonzero(~known)

    def splits(self, cv: Any, groups: Any) -> list[Split]:
        """Folds of the samples that have a label; those without one are in every training part.

        A list of splits is one of all samples; those without a label are taken out of its test parts.
        """
        labelled, unlabelled = self.labelled, self.unlabelled
        given = self.target.given
        if len(labelled) < 2:
            raise ValueError(f"y: n_samples={len(labelled)}; cross-validation needs at least 2 samples")
        if groups is not None:
            inputs.check_length("groups", np.asarray(groups), given.values)
        strata = self.outcome.search_strata(given.labelled)
        splitter = check_cv(cv, strata, classifier=strata is not None)
        if not _lists_samples(cv):
            own = None if groups is None else np.asarray(groups)[labelled]
            found = list(
                splitter.split(np.zeros(len(labelled)), given.labelled if strata is None else strata, own)
            )
            found = [(labelled[train], labelled[test]) for train, test in found]
        else:
            found = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split()]
        if not len(unlabelled):
            return found
        return [
            (np.union1d(train, strangers(unlabelled, test, groups)), np.setdiff1d(test, unlabelled))
            for train, test in found
        ]


def _lists_samples(cv: Any) -> bool:
    """Does this name samples by their position among all, instead of splitting those it is shown?"""
    if isinstance(cv, PredefinedSplit):
        return True
    return not (cv is None or isinstance(cv, Integral) or hasattr(cv, "split"))


def strangers(unlabelled: Any, test: Any, groups: Any) -> Any:
    """Those at `unlabelled` that belong to no group of the samples at `test`."""
    if groups is None:
        return unlabelled
    groups = np.asarray(groups)
    return unlabelled[~np.isin(groups[unlabelled], groups[test])]


@np.errstate(invalid="ignore")  # who checks huge numbers by their sum meets ∞ − ∞
def prepared(
    search: Any, outcome: Outcome, X: Any, y: Any, covariates: Any, sample_weight: Any, name: str
) -> Prepared:
    """The data of a search for this kind of y, whose parameters say how they are to be read.

    `name` is for messages.

    Sets ``n_features_in_`` and ``feature_names_in_`` of the search.
    """
    words = CovariateEncoder.learn(covariates)
    by_user = is_transformer(search.preprocess)
    names = inputs.column_names(X)
    if by_user:
        X = X if hasattr(X, "shape") else np.asarray(X)
        validate_data(search, X, reset=True, skip_check_array=True)
        sized = np.empty((int(X.shape[0]), 0))
    else:
        numbers, words_inside = learn_inside(X, search.covariate_columns)
        gaps = search.impute is not None
        sized = inputs.check_data(search, inputs.as_numpy(numbers), reset=True, gaps=gaps)
        columns = inputs.covariate_indices(search.covariate_columns, sized.shape[1], names)
        exposure = inputs.exposure_index(search.exposure_column, columns, sized.shape[1], names)
    target = outcome.target(inputs.as_numpy(y), sized, name, getattr(search, "unlabeled", None))
    weight = inputs.check_weights(sample_weight, sized)
    extra = inputs.as_numpy(words.codes(covariates))
    extra = gaps_again(words, words.expand(inputs.check_covariates(extra, sized, None, "fit")))
    beside = list(inputs.column_names(covariates) or ())
    if by_user:
        rows: FoldRows = TransformedRows(
            *(X, search.covariate_columns, extra, weight, search.preprocess, target.given.marked),
            search.exposure_column,
        )
        own = np.atleast_1d([] if search.covariate_columns is None else search.covariate_columns)
        inside_names = [str(name) for name in own if isinstance(name, str)]
        return Prepared(rows, outcome, _out_of(outcome, target, rows), weight, inside_names + beside)
    factorized, inside = inputs.split_apart(sized, columns, exposure)
    exposures = inputs.exposures_in(sized, exposure)
    imputer = imputer_for(search.impute, factorized)
    if imputer is not None:
        _check_covariates_apart(imputer, search)
        _say_completed(factorized, imputer)
    inside = gaps_again(words_inside, words_inside.expand(inside))
    rows = FoldRows(factorized, inside, extra, weight, search.preprocess, imputer, exposures)
    covariate_names = [str(names[j]) for j in columns] if names else []
    return Prepared(rows, outcome, _out_of(outcome, target, rows), weight, covariate_names + beside)


def _out_of(outcome: Outcome, target: Target, rows: FoldRows) -> Target:
    """The same, its truth beside the exposures of the samples that have one."""
    if rows.exposures is None:
        return target
    known = target.given.known
    exposures = rows.exposures if known is None else rows.exposures[known]
    return replace(target, truth=outcome.out_of(target.truth, exposures))


def with_indicators(X: Any, columns: Any) -> tuple[Any, Any]:
    """X with indicators in place of words and gaps in its covariate columns, and where these stand then.

    X itself where there are none.
    """
    if not learn_inside(X, columns)[1].expands:
        return X, columns
    step = IndicatorColumns(columns).set_output(transform="pandas")
    return step.fit_transform(X), step.covariate_columns_


def _check_covariates_apart(imputer: Any, search: Any) -> None:
    """Raise a ValueError where an imputer in a pipeline would fill features by covariates."""
    apart = isinstance(imputer, LowRankImputer) or not is_transformer(search.impute)
    if search.covariate_columns is not None and not apart:
        raise ValueError(
            f"impute={type(imputer).__name__}: it would see covariate_columns too; give them as covariates= "
            "beside X, or take impute='lowrank' or 'mean'"
        )
    if search.exposure_column is not None and not apart:
        raise ValueError(
            f"impute={type(imputer).__name__}: it would see exposure_column too; take impute='lowrank' or "
            "'mean'"
        )


def _say_completed(X: Any, imputer: Any) -> None:
    missing = np.count_nonzero(np.isnan(X))
    warnings.warn(
        f"X: {missing} of {X.size} values are missing; every fold completes them from its training part by "
        f"{type(imputer).__name__}, and so does best_estimator_ (impute=None refuses them)",
        UserWarning,
        stacklevel=2,
    )
