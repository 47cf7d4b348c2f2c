"""`Facts`: the results that the tabs of the page use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from superfactor.interpretation import FactorView, HeldOut, Matched
from superfactor.interpretation.models import FittedModel
from superfactor.interpretation.roles import roles
from superfactor.outcomes import Outcome
from superfactor.outcomes.pages import Page
from superfactor.report.facts.feature_results import FeatureResults
from superfactor.report.facts.missing import Filled
from superfactor.report.facts.samples import SampleResults
from superfactor.report.facts.search import Searched
from superfactor.report.formats import label
from superfactor.selection import Verdict
from superfactor.selection.evaluation.external import external_verdict, scores_of
from superfactor.selection.evaluation.verdict import BETTER, NOT_SHOWN, WORSE


@dataclass(frozen=True)
class Evaluation:
    """Evaluation on n samples: metrics, intervals, confusion matrix (c, c), and data of the figures."""

    n: int
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    confusion: Any
    drawn: Mapping[str, Any]


@dataclass(frozen=True)
class Confounders:
    """The confounders whose effect was subtracted from the features."""

    names: list[str]
    removed: float  # the share of the variance that was subtracted
    all_of_it: bool  # False with ``spare_y`` or ``shrink``, which keep a part
    train: Any  # DataFrame of `confounding`
    test: Any  # the same for held-out samples; None without any


@dataclass(frozen=True)
class Facts:
    """The results that the tabs of the page use."""

    model: Any
    outcome: Outcome
    estimator: Any
    steps: tuple[Any, ...]
    names: list[str]  # of classes or outputs, on the page
    columns: Any  # (k,) of the predicted rows, in the model
    covariates: list[str]  # names of their columns in the table, without levels
    view: FactorView
    plain: Matched  # the same number of factors of a plain SVD, matched to those of the view
    factorized: Any  # preprocessed X (n, p) without covariate columns; dense or sparse
    train: SampleResults  # those with a label
    test: SampleResults | None  # those with a label
    unlabeled: SampleResults | None = None  # training samples without one
    n_test_unlabeled: int = 0  # held-out samples without one, which are not evaluated
    held_out: HeldOut | None = None  # out-of-fold scores and the use of each factor
    not_held_out: str = ""  # the reason if there are none
    feature_results: FeatureResults | None = None
    search: Searched | None = None
    nested: Any = None  # NestedScores
    stability: Any = None
    markers: Mapping[str, str] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    title: str = ""
    target: str = ""
    axis: str = ""
    command: str | None = None
    changes: tuple[str, ...] = ()  # of the table, before it became X
    notes: tuple[str, ...] = ()
    n_groups: int | None = None  # of training samples that folds keep together; None without groups
    related: bool = False  # whether samples are in groups, or copies of each other

    covariate_table: Any = None  # DataFrame of `covariate_effects`; None without covariates
    block_table: Any = None  # DataFrame of `block_shares`; None without a BlockScaler
    confounders: Confounders | None = None  # None without an Adjuster
    filled: Filled | None = None  # None without missing values

    @property
    def rank(self) -> int:
        """The number of factors r."""
        return len(self.view.weights)

    @property
    def exposure(self) -> str:
        """The name of the exposure column of counts; "" if there is none."""
        at = self.estimator._roles.exposure
        if at is None:
            return ""
        names = FittedModel(self.estimator, self.steps).column_names
        return label(f"column {at}" if names is None else names[at])

    @property
    def page(self) -> Page:
        """The parts of the page that depend on the kind of y."""
        assert self.outcome.page is not None
        return self.outcome.page

    @property
    def up(self) -> int:
        """With two classes: the number of the class whose log-odds the coefficients refer to."""
        return self.page.up(self.view)

    @property
    def groups(self) -> list[str]:
        """The groups of samples that have different colours; none if colours are a scale."""
        return self.page.groups(self.names)

    def shown_name(self, name: str) -> str:
        """Return the name of a class or output of the view on the page."""
        return self.names[(self.view.classes or self.view.outputs).index(name)]

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the model, from nested cross-validation or else from held-out samples.

        It is the same as in the terminal. Without held-out predictions the grade is "unknown".
        """
        if self.nested is not None:
            given: Verdict = self.nested.verdict
            return given
        if self.test is not None:
            # The full names of the classes: shortened names on the page can be equal.
            found = self.test
            return external_verdict(self.outcome, self.columns, found.truth, found.rows)
        sentences = ["Training metrics on this page are optimistic: the model was fitted to these samples."]
        if self.evaluated_on == "refitted":
            sentences = [
                "The out-of-fold metrics on this page are slightly optimistic: rank, ξ and λ were chosen on "
                "all samples."
            ]
        if self.search is not None:
            sentences.append(
                "The cross-validated score is an estimate for new samples, slightly optimistic as the best "
                "of the settings tried."
            )
        headline = "This page does not show how well the model predicts new samples."
        advice = "Evaluate it by nested cross-validation, or with held-out samples."
        return Verdict("unknown", headline, tuple(sentences), (advice,))

    @property
    def predicts(self) -> bool | None:
        """Whether held-out samples show that the model predicts; None without any."""
        return {BETTER: True, NOT_SHOWN: False, WORSE: False}.get(self.verdict.grade)

    @cached_property
    def roles(self) -> list[str]:
        """The role of each factor."""
        shown = None if self.held_out is None else self.held_out.predictive
        return roles(self.view, shown, None if self.predicts is None else self.verdict.of_factors)

    @property
    def separates(self) -> bool:
        """Whether held-out samples show that the factors predict; the verdict has priority."""
        if self.predicts is not None:
            return self.predicts
        return self.held_out is not None and bool(self.held_out.predictive.any())

    @property
    def samples(self) -> SampleResults:
        """The samples of the evaluation: held-out samples if there are any."""
        return self.train if self.test is None else self.test

    @property
    def out_of_fold(self) -> Any:
        """Out-of-fold rows (n, k) of the training samples from nested cross-validation; None without."""
        found: Any = getattr(self.nested, "predictions", None)
        n, k = self.train.rows.shape
        if found is None or len(found) != n or np.shape(found)[1] < k:
            return None
        found = found[:, :k]  # survival at fixed times can follow the risk
        return found if np.isfinite(found).all() else None

    @cached_property
    def refitted(self) -> Any:
        """The same from refits with rank, ξ and λ chosen on all samples; None if the page does not use it."""
        found = getattr(self.held_out, "activations", None)
        rows = None if found is None else self.page.rows_of(np.asarray(found, dtype=float))
        if rows is None:
            return None
        rows = rows[np.isfinite(rows).all(axis=1)]  # those with a label
        return rows if len(rows) == len(self.train) else None

    @property
    def evaluated_on(self) -> str:
        """The predictions that are evaluated: "held-out", "out-of-fold", "refitted" or "training"."""
        if self.test is not None:
            return "held-out"
        if self.out_of_fold is not None:
            return "out-of-fold"
        return "training" if self.refitted is None else "refitted"

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation of `evaluated_rows`."""
        truth, rows = self.samples.truth, self.evaluated_rows
        figures = self._figures(truth, rows)
        return Evaluation(
            len(self.samples),
            figures,
            self._intervals(truth, rows, figures),
            self.outcome.confusion(truth, rows),
            self.page.drawn(truth, rows, self.names),
        )

    @property
    def evaluated_rows(self) -> Any:
        """Predictions (n, k) of `samples`, from models fitted without them if there are any."""
        found = {"out-of-fold": self.out_of_fold, "refitted": self.refitted}.get(self.evaluated_on)
        return np.asarray(self.samples.rows if found is None else found, dtype=float)

    def _figures(self, truth: Any, rows: Any) -> dict[str, float]:
        """Return all metrics; only the main one for refits, which can have fewer columns than the model."""
        if rows.shape[1] == self.train.rows.shape[1]:
            return self.outcome.metric_values(truth, rows)
        name = self.outcome.headline(truth)
        return {name: self.outcome.metric(name).function(truth, rows)}

    def _intervals(
        self, truth: Any, rows: Any, figures: Mapping[str, float]
    ) -> dict[str, tuple[float, float]]:
        """Return closed-form intervals; if the kind has none, those of the folds or of the jackknife."""
        least = self.outcome.sample_intervals(truth, rows)
        if least or self.evaluated_on == "training":
            return least
        if self.evaluated_on == "out-of-fold":
            summary = self.nested.summary
        elif rows.shape[1] == self.train.rows.shape[1]:
            try:
                summary = scores_of(self.outcome, self.columns, truth, rows).summary
            except ValueError:  # too few samples to measure anything
                return {}
        else:
            return {}
        return {name: (summary[name]["low"], summary[name]["high"]) for name in figures if name in summary}

    @cached_property
    def optimism(self) -> tuple[str, float, float] | None:
        """The main metric, its value in training and on held-out samples; None if they are close.

        The second is the headline of the nested cross-validation, a mean over folds, or else that of all
        predictions out of fold together.
        """
        name = self.outcome.headline(self.train.truth)
        metric = self.outcome.metric(name)
        if not metric.higher_is_better:
            return None
        if self.nested is not None:
            unseen = self.nested.summary[name]["mean"]
        elif self.refitted is not None:
            unseen = metric.function(self.train.truth, self.refitted)
        else:
            return None
        seen = metric.function(self.train.truth, self.train.rows)
        return (name, seen, unseen) if seen - unseen > self.page.gap else None

    def fitted(self, name: str) -> float:
        """Return the value of ξ or λ in the fit, also if the parameter was "auto"."""
        return float(getattr(self.estimator, f"{name}_", getattr(self.estimator, name)))
