"""A fitted model on disk, with a record of how it came about.

Files are of the skops format, which stores plain data and names of types. One is loaded only if every type
in it is on skops' own list of NumPy, SciPy and scikit-learn, or a class of this package; nothing else is
imported or run.
"""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import superfactor
from superfactor._extras import needed_for
from superfactor._files import replacing

__all__ = ["ModelFileError", "OtherFormatError", "Saved", "load", "read", "save", "versions"]

# 1 was that of superfactor 1.0: models without patterns, whose coef_ weighs the factors.
FORMAT = 2
_KEYS = {"superfactor_model", "estimator", "metadata"}


class ModelFileError(ValueError):
    """A file that holds no model of superfactor, or things that do not belong into one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import superfactor
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.txt")
    >>> _ = path.write_text("no model")
    >>> try:
    ...     superfactor.load(path)
    ... except superfactor.saving.ModelFileError as error:
    ...     print(str(error).removeprefix(f"{path}: "))
    not a superfactor model (File is not a zip file)
    """


class OtherFormatError(ModelFileError):
    """A model that another version of superfactor has saved in another way: it has to be fitted again.

    Examples
    --------
    >>> from superfactor.saving import ModelFileError, OtherFormatError
    >>> issubclass(OtherFormatError, ModelFileError)
    True
    """


@dataclass(frozen=True)
class Saved:
    """What a file holds.

    Attributes
    ----------
    model : the fitted model
    about : dict
        The record: ``versions``, ``date``, and whatever `save` was told about the model.

    Examples
    --------
    >>> from superfactor import SMFClassifier
    >>> from superfactor.saving import Saved
    >>> Saved(SMFClassifier(2), {"table": "cells.csv"}).about["table"]
    'cells.csv'
    """

    model: Any
    about: dict[str, Any]


def save(model: Any, path: str | os.PathLike[str], *, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file, complete or not at all.

    Parameters
    ----------
    model : estimator, search or Pipeline
        Fitted; an estimator or a search of superfactor, or a scikit-learn Pipeline that ends in one.
    path : str or path
        By convention ``.skops``.
    about : dict, optional
        What to remember besides: where the samples come from, what was done to them. Plain values and NumPy
        arrays. Versions of libraries and the date are written down in any case. ``"columns"``, names of the
        columns of X, are given to the model when it is loaded, if it was fitted without.

    Examples
    --------
    >>> import tempfile, os
    >>> import superfactor
    >>> from superfactor.datasets import load_t_cells
    >>> data = load_t_cells()
    >>> model = superfactor.SMFClassifier(2).fit(data.X, data.y)
    >>> path = os.path.join(tempfile.mkdtemp(), "cells.skops")
    >>> superfactor.save(model, path, about={"samples": "T cells of one donor"})
    >>> bool((superfactor.load(path).predict(data.X) == model.predict(data.X)).all())
    True
    """
    skops_io = _import_skops()
    if not _is_model(model):
        raise TypeError(
            f"model={type(model).__name__}: an estimator or a search of superfactor is required, or a "
            "Pipeline that ends in one"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"versions": versions(), "date": now, **(about or {})}
    with replacing(Path(path)) as temporary:
        skops_io.dump({"superfactor_model": FORMAT, "estimator": model, "metadata": record}, temporary)


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` or ``superfactor fit`` wrote.

    Nothing in the file is run. Its record is in ``superfactor.saving.read(path).about``.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model
        As it was saved; predictions are the same to the last bit. Of ``superfactor fit`` a Pipeline.

    Raises
    ------
    ModelFileError
        Where the file is something else, or holds types that are not of superfactor, NumPy, SciPy or
        scikit-learn.

    Examples
    --------
    >>> import tempfile, os
    >>> import superfactor
    >>> from superfactor.datasets import load_t_cells
    >>> data = load_t_cells()
    >>> path = os.path.join(tempfile.mkdtemp(), "cells.skops")
    >>> superfactor.save(superfactor.SMFClassifier(2).fit(data.X, data.y), path)
    >>> superfactor.load(path)
    SMFClassifier()
    """
    return read(path).model


def read(path: str | os.PathLike[str]) -> Saved:
    """The model in a file, and its record.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Saved
        ``model`` and ``about``.

    Examples
    --------
    >>> import tempfile, os
    >>> import superfactor
    >>> from superfactor.datasets import load_t_cells
    >>> data = load_t_cells()
    >>> path = os.path.join(tempfile.mkdtemp(), "cells.skops")
    >>> model = superfactor.SMFClassifier(2).fit(data.X, data.y)
    >>> superfactor.save(model, path, about={"samples": "T cells"})
    >>> saved = superfactor.saving.read(path)
    >>> saved.about["samples"], sorted(saved.about["versions"])[-1]
    ('T cells', 'superfactor')
    """
    path = Path(path)
    with open(path, "rb"):  # a missing file is an OSError of the usual kind
        pass
    _check_format(path)
    skops_io = _import_skops()
    try:
        wanted = skops_io.get_untrusted_types(file=path)
        foreign = [name for name in wanted if not _is_ours(name)]
        content = None if foreign else skops_io.load(path, trusted=wanted)
    except Exception as error:  # the many ways in which a file can be something else
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelFileError(f"{path}: not a superfactor model ({reason})") from error
    if foreign:
        raise ModelFileError(
            f"{path}: not loaded, since it holds types that are not superfactor's: {', '.join(foreign[:3])}"
        )
    if not isinstance(content, dict) or set(content) != _KEYS or not isinstance(content["metadata"], dict):
        raise ModelFileError(f"{path}: a skops file, but not a superfactor model")
    model = content["estimator"]
    if not _is_model(model):
        raise ModelFileError(f"{path}: not a superfactor model ({type(model).__name__} inside)")
    about = content["metadata"]
    if "columns" in about and not hasattr(model, "feature_names_in_"):
        _name_columns(model, about["columns"])
    return Saved(model, about)


def versions() -> dict[str, str]:
    """Versions of this package and of those a model depends on.

    Returns
    -------
    dict
        By name.

    Examples
    --------
    >>> from superfactor.saving import versions
    >>> list(versions())
    ['superfactor', 'python', 'numpy', 'scipy', 'scikit-learn', 'skops']
    """
    own = {"superfactor": superfactor.__version__, "python": platform.python_version()}
    return own | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "skops")}


