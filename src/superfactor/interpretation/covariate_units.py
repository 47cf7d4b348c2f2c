"""Units of covariates in the user's table: the scaling before a model is undone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from superfactor.estimators.covariates import IndicatorColumns
from superfactor.interpretation.models import FittedModel, numbers
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer

# Steps before a model that do not change numeric covariates.
_KEEPS_UNITS = (IndicatorColumns, Adjuster, LowRankImputer, SimpleImputer)


def covariate_units(fitted: FittedModel) -> tuple[Any, str]:
    """Return one unit of the user in units of the estimator (q,), and a note if it is unknown."""
    estimator = fitted.estimator
    columns = estimator.covariate_columns_
    units = np.ones(len(fitted.covariate_names))
    if not columns:
        return units, ""
    # Scalers only get numeric covariates. The indicator of missing values comes after its covariate.
    places = estimator._roles.words_inside.starts(len(columns))
    for step, own in zip(fitted.steps, _columns_at(fitted), strict=True):
        if isinstance(step, _KEEPS_UNITS):
            continue
        if isinstance(step, BlockScaler):
            units[places] *= step.column_scales[own]
            continue
        if not isinstance(step, StandardScaler | RobustScaler | MaxAbsScaler | MinMaxScaler):
            return np.ones_like(units), f" after {type(step).__name__}"
        if step.scale_ is not None:
            scale = numbers(step.scale_)[own]
            units[places] *= scale if isinstance(step, MinMaxScaler) else 1 / scale
    return units, ""


def _columns_at(fitted: FittedModel) -> list[list[int]]:
    """Return the positions of the estimator's covariate columns in the input of each step."""
    columns, found = list(fitted.estimator.covariate_columns_), []
    for step in reversed(fitted.steps):
        if isinstance(step, Adjuster):
            columns = [step.kept_[j] for j in columns]
        found.append(columns)
    return found[::-1]
