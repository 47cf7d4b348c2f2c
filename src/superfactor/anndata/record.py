"""A fitted model as a plain dictionary that an .h5ad file holds, and the model of such a dictionary."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from numbers import Real
from typing import Any

import numpy as np

from superfactor import __version__
from superfactor.estimators import SMFClassifier
from superfactor.estimators.covariates import ColumnRoles, CovariateEncoder
from superfactor.interpretation import FactorView, factor_view
from superfactor.interpretation.roles import roles
from superfactor.losses import resolve_link
from superfactor.models.coding import FeatureCoding, FilterCoding

# What predicting depends on, beside arrays.
_PARAMETERS = ("n_components", "model", "link", "fit_intercept", "prediction")
_ARRAYS = (
    "components_",
    "factor_coef_",
    "intercept_",
    "covariate_coef_",
    # What describes the factors.
    "patterns_",
    "score_mean_",
    "score_covariance_",
    "feature_scale_",
    "factor_turn_",
    "factor_contribution_",
)


def write_model(estimator: SMFClassifier, view: FactorView, genes: Any, scales: Any) -> dict[str, Any]:
    """What is to be read, and under "model" what predicting needs; arrays, numbers and words only."""
    effects = {"outputs": _words(view.outputs), "coef": view.coef}
    found: dict[str, Any] = {
        "classes": _storable(estimator.classes_),
        "class_count": np.asarray(estimator.class_count_),
        "effects": effects,
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
        found["certificate"] = {
            name: value
            for name, value in vars(estimator.certificate_).items()
            if isinstance(value, Real | str)
        }
    coding = estimator._coding
    found["model"] = {
        "genes": _words(genes),
        "scales": np.asarray(scales),
        "turn": view.turn,
        "center": view.center,
        "parameters": {name: getattr(estimator, name) for name in _PARAMETERS},
        "arrays": {name.rstrip("_"): np.asarray(getattr(estimator, name)) for name in _ARRAYS},
        # Of the filter model it is W, which is there already.
        "coding": asdict(coding) if isinstance(coding, FeatureCoding) else {},
        "encoder": json.dumps(asdict(estimator._roles.words_beside)),
        "covariates": _words(estimator._roles.beside or ()),
    }
    return found


def read_model(found: dict[str, Any]) -> SMFClassifier:
    """The estimator that `write_model` wrote, without the codes of the cells it was fitted to."""
    kept = found["model"]
    parameters = {name: _plain(kept["parameters"][name]) for name in _PARAMETERS}
    estimator = SMFClassifier(**parameters)
    for name in _ARRAYS:
        setattr(estimator, name, np.asarray(kept["arrays"][name.rstrip("_")]))
    estimator.unlabeled = _plain(found["params"].get("unlabeled"))
    estimator.classes_ = np.asarray(found["classes"])
    estimator.class_count_ = [float(count) for count in found["class_count"]]
    estimator.codes_ = np.zeros((0, len(estimator.components_)))
    estimator.n_features_in_ = len(kept["genes"])
    estimator.component_names_ = _words(kept["genes"])
    names = [str(name) for name in kept["covariates"]]
    encoder = _encoder(json.loads(kept["encoder"]))
    estimator._roles = ColumnRoles([], len(names), names or None, words_beside=encoder)
    estimator._loss = resolve_link(parameters["link"], len(estimator.classes_) - 1)
    if parameters["model"] == "filter":
        estimator._coding = FilterCoding(estimator.components_.T)
    else:
        coding = {field.name: kept["coding"][field.name] for field in fields(FeatureCoding)}
        estimator._coding = FeatureCoding(**coding)
    return estimator


def read_view(found: dict[str, Any], names: Any, scores: Any) -> FactorView:
    """The view of the factors that `write_model` wrote.

    Parameters
    ----------
    found : what it gave
    names : of the genes of the model
    scores : (cells, factors) of some cells
    """
    rotation = found["params"].get("rotation")
    view = factor_view(read_model(found), rotation=None if rotation is None else str(rotation))
    codes = scores @ np.linalg.pinv(view.turn) + view.center
    source = None if view.source is None else replace(view.source, codes=codes)
    return replace(view, features=_words(names), scores=scores, source=source)


def check_age(found: dict[str, Any], place: str) -> None:
    """Version 1.0 kept weights, and neither correlations nor what they take."""
    if "factor_coef" not in found["model"]["arrays"]:
        version = found.get("versions", {}).get("superfactor", "an older version")
        raise ValueError(
            f"{place}: superfactor {version} wrote it, without the correlations of the genes; "
            "superfactor.anndata.tl.smf has to fit again"
        )


def _encoder(stored: dict[str, Any]) -> CovariateEncoder:
    """JSON has made words of the positions that are keys, and lists of tuples."""

    def restored(kept: Any) -> Any:
        if isinstance(kept, dict):
            return {int(j): value for j, value in kept.items()}
        return tuple(kept) if isinstance(kept, list) else kept

    return CovariateEncoder(**{name: restored(kept) for name, kept in stored.items()})


def storable_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a call as a file holds them: numbers and words, others as they are written, no None."""
    return {
        name: value if isinstance(value, Real | str | bool | np.ndarray) else repr(value)
        for name, value in parameters.items()
        if value is not None
    }


def _words(values: Any) -> np.ndarray:
    return np.asarray([str(value) for value in values], dtype=object)


def _storable(classes: np.ndarray) -> np.ndarray:
    return classes if classes.dtype.kind in "biuf" else _words(classes)


def _plain(value: Any) -> Any:
    """A NumPy number, as files give it back, as Python's."""
    return value.item() if isinstance(value, np.generic) else value
