"""Markers of each class: features that are higher in the class and that the model uses for it."""

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

# The largest q of a marker.
LEVEL = 0.05
_COLUMNS = ["class", "rank", "feature", "mean", "mean_rest", "difference_in_sd", "perfect", "auc", "q"]
_COLUMNS += ["correlation", "coef_per_sd"]


def class_features(
    model: Any,
    X: Any,
    y: Any,
    n: int = 10,
    *,
    level: float = LEVEL,
    covariates: Any = None,
    sample_weight: Any = None,
) -> DataFrame:
    """Return the markers of each class: features that are higher there and predict the class in the model.

    A marker of a class has a higher mean and higher ranks in the class than in all other samples, with ``q``
    ≤ `level`. It correlates with what the factors add to the prediction of the class (``correlation`` > 0),
    and higher values make the class more likely (``coef_per_sd`` > 0, if predictions are linear). Of several
    yes/no labels, the markers of a label are compared between samples with and without it.

    Parameters
    ----------
    model : fitted classifier
        As for `factor_view`, but no FactorView.
    X, y
        Samples, in the form ``model.fit`` took. Those without a label are left out.
    n : int, default=10
        The maximal number per class.
    level : float, default=0.05
        The false discovery rate for features that differ (Benjamini and Hochberg), for each class
        separately.
    covariates : optional
        Covariates of these samples. They are checked, but do not change the table.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of these samples, as in `feature_effects`.

    Returns
    -------
    table : DataFrame
        The markers of the first class in descending order of ``correlation``, ``perfect`` ones first, then
        those of the next. A class without markers has no row. Columns are ``class`` (``label`` of several
        yes/no labels), ``rank`` (1, 2, …) and those of `feature_effects`: ``feature``, ``mean``,
        ``mean_rest``, ``difference_in_sd``, ``perfect``,
        ``auc``, ``q``, ``correlation`` and ``coef_per_sd``.

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
    column = fitted.outcome.output_column
    if column not in ("class", "label"):
        raise ValueError(
            f"model={type(fitted.estimator).__name__}: a classifier is required; use feature_effects for "
            "numbers and survival times"
        )
    table = feature_effects(model, X, y, covariates=covariates, sample_weight=sample_weight)
    if column == "label":
        labels = list(dict.fromkeys(table["label"]))
        found = _listed(table.rename(columns={"label": "class"}), labels, n, level)
        return found.rename(columns={"class": "label"})
    return markers_of(table, fitted.outcome.class_names(fitted.estimator), n, level)


def markers_of(table: DataFrame, classes: Sequence[str], n: int, level: float = LEVEL) -> DataFrame:
    """Return `class_features` from the table of `feature_effects`, with `classes` in this order."""
    return _listed(of_every_class(table, classes), classes, n, level)


def _listed(table: DataFrame, classes: Sequence[str], n: int, level: float) -> DataFrame:
    """Return the markers of each class in a table with rows for all of them."""
    more = (table["difference_in_sd"] > 0) & (table["auc"] > 0.5) & (table["q"] <= level)
    markers = table[more & predicts_class(table)].sort_values(
        ["perfect", "correlation"], ascending=False, kind="stable"
    )
    place = markers["class"].map({name: k for k, name in enumerate(classes)})
    markers = markers.iloc[np.argsort(place, kind="stable")].groupby("class", sort=False).head(n)
    markers = markers.assign(rank=markers.groupby("class", sort=False).cumcount() + 1)
    return markers[_COLUMNS].reset_index(drop=True)


def predicts_class(table: DataFrame) -> Series:
    """Return whether higher values of each feature go with the class in the model and make it more likely."""
    # coef_per_sd is NaN if predictions are not linear.
    return (table["correlation"] > 0) & ~(table["coef_per_sd"] <= 0)


def of_every_class(table: DataFrame, classes: Sequence[str]) -> DataFrame:
    """Return `feature_effects` with rows for both of two classes: signs and means are swapped."""
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
