"""Factors as tables: one row per factor, or per top feature."""

from __future__ import annotations

import os
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._extras import needed_for
from superfactor.interpretation.features.markers import read_markers
from superfactor.interpretation.roles import roles
from superfactor.interpretation.view import factor_view

if TYPE_CHECKING:
    from pandas import DataFrame

ENDS = ("high", "low")


def supervised_factors(
    model: Any, *, held_out: Any = None, rotation: str | None = None, positive: Any = None
) -> DataFrame:
    """Return one row per factor: its role, its share of the variance of X, and its effect on the outcome.

    Parameters
    ----------
    model : fitted model or FactorView
        As for `factor_view`, which explains order and sign.
    held_out : HeldOut, optional
        From `held_out_scores` of the same model, rotation and class. Roles then refer to held-out samples.
        Without it they refer to the training samples, where factors seem to predict even random labels.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        The class that is up, as in `factor_view`.

    Returns
    -------
    table : DataFrame
        Index ``factor`` 1, …, r. Columns:

        - ``role``: "predictive", or "background" if the factor adds almost nothing to the prediction of the
          other factors (it may still be related to the outcome). With `held_out` also "not shown", if it
          contributes for the training samples only;
        - ``share_of_variance``: the share of the variance of X that the factor explains;
        - ``contribution``: the share of the deviance explained by all factors that is lost without this
          one, in the training samples; below 1 % the factor is background;
        - ``coef[<output>]``, one per output: what one standard deviation of the factor adds to the
          log-odds of the positive class; with three classes or more, of each class against the
          mean of all; or to that target in its units;
        - ``direction``: the class that becomes more likely as the score increases, with three classes or
          more also the one as it decreases; or the target that increases;
        - with `held_out` also ``held_out_contribution``, and ``AUC``, ``correlation`` or ``concordance`` of
          the factor alone, in held-out samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import supervised_factors
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> supervised_factors(model)["direction"].tolist()
    ['higher → virginica, lower → setosa', 'higher → versicolor, lower → setosa']
    """
    with needed_for("tables of factors", "pandas"):
        import pandas as pd

    view = factor_view(model, rotation=rotation, positive=positive)
    columns: dict[str, Any] = {
        "role": roles(view, None if held_out is None else held_out.predictive),
        "share_of_variance": view.share,
        "contribution": view.contribution,
    }
    columns |= {f"coef[{name}]": row for name, row in zip(view.outputs, view.coef, strict=True)}
    columns["direction"] = [view.outcome.direction(column, view.outputs) for column in view.coef.T]
    if held_out is not None:
        columns["held_out_contribution"] = held_out.contribution
        columns[held_out.own_name] = held_out.own
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(view.share) + 1, name="factor"))


def top_features(
    model: Any,
    n: int = 5,
    *,
    by: str = "correlation",
    rotation: str | None = None,
    positive: Any = None,
    markers: str | os.PathLike[str] | DataFrame | dict[Any, Any] | None = None,
) -> DataFrame:
    """Return the top features at both ends of each factor.

    Parameters
    ----------
    model : fitted model or FactorView
        As for `factor_view`, which explains order and sign.
    n : int, default=5
        The maximal number at each end. Features with positive values are at the high end, features with
        negative values at the low end.
    by : {"correlation", "weight"}, default="correlation"
        The ranking criterion. The correlation with the score shows what the factor represents, the weight how
        the score is computed. A feature can have a large weight because it cancels noise in another one.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        The class that is up, as in `factor_view`.
    markers : path of a CSV file, DataFrame or dict, optional
        Known features and a note on each, as `read_markers` takes them.

    Returns
    -------
    table : DataFrame
        One row per feature. Columns:

        - ``factor`` (1, …, r), ``end`` ("high" or "low"), ``rank`` (1 is the most extreme; ties are in the
          order of the columns of X) and ``feature``;
        - ``correlation`` of the feature with the factor's score, in the training samples;
        - ``weight`` in the score, divided by the largest absolute weight of the factor: from −1 to 1;
        - ``disagrees``: whether weight and correlation have opposite signs;
        - with markers also ``note``, empty for other features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import top_features
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> top_features(model, n=1)[["factor", "end", "feature"]]
       factor   end            feature
    0       1  high  petal length (cm)
    1       1   low   sepal width (cm)
    2       2  high  sepal length (cm)
    3       2   low   sepal width (cm)
    >>> top_features(model, n=1, markers={"petal length (cm)": "known"})["note"].tolist()
    ['known', '', '', '']
    """
    with needed_for("tables of factors", "pandas"):
        import pandas as pd

    check_count("n", n)
    view = factor_view(model, rotation=rotation, positive=positive)
    weights = view.shown("weight")
    rows = [
        (j + 1, end, rank, view.features[i], view.correlations[j, i], weights[j, i], disagrees[i])
        for j, (row, disagrees) in enumerate(zip(view.shown(by), view.disagree, strict=True))
        for end, positions in zip(ENDS, extremes(row, n), strict=True)
        for rank, i in enumerate(positions, start=1)
    ]
    columns = ["factor", "end", "rank", "feature", "correlation", "weight", "disagrees"]
    table = pd.DataFrame(rows, columns=columns)
    if markers is not None:
        notes = read_markers(markers)
        table["note"] = [notes.get(name, "") for name in table["feature"]]
    return table


def extremes(values: Any, n: int) -> tuple[Any, Any]:
    """Return positions of at most n largest positive and n smallest negative values (p,), extremes first."""
    return _largest(values, n), _largest(-values, n)


def _largest(values: Any, n: int) -> Any:
    n = min(n, len(values))
    # One linear pass leaves few candidates to sort; all that equal the last one are among them.
    least = np.partition(values, len(values) - n)[len(values) - n]
    candidates = np.flatnonzero((values >= least) & (values > 0))
    return candidates[np.argsort(-values[candidates], kind="stable")][:n]


def check_count(name: str, value: Any) -> None:
    """Raise an error unless `value` is an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        kind = ValueError if isinstance(value, Integral) else TypeError
        raise kind(f"{name}={value!r}: an integer >= 1 is required")
