"""`superfactor predict`: labels and probabilities of new samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from superfactor.cli import model_file, prepare
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.labels import labels_among
from superfactor.cli.model_file import ModelFile
from superfactor.cli.output import check_paths, write_csv
from superfactor.cli.prepare import Columns, PreparedTable
from superfactor.cli.record import versions
from superfactor.cli.screen import Screen
from superfactor.cli.summary import class_counts, counted
from superfactor.cli.trained import NEW, TRAINED_ON, notes, trained_on


def run(model: Path, path: Path, identifier: str | None, out: Path, screen: Screen) -> None:
    """Write one row a sample, in the order of the table."""
    check_paths({"--out": out}, path, model)
    loaded = open_model(model, screen)
    with screen.step("read"):
        samples = read_for(loaded, path, identifier, screen)
    with screen.step("predict"), as_user_error():
        labels = loaded.estimator.predict(samples.X)
        probabilities = loaded.estimator.predict_proba(samples.X)
    header = [samples.columns.id or "row", "predicted"]
    header += [f"probability[{name}]" for name in loaded.metadata["classes"]]
    header.append(TRAINED_ON)
    with screen.step("write"):
        marks = trained_on(loaded.metadata, samples)
        rows = zip(samples.ids, labels.tolist(), probabilities.tolist(), marks, strict=True)
        write_csv(out, header, ([name, label, *shares, mark] for name, label, shares, mark in rows))
    for note in notes(marks):
        screen.note(note)
    screen.fields(
        [
            ("model", str(model)),
            ("table", str(path)),
            ("samples", f"{len(labels):,}"),
            ("predicted", ", ".join(counted(labels))),
            ("predictions", str(out)),
        ]
    )
    screen.finish(
        {
            "versions": versions(),
            "samples": len(labels),
            "predicted": class_counts(labels),
            TRAINED_ON: {mark: marks.count(mark) for mark in sorted({*marks} - {NEW})},
            "files": {"predictions": str(out)},
        }
    )


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
    loaded: ModelFile, path: Path, identifier: str | None, screen: Screen, *, labels: bool = False
) -> PreparedTable:
    """The samples of a table in the columns of a model, and their labels where they are needed."""
    about = loaded.metadata
    target = about["target"] if labels else None
    # As written, also where all levels of this table look like numbers.
    words = [name for name, levels in about["covariates"].items() if levels]
    table, columns = prepare.load(path, Columns(target, identifier or about["id"]), screen, words)
    if identifier is None and columns.id not in table.columns:
        columns = replace(columns, id=None)  # this table has no names for its samples
    samples = prepare.for_model(
        path, table, columns, about["features"].tolist(), about["covariates"], about["log2"]
    )
    if not labels:
        return samples
    if target not in table.columns:
        raise UserError(
            f"{path}: the column {target!r} with the labels is missing; add it, or rename the one that holds "
            "them"
        )
    where = f"{path}: column {target!r}"
    return replace(samples, y=labels_among(table[target], about["classes"], where))
