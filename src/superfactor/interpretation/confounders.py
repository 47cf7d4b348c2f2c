"""How much of each factor a confounder explains, before and after it was taken out of the features."""

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

# The row of several confounders taken together.
TOGETHER = "all"


def confounding(
    model: Any, X: Any, confounders: Any = None, *, rotation: str | None = None, positive: Any = None
) -> DataFrame:
    """One row per factor and confounder: the share of the factor's variance that the confounder explains.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Samples in the form ``model.fit`` took: those it was fitted to, of which nothing is left after
        adjustment (unless the Adjuster spares y or shrinks), or new ones, which show how well that holds.
    confounders : DataFrame, Series or array of shape (n_samples, n_confounders), optional
        By default those of the `Adjuster` in the model's pipeline. Others may be given, for any model:
        what is suspected but was not adjusted for.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        As in `factor_view`.

    Returns
    -------
    table : DataFrame
        Columns:

        - ``factor``: 1, …, r;
        - ``confounder``: its name; with several of them also "all" together;
        - ``before``: R² of the regression of the factor's scores on the confounder (for a category: the
          share of variance between its levels), where the same factor reads the features without
          adjustment;
        - ``after``: the same with the adjustment, as the model sees the samples. Equal to ``before`` in a
          model without an Adjuster;
        - ``chance``: what a confounder of so many levels would explain of any scores by chance, on average.

    Notes
    -----
    Samples of which a confounder is not known, or that have a level that was not there at ``fit``, are
    left out of its rows.

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
    """The table of `confounding`."""
    with needed_for("tables of confounders", "pandas"):
        import pandas as pd

    before, own = _without_adjustment(fitted, X)
    found = own if confounders is None else _given(confounders, before.shape[0])
    if not found:
        raise ValueError(
            "confounders=None: the model has no Adjuster with any; a table of confounders is required"
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
    """Those among the steps before the estimator."""
    return [step for step in fitted.steps if isinstance(step, Adjuster)]


def _without_adjustment(fitted: FittedModel, X: Any) -> tuple[Any, dict[str, Any]]:
    """X as the estimator would be given it if nothing were removed, and what the Adjusters know of it.

    By confounder its columns (n, q), NaN where not known.
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
    """Confounders of a user's own table, likewise."""
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
    """R² (r,) of the regressions of codes (n, r) on Z (n, q) with an intercept; NaN of constants."""
    if len(codes) < 2:
        return np.full(codes.shape[1], np.nan)
    codes = codes - codes.mean(axis=0)
    total = np.sum(codes**2, axis=0)
    part = np.sum((_range(Z).T @ codes) ** 2, axis=0)
    return np.divide(part, total, out=np.full(total.shape, np.nan), where=total > 0)


def _range(Z: Any) -> Any:
    """An orthonormal basis (n, k) of the centred columns of Z."""
    mean = Z.mean(axis=0) if len(Z) else np.zeros(Z.shape[1])
    return column_space(Z - mean, mean)[0]
