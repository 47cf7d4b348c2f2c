"""Everything the page tells, computed once: predictions, factors, figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from superfactor.estimators import SMFClassifier
from superfactor.estimators.inputs import as_numpy
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets import Given
from superfactor.interpretation import (
    FactorView,
    HeldOut,
    Matched,
    covariate_effects,
    factor_view,
    held_out_scores,
    matched,
    unsupervised,
)
from superfactor.interpretation.blocks import blocks_of, shares_of_blocks
from superfactor.interpretation.confounders import adjusters, confounded
from superfactor.interpretation.models import fitted_model
from superfactor.interpretation.roles import roles
from superfactor.report.facts.evaluation import Evaluation, evaluate
from superfactor.report.facts.gaps import Filled, filled_in
from superfactor.report.facts.nameless import to_refit, whole, without_names
from superfactor.report.facts.samples import Samples, labels_of, names_of, parts_of
from superfactor.report.facts.trusted import Trusted, trusted
from superfactor.report.facts.verdict import Told, verdict_of
from superfactor.report.words.formats import LONGEST_CLASS, LONGEST_NOTE, label
from superfactor.selection.procedure import difference, procedure_of


@dataclass(frozen=True)
class Confounders:
    """What was removed from the features.

    Attributes
    ----------
    names : of the confounders
    removed : the share of the variance of the features that was
    all_of_it : bool; False where a part was left on purpose, with ``spare_y`` or ``shrink``
    train, test : DataFrames of `confounding`; of held-out samples None without any
    """

    names: list[str]
    removed: float
    all_of_it: bool
    train: Any
    test: Any


@dataclass(frozen=True)
class Facts:
    """What the sections of the page read."""

    model: Any
    estimator: Any
    steps: tuple[Any, ...]
    classes: list[str]
    covariates: list[str]  # their names, in the order of covariate_coef_
    view: FactorView
    plain: Matched  # the same number of factors of a plain SVD, beside those of the view
    factorized: Any  # X (n, p) as the estimator saw it, without covariate columns; dense or sparse
    train: Samples  # those with a label
    test: Samples | None  # those with a label
    unlabeled: Samples | None = None  # training samples without one
    n_test_unlabeled: int = 0  # held-out samples without one, which judge nothing
    held_out: HeldOut | None = None  # the factors on samples of which they know nothing
    not_held_out: str = ""  # why there are none
    trusted: Trusted | None = None  # what single features are good for
    search: Any = None
    nested: Any = None  # NestedScores
    stability: Any = None
    markers: Mapping[str, str] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    title: str = ""
    target: str = ""
    command: str | None = None
    notes: tuple[str, ...] = ()

    covariate_table: Any = None  # DataFrame of `covariate_effects`; None without covariates
    block_table: Any = None  # DataFrame of `block_shares`; None without a BlockScaler
    confounders: Confounders | None = None  # None without an Adjuster
    filled: Filled | None = None  # None where nothing was missing

    @property
    def rank(self) -> int:
        """The number of factors r."""
        return len(self.view.weights)

    @property
    def up(self) -> int:
        """With two classes: the number of the one whose log-odds the coefficients change."""
        assert self.view.classes is not None
        return self.view.classes.index(self.view.outputs[0])

    @cached_property
    def verdict(self) -> Told:
        """What is said of the model as a whole."""
        return verdict_of(self)

    @cached_property
    def roles(self) -> list[str]:
        """What each factor is good for."""
        shown = None if self.held_out is None else self.held_out.predictive
        return roles(self.view, shown, self.verdict.predicts)

    @property
    def separates(self) -> bool:
        """Whether samples not seen show that the factors tell the classes apart; the verdict counts first."""
        if self.verdict.predicts is not None:
            return self.verdict.predicts
        return self.held_out is not None and bool(self.held_out.predictive.any())

    @property
    def samples(self) -> Samples:
        """Those the model is judged by: held out where there are any."""
        return self.train if self.test is None else self.test

    @property
    def out_of_fold(self) -> Any:
        """(n, c) probabilities of the training samples by models that had not seen them; None without."""
        found: Any = getattr(self.nested, "predictions", None)
        same = found is not None and np.shape(found) == self.train.probabilities.shape
        return found if same and np.isfinite(found).all() else None

    @property
    def judged_by(self) -> str:
        """The samples that the figures are of: "held-out", "out-of-fold" or, optimistic, "training"."""
        if self.test is not None:
            return "held-out"
        return "training" if self.out_of_fold is None else "out-of-fold"

    @cached_property
    def evaluation(self) -> Evaluation:
        """The figures of `samples`, by models that had not seen them where there are any."""
        if self.judged_by == "out-of-fold":
            return evaluate(self.train.truth, np.asarray(self.out_of_fold, dtype=float))
        return evaluate(self.samples.truth, self.samples.probabilities)


def gather(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any,
    y_test: Any,
    covariates: Any,
    covariates_test: Any,
    ids: Sequence[Any] | None,
    rotation: str | None = None,
    positive: Any = None,
    confounders: tuple[Any, Any] = (None, None),
    groups: Any = None,
    held_out: Any = False,
    features: bool = False,
    stable: Any = False,
    near: Any = False,
    **told: Any,
) -> Facts:
    """The facts of a classifier; `told` are those the caller knows (search, title, …).

    `held_out`, `stable` and `near` are a HeldOut, StableFeatures and Nearness, None to find them here, or
    False to do without; `features` says whether tables of single features are wanted.
    """
    fitted = fitted_model(model)
    if not isinstance(fitted.estimator, SMFClassifier):
        raise TypeError(
            f"model={type(fitted.estimator).__name__}: the report shows classifiers; "
            "SMFClassifier, a Pipeline that ends in one or SMFClassifierCV is required"
        )
    if (X_test is None) != (y_test is None):
        missing = "y_test" if y_test is None else "X_test"
        raise ValueError(f"{missing}=None: X_test and y_test are required together, or neither")
    chosen_by = told.get("search")
    _check_procedure(told.get("nested"), model if chosen_by is None else chosen_by)
    view = factor_view(model, rotation=rotation, positive=positive)
    names = names_of(ids, X, X_test)
    effects = _covariate_table(model, fitted, view, X, y, covariates)
    filled = filled_in(fitted, X, X_test)
    removed = _confounders(fitted, view, X, X_test, *confounders)
    bare, (array, X_test) = without_names(fitted, X, X_test)
    estimator, seen = bare.estimator, bare.preprocess(array)
    given = labels_of("y", y, names[0], estimator)
    train, unlabeled = parts_of("y", given, estimator, view, names[0], seen, covariates)
    why, again = "", to_refit(model, X, bare, array)
    beside = {"covariates": covariates, "groups": groups}
    if held_out is None:
        held_out, why = _held_out(*again, y, rotation=rotation, positive=positive, **beside)
    if held_out:
        train = replace(train, blind=_blind(held_out, given, view))
    test = test_unlabeled = None
    if X_test is not None:
        new, labels = bare.preprocess(X_test), labels_of("y_test", y_test, names[1], estimator)
        test, test_unlabeled = parts_of("y_test", labels, estimator, view, names[1], new, covariates_test)
        test = replace(test, blind=test.scores)
    if features:
        told["trusted"] = trusted(view, whole(bare), array, again, y, stable=stable, near=near, **beside)
    _check_nested(told.get("nested"), estimator.classes_, train.truth)
    plain = unsupervised(estimator, seen, y, covariates=covariates, positive=positive)
    return Facts(
        model=model,
        estimator=fitted.estimator,
        steps=fitted.steps,
        classes=[label(c, LONGEST_CLASS) for c in estimator.classes_],
        covariates=[label(name) for name in fitted.covariate_names],
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
        **told,
    )


def _held_out(model: Any, X: Any, y: Any, **options: Any) -> tuple[HeldOut | None, str]:
    """Out-of-fold scores, or None and why there are none: a picture less is no reason to write no page."""
    try:
        return held_out_scores(model, X, y, **options), ""
    except ValueError as error:  # too few samples without a fold, for the rank or of a class
        return None, label(error, LONGEST_NOTE)


def _blind(held_out: HeldOut, given: Given, view: FactorView) -> Any:
    """Out-of-fold scores of the samples with a label."""
    wanted = (len(given.values), len(view.share))
    if np.shape(held_out.scores) != wanted:
        raise ValueError(
            f"held_out: scores of shape {np.shape(held_out.scores)}, {wanted} is required, one row a "
            "training sample and one column a factor"
        )
    return held_out.scores if given.known is None else held_out.scores[given.known]


def class_effects(view: FactorView) -> Any:
    """What one standard deviation of each factor does to the classes.

    Two classes: (1, r), the change of the log-odds of ``view.outputs[0]``. Several: (c, r), the change of
    the log-probability of every class against the mean over all, so that no class is left out: where
    coefficients are against the first class, whose own is 0, their mean is taken off.
    """
    assert view.classes is not None
    if len(view.coef) in (1, len(view.classes)):
        return view.coef
    scores = np.vstack([np.zeros(view.coef.shape[1]), view.coef])
    return scores - scores.mean(axis=0)


def directions(view: FactorView, classes: list[str]) -> list[tuple[str, str]]:
    """For each factor the class that becomes more likely as it goes up, and as it goes down.

    Two classes need the first alone; both are empty for a factor without effect.
    """
    found = []
    for effect in class_effects(view).T:
        if not effect.any():
            found.append(("", ""))
        elif len(effect) == 1:
            assert view.classes is not None
            shown = view.classes.index(view.outputs[0])
            found.append((classes[shown if effect[0] > 0 else 1 - shown], ""))
        else:
            found.append((classes[int(np.argmax(effect))], classes[int(np.argmin(effect))]))
    return found


def _covariate_table(model: Any, fitted: Any, view: FactorView, X: Any, y: Any, covariates: Any) -> Any:
    """The effects of covariates on the same class as those of the factors; None without covariates."""
    if not fitted.covariate_names:
        return None
    positive = view.outputs[0] if len(view.outputs) == 1 else None
    return covariate_effects(model, X, y, covariates, positive=positive)


def _confounders(
    fitted: Any, view: FactorView, X: Any, X_test: Any, own: Any, own_test: Any
) -> Confounders | None:
    """What was removed; `own` are the confounders of X as people write them, else those among its columns."""
    steps = [step for step in adjusters(fitted) if step.confounders_]
    if not steps:
        return None
    found = [name for step in steps for name in step.confounders_]
    return Confounders(
        found if own is None else [str(name) for name in own.columns],
        1 - math.prod(1 - step.explained_ for step in steps),  # each of what was left
        not any(step.spare_y or step.shrink for step in steps),
        confounded(fitted, view, X, own),
        None if X_test is None else confounded(fitted, view, X_test, own_test),
    )


def _check_nested(nested: Any, classes: Any, truth: Any) -> None:
    """Nested cross-validation of other samples would be the headline of a page that is not about them.

    What model files of earlier versions recorded has neither classes nor counts.
    """
    own = {"classes": classes, "counts": np.bincount(truth, minlength=len(classes))}
    for name, wanted in own.items():
        given = getattr(nested, name, None)
        if given is not None and np.asarray(given).tolist() != wanted.tolist():
            raise ValueError(
                f"nested: its {name} are {shown(np.asarray(given).tolist())}, those of the model and y are "
                f"{shown(wanted.tolist())}; nested cross-validation of the same samples is required"
            )


def _check_procedure(nested: Any, about: Any) -> None:
    """Scores of another procedure say nothing of the one on the page; those of a model file have none."""
    judged = getattr(nested, "procedure", None)
    other = "" if judged is None else difference(judged, procedure_of(about))
    if other:
        raise ValueError(
            f"nested: scores of {other}; nested_scores of the {type(about).__name__} that the page is about "
            "are required (search= says which one chose the model)"
        )
