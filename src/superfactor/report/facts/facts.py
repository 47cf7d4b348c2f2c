"""`Facts`: what the tabs of the page read, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from superfactor.interpretation import FactorView, HeldOut, Matched
from superfactor.interpretation.roles import roles
from superfactor.outcomes import Outcome
from superfactor.outcomes.class_page import ClassPage, Curve
from superfactor.report.facts.gaps import Filled
from superfactor.report.facts.samples import ToldSamples
from superfactor.report.facts.search import Searched
from superfactor.report.facts.trusted import Trusted
from superfactor.selection import Verdict
from superfactor.selection.judging.external import external_verdict
from superfactor.selection.judging.verdict import BETTER, NOT_SHOWN, WORSE


@dataclass(frozen=True)
class Evaluation:
    """How good predictions are: n samples, metric → figure and interval, confusion (c, c), ROC curves."""

    n: int
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    confusion: Any
    curves: list[Curve]


@dataclass(frozen=True)
class Confounders:
    """What was removed from the features."""

    names: list[str]
    removed: float  # the share of their variance
    all_of_it: bool  # False where a part was left on purpose, with ``spare_y`` or ``shrink``
    train: Any  # DataFrame of `confounding`
    test: Any  # the same of held-out samples; None without any


@dataclass(frozen=True)
class Facts:
    """What the tabs of the page read."""

    model: Any
    outcome: Outcome
    estimator: Any
    steps: tuple[Any, ...]
    classes: list[str]
    covariates: list[str]  # their names, in the order of covariate_coef_
    view: FactorView
    plain: Matched  # the same number of factors of a plain SVD, beside those of the view
    factorized: Any  # X (n, p) as the estimator saw it, without covariate columns; dense or sparse
    train: ToldSamples  # those with a label
    test: ToldSamples | None  # those with a label
    unlabeled: ToldSamples | None = None  # training samples without one
    n_test_unlabeled: int = 0  # held-out samples without one, which judge nothing
    held_out: HeldOut | None = None  # the factors on samples of which they know nothing
    not_held_out: str = ""  # why there are none
    trusted: Trusted | None = None  # what single features are good for
    search: Searched | None = None
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
    def page(self) -> ClassPage:
        """What the kind of y says on a page."""
        assert self.outcome.page is not None
        return self.outcome.page

    @property
    def up(self) -> int:
        """With two classes: the number of the one whose log-odds the coefficients change."""
        assert self.view.classes is not None
        return self.view.classes.index(self.view.outputs[0])

    @cached_property
    def verdict(self) -> Verdict:
        """What is said of the model as a whole, by the nested cross-validation, else by held-out samples.

        The words are those of the terminal. Only samples not seen count: without any the grade is "unknown".
        """
        if self.nested is not None:
            given: Verdict = self.nested.verdict
            return given
        if self.test is not None:
            # The model's own names of the classes: as the page shows them, two may be cut to the same.
            names, found = self.estimator.classes_, self.test
            return external_verdict(self.outcome, names, found.truth, found.probabilities)
        said = ["The training figures on this page are optimistic: the model has seen these samples."]
        if self.search is not None:
            said.append(
                "The cross-validated score is the honest one, though slightly high as the best of the "
                "settings tried."
            )
        headline = "How well the model predicts new samples is not known from this page."
        advice = "Judge it by nested cross-validation, or by samples it has not seen."
        return Verdict("unknown", headline, tuple(said), (advice,))

    @property
    def predicts(self) -> bool | None:
        """Whether samples not seen show that the model predicts; None without any."""
        return {BETTER: True, NOT_SHOWN: False, WORSE: False}.get(self.verdict.grade)

    @cached_property
    def roles(self) -> list[str]:
        """What each factor is good for."""
        shown = None if self.held_out is None else self.held_out.predictive
        return roles(self.view, shown, self.predicts)

    @property
    def separates(self) -> bool:
        """Whether samples not seen show that the factors tell the classes apart; the verdict counts first."""
        if self.predicts is not None:
            return self.predicts
        return self.held_out is not None and bool(self.held_out.predictive.any())

    @property
    def samples(self) -> ToldSamples:
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
        found = self.out_of_fold if self.judged_by == "out-of-fold" else self.samples.probabilities
        asked = self.samples.truth, np.asarray(found, dtype=float)
        return Evaluation(
            len(self.samples),
            self.outcome.figures(*asked),
            self.outcome.least_intervals(*asked),
            self.outcome.confusion(*asked),
            self.page.curves(*asked),
        )

    def counts(self, samples: ToldSamples | None = None) -> Any:
        """(c,) how many samples of each class there are, in training unless others are given."""
        return np.bincount((self.train if samples is None else samples).truth, minlength=len(self.classes))

    def fitted(self, name: str) -> float:
        """ξ or λ as the fit used it, where the setting may have been a word."""
        return float(getattr(self.estimator, f"{name}_", getattr(self.estimator, name)))
