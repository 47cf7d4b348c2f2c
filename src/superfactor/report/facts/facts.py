"""`Facts`: what the tabs of the page read, and what follows from it."""

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
from superfactor.selection.judging.external import external_verdict, scores_of
from superfactor.selection.judging.verdict import BETTER, NOT_SHOWN, WORSE

# Of more samples no bootstrap is made for the intervals of a page.
MOST_DRAWN = 2000


@dataclass(frozen=True)
class Evaluation:
    """How good predictions are: n samples, metric → figure and interval, confusion (c, c), what is drawn."""

    n: int
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    confusion: Any
    drawn: Mapping[str, Any]


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
    names: list[str]  # of classes or outputs, as the page calls them
    columns: Any  # (k,) of the predicted rows, as the model calls them
    covariates: list[str]  # their names, in the order of covariate_coef_
    view: FactorView
    plain: Matched  # the same number of factors of a plain SVD, beside those of the view
    factorized: Any  # X (n, p) as the estimator saw it, without covariate columns; dense or sparse
    train: SampleResults  # those with a label
    test: SampleResults | None  # those with a label
    unlabeled: SampleResults | None = None  # training samples without one
    n_test_unlabeled: int = 0  # held-out samples without one, which judge nothing
    held_out: HeldOut | None = None  # the factors on samples of which they know nothing
    not_held_out: str = ""  # why there are none
    feature_results: FeatureResults | None = None  # what single features are good for
    search: Searched | None = None
    nested: Any = None  # NestedScores
    stability: Any = None
    markers: Mapping[str, str] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    title: str = ""
    target: str = ""
    axis: str = ""
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
    def exposure(self) -> str:
        """What counts are out of, the name of the column; "" where they are not."""
        at = self.estimator._roles.exposure
        if at is None:
            return ""
        names = FittedModel(self.estimator, self.steps).column_names
        return label(f"column {at}" if names is None else names[at])

    @property
    def page(self) -> Page:
        """What the kind of y says on a page."""
        assert self.outcome.page is not None
        return self.outcome.page

    @property
    def up(self) -> int:
        """With two classes: the number of the one whose log-odds the coefficients change."""
        return self.page.up(self.view)

    @property
    def groups(self) -> list[str]:
        """The sorts of samples that pictures tell apart; none where their colours are a scale."""
        return self.page.groups(self.names)

    def shown_name(self, name: str) -> str:
        """A class or output of the view as the page calls it."""
        return self.names[(self.view.classes or self.view.outputs).index(name)]

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
            found = self.test
            return external_verdict(self.outcome, self.columns, found.truth, found.rows)
        said = ["The training figures on this page are optimistic: the model has seen these samples."]
        if self.evaluated_on == "refitted":
            said = [
                "The out-of-fold figures on this page are those of refits with the rank and weights that all "
                "samples have chosen, and slightly high."
            ]
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
        return roles(self.view, shown, None if self.predicts is None else self.verdict.of_factors)

    @property
    def separates(self) -> bool:
        """Whether samples not seen show that the factors tell the classes apart; the verdict counts first."""
        if self.predicts is not None:
            return self.predicts
        return self.held_out is not None and bool(self.held_out.predictive.any())

    @property
    def samples(self) -> SampleResults:
        """Those the model is judged by: held out where there are any."""
        return self.train if self.test is None else self.test

    @property
    def out_of_fold(self) -> Any:
        """(n, k) rows of the training samples by models that had not seen them; None without."""
        found: Any = getattr(self.nested, "predictions", None)
        n, k = self.train.rows.shape
        if found is None or len(found) != n or np.shape(found)[1] < k:
            return None
        found = found[:, :k]  # after the risk may come survival at fixed times
        return found if np.isfinite(found).all() else None

    @cached_property
    def refitted(self) -> Any:
        """The same by refits, with weights that all samples have chosen; None if there is no use for it."""
        found = getattr(self.held_out, "activations", None)
        rows = None if found is None else self.page.rows_of(np.asarray(found, dtype=float))
        if rows is None:
            return None
        rows = rows[np.isfinite(rows).all(axis=1)]  # those with a label
        return rows if len(rows) == len(self.train) else None

    @property
    def evaluated_on(self) -> str:
        """The figures are of: "held-out", "out-of-fold", "refitted" or, optimistic, "training" samples."""
        if self.test is not None:
            return "held-out"
        if self.out_of_fold is not None:
            return "out-of-fold"
        return "training" if self.refitted is None else "refitted"

    @cached_property
    def evaluation(self) -> Evaluation:
        """The figures of `samples`, by models that had not seen them where there are any."""
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
        """Rows (n, k) of `samples` by models that had not seen them where there are any."""
        found = {"out-of-fold": self.out_of_fold, "refitted": self.refitted}.get(self.evaluated_on)
        return np.asarray(self.samples.rows if found is None else found, dtype=float)

    def _figures(self, truth: Any, rows: Any) -> dict[str, float]:
        """Of refits, which may have fewer columns than the model, the one that counts."""
        if rows.shape[1] == self.train.rows.shape[1]:
            return self.outcome.metric_values(truth, rows)
        name = self.outcome.headline(truth)
        return {name: self.outcome.metric(name).function(truth, rows)}

    def _intervals(
        self, truth: Any, rows: Any, figures: Mapping[str, float]
    ) -> dict[str, tuple[float, float]]:
        """Those that so many samples allow; where the kind has none, of the folds or by the bootstrap."""
        least = self.outcome.least_intervals(truth, rows)
        if least or self.evaluated_on == "training":
            return least
        if self.evaluated_on == "out-of-fold":
            summary = self.nested.summary
        elif rows.shape[1] == self.train.rows.shape[1] and len(truth) <= MOST_DRAWN:
            try:
                summary = scores_of(self.outcome, self.columns, truth, rows).summary
            except ValueError:  # too few samples to measure anything
                return {}
        else:
            return {}
        return {name: (summary[name]["low"], summary[name]["high"]) for name in figures if name in summary}

    @cached_property
    def optimism(self) -> tuple[str, float, float] | None:
        """The metric that counts, its figure in training and on samples not seen; None if they are close."""
        found = self.out_of_fold if self.out_of_fold is not None else self.refitted
        name = self.outcome.headline(self.train.truth)
        metric = self.outcome.metric(name)
        if found is None or not metric.higher_is_better:
            return None
        seen, unseen = (metric.function(self.train.truth, rows) for rows in (self.train.rows, found))
        return (name, seen, unseen) if seen - unseen > self.page.gap else None

    def fitted(self, name: str) -> float:
        """ξ or λ as the fit used it, where the setting may have been a word."""
        return float(getattr(self.estimator, f"{name}_", getattr(self.estimator, name)))
