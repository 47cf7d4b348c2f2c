"""Predictions: as a file, in the terminal, and as counts for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superfactor.cli.commands.learning import Learned
from superfactor.cli.output.files import write_table
from superfactor.cli.output.screen import Screen
from superfactor.outcomes import outcome_named
from superfactor.outcomes.descriptions import Predicted, description_of
from superfactor.tables.study import Study

# Samples shown.
_FIRST = 5


@dataclass(frozen=True)
class Predictions:
    """Predictions of some samples.

    Attributes
    ----------
    id : the column with their names, or None if they have numbers only
    ids : names of the samples (n,)
    values : their predictions
    missing : (n,) share of the features of a sample that were missing and imputed
    """

    id: str | None
    ids: Any
    values: Predicted
    missing: Any

    def __len__(self) -> int:
        return len(self.ids)

    def write(self, path: Path, **more: Sequence[Any]) -> None:
        """Write one row per sample; `more` are further columns."""
        more = {**more, "missing": [round(share, 4) for share in self.missing.tolist()]}
        columns = {self.id or "row": self.ids, **self.values.columns, **more}
        write_table(path, list(columns), zip(*columns.values(), strict=True))


def predicted(model: Any, samples: Study, chosen: Any = slice(None)) -> Predictions:
    """Return the predictions of a fitted pipeline for the samples at the positions `chosen`."""
    kind, X = samples.outcome, samples.design[chosen]
    values = description_of(kind).predictions(outcome_named(kind), model, X, samples.targets)
    return Predictions(samples.roles.id, samples.ids[chosen], values, samples.missing[chosen])


def of_unlabeled(learned: Learned) -> Predictions | None:
    """Return the predictions of the samples without an outcome; None if all have one."""
    if not len(learned.unlabeled):
        return None
    return predicted(learned.model, learned.samples, learned.unlabeled)


def show_unlabeled(found: Predictions | None, lacking: str, screen: Screen) -> dict[str, Any] | None:
    """Print the first predictions, and return plain values; `lacking` names the missing outcome."""
    if found is None:
        return None
    values, names = found.values, [str(name) for name in found.ids[:_FIRST]]
    shown = {head: texts[:_FIRST] for head, texts in values.shown.items()}
    more = f", the first {_FIRST}" * (len(found) > _FIRST)
    header = [("sample", "left"), *((head, "left" if head == "predicted" else "right") for head in shown)]
    rows = [list(row) for row in zip(names, *shown.values(), strict=True)]
    if found.missing.any():
        # Predictions of samples with many imputed values are less reliable.
        header.append(("missing", "right"))
        rows = [[*row, f"{share:.0%}"] for row, share in zip(rows, found.missing, strict=False)]
    title = f"Samples without a {lacking}: {len(found):,} (predicted {values.words}){more}"
    screen.table(title, header, rows)
    columns = {"sample": names, **values.facts_of(_FIRST), "missing": found.missing[:_FIRST].tolist()}
    first = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {"samples": len(found), "predicted": values.facts, "first": first}