def check_skops() -> None:
    """Called before a long fit, this shows early that nothing could be saved.

    skops.io itself is for later: with it comes every library that scikit-learn knows of, 200 MB with PyTorch.
    """
    with needed_for("files of models", "cli"):
        import skops  # noqa: F401


def _import_skops() -> Any:
    with needed_for("files of models", "cli"):
        import skops.io
    return skops.io


def _is_model(model: Any) -> bool:
    from sklearn.pipeline import Pipeline

    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return type(last).__module__.startswith("superfactor.") and hasattr(last, "predict")


def _name_columns(model: Any, names: Any) -> None:
    """Have a model compare the columns of a DataFrame with these names.

    A table without rows has the names as well. In the file they would be objects, which take skops ten times
    as long as all the rest of a model.
    """
    import numpy as np
    import pandas as pd
    from sklearn.utils.validation import validate_data

    first = model.steps[0][1] if hasattr(model, "steps") else model
    empty = pd.DataFrame(np.empty((0, len(names))), columns=[str(name) for name in names])
    validate_data(first, empty, reset=True, skip_check_array=True)


def _check_format(path: Path) -> None:
    """Refuse models of other versions, before classes are looked for that have changed since.

    A skops archive says in plain JSON what is in it. Whatever is no such file is refused later.
    """
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
        writer = f"superfactor {json.loads(about['versions']['content']['superfactor']['content'])}"
    except (ValueError, LookupError, TypeError):
        writer = "another superfactor"
    lacks = "without the correlations of features and factors" if number == 1 else "in another way"
    raise OtherFormatError(
        f"{path}: saved by {writer}, {lacks} (format {number!r}; this version reads {FORMAT})"
    )


def _is_ours(name: str) -> bool:
    """Is this a class that one of our own modules defines? Importing those does no harm."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith("superfactor."):
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module
