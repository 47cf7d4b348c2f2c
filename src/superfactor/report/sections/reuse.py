"""What leaves the page: a paragraph for the paper, and how to get here again."""

from __future__ import annotations

import platform
import sys
from typing import Any

import numpy
import numpy as np
import scipy
import sklearn

import superfactor
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.sections.fit import cross_validated, scorer_name
from superfactor.report.sections.result import fitted_parameter
from superfactor.report.words.formats import label
from superfactor.report.words.glossary import GLOSSARY
from superfactor.report.words.methods import Study, in_words


def paper(facts: Facts) -> Section:
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


def reproduce(facts: Facts) -> Section:
    """What is needed to get here again."""
    versions = {
        "superfactor": superfactor.__version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    if "pandas" in sys.modules:
        versions["pandas"] = sys.modules["pandas"].__version__
    versions["System"] = f"{platform.system()} {platform.machine()}"
    parameters = facts.estimator.get_params(deep=False)
    told = {
        # The model as Python code where there was no command.
        "command": facts.command,
        "code": facts.command or repr(facts.model),
        "versions": list(versions.items()),
        "parameters": [(name, label(repr(value))) for name, value in parameters.items()],
    }
    return Section("reproduce", "Reproduce", "How to get here again", told)


def glossary(facts: Facts) -> Section:
    """Every term and what it means."""
    return Section("glossary", "Glossary", "The words of this page", {"terms": GLOSSARY})
