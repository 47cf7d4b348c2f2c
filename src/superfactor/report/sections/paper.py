"""A paragraph for the methods section of a paper."""

from __future__ import annotations

from typing import Any

import numpy as np

import superfactor
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.sections.choice import cross_validated, scorer_name
from superfactor.report.sections.result import fitted_parameter
from superfactor.report.study import Study, in_words


def section(facts: Facts) -> Section:
    """The paragraph."""
    text = in_words(study_of(facts))
    return Section("paper", "Paper", "What to write in the paper", {"paragraph": text})


def study_of(facts: Facts) -> Study:
    """What the paragraph needs, of the facts of the page."""
    estimator, search = facts.estimator, facts.search
    counts = np.bincount(facts.train.truth, minlength=len(facts.classes)).tolist()
    held_out: dict[str, tuple[float, float | None, float | None]] = {}
    if facts.test is not None:
        found = facts.evaluation
        held_out = {
            "balanced_accuracy": (found.balanced_accuracy, *found.balanced_interval),
            "accuracy": (found.accuracy, *found.interval),
            "roc_auc": (found.area, None, None),
        }
    chosen: dict[str, Any] = {}
    if search is not None:
        score = cross_validated(facts)
        assert score is not None
        chosen = {
            "what": _chosen(search.cv_results_["params"]),
            "scorer": scorer_name(search),
            "splits": score["splits"],
            "tried": score["tried"],
        }
    return Study(
        classes=dict(zip(facts.classes, counts, strict=True)),
        n_unlabeled=0 if facts.unlabeled is None else len(facts.unlabeled),
        n_features=len(facts.view.features),
        covariates=tuple(facts.covariates),
        steps=tuple(type(step).__name__ for step in facts.steps),
        filled=facts.filled,
        target=facts.target,
        model=estimator.model,
        rank=facts.rank,
        xi=fitted_parameter(estimator, "xi"),
        lam=fitted_parameter(estimator, "lam"),
        balanced=getattr(estimator, "class_weight", None) == "balanced",
        chosen=chosen,
        nested=facts.nested,
        held_out=held_out,
        n_held_out=0 if facts.test is None else len(facts.test),
        certificate=estimator.certificate_,
        notes=facts.notes,
        version=superfactor.__version__,
    )


def _chosen(tried: list[dict[str, Any]]) -> list[str]:
    """What differs among the settings of a search, in words: who gives the rank does not choose it."""
    said = {"model": "model", "n_components": "rank", "xi": "ξ", "lam": "λ"}
    return [word for name, word in said.items() if len({params[name] for params in tried}) > 1]
