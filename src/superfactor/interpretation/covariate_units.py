"""One unit of a covariate as the user has it: the scalers before a model are undone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from superfactor.estimators.covariates import IndicatorColumns
from superfactor.interpretation.models import FittedModel, numbers
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer

# Steps before a model that leave numbers among covariates as they are.
_KEEPS_UNITS = (IndicatorColumns, Adjuster, LowRankImputer, SimpleImputer)


def covariate_units(fitted: FittedModel) -> tuple[Any, str]:
    """One unit of the user's as the estimator sees it, (q,); and what to say where that is not known."""
    estimator = fitted.estimator
    columns = estimator.covariate_columns_
    units = np.ones(len(fitted.covariate_names))
    if not columns:
        return units, ""
    # Words pass no scaler, so that these are numbers; the indicator of a gap stands behind its own.
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
    """Where the covariate columns of the estimator stand in what each step is given."""
    columns, found = list(fitted.estimator.covariate_columns_), []
    for step in reversed(fitted.steps):
        if isinstance(step, Adjuster):
            columns = [step.kept_[j] for j in columns]
        found.append(columns)
    return found[::-1]
