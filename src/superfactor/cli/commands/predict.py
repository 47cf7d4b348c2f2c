"""`superfactor predict`: predictions of new samples."""

from __future__ import annotations

from pathlib import Path

from superfactor.cli.commands.loading import open_with, read_for
from superfactor.cli.errors import as_user_error
from superfactor.cli.output.files import check_table
from superfactor.cli.output.predictions import predicted
from superfactor.cli.output.screen import Screen
from superfactor.cli.training_samples import NEW, TRAINED_ON, notes, trained_on
from superfactor.outcomes.descriptions import description_of
from superfactor.saving import versions
from superfactor.tables.joining.source import Sources
from superfactor.tables.notes import occur_twice
from superfactor.tables.study import Study


def run(
    model: Path, source: Sources, identifier: str | None, allow_absent: bool, out: Path, screen: Screen
) -> None:
    """Write one row per sample, in the order of the table."""
    loaded, files = open_with(model, source, {"--out": out}, screen)
    check_table("--out", out)
    with screen.step("read"):
        samples = read_for(loaded, files, identifier, screen, allow_absent=allow_absent)
    with screen.step("predict"), as_user_error():
        found = predicted(loaded.model, samples)
    with screen.step("write"):
        marks = trained_on(loaded.about, samples)
        found.write(out, **{TRAINED_ON: marks})
    for note in (
        *samples.notes,
        *_duplicate_names(samples),
        *notes(marks, description_of(samples.outcome).lacking),
    ):
        screen.note(note)
    screen.fields(
        [
            ("model", str(model)),
            ("table", files.title),
            ("samples", f"{len(found):,}"),
            ("predicted", found.values.words),
            ("predictions", str(out)),
        ]
    )
    screen.finish(
        {
            "versions": versions(),
            "samples": len(found),
            "predicted": found.values.facts,
            TRAINED_ON: {mark: marks.count(mark) for mark in sorted({*marks} - {NEW})},
            "missing": None if samples.gaps is None else samples.gaps.as_dict(),
            "join": samples.joined or None,
            "files": {"predictions": str(out)},
        }
    )


def _duplicate_names(samples: Study) -> list[str]:
    """Return a note if names of samples are not unique."""
    twice = occur_twice(samples.ids.tolist())
    return [f"{twice}; predictions are in the order of the table"] if twice else []
