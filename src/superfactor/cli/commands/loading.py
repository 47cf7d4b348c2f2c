"""A model from its file, and the samples of a table in its columns."""

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

# What commands look up in its record.
_NEEDED = {
    *("versions", "command", "table", "target", "id", "log2", "features", "covariates", "classes"),
    *("seed", "search", "training_ids", "training_rows", "training_checksum"),
    *("rotation", "positive", "by", "groups", "out_of_fold", "stable_features", "nearness", "verdict"),
}


def open_with(
    model: Path, source: Sources, outputs: dict[str, Path | None], screen: Screen, *inputs: Path | None
) -> tuple[Saved, Sources]:
    """A model and the files for it, laid out as those it was fitted to unless the command says otherwise."""
    check_paths(outputs, model, *source.files, *inputs)
    loaded = open_model(model, screen)
    return loaded, source.like(loaded.about)


def open_model(path: Path, screen: Screen) -> Saved:
    """The model; other versions than those it was made with are worth a note."""
    with screen.step("load"), screen.progress(f"loading {path.name}"):
        try:
            saved = saving.read(path)
        except saving.OtherFormatError as error:
            raise UserError(f"{error}; fit again with superfactor fit") from error
        except saving.ModelFileError as error:
            raise UserError(f"{error}; a file that superfactor fit wrote is required") from error
    if not set(saved.about) >= _NEEDED:
        raise UserError(
            f"{path}: saved from Python, without what superfactor fit records besides; use it there "
            "(superfactor.load), or fit it with superfactor fit"
        )
    now = saving.versions()
    for name, version in saved.about["versions"].items():
        if name != "python" and now.get(name) != version:
            screen.note(f"{path} was written with {name} {version}; this is {now.get(name)}")
    return saved


def read_for(
    loaded: Saved, source: Sources, identifier: str | None, screen: Screen, *, outcome: Labels | None = None
) -> Study:
    """The samples of a table in the columns of a model; y too where `outcome` says where that stands.

    What it does not say is as it was when the model was fitted.
    """
    about = loaded.about
    where = {} if outcome is None else outcome.columns(about)
    with as_user_error():
        samples = read_study(source, like=about, id=identifier, progress=screen.progress, **where)
        return samples.filled_by(loaded.model)
