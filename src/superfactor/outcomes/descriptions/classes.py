"""Class labels: counts of classes, predicted labels and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor._words import percent
from superfactor.outcomes.descriptions.base import Description, Predicted

# Most classes that a line names.
_MOST_NAMED = 10


class ClassDescription(Description):
    """Description of class labels."""

    lacking = "label"
    score = ("log-likelihood", "log-lik.", "log_likelihood")
    has_classes = True
    not_to_be_read = "related to the labels"
    direction = "the class that becomes most likely with a higher score, and with a lower score"

    def samples(self, y: Any, names: Sequence[str]) -> list[str]:
        words = [f"{name}: {count:,}" for name, count in _counts(y).items()]
        few = len(words) <= _MOST_NAMED
        return words if few else [*words[: _MOST_NAMED - 1], f"{len(words) - _MOST_NAMED + 1} more classes"]

    def sample_facts(self, y: Any, names: Sequence[str]) -> dict[str, Any]:
        return {"classes": _counts(y)}

    def predictions(self, outcome: Any, model: Any, X: Any, names: Sequence[str]) -> Predicted:
        labels, shares = model.predict(X), model.predict_proba(X)
        columns = {"predicted": labels.tolist()}
        columns |= {
            f"probability[{name}]": p.tolist() for name, p in zip(model.classes_, shares.T, strict=True)
        }
        shown = {
            "predicted": [str(label) for label in labels],
            "probability": [f"{share:.3f}" for share in shares.max(axis=1)],
        }
        each = {"predicted": labels.tolist(), "probability": shares.max(axis=1).tolist()}
        return Predicted(columns, shown, ", ".join(self.samples(labels, names)), _counts(labels), each)

    def coefficient(self, outputs: Sequence[str]) -> str:
        return f"log-odds of {outputs[0]}"

    def restored(self, rows: Any) -> Any:
        """Return probabilities that add up to one; those stored are rounded."""
        return rows / rows.sum(axis=1, keepdims=True)

    def score_facts(self, outcome: Any, names: Any, truth: Any, rows: Any, everyone: Any) -> dict[str, Any]:
        found, frequent = outcome.metric_values(truth, rows), int(np.bincount(everyone).argmax())
        return {
            "samples": len(truth),
            "accuracy": found["accuracy"],
            "accuracy_interval_95": list(outcome.least_intervals(truth, rows)["accuracy"]),
            "balanced_accuracy": found["balanced_accuracy"],
            "roc_auc": found["roc_auc"],
            "confusion": outcome.confusion(truth, rows).tolist(),
            "most_frequent_class": {
                "label": str(names[frequent]),
                "accuracy": float(np.mean(truth == frequent)),
            },
        }

    def score_sentence(self, outcome: Any, facts: dict[str, Any]) -> str:
        low, high = facts["accuracy_interval_95"]
        always = facts["most_frequent_class"]
        return (
            f"accuracy {percent(facts['accuracy'])} (95 % interval {percent(low)} to {percent(high)}), "
            f"always {always['label']!r} {percent(always['accuracy'])}; balanced accuracy "
            f"{percent(facts['balanced_accuracy'])}"
        )


def _counts(labels: Any) -> dict[str, int]:
    classes, counts = np.unique(labels, return_counts=True)
    return {str(name): int(count) for name, count in zip(classes, counts, strict=True)}
