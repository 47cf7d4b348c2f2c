"""Convert a fitted estimator to a plain dictionary, and back."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from superfactor import losses
from superfactor._arrays import NumpyArray
from superfactor.estimators.classifier import SMFClassifier
from superfactor.estimators.covariates import ColumnRoles, CovariateEncoder
from superfactor.estimators.regressor import SMFRegressor
from superfactor.estimators.survival import SMFSurvival
from superfactor.models.coding import FeatureCoding, FilterCoding

# Parameters on which predictions depend, if the estimator has them.
_PARAMETERS = ("n_components", "model", "link", "loss", "fit_intercept", "prediction")
_ARRAYS = (
    *("components_", "factor_coef_", "intercept_", "covariate_coef_"),
    # Attributes that describe the factors.
    *(
        "patterns_",
        "score_mean_",
        "score_covariance_",
        "feature_scale_",
        "factor_turn_",
        "factor_contribution_",
    ),
)
# Losses without arguments; others follow from the link.
_LOSSES = ("SquaredError", "PoissonLoss", "FlagsLoss")
_ESTIMATORS = {kind.__name__: kind for kind in (SMFClassifier, SMFRegressor, SMFSurvival)}


def to_record(estimator: Any) -> dict[str, Any]:
    """Return the data for predictions and factors as arrays, numbers and strings, without codes."""
    coding, given = estimator._coding, estimator.get_params()
    record: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "features": _words(estimator.component_names_),
        "parameters": {name: given[name] for name in _PARAMETERS if name in given},
        "arrays": {name.rstrip("_"): np.asarray(getattr(estimator, name)) for name in _ARRAYS},
        "loss": type(estimator._loss).__name__,
        # In the filter model the coding is W, which is stored already.
        "coding": asdict(coding) if isinstance(coding, FeatureCoding) else {},
        "encoder": json.dumps(asdict(estimator._roles.words_beside)),
        "covariates": _words(estimator._roles.beside or ()),
    }
    if isinstance(estimator, SMFClassifier):
        record["classes"] = _names(estimator.classes_)
        record["class_count"] = np.asarray(estimator.class_count_)
    if isinstance(estimator, SMFRegressor):
        record["flat"] = bool(estimator._flat)
    if isinstance(estimator, SMFSurvival):
        times, baseline = estimator._curve
        record["curve"] = {"times": np.asarray(times), "log_baseline": np.asarray(baseline)}
        if estimator.strata_ is not None:
            record["curve"]["strata"] = _names(estimator.strata_)
    return record


def from_record(record: dict[str, Any], unlabeled: Any = None) -> Any:
    """Return the fitted estimator of a record of `to_record`, without codes.

    Records of version 1.0 do not name the estimator; they are of classifiers.
    """
    given = record["parameters"]
    parameters = {name: _plain(given[name]) for name in _PARAMETERS if name in given}
    estimator = _ESTIMATORS[str(record.get("estimator", "SMFClassifier"))](**parameters)
    for name in _ARRAYS:
        setattr(estimator, name, np.asarray(record["arrays"][name.rstrip("_")]))
    estimator.codes_ = np.zeros((0, len(estimator.components_)))
    estimator.n_features_in_ = len(record["features"])
    estimator.component_names_ = _words(record["features"])
    names = [str(name) for name in record["covariates"]]
    encoder = _encoder(json.loads(record["encoder"]))
    estimator._roles = ColumnRoles([], len(names), names or None, words_beside=encoder)
    if isinstance(estimator, SMFSurvival):
        kept = record["curve"]
        estimator._curve = np.asarray(kept["times"]), np.asarray(kept["log_baseline"])
        if "strata" in kept:  # strings sort as text, objects do not
            strata = np.asarray(kept["strata"])
            estimator._strata = strata.astype(str) if strata.dtype.kind == "O" else strata
    else:
        estimator.unlabeled = _plain(unlabeled)
        _restore_targets(estimator, record)
    if parameters["model"] == "filter":
        estimator._coding = FilterCoding(estimator.components_.T)
    else:
        kept = {field.name: record["coding"][field.name] for field in fields(FeatureCoding)}
        estimator._coding = FeatureCoding(**kept)
    return estimator


def _restore_targets(estimator: Any, record: dict[str, Any]) -> None:
    """Restore attributes of y and the loss, which predictions need."""
    if isinstance(estimator, SMFRegressor):
        estimator._flat = bool(record["flat"])
    else:
        estimator.classes_ = np.asarray(record["classes"])
        estimator.class_count_ = [float(count) for count in record["class_count"]]
    name = str(record.get("loss", ""))
    if name in _LOSSES:
        estimator._loss = getattr(losses, name)()
    else:
        estimator._loss = losses.resolve_link(estimator.link, len(estimator.classes_) - 1)


def _encoder(stored: dict[str, Any]) -> CovariateEncoder:
    """Return the encoder from JSON, which has converted integer keys to strings and tuples to lists."""

    def restored(kept: Any) -> Any:
        if isinstance(kept, dict):
            return {int(j): value for j, value in kept.items()}
        return tuple(kept) if isinstance(kept, list) else kept

    return CovariateEncoder(**{name: restored(kept) for name, kept in stored.items()})


def _names(values: NumpyArray) -> NumpyArray:
    """Return numbers unchanged, other values as strings."""
    return values if values.dtype.kind in "biuf" else _words(values)


def _words(values: Any) -> NumpyArray:
    return np.asarray([str(value) for value in values], dtype=object)


def _plain(value: Any) -> Any:
    """Return a NumPy scalar, as read from a file, as a Python scalar."""
    return value.item() if isinstance(value, np.generic) else value
