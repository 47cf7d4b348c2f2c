"""The record that `tl.smf` writes to ``uns``: plain values that an .h5ad file can store."""

from __future__ import annotations

from ast import literal_eval
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from numbers import Real
from typing import Any

import numpy as np

from superfactor import __version__
from superfactor._model_files import PATHS, Refused, check_plain
from superfactor.estimators.fitted.record import from_record, to_record
from superfactor.interpretation import FactorView, factor_view
from superfactor.interpretation.roles import roles

# Parts of the model that are stored at the top level, for users to read.
_OF_CLASSES = ("classes", "class_count")
# Most characters of a parameter that is parsed.
_LONGEST = 10_000


def write_model(estimator: Any, view: FactorView, genes: Any, scales: Any) -> dict[str, Any]:
    """Return results for users, and under "model" the data for predictions; arrays, numbers, strings only."""
    model = to_record(estimator)
    found: dict[str, Any] = {
        **{name: model.pop(name) for name in _OF_CLASSES if name in model},
        "effects": {"outputs": _words(view.outputs), "coef": view.coef},
        "intercept": np.asarray(estimator.intercept_),
        "variance_ratio": view.share,
        "contribution": view.contribution,
        "roles": _words(roles(view)),
        "objective": float(estimator.objective_),
        "xi": float(estimator.xi_),
        "lam": float(estimator.lam_),
        "n_iter": int(estimator.n_iter_),
        "n_labeled": int(estimator.n_labeled_),
        "covariates": {
            "names": _words(estimator.covariate_names_),
            "coef": np.asarray(estimator.covariate_coef_),
        },
        "versions": {"superfactor": __version__, "numpy": version("numpy"), "anndata": version("anndata")},
    }
    if estimator.certificate_ is not None:
        proof = vars(estimator.certificate_)
        found["certificate"] = {name: value for name, value in proof.items() if isinstance(value, Real | str)}
    del model["features"]  # they are genes here
    own = {"genes": _words(genes), "scales": np.asarray(scales), "turn": view.turn, "center": view.center}
    return found | {"model": own | model}


def read_model(found: dict[str, Any]) -> Any:
    """Return the estimator that `write_model` stored, without the codes of the training cells."""
    kept = found["model"]
    whole = {**kept, "features": kept["genes"]} | {name: found[name] for name in _OF_CLASSES if name in found}
    return from_record(whole, found["params"].get("unlabeled"))


def read_view(found: dict[str, Any], names: Any, scores: Any) -> FactorView:
    """Return the view of the stored factors, given names of the genes and scores (cells, r)."""
    rotation = found["params"].get("rotation")
    view = factor_view(read_model(found), rotation=None if rotation is None else str(rotation))
    codes = scores @ np.linalg.pinv(view.turn) + view.center
    source = None if view.source is None else replace(view.source, codes=codes)
    return replace(view, features=_words(names), scores=scores, source=source)


def check_record(found: dict[str, Any], place: str) -> None:
    """Raise a ValueError for what is no plain record of `tl.smf`, or is one of version 1.0.

    Those of version 1.0 have no data for correlations.
    """
    try:
        check_plain(found)
    except Refused as error:
        raise ValueError(f"{place}: not read: {error}") from error
    if not all(isinstance(found.get(name), dict) for name in ("model", "params")):
        raise ValueError(f"{place}: no record of superfactor.anndata.tl.smf")
    if "factor_coef" not in found["model"].get("arrays", ()):
        version = found.get("versions", {}).get("superfactor", "an older version")
        raise ValueError(
            f"{place}: superfactor {version} wrote it, without the correlations of the genes; call "
            "superfactor.anndata.tl.smf again"
        )


def storable_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of a call as a file can store them: numbers, strings, ``repr`` of others, no None."""
    return {
        name: value if isinstance(value, Real | str | bool | np.ndarray) else repr(value)
        for name, value in parameters.items()
        if value is not None
    }


def given_parameters(found: dict[str, Any]) -> dict[str, Any]:
    """Return the original parameters from those of `storable_parameters`, as far as Python can parse them.

    Parameters that name a file are left out: another fit would read or write it.
    """
    given = {}
    for name, value in found["params"].items():
        if isinstance(value, np.generic):
            value = value.item()
        if name in PATHS:
            continue
        if isinstance(value, str) and len(value) < _LONGEST:
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # a plain string
                value = literal_eval(value)
        given[name] = value
    return given


def _words(values: Any) -> np.ndarray:
    return np.asarray([str(value) for value in values], dtype=object)
