"""What a methods section has to tell of a fit, and the paragraph that tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from superfactor.report.facts.gaps import IMPUTERS, Filled
from superfactor.report.words.formats import (
    count,
    gap,
    metric,
    metric_difference,
    metric_title,
    parameter,
    plural,
)

_STEPS = {
    "StandardScaler": "standardised to mean 0 and variance 1 with the training samples' values",
    "Adjuster": "adjusted for confounders by linear regression learned from the training samples",
    "BlockScaler": "weighted by block, so that each block counts alike",
    "MinMaxScaler": "scaled to the range 0 to 1 of the training samples",
}
_MODELS = {
    "filter": "the filter model (SMF-W), in which the classifier reads projections of the features on "
    "the factors",
    "feature": "the feature model (SMF-H), in which the classifier reads the factor values that describe "
    "each sample",
}
# In the order in which they are reported.
_REPORTED = ("balanced_accuracy", "accuracy", "roc_auc", "log_loss")


@dataclass(frozen=True)
class Study:
    """What a methods section has to tell.

    Attributes
    ----------
    classes : name to number of training samples
    n_unlabeled : int, training samples without a label
    n_features : int
    covariates : names
    steps : names of the transformers before the model
    filled : Filled, what was missing and is filled in, or None
    target : what the labels are called, or ""
    model : "filter" or "feature"
    rank, xi, lam : of the fit, the paper's r, ξ and λ
    balanced : whether classes were weighted equally
    chosen : ``what`` the search chose, its ``scorer``, ``splits`` and ``tried``; empty without one
    nested : NestedScores or None
    held_out : measure to (value, low, high); empty without held-out samples
    n_held_out : int
    certificate : Certificate or None
    notes : further sentences on the data
    version : of superfactor
    """

    classes: Mapping[str, int]
    n_features: int
    model: str
    rank: int
    xi: float
    lam: float
    version: str
    covariates: tuple[str, ...] = ()
    n_unlabeled: int = 0
    steps: tuple[str, ...] = ()
    filled: Filled | None = None
    target: str = ""
    balanced: bool = False
    chosen: Mapping[str, Any] = field(default_factory=dict)
    nested: Any = None
    held_out: Mapping[str, tuple[float, float | None, float | None]] = field(default_factory=dict)
    n_held_out: int = 0
    certificate: Any = None
    notes: tuple[str, ...] = ()


def in_words(facts: Study) -> str:
    """Plain text, one paragraph: data, preprocessing, model, choice, performance, proof, software."""
    parts = [_data(facts), _preprocessing(facts), _model(facts), _choice(facts)]
    parts += ["" if facts.nested is None else _nested(facts.nested), _held_out(facts)]
    parts += [_certificate(facts), f"Analyses used superfactor {facts.version} for Python."]
    return " ".join(part for part in parts if part)


def _data(facts: Study) -> str:
    total = sum(facts.classes.values())
    groups = ", ".join(f"{count(n)} {name}" for name, n in facts.classes.items())
    what = f" {facts.target}" if facts.target else " the class"
    beside = ""
    if facts.covariates:
        role = "covariates" if len(facts.covariates) > 1 else "covariate"
        beside = f", with {_listed(facts.covariates)} as {role}"
    more = ""
    if facts.n_unlabeled:
        more = (
            f" Beside them {plural(facts.n_unlabeled, 'sample')} without a label took part in finding the "
            "factors, and not in the classifier."
        )
    return (
        f"We predicted{what} from {plural(facts.n_features, 'feature')} in {plural(total, 'sample')} "
        f"({groups}){beside}.{more}"
    )


def _preprocessing(facts: Study) -> str:
    others = [step for step in facts.steps if step not in IMPUTERS]
    said = [_STEPS.get(step, f"transformed by {step}") for step in others]
    first = f"Features were {_listed(said)}." if said else "Features were used as they were."
    notes = [note for note in facts.notes if note.startswith("Feature")]
    return " ".join([*_gaps(facts.filled), first, *notes])


def _gaps(filled: Filled | None) -> list[str]:
    if filled is None:
        return []
    new = "" if filled.test is None else f" and in the held-out ones {filled.test}"
    return [f"In the training samples {filled.train}{new} were missing; they were filled in by {filled.how}."]


def _model(facts: Study) -> str:
    covariates = "; covariates entered the classifier beside the factors" if facts.covariates else ""
    balanced = " Classes were weighted equally." if facts.balanced else ""
    return (
        f"Supervised matrix factorization (Lee, Lyu and Yao 2023) was fitted with "
        f"{plural(facts.rank, 'factor')} by {_MODELS.get(facts.model, f'the {facts.model} model')}"
        f"{covariates}. The reconstruction of the "
        f"features had weight ξ = {parameter(facts.xi)} and the ridge penalty was λ = "
        f"{parameter(facts.lam)}.{balanced} Factors were read by the correlations of the features with their "
        "scores."
    )


def _choice(facts: Study) -> str:
    chosen = facts.chosen
    if not chosen or chosen["tried"] < 2:
        return ""
    return (
        f"{_capital(_listed(chosen['what']))} {'were' if len(chosen['what']) > 1 else 'was'} chosen among "
        f"{plural(chosen['tried'], 'setting')} by the {chosen['scorer']} in {chosen['splits']}-fold "
        "cross-validation."
    )


def _nested(nested: Any) -> str:
    values = {m: (v["mean"], v.get("low"), v.get("high")) for m, v in nested.summary.items()}
    said = _measures(values, getattr(nested, "headline", None))
    splits, repeats = (getattr(nested, name, None) for name in ("n_splits", "n_repeats"))
    folds = f"{splits}-fold " if splits else ""
    times = f", repeated {repeats} times," if repeats and repeats > 1 else ","
    text = (
        f"Predictive performance was estimated by {folds}nested cross-validation{times} in which all "
        f"choices were made anew within the training part of every fold: {said}."
    )
    differences = [
        f"{metric_difference(d['mean'], d['metric'])} ({_interval(d)}) against {rival}"
        for rival, d in nested.differences.items()
    ]
    if differences:
        metric_name = next(iter(nested.differences.values()))["metric"]
        text += (
            f" On the same folds the differences in {_called(metric_name)} were {_listed(differences)}, with "
            "95 % intervals corrected for overlapping training sets after Nadeau and Bengio."
        )
    return text


def _interval(difference: dict[str, Any]) -> str:
    ends = [difference[end] for end in ("low", "high")]
    if any(end is None or not math.isfinite(end) for end in ends):  # folds that do not vary have none
        return "the same in every fold"
    told = [metric_difference(end, difference["metric"]).removesuffix(" points") for end in ends]
    return " to ".join(told)


def _held_out(facts: Study) -> str:
    if not facts.held_out:
        return ""
    return (
        f"On {plural(facts.n_held_out, 'held-out sample')} that took no part in the fit: "
        f"{_measures(facts.held_out)}."
    )


def _measures(
    values: Mapping[str, tuple[float, float | None, float | None]], first: str | None = None
) -> str:
    """Balanced accuracy 81.0 % (95 % interval 70.1 % to 88.0 %), accuracy …; the one that counts first."""
    order = sorted(values, key=lambda m: (m != first, [*_REPORTED, m].index(m)))
    said, called = [], "95 % interval "
    for name in order:
        mean, low, high = values[name]
        interval = ""
        if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            interval = f" ({called}{metric(low, name)} to {metric(high, name)})"
            called = ""  # said once
        said.append(f"{_called(name)} {metric(mean, name)}{interval}")
    return ", ".join(said)


def _called(name: str) -> str:
    title = metric_title(name)
    return title if title.startswith(("ROC", "Brier")) else title[:1].lower() + title[1:]


def _certificate(facts: Study) -> str:
    proof = facts.certificate
    if proof is None:
        return ""
    of = "" if facts.filled is None else " for the table with its gaps filled in"
    if proof.is_global:
        how = (
            "a certificate of global optimality" if proof.exact else "a numerical check of global optimality"
        )
        return (
            f"The solution passed {how}{of}: no other {plural(facts.rank, 'factor')} of this kind fit the "
            "training data better by the model's objective."
        )
    if proof.relative_gap < 1:
        return (
            f"A lower bound on the objective{of} showed that no other factors of this kind could improve "
            f"its supervised part by more than {gap(proof.relative_gap)}."
        )
    return ""


def _capital(text: str) -> str:
    """A capital first, but for symbols."""
    return text if text[:1] in "ξλ" else text[:1].upper() + text[1:]


def _listed(names: Any) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)
