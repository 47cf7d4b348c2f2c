"""Predictions: as a table on disk, a few of them on the screen, counted for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superfactor.cli.learning import Learned
from superfactor.cli.output import write_csv
from superfactor.cli.screen import Screen
from superfactor.cli.summary import class_counts

# Samples shown.
_FIRST = 5


@dataclass(frozen=True)
class Predictions:
    """What a model says of some samples.

    Attributes
    ----------
    id : the column with their names, or None where they have numbers only
    ids : names of the samples (n,)
    classes : of the model
    labels : the predicted ones (n,)
    probabilities : (n, c)
    """

    id: str | None
    ids: Any
    classes: Sequence[Any]
    labels: Any
    probabilities: Any

    def __len__(self) -> int:
        return len(self.ids)

    def write(self, path: Path, **more: Sequence[Any]) -> None:
        """One row a sample; `more` are further columns."""
        header = [self.id or "row", "predicted", *(f"probability[{name}]" for name in self.classes)]
        columns = zip(
            self.ids, self.labels.tolist(), self.probabilities.tolist(), *more.values(), strict=True
        )
        rows = ([name, label, *shares, *rest] for name, label, shares, *rest in columns)
        write_csv(path, [*header, *more], rows)


def predicted(model: Any, X: Any, ids: Any, id: str | None) -> Predictions:
    """Of X (n, …) by a fitted pipeline."""
    labels, probabilities = model.predict(X), model.predict_proba(X)
    return Predictions(id, ids, model.classes_.tolist(), labels, probabilities)


def of_unlabeled(learned: Learned) -> Predictions | None:
    """Of the samples without a label; None where all have one."""
    if not len(learned.unlabeled):
        return None
    samples = learned.samples
    X, _ = learned.part(learned.unlabeled)
    return predicted(learned.model, X, samples.ids[learned.unlabeled], samples.columns.id)


def show_unlabeled(found: Predictions | None, screen: Screen) -> dict[str, Any] | None:
    """Print the first few, and return what scripts are told."""
    if found is None:
        return None
    first = [
        {"sample": str(name), "predicted": label, "probability": float(max(shares))}
        for name, label, shares in zip(
            found.ids[:_FIRST], found.labels.tolist(), found.probabilities, strict=False
        )
    ]
    counts = class_counts(found.labels)
    words = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    shown = f", the first {_FIRST}" * (len(found) > _FIRST)
    screen.table(
        f"Samples without a label: {len(found):,} (predicted {words}){shown}",
        [("sample", "left"), ("predicted", "left"), ("probability", "right")],
        [[row["sample"], str(row["predicted"]), f"{row['probability']:.3f}"] for row in first],
    )
    return {"samples": len(found), "predicted": counts, "first": first}
