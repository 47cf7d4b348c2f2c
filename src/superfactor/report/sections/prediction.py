"""ROC curves, confusion matrix, figures by class."""

from __future__ import annotations

from html import escape

import numpy as np

from superfactor.models import model_named
from superfactor.report.evaluation import Evaluation
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.text import (
    MANY_COLUMNS,
    caption_of,
    compact,
    figure,
    fixed,
    frame,
    percent,
    table,
)

# More or longer names than these do not fit over the columns of the confusion matrix.
_MOST_NAMED_COLUMNS = 6
_LONGEST_COLUMN_NAME = 14
# A larger confusion matrix stands below the ROC curves, not beside them.
_MOST_BESIDE = 8


def section(facts: Facts) -> Section:
    """How the predictions do, class by class."""
    evaluation = facts.evaluation
    where = "training samples (optimistic)" if facts.test is None else "held-out samples"
    caption = (
        f"ROC curves on the {evaluation.n:,} {where}: the share of a class that is found against the share "
        "of the others taken for it, as the threshold on the predicted probability moves."
    )
    curves = [
        {
            "class": curve.positive,
            "area": fixed(curve.area),
            "x": compact(curve.false_positive),
            "y": compact(curve.true_positive),
        }
        for curve in evaluation.curves
    ]
    beside = "columns" if len(facts.classes) <= _MOST_BESIDE else ""
    html = (
        f"<p>Measured on the <strong>{evaluation.n:,} {escape(where)}</strong>.</p>"
        f'<div class="{beside}"><div><h3>ROC</h3>{figure("roc", caption)}</div>'
        f"<div><h3>Confusion matrix</h3>{_confusion(facts, evaluation)}</div></div>"
        f"<h3>By class</h3>{_by_class(facts, evaluation)}{_calibration(facts)}"
    )
    return Section(
        "prediction",
        "Prediction",
        "How good the predictions are, class by class",
        html,
        {"curves": curves},
    )


def _confusion(facts: Facts, evaluation: Evaluation) -> str:
    """Counts, shaded by their share of the row."""
    longest = max(map(len, facts.classes))
    numbered = len(facts.classes) > _MOST_NAMED_COLUMNS or longest > _LONGEST_COLUMN_NAME
    rows = [f"{i + 1} · {name}" if numbered else name for i, name in enumerate(facts.classes)]
    heads = [str(i + 1) if numbered else name for i, name in enumerate(facts.classes)]
    columns = "".join(
        f'<th scope="col" class="number" title="predicted {escape(name)}">{escape(head)}</th>'
        for head, name in zip(heads, facts.classes, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{_confusion_cells(i, counts)}</tr>'
        for i, (name, counts) in enumerate(zip(rows, evaluation.confusion, strict=True))
    )
    caption = "Rows: true class. Columns: predicted class" + (", by number." if numbered else ".")
    kind = (
        "confusion"
        + " many" * (len(facts.classes) > MANY_COLUMNS)
        + " long-names" * (longest > _LONGEST_COLUMN_NAME)
    )
    return frame(
        "Confusion matrix",
        f'<table class="{kind}">{caption_of(caption)}<thead><tr>'
        f'<th scope="col">True \\ predicted</th>{columns}</tr></thead><tbody>{body}</tbody></table>',
    )


def _confusion_cells(row: int, counts: np.ndarray) -> str:
    total = max(int(counts.sum()), 1)
    return "".join(
        f'<td class="number {"right" if j == row else "wrong"}" style="--share:{count / total:.3f}">'
        f"{count:,}</td>"
        for j, count in enumerate(counts)
    )


def _by_class(facts: Facts, evaluation: Evaluation) -> str:
    areas = {curve.positive: curve.area for curve in evaluation.curves}
    if len(facts.classes) == 2 and areas:
        areas[0] = areas[1]  # the same curve seen from the other side
    recall, precision = evaluation.recall(), evaluation.precision()
    rows = [
        [
            name,
            f"{evaluation.confusion[i].sum():,}",
            percent(recall[i]),
            percent(precision[i]),
            fixed(areas.get(i, np.nan)),
        ]
        for i, name in enumerate(facts.classes)
    ]
    head = [
        "Class",
        "Samples",
        "Recognised (recall)",
        "Predictions right (precision)",
        "Area under ROC",
    ]
    return table("Figures by class", head, rows, numbers=(1, 2, 3, 4))


def _calibration(facts: Facts) -> str:
    estimator = facts.estimator
    if not model_named(estimator.model).codes_see_labels or estimator.prediction != "exact":
        return ""
    return (
        '<p class="quiet">Probabilities of the feature model with exact coding are relative energies: '
        "they rank samples well but may be too close to 0 and 1, which the log loss punishes.</p>"
    )
