"""Factors as tables: one row per factor, or per extreme feature."""

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
    """One row per factor: how much of X it holds, and what it says about the outcome.

    Parameters
    ----------
    model : fitted model or FactorView
        As for `factor_view`, which explains order and sign.
    held_out : HeldOut, optional
        From `held_out_scores` of the same model, rotation and class. Roles are then those of samples that
        the model had not seen. Without it they are of the training samples, where a factor also carries a
        prediction of labels that mean nothing.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        The class that is up, as in `factor_view`.

    Returns
    -------
    table : DataFrame
        Index ``factor`` 1, …, r. Columns:

        - ``role``: "predictive", or "background" where a factor adds next to nothing to the prediction
          beside the others, which does not mean that it has nothing to do with the outcome. With
          `held_out` also "not shown", where it carries the prediction of the training samples alone;
        - ``share_of_variance``: share of the variance of X that goes with the factor's score;
        - ``contribution``: the share of the deviance explained by all factors that is lost without this
          one, in sample; below 1 % the factor is background;
        - ``coef[<output>]``, one per output: what one standard deviation of the factor adds to the
          log-odds of the positive class; with three classes or more, of each class against the
          mean of all; or to that target in its units;
        - ``direction`` in words: the class that becomes more likely as the factor goes up, with
          three classes or more also the one as it goes down; or the target it raises;
        - with `held_out` ``held_out_contribution``, and ``AUC``, ``correlation`` or ``concordance`` of the
          factor alone, there.

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
    """The most extreme features at both ends of each factor.

    Parameters
    ----------
    model : fitted model or FactorView
        As for `factor_view`, which explains order and sign.
    n : int, default=5
        How many at each end, at most: features that go with high scores are at the high end, features
        that go with low scores at the low end, so that no feature is at both.
    by : {"correlation", "weight"}, default="correlation"
        What features are ranked by. The correlation with the score says what goes with the factor, the
        weight how the score is computed: a feature can have a large weight because it cancels noise in
        another one.
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

        - ``factor`` (1, …, r), ``end`` ("high" or "low"), ``rank`` (1 is the most extreme; equal ones in the
          order of the columns of X) and ``feature``;
        - ``correlation`` of the feature with the factor's score, in the training samples;
        - ``weight`` in the score, from −1 to 1: divided by the largest of the factor in size;
        - ``disagrees``: whether the weight points the other way than the correlation;
        - with markers ``note``, empty where there is none.

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
    """Positions of at most n largest positive and n smallest negative values (p,), the extreme first."""
    return _largest(values, n), _largest(-values, n)


def _largest(values: Any, n: int) -> Any:
    n = min(n, len(values))
    # One linear pass leaves few candidates to sort; all that equal the last one are among them.
    least = np.partition(values, len(values) - n)[len(values) - n]
    candidates = np.flatnonzero((values >= least) & (values > 0))
    return candidates[np.argsort(-values[candidates], kind="stable")][:n]


def check_count(name: str, value: Any) -> None:
    """An integer of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        kind = ValueError if isinstance(value, Integral) else TypeError
        raise kind(f"{name}={value!r}: an integer >= 1 is required")
