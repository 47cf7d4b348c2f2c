"""Markers of each class: features that differ there, and that the model uses for it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor.estimators.parameters import shown
from superfactor.interpretation.features.effects import feature_effects
from superfactor.interpretation.models import fitted_model
from superfactor.interpretation.tables import check_count

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# Of q.
LEVEL = 0.05
_COLUMNS = ["class", "rank", "feature", "mean", "mean_rest", "difference_in_sd", "auc", "q"]
_COLUMNS += ["correlation", "coef_per_sd"]


def class_features(
    model: Any, X: Any, y: Any, n: int = 10, *, level: float = LEVEL, covariates: Any = None
) -> DataFrame:
    """Markers of each class: features of which it has more than the rest, and that speak for it in the model.

    A marker of a class has a higher mean and higher ranks there than in all other samples, with ``q`` ≤
    `level`; it goes with what the factors add to the prediction of the class (``correlation`` > 0); and
    more of it makes the class more likely (``coef_per_sd`` > 0, where predictions are linear).

    Parameters
    ----------
    model : fitted classifier
        As for `factor_view`, but no FactorView.
    X, y
        Samples, in the form ``model.fit`` took. Those without a label are left out.
    n : int, default=10
        How many for each class, at most.
    level : float, default=0.05
        Of the features that differ, at most this share is expected to do so by chance (Benjamini and
        Hochberg), for each class by itself.
    covariates : optional
        Of these samples. The table does not depend on them; where given they are checked.

    Returns
    -------
    table : DataFrame
        The markers of the first class, that with the largest ``correlation`` first, then those of the
        next. A class without any has no row. Columns are ``class``, ``rank`` (1, 2, …) and those of
        `feature_effects`: ``feature``, ``mean``, ``mean_rest``, ``difference_in_sd``, ``auc``, ``q``,
        ``correlation`` and ``coef_per_sd``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import class_features
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
    >>> class_features(model, X, y, n=1)[["class", "feature", "mean", "mean_rest"]].round(2)
      class          feature     mean  mean_rest
    0     0          proline  1115.71     564.03
    1     1              hue     1.06       0.89
    2     2  color_intensity     7.40       4.19
    """
    check_count("n", n)
    if not isinstance(level, Real) or not 0 < level <= 1:
        raise ValueError(f"level={shown(level)}: a number above 0 and at most 1 is required")
    fitted = fitted_model(model)
    classes = fitted.outcome.class_names(fitted.estimator)
    if classes is None:
        raise ValueError(
            f"model={type(fitted.estimator).__name__}: it has no classes, whose markers could be listed; "
            "feature_effects has the features of numbers and times"
        )
    table = feature_effects(model, X, y, covariates=covariates)
    return markers_of(table, classes, n, level)


def markers_of(table: DataFrame, classes: Sequence[str], n: int, level: float = LEVEL) -> DataFrame:
    """`class_features`, made of the table of `feature_effects`; `classes` in the order of the rows."""
    table = of_every_class(table, classes)
    more = (table["difference_in_sd"] > 0) & (table["auc"] > 0.5) & (table["q"] <= level)
    markers = table[more & speaks_for(table)].sort_values("correlation", ascending=False, kind="stable")
    place = markers["class"].map({name: k for k, name in enumerate(classes)})
    markers = markers.iloc[np.argsort(place, kind="stable")].groupby("class", sort=False).head(n)
    markers = markers.assign(rank=markers.groupby("class", sort=False).cumcount() + 1)
    return markers[_COLUMNS].reset_index(drop=True)


def speaks_for(table: DataFrame) -> Series:
    """Whether a feature goes with the prediction of the class, and more of it makes the class more likely."""
    # NaN: predictions that are not linear.
    return (table["correlation"] > 0) & ~(table["coef_per_sd"] <= 0)


def of_every_class(table: DataFrame, classes: Sequence[str]) -> DataFrame:
    """`feature_effects` with rows of both of two classes: the same figures, the other way round."""
    import pandas as pd

    if len(classes) > 2:
        return table
    (own,) = set(table["class"])
    (name,) = set(classes) - {own}
    other = table.rename(columns={"mean": "mean_rest", "mean_rest": "mean"})
    other["class"], other["auc"] = name, 1 - table["auc"]
    signed = ["difference_in_sd", "correlation", "factor_correlation", "coef_per_sd"]
    other[signed] = -table[signed]
    return pd.concat([table, other], ignore_index=True)
