"""Save a fitted model to disk with a record of how it was made, and load it.

Files have the skops format, which stores plain data and names of types. A file is loaded only if each of its
types is on skops' list for NumPy, SciPy and scikit-learn, or is one of `CLASSES`. Nothing else is imported or
run, and sizes are checked before anything is allocated.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import superfactor
from superfactor import _model_files
from superfactor._extras import needed_for
from superfactor._files import replacing

__all__ = ["ModelFileError", "OtherFormatError", "Saved", "load", "read", "save", "versions"]

# Format 1 is that of superfactor 1.0: no patterns, and coef_ holds the coefficients of the factors.
FORMAT = 2
_LONGEST_LINE = 150
_KEYS = {"superfactor_model", "estimator", "metadata"}

#: Our classes that a model file may hold. None of them opens a file or calls what the file names. A new
#: estimator is listed here, with all that it keeps; `save` refuses models with other classes.
CLASSES = frozenset(
    f"superfactor.{name}"
    for name in (
        "constraints.sets.Box",
        "constraints.sets.FrobeniusBall",
        "constraints.sets.NonNegative",
        "constraints.sets.Product",
        "constraints.sets.WholeSpace",
        "estimators.classifier.SMFClassifier",
        "estimators.covariates.encoder.CovariateEncoder",
        "estimators.covariates.indicators.IndicatorColumns",
        "estimators.covariates.roles.ColumnRoles",
        "estimators.mixed.SMFMixed",
        "estimators.regressor.SMFRegressor",
        "estimators.survival.SMFSurvival",
        "estimators.targets.mixed.ClassesPart",
        "estimators.targets.mixed.CountPart",
        "estimators.targets.mixed.NumberPart",
        "estimators.targets.mixed.TimesPart",
        "losses.classes.links.Logistic",
        "losses.classes.links.Probit",
        "losses.classes.multinomial.Multinomial",
        "losses.flags.FlagsLoss",
        "losses.poisson.PoissonLoss",
        "losses.side_by_side.Part",
        "losses.side_by_side.SideBySide",
        "losses.squared.SquaredError",
        "losses.survival.anchored.Anchored",
        "losses.survival.cox.CoxPartialLikelihood",
        "losses.survival.risk_sets.RiskSets",
        "models.coding.FeatureCoding",
        "models.coding.FilterCoding",
        "outcomes.classes.Classes",
        "outcomes.counts.Counts",
        "outcomes.flags.Flags",
        "outcomes.numbers.Numbers",
        "outcomes.times.Times",
        "preprocessing.blocks.BlockScaler",
        "preprocessing.completion.FillingFactors",
        "preprocessing.confounders.Adjuster",
        "preprocessing.low_rank.LowRankImputer",
        "preprocessing.scaling.ColumnScaler",
        "selection.rank.Scree",
        "selection.search.base.OwnScore",
        "selection.search.classifier.SMFClassifierCV",
        "selection.search.regressor.SMFRegressorCV",
        "selection.search.survival.SMFSurvivalCV",
        "theory.certificate.Certificate",
        "theory.constants.TheoremConstants",
    )
)

#: Present names of classes by the names in older files. A class that moves, or is replaced by another that
#: reads its state (``__setstate__``), is entered here.
MOVED: dict[str, str] = {
    "superfactor.losses.links.Logistic": "superfactor.losses.classes.links.Logistic",
    "superfactor.losses.links.Probit": "superfactor.losses.classes.links.Probit",
    "superfactor.losses.multinomial.Multinomial": "superfactor.losses.classes.multinomial.Multinomial",
}


class ModelFileError(ValueError):
    """Raised for a file that is not a superfactor model, or that is not safe to load.

    Parameters
    ----------
    reason : str
        What is wrong with the file.
    advice : str, default=""
        Advice for Python, which follows the reason in the message.

    Attributes
    ----------
    reason : str
        The message without advice for Python.

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

    def __init__(self, reason: str, advice: str = ""):
        super().__init__(reason + advice)
        self.reason = reason


