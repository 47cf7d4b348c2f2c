"""Effects of covariates: odds ratios, hazard ratios, rate ratios or slopes, with intervals and per s.d.

The interval comes from the curvature of F at the fit. With D = [codes, covariates, 1] (n, d) and the
coefficients θ = (β, γ, intercept), d for each of κ outputs, the activations are a = Dθ and

    H = Σ_i w_i c_i (∇²ℓ_i ⊗ d_i d_iᵀ) + P,        J = Σ_i w_i c_i² (∇²ℓ_i ⊗ d_i d_iᵀ) + P,

with sample weights w, class weights c, and the curvature P of the ridges. F is a negative log-posterior, so
H⁻¹ is the covariance of θ in Laplace's approximation. Class weights change F but add no samples, so with them
the covariance is H⁻¹JH⁻¹. For squared errors F is in units of 2σ² and the covariance is 2σ²H⁻¹, with σ² from
the residuals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri, stdtrit

from superfactor._extras import needed_for
from superfactor.estimators import inputs
from superfactor.estimators.covariates import labelled
from superfactor.estimators.parameters import shown
from superfactor.interpretation.covariate_units import covariate_units
from superfactor.interpretation.models import (
    FittedModel,
    against_first,
    covariate_ridge,
    fitted_model,
    model_data,
    numbers,
)
from superfactor.interpretation.recalibrated import dispersion, inverse_of, recalibrated
from superfactor.interpretation.refits.held_out import HeldOut, held_out_scores
from superfactor.losses import Loss

if TYPE_CHECKING:
    from pandas import DataFrame

# From this number of features per sample (or event) on, the model overfits the training samples. Measured
# with a true log odds ratio of 1 and 100 or 300 samples: the mean estimate is 1.1 at 0.2, 1.3 at 0.33, 2 at
# 0.5.
_MANY_FEATURES = 0.25
#: The note in ``attrs["note"]`` with so many features.
OVERFITTED = (
    "There are many features for so few samples. The factors overfit the training samples, and the estimates "
    "tend to be too far from no effect. out_of_fold=True adjusts for factors that were fitted without each "
    "sample."
)
#: The note for estimates that are adjusted for out-of-fold scores.
OUT_OF_FOLD = (
    "The estimates are adjusted for factors that were fitted without each sample, because factors overfit "
    "the training samples."
)


def covariate_effects(
    model: Any,
    X: Any = None,
    y: Any = None,
    covariates: Any = None,
    sample_weight: Any = None,
    *,
    positive: Any = None,
    level: float = 0.95,
    out_of_fold: bool | HeldOut = False,
) -> DataFrame:
    """Return one row per covariate and output: the effect of the covariate, adjusted for the factors.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y, covariates, sample_weight : optional
        The training data, in the form ``model.fit`` took. Without them the table has estimates only. You can
        omit X if ``fit`` received all covariates in its own parameter `covariates`; the model keeps the
        codes.
    positive : label, optional
        With two classes: the one whose odds are shown, by default the rarer one, as for `factor_view`.
    level : float, default=0.95
        The confidence level of the intervals.
    out_of_fold : bool or HeldOut, default=False
        True estimates the covariates again, adjusted for what factors fitted without each sample predict
        (`held_out_scores`, five fits). A HeldOut of the same data (with groups or other folds) costs no fit.
        Use it if there are many features for so few samples.

    Returns
    -------
    table : DataFrame
        All covariates for the first output, then for the next. Columns:

        - ``covariate``: the comparison, such as ``age (per unit)`` or ``sex: M vs F``, the reference last;
        - ``column``: its name in ``covariate_names_``, such as ``age`` or ``sex=M``;
        - ``output``, ``against``: the class and the one it is compared with, or the target and None;
        - ``kind``: "odds ratio", "hazard ratio" for survival times, "rate ratio" for counts, or "slope" in
          regression; "coefficient" if the link is not logistic;
        - ``coef``: what one unit adds to the log-odds, the log hazard, the log rate, the target or the score
          for fixed factors;
        - ``estimate``: exp(coef) for ratios, otherwise coef.

        With the training data also:

        - ``low``, ``high``: the interval of ``estimate``; NaN if there is none;
        - ``standard_error`` of ``coef``;
        - ``sd``: weighted standard deviation of the covariate in the training samples;
        - ``estimate_per_sd``, ``low_per_sd``, ``high_per_sd``: the same for one ``sd`` instead of one unit.

        A model without covariates has no rows. ``table.attrs["note"]`` holds a note to show with the table:
        that the estimates are overfitted or out of fold, otherwise "".

    Notes
    -----
    Units are those of your table: the scalers of scikit-learn in a Pipeline are undone, and covariates passed
    to ``fit`` are not scaled. After any other transformer it is a unit of its output, and the name in
    ``covariate`` says so.

    The intervals are approximate: normal, from the curvature of the objective at the fit in the coefficients
    of factors and covariates together. They treat the factors as known, and the ridges as a prior that
    shrinks towards no effect. They account for class weights, and for counts with more than Poisson variance
    by Pearson's χ² of the residuals. The feature model has no intervals, since the codes of its samples
    depend on their labels.

    If there are more features than a quarter of the samples (of the events, for survival times), factors
    overfit the training samples, and the coefficients of covariates grow with those of the factors.
    ``out_of_fold=True`` minimises the same loss over the covariates, an intercept and a slope of the
    out-of-fold signal of the factors, for each output. Standard errors come from the curvature there, for the
    feature model too; class weights are not used. Measured with 100 samples, 2,000 features, a planted
    factor and a true coefficient of 1, 40 times each, the mean in the fit and out of fold is 1.43 and 1.04
    for two classes, 1.33 and 0.98 for three, 0.93 and 0.99 for numbers, 2.04 and 0.90 for survival times; for
    the feature model 1.08 and 1.03, 1.38 and 0.91, 0.97 and 0.99, 0.87 and 0.95. The out-of-fold intervals
    cover the truth in 92 to 98 %. If factors are hard to find, the estimates of odds and hazard ratios stay
    somewhat below the truth, because unexplained variation shrinks them.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import covariate_effects
    >>> rng = np.random.default_rng(0)
    >>> X, age = rng.standard_normal((80, 5)), rng.integers(40, 80, 80)
    >>> y = np.where(age + rng.normal(0, 8, 80) > 60, "ill", "well")
    >>> clf = SMFClassifier().fit(X, y, covariates=pd.DataFrame({"age": age}))
    >>> table = covariate_effects(clf, X, y, pd.DataFrame({"age": age}), positive="ill")
    >>> table[["covariate", "kind", "estimate", "low", "high"]].round(2)
            covariate        kind  estimate   low  high
    0  age (per unit)  odds ratio      1.39  1.21   1.6
    """
    with needed_for("tables of covariates", "pandas"):
        import pandas as pd

    if not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level={shown(level)}: a number between 0 and 1 is required")
    _check_out_of_fold(out_of_fold, X, y)
    fitted = fitted_model(model)
    estimator = fitted.estimator
    units, scaled_by = covariate_units(fitted)
    sign, outputs, against = fitted.outcome.shown_outputs(estimator, positive).compared()
    kind = fitted.outcome.effect_kind(estimator)
    names = fitted.covariate_names

    def estimates(values: Any) -> Any:
        with np.errstate(over="ignore"):  # a ratio may be infinite
            return (np.exp(values) if kind.endswith("ratio") else values).ravel()

    coef = _activation(estimator, "covariate_coef_")  # (κ, q)
    data, note = None, ""
    if X is not None or y is not None or covariates is not None:
        data = _training_data(fitted, X, y, covariates, sample_weight)
        probability = (1 + float(level)) / 2
        if not coef.size:
            error, quantile = coef, 0.0
        elif out_of_fold is False:
            error, quantile = _errors(fitted, data, probability)
            note = OVERFITTED if _has_many_features(fitted, data) else ""
        else:
            signal = _signal(model, out_of_fold, X, y, covariates, sample_weight)
            coef, error, quantile = _out_of_fold_estimates(fitted, data, signal, probability)
            note = OUT_OF_FOLD
    coef = sign * coef * units
    label = labelled(fitted.covariate_levels)
    q, kappa = len(names), len(outputs)
    columns = {
        "covariate": [label.get(name, f"{name} (per unit{scaled_by})") for name in names] * kappa,
        "column": names * kappa,
        "output": np.repeat(np.array(outputs, dtype=object), q),
        "against": np.full(q * kappa, against, dtype=object),
        "kind": np.full(q * kappa, kind, dtype=object),
        "coef": coef.ravel(),
        "estimate": estimates(coef),
    }
    if data is not None:
        error, spread = error * units, data.spread / units
        reach = quantile * error
        columns |= {
            "low": estimates(coef - reach),
            "high": estimates(coef + reach),
            "standard_error": error.ravel(),
            "sd": np.tile(spread, kappa),
            "estimate_per_sd": estimates(coef * spread),
            "low_per_sd": estimates((coef - reach) * spread),
            "high_per_sd": estimates((coef + reach) * spread),
        }
    table = pd.DataFrame(columns)
    table.attrs["note"] = note
    return table


def trusted_effects(
    model: Any, X: Any, y: Any, covariates: Any = None, *, positive: Any = None, held_out: Any = None
) -> DataFrame:
    """Return `covariate_effects`; with many features out of fold, if a HeldOut is given."""
    fitted = fitted_model(model)
    out_of_fold: bool | HeldOut = False
    if fitted.covariate_names and getattr(held_out, "signal", None) is not None:
        many = _has_many_features(fitted, _training_data(fitted, X, y, covariates, None))
        out_of_fold = held_out if many else False
    return covariate_effects(model, X, y, covariates, positive=positive, out_of_fold=out_of_fold)


def _check_out_of_fold(out_of_fold: Any, X: Any, y: Any) -> None:
    if not isinstance(out_of_fold, bool | HeldOut):
        raise ValueError(f"out_of_fold={shown(out_of_fold)}: True, False or a HeldOut is required")
    if out_of_fold is True and (X is None or y is None):
        missing = "X" if X is None else "y"
        raise ValueError(f"{missing}=None: out_of_fold=True fits the model again and requires X and y")
    if isinstance(out_of_fold, HeldOut):
        if y is None:
            raise ValueError("y=None: out_of_fold requires y and the covariates")
        if out_of_fold.signal is None:
            raise ValueError(
                "out_of_fold: a HeldOut of an earlier version, without signal; pass True to compute it again"
            )


# --- the curvature at the fit ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Training:
    """The training samples of positive weight.

    Attributes
    ----------
    codes : (n, r)
    covariates : (n, q)
    targets : (n, κ), one-hot without class 0, real, or events
    loss : the loss of the fit, for these samples
    weight, class_weight : (n,); rates are weighted by exposure
    sample_weight : (n,), without exposures
    kept : mask of these samples among all given ones, bool
    informative : the number of informative samples: for survival times those with an event
    """

    codes: Any
    covariates: Any
    targets: Any
    loss: Loss
    weight: Any
    class_weight: Any
    sample_weight: Any
    kept: Any
    informative: int

    @property
    def spread(self) -> Any:
        """Standard deviations (q,) of the covariates in units of the estimator; exactly 0 for constants."""
        mean = np.average(self.covariates, axis=0, weights=self.sample_weight)
        spread = np.sqrt(np.average((self.covariates - mean) ** 2, axis=0, weights=self.sample_weight))
        return np.where(np.ptp(self.covariates, axis=0) > 0, spread, 0.0)


def _training_data(fitted: FittedModel, X: Any, y: Any, covariates: Any, sample_weight: Any) -> _Training:
    estimator, codes = fitted.estimator, numbers(fitted.estimator.codes_)
    exposures = None
    if y is None:
        raise ValueError("y=None: intervals require y in addition to X or covariates; pass all or none")
    if X is not None:
        data = model_data(fitted, X, y, covariates, "covariate_effects")
        given, beside = data.given, data.covariates
        exposures = data.exposures
        if estimator.model == "filter":
            codes = data.X @ numbers(estimator.components_).T
    elif estimator._roles.apart or estimator.constraint is not None:
        raise ValueError(
            "X=None: the model has covariate columns or exposures in X, or a constraint; intervals require X"
        )
    else:
        extra = estimator._roles.check_covariates(covariates, codes, "covariate_effects")
        beside = inputs.as_numpy(estimator._roles.regressors(None, extra))
        given = estimator._checked_y(y, codes)
    y = given.values
    inputs.check_length("y", y, codes)
    if len(y) != len(estimator.codes_):
        raise ValueError(
            f"X: {len(y)} samples, but the model was fitted to {len(estimator.codes_)}; intervals require "
            "the training data"
        )
    if X is not None and estimator.model == "filter" and estimator.constraint is None:
        _check_order(codes, numbers(estimator.codes_))
    weight = inputs.check_weights(sample_weight, codes)
    weight = np.ones(len(y)) if weight is None else weight
    kept = weight > 0 if given.known is None else (weight > 0) & given.known
    weight, y = weight[kept], y[kept]
    targets, loss = fitted.outcome.loss_of(estimator, y, weight)
    factor = fitted.outcome.class_weights(estimator, y, weight)
    samples = weight
    if exposures is not None:
        targets, weight = targets / exposures[kept], weight * exposures[kept, 0]
    beside = np.empty((len(codes), 0)) if beside is None else numbers(beside)
    informative = int(np.count_nonzero(fitted.outcome.informative(y)))
    weights = weight, factor, samples
    return _Training(codes[kept], beside[kept], targets, loss, *weights, kept, informative)


def _has_many_features(fitted: FittedModel, data: _Training) -> bool:
    return bool(fitted.estimator.components_.shape[1] > _MANY_FEATURES * data.informative)


# --- estimates out of fold --------------------------------------------------------------------------------


def _signal(model: Any, held: Any, X: Any, y: Any, covariates: Any, sample_weight: Any) -> Any:
    """Return what the factors add to the out-of-fold prediction of each sample: (n, outputs)."""
    if held is True:
        held = held_out_scores(model, X, y, covariates=covariates, sample_weight=sample_weight)
    return numbers(held.signal)


def _out_of_fold_estimates(
    fitted: FittedModel, data: _Training, signal: Any, probability: float
) -> tuple[Any, Any, float]:
    """Return γ (κ, q) in units of the estimator, its standard errors (κ, q), and the quantile."""
    estimator, outcome = fitted.estimator, fitted.outcome
    required = (len(data.kept), len(estimator.factor_coef_))
    if signal.shape != required or not np.isfinite(signal[data.kept]).all():
        raise ValueError(
            f"out_of_fold: signal of shape {signal.shape} with {int(np.isfinite(signal).all(axis=1).sum())} "
            f"samples held out; {required} is required, and all {int(data.kept.sum())} samples with a label"
        )
    signal = signal[data.kept].T
    signal = against_first(estimator, signal).T
    found = recalibrated(
        *(data.loss, data.targets, data.covariates, signal),
        weight=data.weight,
        ridge=covariate_ridge(estimator),
        intercept=bool(estimator.fit_intercept) and not data.loss.ignores_constants,
        least_dispersion=outcome.least_dispersion,
        sample_weight=data.sample_weight,
    )
    quantile = ndtri(probability) if found.free is None else stdtrit(found.free, probability)
    return found.coef, found.error, float(quantile)


def _check_order(codes: Any, kept: Any) -> None:
    """Raise a ValueError if the codes (n, r) of the given X are not those of the training samples."""
    # Far above rounding in single precision, and far below the difference between two samples.
    wrong = np.flatnonzero(np.any(np.abs(codes - kept) > 1e-3 * np.abs(kept).max(), axis=1))
    if len(wrong):
        raise ValueError(
            f"X: {len(wrong)} of {len(codes)} samples are not those the model was fitted to, the first at "
            f"position {wrong[0]}; intervals require the training data in the same order"
        )


def _errors(fitted: FittedModel, data: _Training, probability: float) -> tuple[Any, float]:
    """Return standard errors (κ, q) of γ in units of the estimator, NaN if unknown, and the quantile."""
    estimator = fitted.estimator
    beta = _activation(estimator, "factor_coef_")
    kappa, q = len(beta), data.covariates.shape[1]
    if estimator.model == "feature":
        warnings.warn(
            "model='feature': no intervals of the covariates, since its codes depend on the labels; "
            "model='filter' has intervals",
            UserWarning,
            stacklevel=3,
        )
        return np.full((kappa, q), np.nan), 0.0
    n, r = data.codes.shape
    intercept = [np.ones((n, 1))] if estimator.fit_intercept else []
    D = np.hstack([data.codes, data.covariates, *intercept])
    activations = (
        data.codes @ beta.T
        + data.covariates @ _activation(estimator, "covariate_coef_").T
        + _activation(estimator, "intercept_")
    )
    hessians = data.loss.curvature(activations, data.targets)

    def curvature(weight: Any) -> Any:
        """Return Σ_i weight_i (∇²ℓ_i ⊗ d_i d_iᵀ), (κd, κd), output by output."""
        return hessians.weighted(weight[:, None]).gram(D, data.loss.convex)

    ridge = np.kron(np.eye(kappa), _ridge(estimator, D.shape[1]))
    loss_weight = data.weight * data.class_weight
    H = curvature(loss_weight) + ridge
    try:
        inverse = inverse_of(H)
    except np.linalg.LinAlgError:  # γ is not identified
        return np.full((kappa, q), np.nan), 0.0
    covariance = inverse
    if np.ptp(data.class_weight) > 0:
        covariance = inverse @ (curvature(loss_weight * data.class_weight) + ridge) @ inverse
    variance = np.diag(covariance).reshape(kappa, -1)
    least = fitted.outcome.least_dispersion
    if least is None:  # the loss is a negative log-likelihood: the dispersion is 1
        return np.sqrt(variance[:, r : r + q]), float(ndtri(probability))
    parameters = np.sum(inverse * (H - ridge)) / kappa  # the effective number
    free = max(float(np.sum(data.sample_weight)) - float(parameters), 1.0)
    phi = dispersion(data.loss, activations, data.targets, data.weight, free)
    variance = np.maximum(phi, least)[:, None] * variance
    return np.sqrt(variance[:, r : r + q]), float(stdtrit(free, probability))


def _ridge(estimator: Any, size: int) -> Any:
    """Return the curvature (d, d) of λ‖Wβ‖² + Σ_j ρ_j γ_j² for one output; the intercept has no ridge."""
    W = numbers(estimator.components_)
    lam, rho = float(getattr(estimator, "lam_", estimator.lam)), covariate_ridge(estimator)
    r, q = len(W), estimator.covariate_coef_.shape[1]
    P = np.zeros((size, size))
    P[:r, :r] = 2 * lam * (W @ W.T)
    covariates = np.arange(r, r + q)
    P[covariates, covariates] = 2 * rho
    return P


def _activation(estimator: Any, name: str) -> Any:
    """Return coefficients of the activations of the loss (κ, …): with several classes none for the first."""
    return numbers(estimator._by_activation(getattr(estimator, name)))
