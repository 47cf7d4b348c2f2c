"""The paragraph for the methods section of a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import superfactor
from superfactor._words import listed
from superfactor.report.facts import Facts
from superfactor.report.facts.missing import IMPUTERS
from superfactor.report.formats import count, gap, metric, metric_difference, number, parameter, plural

_STEPS = {
    "StandardScaler": "standardised to mean 0 and variance 1 with the training samples' values",
    "ColumnScaler": "standardised to mean 0 and variance 1 with the training samples' values",
    "Adjuster": "adjusted for confounders by linear regression learned from the training samples",
    "BlockScaler": "weighted by block, so that each block has the same weight",
    "MinMaxScaler": "scaled to the range 0 to 1 of the training samples",
}
_MODELS = {
    "filter": "the filter model (SMF-W), in which the {} uses projections of the features on the factors",
    "feature": "the feature model (SMF-H), in which the {} uses the factor values that reconstruct a sample",
}
# The order of the metrics.
_REPORTED = ("balanced_accuracy", "accuracy", "roc_auc", "log_loss")
# Metrics of probabilities that are not reported for held-out samples.
_LEFT_OUT = ("log_loss", "brier")


def in_words(facts: Facts) -> str:
    """Return one line of plain text: data, preprocessing, model, choice, performance, proof, software."""
    parts = [_data(facts), _preprocessing(facts), _model(facts), _choice(facts)]
    parts += ["" if facts.nested is None else _nested(facts), _held_out(facts), _stable(facts)]
    parts += [_certificate(facts), f"Analyses used superfactor {superfactor.__version__} for Python."]
    return " ".join(part for part in parts if part)


def _data(facts: Facts) -> str:
    outcome = facts.page.describe(facts.train.truth, facts.names)
    beside = more = ""
    if facts.covariates:
        role = "covariates" if len(facts.covariates) > 1 else "covariate"
        beside = f", with {listed(facts.covariates)} as {role}"
    if facts.unlabeled is not None:
        more = (
            f" Another {plural(len(facts.unlabeled), 'sample')} without {facts.page.lacking} contributed to "
            f"the factors, but not to the {facts.page.predictor}."
        )
    return (
        f"We predicted {facts.target or facts.page.target} from "
        f"{plural(len(facts.view.features), 'feature')} in {plural(len(facts.train), 'sample')} "
        f"({outcome_in_words(outcome)}){beside}.{more}"
    )


def _preprocessing(facts: Facts) -> str:
    names = [type(step).__name__ for step in facts.steps]
    said = [_STEPS.get(name, f"transformed by {name}") for name in names if name not in IMPUTERS]
    parts = [f"Features were {listed(said)}." if said else "Features were used as they were."]
    if facts.filled is not None:
        new = "" if facts.filled.test is None else f" and in the held-out ones {facts.filled.test}"
        parts.insert(
            0,
            f"In the training samples {facts.filled.train}{new} were missing; they were imputed with "
            f"{facts.filled.how}.",
        )
    return " ".join([*facts.changes, *parts])


def _model(facts: Facts) -> str:
    kind = facts.estimator.model
    reader = facts.page.predictor
    covariates = f"; covariates entered the {reader} in addition to the factors" if facts.covariates else ""
    exposure = f"; expected counts were proportional to {facts.exposure}" if facts.exposure else ""
    ties = getattr(facts.estimator, "ties", None)
    balanced = getattr(facts.estimator, "class_weight", None) == "balanced"
    return (
        f"Supervised matrix factorization (Lee, Lyu and Yao 2023) was fitted with "
        f"{plural(facts.rank, 'factor')} by {_MODELS.get(kind, f'the {kind} model').format(reader)}"
        f"{covariates}{exposure}."
        f"{f' Tied times were handled by the method of {ties.capitalize()}.' if ties else ''} "
        f"The reconstruction of the features had weight ξ = {parameter(facts.fitted('xi'))} and the ridge "
        f"penalty was λ = {parameter(facts.fitted('lam'))}."
        f"{' Classes were weighted equally.' if balanced else ''} Factors were interpreted by the "
        "correlations of the features with their scores."
    )


def _choice(facts: Facts) -> str:
    search = facts.search
    if search is None or len(search.settings) < 2:
        return ""
    what = listed(search.choices)
    what = what if what[0] in "ξλ" else what[0].upper() + what[1:]
    return (
        f"{what} {'were' if len(search.choices) > 1 else 'was'} chosen among "
        f"{plural(len(search.settings), 'setting')} by the {search.scorer} in {search.n_splits}-fold "
        "cross-validation."
    )


def _nested(facts: Facts) -> str:
    nested, words = facts.nested, facts.outcome.words
    values = {m: (v["mean"], v.get("low"), v.get("high")) for m, v in nested.summary.items()}
    measures = _measures(values, words, getattr(nested, "headline", None))
    splits, repeats = (getattr(nested, name, None) for name in ("n_splits", "n_repeats"))
    folds = f"{splits}-fold " if splits else ""
    times = f", repeated {repeats} times," if repeats and repeats > 1 else ","
    inner, seed = (getattr(nested, name, None) for name in ("inner_splits", "seed"))
    chosen = f" (by {inner}-fold cross-validation)" if inner else ""
    drawn = f" Folds were drawn with seed {seed}." if seed is not None else ""
    if facts.n_groups is not None:
        drawn += f" Samples of a group ({facts.n_groups:,} groups) were in the same fold."
    prepared = "preprocessing, imputation of missing values" if facts.filled is not None else "preprocessing"
    text = (
        f"Predictive performance was estimated by {folds}nested cross-validation{times} in which "
        f"{prepared} and all choices{chosen} were repeated within the training part of every fold: "
        f"{measures}.{drawn}{_intervals(nested.summary, facts)}"
    )
    differences = [
        f"{metric_difference(d['mean'], d['metric'])} ({_interval(d)}) against {baseline}"
        for baseline, d in nested.differences.items()
    ]
    if differences:
        metric_name = next(iter(nested.differences.values()))["metric"]
        text += (
            f" On the same folds the differences in {words(metric_name)} were "
            f"{listed(differences)}, with 95 % intervals corrected for overlapping training sets "
            "(Nadeau and Bengio)."
        )
    return text


def _intervals(summary: Mapping[str, Any], facts: Facts) -> str:
    """Return how the intervals of nested scores were computed."""
    metrics = [m.name for m in facts.outcome.metrics if _known(summary.get(m.name))]
    least = facts.outcome.least_intervals(facts.train.truth, facts.train.rows)
    wilson = [facts.outcome.words(name) for name in metrics if name in least]
    folds = (
        "those of Nadeau and Bengio, which correct the variation between folds for overlapping training sets"
    )
    text = f"Intervals of metrics are {folds}." if metrics else ""
    if wilson:
        text = (
            f"Intervals of {listed(wilson)} are Wilson's for the number of samples, or {folds}, where these "
            "extend further."
        )
        if len(wilson) < len(metrics):
            text += " The other metrics have the latter."
    if any(name.startswith("calibration") for name in summary):
        text += " Those of the calibration are normal, from the predictions of all folds together."
    return f" {text}" if text else ""


def _known(found: Any) -> bool:
    """Return whether a figure has an interval."""
    ends = [None] if found is None else [found.get(end) for end in ("low", "high")]
    return all(end is not None and math.isfinite(end) for end in ends)


def _stable(facts: Facts) -> str:
    """Return how stable features were found; "" without any search for them."""
    found = None if facts.feature_results is None else facts.feature_results.stable
    if found is None:
        return ""
    return (
        f"Stable features were searched in {plural(found.n_pairs, 'pair')} of complementary halves of the "
        f"training samples: those among the top {found.n_top} in at least {100 * found.threshold:.3g} % of "
        "the halves, for which the expected number of false selections is at most "
        f"{found.expected_false:.3g} (Shah and Samworth), and not with shuffled {found.shuffled}."
    )


def _interval(difference: dict[str, Any]) -> str:
    ends = [difference[end] for end in ("low", "high")]
    if any(end is None or not math.isfinite(end) for end in ends):  # no variation between folds
        return "the same in every fold"
    return " to ".join(metric_difference(end, difference["metric"]).removesuffix(" points") for end in ends)


def _held_out(facts: Facts) -> str:
    if facts.test is None:
        return ""
    figures, intervals = facts.evaluation.figures, facts.evaluation.intervals
    names = [metric.name for metric in facts.outcome.metrics if metric.name in figures]
    names = [name for name in names if name not in _LEFT_OUT]
    measures = {name: (figures[name], *intervals.get(name, (None, None))) for name in names}
    samples = plural(len(facts.test), "held-out sample")
    how = " (intervals: jackknife)" if intervals else ""
    closed = facts.outcome.sample_intervals(facts.test.truth, facts.evaluated_rows)
    if any(name in intervals for name in closed):
        area = ", Newcombe's for the ROC area" if "roc_auc" in closed else ""
        how = f" (intervals: Wilson's for shares of right answers{area})"
    return f"On {samples} that were not used in the fit: {_measures(measures, facts.outcome.words)}{how}."


def _measures(
    values: Mapping[str, tuple[Any, ...]], words: Callable[[str], str], first: str | None = None
) -> str:
    """Return metrics with intervals: balanced accuracy 81.0 % (95 % interval 70.1 % to 88.0 %), accuracy …"""
    order = sorted(values, key=lambda m: (m != first, [*_REPORTED, m].index(m)))
    said, called = [], "95 % interval "
    for name in order:
        mean, low, high = values[name]
        interval = ""
        if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            interval = f" ({called}{metric(low, name)} to {metric(high, name)})"
            called = ""  # only once
        said.append(f"{words(name)} {metric(mean, name)}{interval}")
    return ", ".join(said)


def outcome_in_words(outcome: Sequence[tuple[str, float]]) -> str:
    """Return a short description of the outcome: 30 ill, 12 well; mean 152, s.d. 77; 51 events."""
    said = []
    for name, value in outcome:
        if isinstance(value, int):
            said.append(f"{count(value)} {name}")
        elif not math.isnan(value):
            said.append(f"{name} {'not reached' if math.isinf(value) else number(value)}")
    return ", ".join(said)


def _certificate(facts: Facts) -> str:
    proof = facts.estimator.certificate_
    of = "" if facts.filled is None else " for the table with imputed missing values"
    if proof is None or (not proof.is_global and proof.relative_gap >= 1):
        return ""
    if proof.is_global:
        how = "a certificate" if proof.exact else "a numerical check"
        return (
            f"The solution passed {how} of global optimality{of}: no other {plural(facts.rank, 'factor')} of "
            "this kind fit the training data better by the model's objective."
        )
    return (
        f"A lower bound on the objective{of} showed that no other factors of this kind could improve "
        f"its supervised part by more than {gap(proof.relative_gap)}."
    )
