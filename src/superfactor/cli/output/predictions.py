"""Predictions: as a table on disk, a few of them on the screen, counted for scripts."""

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
    """What a model says of some samples.

    Attributes
    ----------
    id : the column with their names, or None where they have numbers only
    ids : names of the samples (n,)
    told : what is predicted of them
    missing : (n,) share of the features that a sample missed, and that were filled in
    """

    id: str | None
    ids: Any
    told: Predicted
    missing: Any

    def __len__(self) -> int:
        return len(self.ids)

    def write(self, path: Path, **more: Sequence[Any]) -> None:
        """One row a sample; `more` are further columns."""
        more = {**more, "missing": [round(share, 4) for share in self.missing.tolist()]}
        columns = {self.id or "row": self.ids, **self.told.columns, **more}
        write_table(path, list(columns), zip(*columns.values(), strict=True))


def predicted(model: Any, samples: Study, chosen: Any = slice(None)) -> Predictions:
    """Of the samples at the positions `chosen` by a fitted pipeline."""
    kind, X = samples.outcome, samples.design[chosen]
    told = description_of(kind).predictions(outcome_named(kind), model, X, samples.targets)
    return Predictions(samples.roles.id, samples.ids[chosen], told, samples.missing[chosen])


def of_unlabeled(learned: Learned) -> Predictions | None:
    """Of the samples without a value; None where all have one."""
    if not len(learned.unlabeled):
        return None
    return predicted(learned.model, learned.samples, learned.unlabeled)


def show_unlabeled(found: Predictions | None, lacking: str, screen: Screen) -> dict[str, Any] | None:
    """Print the first few, and return what scripts are told; `lacking` is what they have none of."""
    if found is None:
        return None
    told, names = found.told, [str(name) for name in found.ids[:_FIRST]]
    shown = {head: texts[:_FIRST] for head, texts in told.shown.items()}
    more = f", the first {_FIRST}" * (len(found) > _FIRST)
    header = [("sample", "left"), *((head, "left" if head == "predicted" else "right") for head in shown)]
    rows = [list(row) for row in zip(names, *shown.values(), strict=True)]
    if found.missing.any():
        # A confident guess about a sample that is mostly guessed is none.
        header.append(("missing", "right"))
        rows = [[*row, f"{gone:.0%}"] for row, gone in zip(rows, found.missing, strict=False)]
    title = f"Samples without a {lacking}: {len(found):,} (predicted {told.words}){more}"
    screen.table(title, header, rows)
    columns = {"sample": names, **told.facts_of(_FIRST), "missing": found.missing[:_FIRST].tolist()}
    first = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {"samples": len(found), "predicted": told.facts, "first": first}
