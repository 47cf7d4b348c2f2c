"""`superfactor predict`: labels and probabilities of new samples."""

from __future__ import annotations

from pathlib import Path

from superfactor.cli import model_file
from superfactor.cli.errors import as_user_error
from superfactor.cli.model_file import ModelFile
from superfactor.cli.record import versions
from superfactor.cli.told.output import check_paths, check_table
from superfactor.cli.told.predictions import predicted
from superfactor.cli.told.screen import Screen
from superfactor.cli.told.summary import class_counts, counted
from superfactor.cli.trained import NEW, TRAINED_ON, notes, trained_on
from superfactor.tables import read_study
from superfactor.tables.joining.source import Sources
from superfactor.tables.notes import occur_twice
from superfactor.tables.study import Study


def run(model: Path, source: Sources, identifier: str | None, out: Path, screen: Screen) -> None:
    """Write one row a sample, in the order of the table."""
    loaded, files = open_with(model, source, {"--out": out}, screen)
    check_table("--out", out)
    with screen.step("read"):
        samples = read_for(loaded, files, identifier, screen)
    with screen.step("predict"), as_user_error():
        found = predicted(loaded.estimator, samples)
    with screen.step("write"):
        marks = trained_on(loaded.metadata, samples)
        found.write(out, **{TRAINED_ON: marks})
    for note in (*samples.notes, *_namesakes(samples), *notes(marks)):
        screen.note(note)
    screen.fields(
        [
            ("model", str(model)),
            ("table", files.title),
            ("samples", f"{len(found):,}"),
            ("predicted", ", ".join(counted(found.labels))),
            ("predictions", str(out)),
        ]
    )
    screen.finish(
        {
            "versions": versions(),
            "samples": len(found),
            "predicted": class_counts(found.labels),
            TRAINED_ON: {mark: marks.count(mark) for mark in sorted({*marks} - {NEW})},
            "missing": None if samples.gaps is None else samples.gaps.as_dict(),
            "join": samples.joined or None,
            "files": {"predictions": str(out)},
        }
    )


def open_with(
    model: Path, source: Sources, outputs: dict[str, Path | None], screen: Screen, *inputs: Path | None
) -> tuple[ModelFile, Sources]:
    """A model and the files for it, laid out as those it was fitted to unless the command says otherwise."""
    check_paths(outputs, model, *source.files, *inputs)
    loaded = open_model(model, screen)
    return loaded, source.like(loaded.metadata)


def open_model(path: Path, screen: Screen) -> ModelFile:
    """The model; other versions than those it was made with are worth a note."""
    with screen.step("load"), screen.progress(f"loading {path.name}"):
        loaded = model_file.load(path)
    now = versions()
    for name, version in loaded.metadata["versions"].items():
        if name != "python" and now.get(name) != version:
            screen.note(f"{path} was written with {name} {version}; this is {now.get(name)}")
    return loaded


def read_for(
    loaded: ModelFile,
    source: Sources,
    identifier: str | None,
    screen: Screen,
    *,
    labels: bool = False,
    target: str | None = None,
    unlabeled: str | None = None,
) -> Study:
    """The samples of a table in the columns of a model, and their labels where they are needed.

    Parameters
    ----------
    identifier, target, unlabeled : columns with names and labels of samples, and what stands for no label;
        None for what the model was fitted with
    """
    about = loaded.metadata
    target = (target or about["target"]) if labels else None
    with as_user_error():
        samples = read_study(
            source, like=about, id=identifier, target=target, unlabeled=unlabeled, progress=screen.progress
        )
        return samples.filled_by(loaded.estimator)


def _namesakes(samples: Study) -> list[str]:
    """A note where samples cannot be told apart by their names."""
    twice = occur_twice(samples.ids.tolist())
    return [f"{twice}; predictions are in the order of the table"] if twice else []
