"""`superfactor predict`: labels and probabilities of new samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from superfactor.cli import model_file
from superfactor.cli.errors import as_user_error
from superfactor.cli.model_file import ModelFile
from superfactor.cli.record import versions
from superfactor.cli.told.output import check_paths, check_table
from superfactor.cli.told.predictions import predicted
from superfactor.cli.told.screen import Screen
from superfactor.cli.told.summary import class_counts, counted
from superfactor.cli.trained import NEW, TRAINED_ON, notes, trained_on
from superfactor.tables import prepare
from superfactor.tables.columns import covariates as encoding_of
from superfactor.tables.columns.labels import labels_among
from superfactor.tables.columns.numbers import occur_twice, shortened
from superfactor.tables.composing import completed
from superfactor.tables.errors import TableError
from superfactor.tables.joining.reading import Source, Study, naming_sheet, read, with_defaults
from superfactor.tables.prepare import Columns, PreparedTable


def run(model: Path, source: Source, identifier: str | None, out: Path, screen: Screen) -> None:
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
    model: Path, source: Source, outputs: dict[str, Path | None], screen: Screen, *inputs: Path | None
) -> tuple[ModelFile, Source]:
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
    source: Source,
    identifier: str | None,
    screen: Screen,
    *,
    labels: bool = False,
    target: str | None = None,
    unlabeled: str | None = None,
) -> PreparedTable:
    """The samples of a table in the columns of a model, and their labels where they are needed.

    Parameters
    ----------
    identifier, target, unlabeled : columns with names and labels of samples, and what stands for no label;
        None for what the model was fitted with
    """
    about = loaded.metadata
    target = (target or about["target"]) if labels else None
    levels = about.get("confounders", {})
    columns = Columns(
        target, identifier or about["id"], covariates=tuple(about["covariates"]), adjust=tuple(levels)
    )
    # As written, also where all levels of this table look like numbers.
    words = [*encoding_of.words(about["covariates"]), *(name for name in levels if levels[name])]
    wanted = set(about["features"].tolist())
    with as_user_error():
        study = read(source, columns, screen.progress, words=words, wanted=wanted)
    with as_user_error(), naming_sheet(study.notes):
        return _for_model(loaded, source, study, identifier, target, unlabeled)


def _for_model(
    loaded: ModelFile,
    source: Source,
    study: Study,
    identifier: str | None,
    target: str | None,
    unlabeled: str | None,
) -> PreparedTable:
    about = loaded.metadata
    _check_blocks(source, study, about)
    if identifier is None and study.columns.id not in study.frame.columns:
        study = _by_own_names(study, about["id"])
    if target is not None and target not in study.frame.columns:
        raise TableError(
            f"{source.phenotype or study.path}: the column {target!r} with the labels is missing; add it, or "
            f"name the one that holds them{' with --target' * (target == about['target'])}"
        )
    if target is not None:
        study = _without_rare(study, target, about.get("rare", []))
    samples = prepare.for_model(study, about)
    with as_user_error():
        samples = replace(samples, X=completed(loaded.estimator, samples.X, samples.n_features))
    if target is None:
        return samples
    where = f"{source.phenotype or study.path}: column {target!r}"
    y = labels_among(study.frame[target], about["classes"], where, unlabeled or about.get("unlabeled"))
    return replace(samples, y=y)


def _by_own_names(study: Study, missed: str | None) -> Study:
    """Samples by the names that the table has for them, where it lacks the column that the model knows."""
    own = with_defaults(Columns(), study.frame).id
    notes = study.notes
    if own is None and missed is not None:
        notes += (f"no column {missed!r} with names of samples: rows are numbered, and --id names another",)
    return replace(study, columns=replace(study.columns, id=own), notes=notes)


def _check_blocks(source: Source, study: Study, about: dict[str, Any]) -> None:
    """Files that are called by the name of a block hold features of that block."""
    blocks, features = about.get("blocks") or {}, about["features"].tolist()
    for name, path in source.blocks if blocks else ():
        if path.suffix.lower() == ".h5mu":  # has blocks of its own
            continue
        if name not in blocks:
            raise TableError(
                f"--block {name}={path}: the model has no block {name!r}; it has {shortened(list(blocks))}"
            )
        if study.features is None:
            there = set(study.frame.columns)
        else:
            ends = study.blocks.get(name, (0, 0)) if study.blocks else (0, None)
            there = set(study.features[slice(*ends)])
        own = {other: features[slice(*blocks[other])] for other in blocks}
        if not there.intersection(own[name]):
            others = [other for other in blocks if there.intersection(own[other])]
            found = f", but those of {shortened(others)}" if others else ""
            raise TableError(
                f"--block {name}={path}: none of the columns of the model's block {name!r} is in it{found}; "
                f"{shortened(own[name], 2)} are required"
            )


def _namesakes(samples: PreparedTable) -> list[str]:
    """A note where samples cannot be told apart by their names."""
    twice = occur_twice(samples.ids.tolist())
    return [f"{twice}; predictions are in the order of the table"] if twice else []


def _without_rare(study: Study, target: str, rare: list[str]) -> Study:
    """Only samples of classes that were not left out of the fit for being rare."""
    keep = ~study.frame[target].isin(rare).to_numpy()
    if keep.all():
        return study
    note = f"{int((~keep).sum())} samples left out, of classes that the fit left out: {shortened(rare)}"
    return replace(
        study,
        frame=study.frame[keep],
        matrix=None if study.matrix is None else study.matrix[keep],
        notes=(*study.notes, note),
    )
