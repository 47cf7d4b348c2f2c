"""Load a model from its file, and the samples of a table in the columns of the model."""

from __future__ import annotations

from pathlib import Path

from superfactor import saving
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Labels
from superfactor.cli.output.files import check_paths
from superfactor.cli.output.screen import Screen
from superfactor.saving import Saved
from superfactor.tables import read_study
from superfactor.tables.joining.source import Sources
from superfactor.tables.study import Study

# The metadata that the commands use.
_NEEDED = {
    *("versions", "command", "table", "target", "id", "log2", "features", "covariates", "classes"),
    *("seed", "search", "training_ids", "training_rows", "training_checksum"),
    *("rotation", "positive", "by", "groups", "out_of_fold", "stable_features", "nearness", "verdict"),
}


def open_with(
    model: Path, source: Sources, outputs: dict[str, Path | None], screen: Screen, *inputs: Path | None
) -> tuple[Saved, Sources]:
    """Return a model and the tables for it; by default they have the layout of the training table."""
    check_paths(outputs, model, *source.files, *inputs)
    loaded = open_model(model, screen)
    return loaded, source.like(loaded.about)


def open_model(path: Path, screen: Screen) -> Saved:
    """Return the model; other versions of libraries than at the fit give a note."""
    with screen.step("load"), screen.progress(f"loading {path.name}"):
        try:
            saved = saving.read(path)
        except saving.OtherFormatError as error:
            raise UserError(f"{error}; fit again with superfactor fit") from error
        except saving.ModelFileError as error:
            raise UserError(f"{error.reason}; a file written by superfactor fit is required") from error
    if not set(saved.about) >= _NEEDED:
        raise UserError(
            f"{path}: saved from Python, without the metadata of superfactor fit; use it in Python "
            "(superfactor.load), or fit a model with superfactor fit"
        )
    now = saving.versions()
    for name, version in saved.about["versions"].items():
        if name != "python" and now.get(name) != version:
            screen.note(f"{path} was written with {name} {version}; this is {now.get(name)}")
    return saved


def read_for(
    loaded: Saved, source: Sources, identifier: str | None, screen: Screen, *, outcome: Labels | None = None
) -> Study:
    """Return the samples of a table in the columns of a model, with y if `outcome` is given.

    Columns that `outcome` does not name are those of the training table.
    """
    about = loaded.about
    where = {} if outcome is None else outcome.columns(about)
    with as_user_error():
        samples = read_study(source, like=about, id=identifier, progress=screen.progress, **where)
        return samples.filled_by(loaded.model)
