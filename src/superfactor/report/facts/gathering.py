"""`gather`: compute the facts of the page from a model and its samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets import CheckedY
from superfactor.interpretation import (
    FactorView,
    HeldOut,
    factor_view,
    held_out_scores,
    matched,
    unsupervised,
)
from superfactor.interpretation.blocks import blocks_of, shares_of_blocks
from superfactor.interpretation.confounders import adjusters, confounded
from superfactor.interpretation.covariates import trusted_effects
from superfactor.interpretation.models import fitted_model
from superfactor.outcomes import Target, outcome_of
from superfactor.report.facts.facts import Confounders, Facts
from superfactor.report.facts.feature_results import feature_results
from superfactor.report.facts.missing import filled_in
from superfactor.report.facts.samples import labels_of, names_of, parts_of
from superfactor.report.facts.search import Searched, searched
from superfactor.report.facts.unnamed import to_refit, whole, without_names
from superfactor.report.formats import LONGEST_CLASS, LONGEST_NOTE, label
from superfactor.selection.procedure import difference, procedure_of
from superfactor.selection.search.base import Search


def gather(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    covariates: Any = None,
    covariates_test: Any = None,
    ids: Sequence[Any] | None = None,
    rotation: str | None = None,
    positive: Any = None,
    confounders: tuple[Any, Any] = (None, None),
    groups: Any = None,
    held_out: Any = False,
    features: bool = False,
    stable: Any = False,
    near: Any = False,
    search: Any = None,
    **known: Any,
) -> Facts:
    """Return the facts of a model; `known` are those of the caller (title, nested, …).

    `held_out`, `stable` and `near` are a HeldOut, StableFeatures and Nearness, None to compute them, or False
    to omit them. `features` adds tables of single features.
    """
    fitted = fitted_model(model)
    outcome = outcome_of(fitted.estimator)
    if outcome.page is None:
        raise TypeError(
            f"model={type(fitted.estimator).__name__}: there is no report for {outcome.name}; an estimator "
            "of superfactor for another kind of y, a Pipeline that ends in one, or a search is required"
        )
    if (X_test is None) != (y_test is None):
        missing = "y_test" if y_test is None else "X_test"
        raise ValueError(f"{missing}=None: X_test and y_test are required together, or neither")
    known["search"] = _search_of(model, search, outcome.page.scorer)
    _check_procedure(known.get("nested"), model, known["search"])
    view = factor_view(model, rotation=rotation, positive=positive)
    names = names_of(ids, X, X_test)
    filled = filled_in(fitted, X, X_test)
    removed = _confounders(fitted, view, X, X_test, *confounders)
    bare, (array, X_test) = without_names(fitted, X, X_test)
    estimator, seen = bare.estimator, bare.preprocess(array)
    asked = outcome, estimator, view
    given = labels_of("y", y, names[0], outcome, getattr(estimator, "unlabeled", None))
    train, unlabeled = parts_of("y", given, *asked, names[0], seen, covariates)
    why, again = "", to_refit(model, X, bare, array)
    beside = {"covariates": covariates, "groups": groups}
    known["n_groups"] = None if groups is None else len(np.unique(as_numpy(groups)))
    if held_out is None:
        held_out, why = _held_out(*again, y, rotation=rotation, positive=positive, **beside)
    if held_out:
        train = replace(train, out_of_fold=_out_of_fold(held_out, given, view))
    effects = _covariate_table(model, fitted, view, X, y, covariates, held_out)
    test = test_unlabeled = None
    if X_test is not None:
        new = bare.preprocess(X_test)
        labels = labels_of("y_test", y_test, names[1], outcome, getattr(estimator, "unlabeled", None))
        test, test_unlabeled = parts_of("y_test", labels, *asked, names[1], new, covariates_test)
        test = replace(test, out_of_fold=test.scores)
    if features:
        seen = None  # tables of features preprocess X themselves, and two copies take much memory
        known["feature_results"] = feature_results(
            view, whole(bare), array, again, y, stable=stable, near=near, **beside
        )
        seen = bare.preprocess(array)
    columns = outcome.recognised(estimator, given, "y")[0]
    target = Target(given, columns, train.truth)
    _check_nested(known.get("nested"), columns, outcome.counts(target))
    called = outcome.page.names(estimator, view.outputs, y, known.get("target", ""))
    plain = unsupervised(estimator, seen, y, covariates=covariates, positive=positive)
    return Facts(
        model=model,
        outcome=outcome,
        estimator=fitted.estimator,
        steps=fitted.steps,
        names=[label(name, LONGEST_CLASS) for name in called],
        columns=columns,
        axis=label(outcome.page.axis(y)),
        covariates=_covariates(fitted),
        view=view,
        plain=matched(view, replace(plain, features=view.features)),
        factorized=given.of_labelled(as_numpy(estimator.split_columns(seen)[0])),
        train=train,
        test=test,
        unlabeled=unlabeled,
        n_test_unlabeled=0 if test_unlabeled is None else len(test_unlabeled),
        held_out=held_out or None,
        not_held_out=why,
        covariate_table=effects,
        block_table=None if blocks_of(bare) is None else shares_of_blocks(bare, view, seen, None),
        confounders=removed,
        filled=filled,
        **known,
    )


def _held_out(model: Any, X: Any, y: Any, **options: Any) -> tuple[HeldOut | None, str]:
    """Return out-of-fold scores, or None and the reason; the page is written without them."""
    try:
        return held_out_scores(model, X, y, **options), ""
    except ValueError as error:  # too few training samples in a fold for the rank, or of a class
        return None, label(error, LONGEST_NOTE)


def _out_of_fold(held_out: HeldOut, given: CheckedY, view: FactorView) -> Any:
    """Return the out-of-fold scores of the samples with a label."""
    required = (len(given.values), len(view.share))
    if np.shape(held_out.scores) != required:
        raise ValueError(
            f"held_out: scores of shape {np.shape(held_out.scores)}, {required} is required, one row per "
            "training sample and one column per factor"
        )
    return held_out.scores if given.known is None else held_out.scores[given.known]


def _covariates(fitted: Any) -> list[str]:
    """Return the columns of the covariates, each once: sex, not sex=female."""
    column = {f"{name}={level}": name for name, known in fitted.covariate_levels.items() for level in known}
    return [label(name) for name in dict.fromkeys(column.get(name, name) for name in fitted.covariate_names)]


def _covariate_table(
    model: Any, fitted: Any, view: FactorView, X: Any, y: Any, covariates: Any, held_out: Any
) -> Any:
    """Return the effects of covariates, on the same class as those of the factors; None without any."""
    if not fitted.covariate_names:
        return None
    return trusted_effects(model, X, y, covariates, positive=view.positive, held_out=held_out)


def _confounders(
    fitted: Any, view: FactorView, X: Any, X_test: Any, own: Any, own_test: Any
) -> Confounders | None:
    """Return the subtracted confounders; `own` and `own_test` are given as tables, else they are in X."""
    steps = [step for step in adjusters(fitted) if step.confounders_]
    if not steps:
        return None
    found = [name for step in steps for name in step.confounders_]
    return Confounders(
        found if own is None else [str(name) for name in own.columns],
        1 - math.prod(1 - step.explained_ for step in steps),  # each share is of the remaining variance
        not any(step.spare_y or step.shrink for step in steps),
        confounded(fitted, view, X, own),
        None if X_test is None else confounded(fitted, view, X_test, own_test),
    )


def _check_nested(nested: Any, names: Any, counts: Any) -> None:
    """Raise a ValueError if the nested cross-validation is of other samples.

    Records in model files of earlier versions have neither classes nor counts.
    """
    own = {"classes": np.asarray(names), "counts": np.asarray(counts)}
    for name, required in own.items():
        given = getattr(nested, name, None)
        if given is not None and np.asarray(given).tolist() != required.tolist():
            raise ValueError(
                f"nested: its {name} are {shown(np.asarray(given).tolist())}, those of the model and y are "
                f"{shown(required.tolist())}; nested cross-validation of the same samples is required"
            )


def _search_of(model: Any, search: Any, usual: str) -> Searched | None:
    """Return the results of the search that chose the model; `usual` is the default score."""
    if search is None and not isinstance(model, Search):
        return None
    return replace(searched(model if search is None else search), usual=usual)


def _check_procedure(nested: Any, model: Any, search: Searched | None) -> None:
    """Raise an error if these are no scores, or those of another procedure; model files do not record it."""
    if nested is not None and not hasattr(nested, "verdict"):
        raise TypeError(f"nested={type(nested).__name__}: the result of nested_scores is required")
    evaluated = getattr(nested, "procedure", None)
    about = procedure_of(model) if search is None else search.procedure
    other = "" if evaluated is None or about is None else difference(evaluated, about)
    if other and about:
        raise ValueError(
            f"nested: scores of {other}; nested_scores of the {about['class']} of the page are required "
            "(pass the search that chose the model as search=)"
        )
