"""How much of each factor a confounder explains, before and after adjustment of the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._extras import needed_for
from superfactor.interpretation.models import FittedModel, fitted_model
from superfactor.interpretation.view import FactorView, factor_view
from superfactor.preprocessing import Adjuster
from superfactor.preprocessing.columns import column, is_frame
from superfactor.preprocessing.confounders import column_space
from superfactor.preprocessing.levels import LevelIndicators

if TYPE_CHECKING:
    from pandas import DataFrame

# The name of the row for all confounders together.
TOGETHER = "all"


def confounding(
    model: Any, X: Any, confounders: Any = None, *, rotation: str | None = None, positive: Any = None
) -> DataFrame:
    """Return one row per factor and confounder: the share of the factor's variance that it explains.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Samples in the form ``model.fit`` took. In the training samples an adjusted confounder explains
        nothing (unless the Adjuster has ``spare_y=True`` or ``shrink=True``). New samples show how well the
        adjustment generalizes.
    confounders : DataFrame, Series or array of shape (n_samples, n_confounders), optional
        By default those of the `Adjuster` in the model's pipeline. You can pass others for any model, such as
        a possible confounder that the model does not adjust for.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        As in `factor_view`.

    Returns
    -------
    table : DataFrame
        Columns:

        - ``factor``: 1, …, r;
        - ``confounder``: its name; "all" for several confounders together;
        - ``before``: R² of the regression of the factor's scores on the confounder (for a category: the
          share of variance between its levels). The scores are computed from unadjusted features;
        - ``after``: the same with scores from adjusted features, as in the model. Equal to ``before`` in a
          model without an Adjuster;
        - ``chance``: the R² that a confounder with as many levels has by chance, on average.

    Notes
    -----
    The rows of a confounder leave out samples where it is missing or has a level that was absent from
    ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import confounding
    >>> from superfactor.preprocessing import Adjuster
    >>> rng = np.random.default_rng(0)
    >>> X, y = pd.DataFrame(rng.standard_normal((60, 5))).add_prefix("gene"), np.arange(60) % 2
    >>> X["batch"] = np.where(np.arange(60) < 30, "May", "June")
    >>> X.loc[X["batch"] == "May", "gene0"] += 8
    >>> X["gene0"] += y
    >>> model = make_pipeline(Adjuster("batch"), SMFClassifier(1)).fit(X, y)
    >>> confounding(model, X).round(2)
       factor confounder  before  after  chance
    0       1      batch    0.93    0.0    0.02
    """
    view = factor_view(model, rotation=rotation, positive=positive)
    return confounded(fitted_model(model), view, X, confounders)


def confounded(fitted: FittedModel, view: FactorView, X: Any, confounders: Any = None) -> DataFrame:
    """Return the table of `confounding`."""
    with needed_for("tables of confounders", "pandas"):
        import pandas as pd

    before, own = _without_adjustment(fitted, X)
    found = own if confounders is None else _given(confounders, before.shape[0])
    if not found:
        raise ValueError(
            "confounders=None: the model has no Adjuster with confounders; a table of confounders is required"
        )
    scores = [view.scores_of(fitted.estimator.transform(seen)) for seen in (before, fitted.preprocess(X))]
    rows = []
    together = {TOGETHER: np.hstack(list(found.values()))} if len(found) > 1 else {}
    for name, Z in (found | together).items():
        known = np.isfinite(Z).all(axis=1)
        unadjusted, adjusted = (_explained(codes[known], Z[known]) for codes in scores)
        chance = _range(Z[known]).shape[1] / max(int(known.sum()) - 1, 1)
        numbered = enumerate(zip(unadjusted, adjusted, strict=True), start=1)
        rows += [(factor, name, *values, chance) for factor, values in numbered]
    table = pd.DataFrame(rows, columns=["factor", "confounder", "before", "after", "chance"])
    return table.sort_values("factor", kind="stable", ignore_index=True)


def adjusters(fitted: FittedModel) -> list[Adjuster]:
    """Return the Adjusters among the steps before the estimator."""
    return [step for step in fitted.steps if isinstance(step, Adjuster)]


def _without_adjustment(fitted: FittedModel, X: Any) -> tuple[Any, dict[str, Any]]:
    """Return X after preprocessing without adjustment, and the columns (n, q) of each confounder.

    Missing values of a confounder are NaN.
    """
    found: dict[str, Any] = {}
    for step in fitted.steps:
        if isinstance(step, Adjuster):
            found |= zip(step.confounders_, step.confounder_parts(X), strict=True)
            X = step.unadjusted(X)
        else:
            X = step.transform(X)
    return X, found


def _given(confounders: Any, n: int) -> dict[str, Any]:
    """Return the columns (n, q) of each confounder in a table of the user."""
    table = confounders.to_frame() if hasattr(confounders, "to_frame") else confounders
    if not is_frame(table):
        table = np.asarray(table)
        table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] != n:
        raise ValueError(
            f"confounders: a table of shape (n_samples, n_confounders) is required, n_samples={n}, got "
            f"{tuple(table.shape)}"
        )
    names = [str(c) for c in table.columns] if is_frame(table) else [f"z{j}" for j in range(table.shape[1])]
    columns = [column(table, j) for j in range(table.shape[1])]
    coding = LevelIndicators.learn(columns, names)
    Z = coding.encode(columns)
    return dict(zip(names, (Z[:, group] for group in coding.groups), strict=True))


def _explained(codes: Any, Z: Any) -> Any:
    """Return R² (r,) of the regressions of codes (n, r) on Z (n, q) and an intercept; NaN for constants."""
    if len(codes) < 2:
        return np.full(codes.shape[1], np.nan)
    codes = codes - codes.mean(axis=0)
    total = np.sum(codes**2, axis=0)
    part = np.sum((_range(Z).T @ codes) ** 2, axis=0)
    return np.divide(part, total, out=np.full(total.shape, np.nan), where=total > 0)


def _range(Z: Any) -> Any:
    """Return an orthonormal basis (n, k) of the centred columns of Z."""
    mean = Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
    return column_space(Z - mean, mean)[0]
