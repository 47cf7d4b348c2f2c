"""A fitted model with all it takes to use it, in one file of the skops format.

skops stores plain data and names of types. A file is loaded only if every type in it is on skops'
own list of NumPy, SciPy and scikit-learn, or a class of this package; nothing else is imported or run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superfactor._files import replacing
from superfactor.cli.errors import UserError
from superfactor.tables.columns.confounders import coding

# 1 was that of superfactor 1.0: models without patterns, whose coef_ weighs the factors.
FORMAT = 2
_KEYS = {"superfactor_model", "estimator", "metadata"}
# What `predict` and `report` look up.
_NEEDED = {
    *("versions", "command", "table", "target", "id", "log2", "features", "covariates", "classes"),
    *("seed", "search", "training_ids", "training_rows", "training_checksum"),
    *("rotation", "positive", "by", "groups", "out_of_fold", "stable_features", "nearness", "verdict"),
}


@dataclass(frozen=True)
class ModelFile:
    """What a file holds.

    Attributes
    ----------
    estimator : Pipeline that ends in an SMFClassifier
    metadata : dict of plain values; `superfactor.cli.record.metadata` lists them
    """

    estimator: Any
    metadata: dict[str, Any]


def save(path: Path, estimator: Any, metadata: dict[str, Any]) -> None:
    """Write a model, complete or not at all."""
    skops_io = _skops()
    content = {"superfactor_model": FORMAT, "estimator": estimator, "metadata": metadata}
    with replacing(path) as temporary:
        skops_io.dump(content, temporary)


def load(path: Path) -> ModelFile:
    """Read a model; anything else is a UserError, and nothing of it is run."""
    with open(path, "rb"):  # a missing file is an OSError of the usual kind
        pass
    _check_format(path)
    skops_io = _skops()
    try:
        wanted = skops_io.get_untrusted_types(file=path)
        foreign = [name for name in wanted if not _is_ours(name)]
        content = None if foreign else skops_io.load(path, trusted=wanted)
    except Exception as error:  # the many ways in which a file can be something else
        raise UserError(
            f"{path}: not a superfactor model ({_reason(error)}); a file that superfactor fit wrote is "
            "required"
        ) from error
    if foreign:
        raise UserError(
            f"{path}: not loaded, since it holds types that are not superfactor's: "
            f"{', '.join(foreign[:3])}; a file that superfactor fit wrote is required"
        )
    return _checked(path, content)


def _check_format(path: Path) -> None:
    """Refuse models of other versions, before classes are looked for that have changed since.

    A skops archive says in plain JSON what is in it. Whatever is no such file is refused later.
    """
    import json
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            parts = json.loads(archive.read("schema.json"))["content"]
        number = json.loads(parts["superfactor_model"]["content"])
        about = parts["metadata"]["content"]
    except (OSError, ValueError, LookupError, TypeError, zipfile.BadZipFile):
        return
    if number == FORMAT:
        return
    try:
        version = f"superfactor {json.loads(about['versions']['content']['superfactor']['content'])}"
    except (ValueError, LookupError, TypeError):
        version = "another superfactor"
    lacks = "without the correlations of features and factors" if number == 1 else "in another way"
    raise UserError(
        f"{path}: saved by {version}, {lacks} (format {number!r}; this version reads {FORMAT}); "
        "fit again with superfactor fit"
    )


class _NoTorch:
    """A finder of modules, asked before all others: there is no PyTorch."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == "torch":
            raise ModuleNotFoundError(name, name=name)


def _skops() -> Any:
    """skops.io, imported without PyTorch.

    skops lists all estimators of scikit-learn, and to find them imports every package in it, also the one
    that adapts PyTorch, where that is installed: two seconds for nothing.
    """
    import sys

    sys.meta_path.insert(0, _NoTorch)
    try:
        import skops.io
    finally:
        sys.meta_path.remove(_NoTorch)
    return skops.io


def _checked(path: Path, content: Any) -> ModelFile:
    from sklearn.pipeline import Pipeline

    from superfactor.estimators import SMFClassifier

    if not isinstance(content, dict) or set(content) != _KEYS:
        raise UserError(
            f"{path}: a skops file, but not a superfactor model; one that superfactor fit wrote is required"
        )
    estimator = content["estimator"]
    if not isinstance(estimator, Pipeline) or not isinstance(estimator[-1], SMFClassifier):
        raise UserError(
            f"{path}: not a superfactor model ({type(estimator).__name__} inside); a file that superfactor "
            "fit wrote is required"
        )
    if not isinstance(content["metadata"], dict) or not set(content["metadata"]) >= _NEEDED:
        raise UserError(
            f"{path}: not a complete superfactor model (its description is missing): fit it again"
        )
    names = getattr(estimator[-1], "column_names_", None)
    if names is not None:
        # Confounders leave X on the way to the model.
        beside = coding(content["metadata"].get("confounders", {})).column_names
        _name_columns(estimator[0], [*names.tolist(), *beside])
    return ModelFile(estimator, content["metadata"])


def _name_columns(step: Any, names: list[str]) -> None:
    """Have the first step of a pipeline compare the columns of a DataFrame with these names.

    Not before the file is written: scikit-learn keeps names as objects, which take skops ten times as long
    as all the rest of a model. A table without rows has the names as well.
    """
    import numpy as np
    import pandas as pd
    from sklearn.utils.validation import validate_data

    empty = pd.DataFrame(np.empty((0, len(names))), columns=names)
    validate_data(step, empty, reset=True, skip_check_array=True)


def _is_ours(name: str) -> bool:
    """Is this a class that one of our own modules defines? Importing those does no harm."""
    from importlib import import_module

    module, _, attribute = name.rpartition(".")
    if not module.startswith("superfactor."):
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module


def _reason(error: Exception) -> str:
    first = str(error).strip().splitlines()
    return first[0] if first else type(error).__name__
