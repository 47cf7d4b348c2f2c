"""Load a model from its file, and the samples of a table in the columns of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from superfactor import saving
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Labels
from superfactor.cli.output.files import check_paths
from superfactor.cli.output.screen import Screen
from superfactor.interpretation.models import fitted_model
from superfactor.saving import Saved
from superfactor.tables import read_study
from superfactor.tables.joining.source import Sources
from superfactor.tables.notes import note, shortened
from superfactor.tables.study import Study

# Features without any value may have this share of the weight: beyond, probabilities of the microarrays in
# docs/missing.md have a mean correlation below .9 with those of complete samples.
MOST_ABSENT = 0.9
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
    loaded: Saved,
    source: Sources,
    identifier: str | None,
    screen: Screen,
    *,
    outcome: Labels | None = None,
    allow_absent: bool = False,
) -> Study:
    """Return the samples of a table in the columns of a model, with y if `outcome` is given.

    Columns that `outcome` does not name are those of the training table. Features that have too much of the
    weight must not be absent without `allow_absent`.
    """
    about = loaded.about
    where = {} if outcome is None else outcome.columns(about)
    with as_user_error():
        samples = read_study(source, like=about, id=identifier, progress=screen.progress, **where)
    missing = np.isnan(samples.X.data if issparse(samples.X) else samples.X)
    if not missing.any():
        return samples
    _check_completes(loaded, samples)
    empty = np.flatnonzero(missing.all(axis=0))
    if not len(empty):
        return samples
    weight = weights(loaded.model)[empty].sum()
    if weight > MOST_ABSENT and not allow_absent:
        raise UserError(
            f"{samples.path}: {_absent(samples, empty, weight)}; above {100 * MOST_ABSENT:.0f} % predictions "
            f"mean little: add {shortened([samples.names[j] for j in empty], 3)}, or use --allow-absent"
        )
    gaps = replace(samples.gaps, absent_weight=float(weight)) if samples.gaps else None
    said = note("absent", _absent(samples, empty, weight))
    return replace(samples, gaps=gaps, notes=(*(own for own in samples.notes if own.kind != "absent"), said))


def weights(model: Any) -> Any:
    """Return the share (p,) of each feature in the weight of a prediction, ‖a_j‖²σ_j²/Σ‖a‖²σ².

    a_j are the coefficients of feature j in all outputs and σ_j is its standard deviation: the shares of the
    variance of the prediction if features were uncorrelated.
    """
    estimator = fitted_model(model).estimator
    importances = np.delete(estimator.feature_importances_, estimator._roles.apart)
    squares = (importances * estimator.feature_scale_).astype(float) ** 2
    return squares / max(squares.sum(), np.finfo(float).tiny)


def _absent(samples: Study, empty: Any, weight: float) -> str:
    """Return a sentence about the features at the positions `empty`, which have this share of the weight."""
    absent = samples.gaps is not None and len(samples.gaps.absent) == len(empty)
    what = "absent" if absent else "absent or empty"
    are, carry = ("is", "carries") if len(empty) == 1 else ("are", "carry")
    share = "less than 1" if weight < 0.005 else "more than 99" if weight > 0.995 else f"{100 * weight:.0f}"
    return (
        f"{len(empty)} of the model's {samples.n_features} features {are} {what}, which {carry} {share} % of "
        "the prediction's weight"
    )


def _check_completes(loaded: Saved, samples: Study) -> None:
    """Raise a UserError if the model cannot complete missing values."""
    pipeline = loaded.model
    estimator = fitted_model(pipeline).estimator
    if issparse(samples.design):
        why = "of a sparse table"
    elif "imputer" in pipeline.named_steps or estimator.impute is not None:
        return
    elif hasattr(estimator, "feature_mean_"):
        why = "fitted with --impute none"
    else:
        why = f"written by superfactor {loaded.about['versions']['superfactor']}"
    raise UserError(f"{samples.path}: values are missing, and a model {why} completes none; fit it again")
