"""Predictions: as a table on disk, a few of them on the screen, counted for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superfactor.cli.commands.learning import Learned
from superfactor.cli.told.output import write_table
from superfactor.cli.told.screen import Screen
from superfactor.cli.told.summary import class_counts
from superfactor.tables.study import Study

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
    missing : (n,) share of the features that a sample missed, and that were filled in
    """

    id: str | None
    ids: Any
    classes: Sequence[Any]
    labels: Any
    probabilities: Any
    missing: Any

    def __len__(self) -> int:
        return len(self.ids)

    def write(self, path: Path, **more: Sequence[Any]) -> None:
        """One row a sample; `more` are further columns."""
        more = {**more, "missing": [round(share, 4) for share in self.missing.tolist()]}
        header = [self.id or "row", "predicted", *(f"probability[{name}]" for name in self.classes)]
        columns = zip(
            self.ids, self.labels.tolist(), self.probabilities.tolist(), *more.values(), strict=True
        )
        rows = ([name, label, *shares, *rest] for name, label, shares, *rest in columns)
        write_table(path, [*header, *more], rows)


def predicted(model: Any, samples: Study, chosen: Any = slice(None)) -> Predictions:
    """Of the samples at the positions `chosen` by a fitted pipeline."""
    X = samples.design[chosen]
    labels, probabilities = model.predict(X), model.predict_proba(X)
    classes = model.classes_.tolist()
    ids, missing = samples.ids[chosen], samples.missing[chosen]
    return Predictions(samples.roles.id, ids, classes, labels, probabilities, missing)


def of_unlabeled(learned: Learned) -> Predictions | None:
    """Of the samples without a label; None where all have one."""
    if not len(learned.unlabeled):
        return None
    return predicted(learned.model, learned.samples, learned.unlabeled)


def show_unlabeled(found: Predictions | None, screen: Screen) -> dict[str, Any] | None:
    """Print the first few, and return what scripts are told."""
    if found is None:
        return None
    columns = (found.ids, found.labels.tolist(), found.probabilities, found.missing.tolist())
    first = [
        {"sample": str(name), "predicted": label, "probability": float(max(shares)), "missing": gone}
        for name, label, shares, gone in zip(*(column[:_FIRST] for column in columns), strict=True)
    ]
    counts = class_counts(found.labels)
    words = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    more = f", the first {_FIRST}" * (len(found) > _FIRST)
    header = [("sample", "left"), ("predicted", "left"), ("probability", "right")]
    rows = [[row["sample"], str(row["predicted"]), f"{row['probability']:.3f}"] for row in first]
    if found.missing.any():
        # A confident guess about a sample that is mostly guessed is none.
        header.append(("missing", "right"))
        rows = [[*row, f"{gone:.0%}"] for row, gone in zip(rows, found.missing, strict=False)]
    screen.table(f"Samples without a label: {len(found):,} (predicted {words}){more}", header, rows)
    return {"samples": len(found), "predicted": counts, "first": first}