class OtherFormatError(ModelFileError):
    """Raised for a model that another version of superfactor saved in another format. Fit it again.

    Parameters
    ----------
    reason, advice : str
        As for `ModelFileError`.

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
    name = type(model).__name__
    if not _is_model(model):
        raise TypeError(
            f"model={name}: an estimator or a search of superfactor is required, or a Pipeline that "
            "ends in one"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"versions": versions(), "date": now, **(about or {})}
    with replacing(Path(path)) as temporary:
        try:
            skops_io.dump({"superfactor_model": FORMAT, "estimator": model, "metadata": record}, temporary)
        except (TypeError, ValueError) as error:
            raise TypeError(f"model={name}: not saved: a file cannot hold all of it ({error})") from error
        with open(temporary, "rb") as file:
            try:
                _nodes(_model_files.read_schema(file))
            except _model_files.Refused as error:  # `load` would refuse the file
                raise TypeError(
                    f"model={name}: not saved: {error}, which superfactor.load would refuse; "
                    "replace it, or use joblib"
                ) from error


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Load the model in a file written by `save` or ``superfactor fit``.

    Nothing in the file is run. ``superfactor.saving.read(path).about`` returns its record.

    Parameters
    ----------
    path : str or path
    max_bytes : int, optional
        Most bytes that the content of the file may take. By default it is the larger of 1 GB and 100 times
        the size of the file.

    Returns
    -------
    model
        As it was saved; its predictions are bit-identical. From ``superfactor fit``, a Pipeline. Parameters
        that name a file or a folder for a later fit (``checkpoint``, ``memory``) are None.

    Raises
    ------
    ModelFileError
        If the file is not a model, contains types that are not of superfactor, NumPy, SciPy or scikit-learn,
        or is much larger than its size on disk.

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
    return read(path, max_bytes=max_bytes).model


def read(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Saved:
    """Load the model in a file together with its record.

    Parameters
    ----------
    path : str or path
    max_bytes : int, optional
        As for `load`.

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
    try:
        with _model_files.opened(path) as file:
            return _read(file, path, max_bytes)
    except (ModelFileError, OSError, MemoryError):
        raise
    except _model_files.TooLarge as error:
        advice = "; max_bytes= allows more, for a file from someone you trust"
        raise ModelFileError(f"{path}: not loaded: {_line(error)}", advice) from error
    except _model_files.Refused as error:
        raise ModelFileError(f"{path}: not loaded: {_line(error)}") from error
    except Exception as error:  # a file that is not a model can fail in many ways
        raise ModelFileError(f"{path}: not a superfactor model ({_line(error)})") from error


def _read(file: Any, path: Path, max_bytes: int | None) -> Saved:
    schema = _model_files.read_schema(file, max_bytes)
    _check_format(schema, path)
    nodes = _nodes(schema)
    parts = schema.get("content")
    if not isinstance(parts, dict) or set(parts) != _KEYS or parts["metadata"]["__loader__"] != "DictNode":
        raise ModelFileError(f"{path}: a skops file, but not a superfactor model")
    _model_files.check_arrays(file, nodes.arrays)
    source = _model_files.rewritten(file, schema, nodes.arrays) if nodes.changed else file
    content = _import_skops().load(source, trusted=[*sorted(nodes.classes), "numpy.dtype"])
    model, about = content["estimator"], content["metadata"]
    if not _is_model(model):
        raise ModelFileError(f"{path}: not a superfactor model ({type(model).__name__} inside)")
    if "columns" in about and not hasattr(model, "feature_names_in_"):
        _name_columns(model, about["columns"])
    return Saved(model, about)


def _line(error: Exception) -> str:
    """Return an error in one line; its names may come from the file."""
    line = (str(error).strip().splitlines() or [""])[0] or type(error).__name__
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _nodes(schema: dict[str, Any]) -> _model_files.Nodes:
    """Return what a description names, if all of it may be built."""
    nodes = _model_files.Nodes(schema, CLASSES, MOVED)
    foreign = nodes.foreign
    if not foreign:
        hollow = _model_files.hollow(nodes.others, schema["protocol"])
        foreign = set(_import_skops().get_untrusted_types(data=hollow))
    if foreign:
        names = ", ".join(sorted(foreign)[:3])
        raise _model_files.Refused(f"it contains types that are not superfactor's: {names}")
    return nodes


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


def _check_format(schema: dict[str, Any], path: Path) -> None:
    """Refuse models of other formats before looking up classes that may have changed.

    Descriptions of other things are refused later.
    """
    try:
        parts = schema["content"]
        number = json.loads(parts["superfactor_model"]["content"])
        about = parts["metadata"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return
    if number == FORMAT:
        return
    try:
        writer = f"superfactor {json.loads(about['versions']['content']['superfactor']['content'])}"
    except (ValueError, LookupError, TypeError, RecursionError):
        writer = "another superfactor"
    lacks = "without the correlations of features and factors" if number == 1 else "in another way"
    raise OtherFormatError(
        f"{path}: saved by {writer}, {lacks} (format {number!r}; this version reads {FORMAT})"
    )
