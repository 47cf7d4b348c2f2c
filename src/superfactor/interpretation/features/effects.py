"""Features and the outcome: the relation of each feature to the outcome, and its role in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from superfactor._extras import needed_for
from superfactor.estimators import inputs
from superfactor.interpretation.models import FittedModel, fitted_model, numbers
from superfactor.interpretation.view import FactorView, factor_view
from superfactor.outcomes.reading import Statistics
from superfactor.preprocessing import BlockScaler

if TYPE_CHECKING:
    from pandas import DataFrame

# Steps that shift and scale each feature separately: means can be transformed back.
_SCALERS = (StandardScaler, RobustScaler, MaxAbsScaler, MinMaxScaler, BlockScaler)


def feature_effects(
    model: Any, X: Any, y: Any, *, covariates: Any = None, sample_weight: Any = None, positive: Any = None
) -> DataFrame:
    """Return one row per feature and class, or target: its relation to the outcome and to the model.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y
        Samples, in the form ``model.fit`` took. Those without a label are left out. Pass the training data to
        describe the model, or new samples to check the features there.
    covariates : optional
        Covariates of these samples. They are checked, but do not change the table.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of these samples, those of ``model.fit`` for the training data. Samples of weight zero are
        left out.
    positive : class label, optional
        With two classes: the class in column ``class``, by default the rarer one.

    Returns
    -------
    table : DataFrame
        All features for the first class, then for the next; two classes have one row per feature. Columns:

        - ``feature``;
        - classes: ``class``; ``mean`` in the class and ``mean_rest`` in all others; ``difference_in_sd``,
          the difference of the two means in units of the standard deviation within them (Cohen's d), ±∞ if
          ``perfect``: no class has variance in the feature, which separates the class from all others;
          ``auc``, the probability that a sample of the class has a higher value than another sample;
        - numbers: ``target``; ``mean``; ``outcome_correlation``, Pearson's correlation with the target;
        - survival times: ``mean``; ``z`` of Cox's model with this feature alone, positive if higher values go
          with a higher risk;
        - ``p``: of the Mann-Whitney test of the class against the rest, of the correlation, or of Cox's
          score test; ``q``: adjusted by Benjamini and Hochberg over all features of the class or target;
        - ``correlation`` of the feature with what the factors add to the prediction of the class or target;
        - ``factor``, ``factor_correlation``: the predictive factor, 1, 2, …, with the largest absolute
          correlation, and that correlation; with one predictive factor it equals ``correlation``;
        - ``coef_per_sd``: what one standard deviation of the feature, with all others fixed, adds to the
          log-odds of the class (with several classes against the mean of all), to the target or to the log
          hazard. NaN if predictions are not linear.

    Notes
    -----
    p and q test each feature alone and do not use the model. ``correlation`` and ``coef_per_sd`` come from
    the fit.

    In means, differences, AUCs and correlations a weight of 2 is a sample that appears twice. The tests count
    samples as (Σw)²/Σw², so that p does not depend on the unit of the weights, and a few large weights are
    few samples. Survival times with strata are compared within strata.

    Tests and correlations use the features after the steps of a Pipeline. For the means, scalers directly
    before the estimator are undone: after ``make_pipeline(log, StandardScaler(), SMFClassifier())`` they are
    means of logarithms.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import feature_effects
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> y = y.map({0: "malignant", 1: "benign"})
    >>> model = make_pipeline(StandardScaler(), SMFClassifier()).fit(X, y)
    >>> table = feature_effects(model, X, y)
    >>> table.loc[:2, ["feature", "class", "mean", "mean_rest", "auc", "correlation"]].round(2)
              feature      class    mean  mean_rest   auc  correlation
    0     mean radius  malignant   17.46      12.15  0.94         0.90
    1    mean texture  malignant   21.60      17.91  0.78         0.47
    2  mean perimeter  malignant  115.37      78.08  0.95         0.92
    """
    with needed_for("tables of features", "pandas"):
        import pandas as pd

    fitted = fitted_model(model)
    view = factor_view(model, positive=positive)
    values, labels, weight = _labelled(fitted, X, y, covariates, sample_weight)
    found = view.outcome.univariate(fitted.estimator, view.outputs, values, labels, weight)
    found["q"] = false_discovery_control(found["p"], axis=1)  # for each output separately
    for name in ("mean", "mean_rest"):
        if name in found:
            found[name] = _without_scaling(fitted, found[name])
    found |= _by_model(fitted, view)
    columns: dict[str, Any] = {"feature": np.tile(view.features, len(view.outputs))}
    kind = view.outcome.output_column
    if kind is not None:
        columns[kind] = np.repeat(np.array(view.outputs, dtype=object), len(view.features))
    return pd.DataFrame(columns | {name: array.ravel() for name, array in found.items()})


def _labelled(
    fitted: FittedModel, X: Any, y: Any, covariates: Any, sample_weight: Any
) -> tuple[Any, Any, Any]:
    """Return the factorized columns, the outcomes with exposures, and the weights of the labelled samples."""
    whole = fitted.preprocess(X)
    values, _ = fitted.estimator.split_columns(whole, covariates)
    given = fitted.estimator._checked_y(y, values).of_some()
    values = inputs.as_numpy(values)
    weight = inputs.check_weights(sample_weight, values)
    exposures = inputs.exposures_in(whole, fitted.estimator._exposure_column)
    if given.known is None and weight is None:
        return values, fitted.outcome.out_of(given.values, exposures), None
    known = np.ones(len(given.values), dtype=bool) if given.known is None else given.known
    known = np.flatnonzero(known if weight is None else known & (weight > 0))
    values, weight, exposures = (
        None if x is None else inputs.take(x, known, axis=0) for x in (values, weight, exposures)
    )
    return values, fitted.outcome.out_of(given.values[known], exposures), weight


def _by_model(fitted: FittedModel, view: FactorView) -> Statistics:
    """Return the statistics of each feature that come from the model: arrays (outputs, p)."""
    estimator, outputs = fitted.estimator, len(view.outputs)
    # The covariance of the scores: the identity, except for non-negative parts.
    between = view.turn.T @ numbers(estimator.score_covariance_) @ view.turn
    size = np.sqrt(np.einsum("kr,rs,ks->k", view.coef, between, view.coef))[:, None]
    correlation = view.coef @ view.correlations / np.where(size > 0, size, 1.0)
    carrying = np.flatnonzero(view.carries)
    if len(carrying):
        best = carrying[np.abs(view.correlations[carrying]).argmax(axis=0)]
    else:
        best = np.zeros(len(view.features), dtype=int)
    strongest = np.take_along_axis(view.correlations, best[None], axis=0) * bool(len(carrying))
    return {
        "correlation": np.clip(correlation, -1.0, 1.0),
        "factor": np.tile(best + 1, (outputs, 1)),
        "factor_correlation": np.tile(strongest, (outputs, 1)),
        "coef_per_sd": np.broadcast_to(_per_deviation(estimator, view), correlation.shape),
    }


def _per_deviation(estimator: Any, view: FactorView) -> Any:
    """Return what one standard deviation of each feature adds to linear predictions: (outputs, p)."""
    beta = estimator._by_activation(estimator.factor_coef_).T
    try:
        weights = estimator._linear(estimator._coding.weights @ beta)
    except AttributeError:
        return np.nan
    shown = view.outcome.shown_outputs(estimator, view.positive)
    return shown.effects(numbers(weights).T) * numbers(estimator.feature_scale_)


def _without_scaling(fitted: FittedModel, means: Any) -> Any:
    """Return means (k, p) of preprocessed features in units before the last scalers."""
    estimator = fitted.estimator
    kept = np.delete(np.arange(estimator.n_features_in_), estimator._roles.apart)
    every = np.zeros((len(means), estimator.n_features_in_))
    every[:, kept] = means
    for step in reversed(fitted.steps):
        if not isinstance(step, _SCALERS):
            break
        every = numbers(step.inverse_transform(every))
    return every[:, kept]
