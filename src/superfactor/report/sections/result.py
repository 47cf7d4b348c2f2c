"""What was fitted, how good it is, and what is proven about it."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from superfactor.report.certificate import CAVEAT, in_plain_words, technical
from superfactor.report.evaluation import Evaluation
from superfactor.report.facts import Facts, Samples
from superfactor.report.section import Section
from superfactor.report.sections.choice import cross_validated
from superfactor.report.text import (
    caption_of,
    details,
    fixed,
    frame,
    label,
    number,
    pairs,
    percent,
    plural,
    table,
)

_MODELS = {
    "filter": "filter (SMF-W): predicts from projections of the features on the factors",
    "feature": "feature (SMF-H): predicts from the samples' codes",
}


def section(facts: Facts) -> Section:
    """The first tab."""
    evaluation = facts.evaluation
    parts = [
        _cards(facts, evaluation),
        _honesty(facts),
        _certificate(facts),
        _baselines(facts, evaluation),
    ]
    parts += [_fitted(facts), _notes(facts)]
    return Section(
        "result",
        "Result",
        "What was fitted, and how good it is",
        "\n".join(part for part in parts if part),
    )


# --- the figures at the top ----------------------------------------------------------------------


def _cards(facts: Facts, evaluation: Evaluation) -> str:
    """Key figures; measured on held-out samples where there are any."""
    where = "Training" if facts.test is None else "Held-out"
    low, high = evaluation.interval
    right = round(evaluation.accuracy * evaluation.n)
    several = (
        "mean over classes, each against the rest"
        if len(facts.classes) > 2
        else "1 is perfect, 0.5 guessing"
    )
    cards = [
        (
            f"{where} accuracy",
            percent(evaluation.accuracy),
            f"95 % interval {percent(low)} to {percent(high)} · {right:,} of {evaluation.n:,} right",
        ),
        (
            "Balanced accuracy",
            percent(evaluation.balanced_accuracy),
            "mean over classes of those recognised",
        ),
        ("Area under ROC", fixed(evaluation.area), several),
        (
            "Log loss",
            fixed(evaluation.log_loss),
            f"class frequencies alone: {fixed(_frequency_loss(facts))} · smaller is better",
        ),
    ]
    validated = cross_validated(facts)
    if validated is not None:
        cards.insert(0 if facts.test is None else 1, validated)
    inside = "".join(
        f'<div class="card"><dt>{escape(name)}</dt><dd><strong>{escape(value)}</strong>'
        f"<span>{escape(note)}</span></dd></div>"
        for name, value, note in cards
    )
    return f'<dl class="cards">{inside}</dl>'


def _frequency_loss(facts: Facts) -> float:
    """Log loss of predicting the training frequencies for everyone."""
    counts = _counts(facts.train, len(facts.classes))
    # A class without training samples cannot occur: it would not be a class of the model.
    log_frequencies = np.log(np.maximum(counts, 1) / counts.sum())
    return float(-np.mean(log_frequencies[facts.samples.truth]))


def _honesty(facts: Facts) -> str:
    if facts.test is not None:
        return ""
    better = (
        "the cross-validated score beside them is the honest one, though slightly high as the best of "
        "the settings tried."
        if facts.search is not None
        else "judge the model by samples it has not seen, or by cross-validation."
    )
    return (
        '<p class="callout warning"><strong>No held-out samples.</strong> The training figures on this '
        f"page are optimistic, since the model has seen these samples and their labels; {better}</p>"
    )


# --- certificate ---------------------------------------------------------------------------------


def _certificate(facts: Facts) -> str:
    certificate = facts.estimator.certificate_
    verdict = in_plain_words(certificate, facts.rank)
    numbers = (
        "" if certificate is None else details("Technical numbers", pairs(technical(certificate)))
    )
    return (
        f'<section class="certificate {verdict.level}"><h3>Is this the best possible fit?</h3>'
        f'<p><span class="badge">{escape(verdict.badge)}</span> {escape(verdict.sentence)}</p>'
        f'<p class="quiet">{escape(CAVEAT)}</p>{numbers}</section>'
    )


# --- beside others -------------------------------------------------------------------------------


def _baselines(facts: Facts, evaluation: Evaluation) -> str:
    if facts.test is None and not facts.baselines:
        return ""
    rows = [(label(name), float(value)) for name, value in facts.baselines.items()]
    if facts.test is not None:
        common = int(np.argmax(_counts(facts.train, len(facts.classes))))
        always = float(np.mean(facts.test.truth == common))
        rows.append((f"Always “{facts.classes[common]}”, the most frequent class", always))
    rows.sort(key=lambda row: -row[1])
    own = [] if facts.test is None else [("This model", evaluation.accuracy)]
    body = "".join(_bar_row(name, value, name == "This model") for name, value in own + rows)
    caption = "Accuracy on the held-out samples"
    return "<h3>Beside other methods</h3>" + frame(
        caption,
        f'<table class="baselines">{caption_of(caption)}<thead><tr><th scope="col">Method</th>'
        '<th scope="col" class="number">Accuracy</th><th scope="col" class="wide">0 to 100 %</th></tr>'
        f"</thead><tbody>{body}</tbody></table>",
    )


def _bar_row(name: str, value: float, own: bool) -> str:
    width = 100 * min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0
    return (
        f'<tr{" class=own" if own else ""}><th scope="row">{escape(name)}</th>'
        f'<td class="number">{percent(value)}</td>'
        f'<td class="wide"><span class="track"><span style="width:{width:.1f}%"></span></span></td></tr>'
    )


# --- what was fitted -----------------------------------------------------------------------------


def _fitted(facts: Facts) -> str:
    estimator, view = facts.estimator, facts.view
    n, p = len(facts.train), len(view.features)
    rows = [
        (
            "Samples",
            f"{n:,} for training" + (f", {len(facts.test):,} held out" if facts.test else ""),
        ),
        ("Features", f"{p:,}"),
    ]
    if facts.covariates:
        rows.append(("Covariates beside the factors", f"{len(facts.covariates):,}"))
    if facts.target:
        rows.append(("Target", facts.target))
    rows += [
        ("Preprocessing", " → ".join(type(step).__name__ for step in facts.steps) or "none"),
        ("Model", _MODELS[estimator.model]),
        (
            "Factors (rank)",
            f"{facts.rank}, with {percent(float(np.sum(view.share)))} of the variance",
        ),
        ("ξ, weight of the reconstruction", number(float(estimator.xi))),
        ("λ, ridge", number(float(estimator.lam))),
        ("Solver", f"{plural(estimator.n_iter_, 'iteration')}, {number(_seconds(facts))} s"),
    ]
    head = ["Class", "Training"] + (["Held-out"] if facts.test else [])
    counts = [_counts(s, len(facts.classes)) for s in (facts.train, facts.test) if s is not None]
    classes = [[name, *(f"{c[i]:,}" for c in counts)] for i, name in enumerate(facts.classes)]
    return (
        '<h3>What was fitted</h3><div class="columns">'
        + pairs(rows)
        + table("Samples by class", head, classes, numbers=(1, 2))
        + "</div>"
    )


def _counts(samples: Samples, classes: int) -> np.ndarray:
    return np.bincount(samples.truth, minlength=classes)


def _seconds(facts: Facts) -> float:
    return (
        facts.estimator.history_["seconds"][-1] if facts.estimator.history_["seconds"] else math.nan
    )


def _notes(facts: Facts) -> str:
    if not facts.notes:
        return ""
    return (
        "<h3>Notes</h3><ul>" + "".join(f"<li>{escape(note)}</li>" for note in facts.notes) + "</ul>"
    )
