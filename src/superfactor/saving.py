"""Save a fitted model to disk with a record of how it was made, and load it.

Files have the skops format, which stores plain data and names of types. A file is loaded only if each of its
types is on skops' list for NumPy, SciPy and scikit-learn, or is a class of this package. Nothing else is
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

# Format 1 is that of superfactor 1.0: no patterns, and coef_ holds the coefficients of the factors.
FORMAT = 2
_KEYS = {"superfactor_model", "estimator", "metadata"}


class ModelFileError(ValueError):
    """Raised for a file that is not a superfactor model, or that contains foreign types.

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
    """Raised for a model that another version of superfactor saved in another format. Fit it again.

    Examples
    --------
    >>> from superfactor.saving import ModelFileError, OtherFormatError
    >>> issubclass(OtherFormatError, ModelFileError)
    True
    """


@dataclass(frozen=True)
class Saved:
    """Content of a model file.

    Attributes
    ----------
    model : the fitted model
    about : dict
        The record: ``versions``, ``date``, and what was passed to `save` as `about`.

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
    """Write a fitted model to a file. The file is either complete or not written.

    Parameters
    ----------
    model : estimator, search or Pipeline
        Fitted; an estimator or a search of superfactor, or a scikit-learn Pipeline that ends in one. Its
        steps are of superfactor or scikit-learn; functions and classes from elsewhere are refused.
    path : str or path
        Usually ends in ``.skops``.
    about : dict, optional
        What to store with the model, such as the source of the samples and their processing. Plain values
        and NumPy arrays. Library versions and the date are always stored. ``"columns"``, the names of the
        columns of X, are given to the loaded model if it was fitted without names.

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
        foreign = _foreign(skops_io.get_untrusted_types(file=temporary))
        if foreign:  # `load` would refuse the file
            raise TypeError(
                f"model={type(model).__name__}: not saved: it contains {', '.join(foreign[:3])}, which "
                "superfactor.load would refuse; replace it, or use joblib"
            )


def load(path: str | os.PathLike[str]) -> Any:
    """Load the model in a file written by `save` or ``superfactor fit``.

    Nothing in the file is run. ``superfactor.saving.read(path).about`` returns its record.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model
        As it was saved; its predictions are bit-identical. From ``superfactor fit``, a Pipeline.

    Raises
    ------
    ModelFileError
        If the file is not a model, or contains types that are not of superfactor, NumPy, SciPy or
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
    """Load the model in a file together with its record.

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
    with open(path, "rb"):  # raise the usual OSError if the file is missing
        pass
    _check_format(path)
    skops_io = _import_skops()
    try:
        wanted = skops_io.get_untrusted_types(file=path)
        foreign = _foreign(wanted)
        content = None if foreign else skops_io.load(path, trusted=wanted)
    except Exception as error:  # a file that is not a model can fail in many ways
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelFileError(f"{path}: not a superfactor model ({reason})") from error
    if foreign:
        raise ModelFileError(
            f"{path}: not loaded: it contains types that are not superfactor's: {', '.join(foreign[:3])}"
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
    """Return the versions of this package and of its main dependencies.

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
    """Fail early, before a long fit, if models cannot be saved.

    This does not import skops.io, which imports every optional library of scikit-learn: 200 MB with PyTorch.
    """
    with needed_for("files of models", "cli"):
        import skops  # noqa: F401


def _import_skops() -> Any:
    with needed_for("files of models", "cli"):
        import skops.io
    return skops.io


def _foreign(names: list[str]) -> list[str]:
    """Return the types that `load` does not trust."""
    return [name for name in names if not _is_ours(name)]


def _is_model(model: Any) -> bool:
    from sklearn.pipeline import Pipeline

    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return type(last).__module__.startswith("superfactor.") and hasattr(last, "predict")


def _name_columns(model: Any, names: Any) -> None:
    """Set the feature names of a model, so that it checks the columns of a DataFrame.

    Names are set through an empty table. Stored in the file as objects they would slow skops down tenfold.
    """
    import numpy as np
    import pandas as pd
    from sklearn.utils.validation import validate_data

    first = model.steps[0][1] if hasattr(model, "steps") else model
    empty = pd.DataFrame(np.empty((0, len(names))), columns=[str(name) for name in names])
    validate_data(first, empty, reset=True, skip_check_array=True)


def _check_format(path: Path) -> None:
    """Refuse models of other formats before looking up classes that may have changed.

    A skops archive describes its content in plain JSON. Files of other kinds are refused later.
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
    """Return whether one of our modules defines this class. Importing our own modules is safe."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith("superfactor."):
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module
