"""A fitted classifier as a plain dictionary, and the classifier of such a dictionary."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from superfactor._arrays import NumpyArray
from superfactor.estimators.classifier import SMFClassifier
from superfactor.estimators.covariates import ColumnRoles, CovariateEncoder
from superfactor.losses import resolve_link
from superfactor.models.coding import FeatureCoding, FilterCoding

# What predicting depends on, beside arrays.
_PARAMETERS = ("n_components", "model", "link", "fit_intercept", "prediction")
_ARRAYS = (
    *("components_", "factor_coef_", "intercept_", "covariate_coef_"),
    # What describes the factors.
    *(
        "patterns_",
        "score_mean_",
        "score_covariance_",
        "feature_scale_",
        "factor_turn_",
        "factor_contribution_",
    ),
)


def to_record(estimator: SMFClassifier) -> dict[str, Any]:
    """What predicting and describing the factors take, as arrays, numbers and words; no codes of samples."""
    coding, classes = estimator._coding, estimator.classes_
    return {
        "classes": classes if classes.dtype.kind in "biuf" else _words(classes),
        "class_count": np.asarray(estimator.class_count_),
        "features": _words(estimator.component_names_),
        "parameters": {name: getattr(estimator, name) for name in _PARAMETERS},
        "arrays": {name.rstrip("_"): np.asarray(getattr(estimator, name)) for name in _ARRAYS},
        # Of the filter model it is W, which is there already.
        "coding": asdict(coding) if isinstance(coding, FeatureCoding) else {},
        "encoder": json.dumps(asdict(estimator._roles.words_beside)),
        "covariates": _words(estimator._roles.beside or ()),
    }


def from_record(record: dict[str, Any], unlabeled: Any = None) -> SMFClassifier:
    """The classifier that `to_record` was given, or a file that kept what it gave: fitted, without codes."""
    parameters = {name: _plain(record["parameters"][name]) for name in _PARAMETERS}
    estimator = SMFClassifier(**parameters, unlabeled=_plain(unlabeled))
    for name in _ARRAYS:
        setattr(estimator, name, np.asarray(record["arrays"][name.rstrip("_")]))
    estimator.classes_ = np.asarray(record["classes"])
    estimator.class_count_ = [float(count) for count in record["class_count"]]
    estimator.codes_ = np.zeros((0, len(estimator.components_)))
    estimator.n_features_in_ = len(record["features"])
    estimator.component_names_ = _words(record["features"])
    names = [str(name) for name in record["covariates"]]
    encoder = _encoder(json.loads(record["encoder"]))
    estimator._roles = ColumnRoles([], len(names), names or None, words_beside=encoder)
    estimator._loss = resolve_link(parameters["link"], len(estimator.classes_) - 1)
    if parameters["model"] == "filter":
        estimator._coding = FilterCoding(estimator.components_.T)
    else:
        kept = {field.name: record["coding"][field.name] for field in fields(FeatureCoding)}
        estimator._coding = FeatureCoding(**kept)
    return estimator


def _encoder(stored: dict[str, Any]) -> CovariateEncoder:
    """JSON has made words of the positions that are keys, and lists of tuples."""

    def restored(kept: Any) -> Any:
        if isinstance(kept, dict):
            return {int(j): value for j, value in kept.items()}
        return tuple(kept) if isinstance(kept, list) else kept

    return CovariateEncoder(**{name: restored(kept) for name, kept in stored.items()})


def _words(values: Any) -> NumpyArray:
    return np.asarray([str(value) for value in values], dtype=object)


def _plain(value: Any) -> Any:
    """A NumPy number, as files give it back, as Python's."""
    return value.item() if isinstance(value, np.generic) else value
