"""Covariates as clinicians read them: a ratio of odds or hazards, or a slope, its interval, and per s.d.

The interval comes from the curvature of F at the fit. With D = [codes, covariates, 1] (n, d) and the
coefficients θ = (β, γ, intercept), d for each of κ outputs, the activations are a = Dθ and

    H = Σ_i w_i c_i (∇²ℓ_i ⊗ d_i d_iᵀ) + P,        J = Σ_i w_i c_i² (∇²ℓ_i ⊗ d_i d_iᵀ) + P,

w sample weights, c class weights, P the curvature of the ridges. F is a negative log-posterior, so that
H⁻¹ is the covariance of θ in Laplace's approximation; class weights bend F but are no further samples,
hence H⁻¹JH⁻¹, which without them is H⁻¹. Squared errors are one in units of 2σ²: there it is 2σ²H⁻¹, σ²
from the residuals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from superfactor._extras import needed_for
from superfactor.estimators import inputs
from superfactor.estimators.covariates import IndicatorColumns, labelled
from superfactor.estimators.parameters import shown
from superfactor.interpretation.models import FittedModel, fitted_model, model_data, numbers
from superfactor.losses import Loss
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer

if TYPE_CHECKING:
    from pandas import DataFrame

# Steps before a model that leave numbers among covariates as they are.
_KEEPS_UNITS = (IndicatorColumns, Adjuster, LowRankImputer, SimpleImputer)


def covariate_effects(
    model: Any,
    X: Any = None,
    y: Any = None,
    covariates: Any = None,
    sample_weight: Any = None,
    *,
    positive: Any = None,
    level: float = 0.95,
) -> DataFrame:
    """One row per covariate and output: what the covariate adds to the outcome beside the factors.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y, covariates, sample_weight : optional
        The training data, in the form ``model.fit`` took. Without them there are estimates
        only. X may be left out where all covariates were given to ``fit`` beside it; the model keeps the
        codes.
    positive : label, optional
        With two classes: the one whose odds are shown, by default the rarer one, as for `factor_view`.
    level : float, default=0.95
        Of the intervals.

    Returns
    -------
    table : DataFrame
        All covariates for the first output, then for the next. Columns:

        - ``covariate``: what is compared, ``age (per unit)`` or ``sex: M vs F``, the reference last;
        - ``column``: its name in ``covariate_names_``, ``age`` or ``sex=M``;
        - ``output``, ``against``: the class and the one it is compared with, or the target and None;
        - ``kind``: "odds ratio", "hazard ratio" of survival times, or "slope" in regression; "coefficient"
          where the link is not logistic;
        - ``coef``: what one unit adds to the log-odds, the log hazard, the target or the score, the factors
          being held fixed;
        - ``estimate``: of that kind, exp(coef) for ratios and else coef.

        And with the training data:

        - ``low``, ``high``: the interval of ``estimate``; NaN where there is none;
        - ``standard_error``: of ``coef``;
        - ``sd``: standard deviation of the covariate in the training samples, weighted;
        - ``estimate_per_sd``, ``low_per_sd``, ``high_per_sd``: the same for one ``sd`` more, not one unit.

        No rows for a model without covariates.

    Notes
    -----
    A unit is the user's: the scalers of scikit-learn in a Pipeline are undone, and covariates given to
    ``fit`` pass none. After any other transformer it is a unit of what that hands on, and the name says so.

    The intervals are approximate: normal, from the curvature of the objective at the fit in the
    coefficients of factors and covariates together. The factors themselves are held fixed, as if they had
    been known before, and the ridges count as a prior that shrinks towards no effect. Where factors had to be
    searched among many more features than samples, the truth is less certain than the interval says:
    resample (bootstrap) to see that. Class weights are allowed for. The feature model has no intervals,
    since the codes of its samples have seen their labels.

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
    fitted = fitted_model(model)
    estimator = fitted.estimator
    units, scaled_by = _units(fitted)
    sign, outputs, against = fitted.outcome.shown_outputs(estimator, positive).compared()
    kind = fitted.outcome.effect_kind(estimator)
    names = fitted.covariate_names

    def estimates(values: Any) -> Any:
        with np.errstate(over="ignore"):  # a ratio may be infinite
            return (np.exp(values) if kind.endswith("ratio") else values).ravel()

    coef = sign * _activation(estimator, "covariate_coef_") * units  # (κ, q)
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
    if X is not None or y is not None or covariates is not None:
        data = _training_data(fitted, X, y, covariates, sample_weight)
        error, quantile = _errors(fitted, data, (1 + float(level)) / 2) if q else (coef, 0.0)
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
    return pd.DataFrame(columns)


def _units(fitted: FittedModel) -> tuple[Any, str]:
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


# --- the curvature at the fit ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Training:
    """The training samples of positive weight.

    Attributes
    ----------
    codes : (n, r)
    covariates : (n, q)
    targets : (n, κ), one-hot without class 0, real, or events
    loss : that of the fit, of these samples
    weight, class_weight : (n,)
    """

    codes: Any
    covariates: Any
    targets: Any
    loss: Loss
    weight: Any
    class_weight: Any

    @property
    def spread(self) -> Any:
        """Standard deviations (q,) of the covariates as the estimator sees them; exactly 0 of constants."""
        mean = np.average(self.covariates, axis=0, weights=self.weight)
        spread = np.sqrt(np.average((self.covariates - mean) ** 2, axis=0, weights=self.weight))
        return np.where(np.ptp(self.covariates, axis=0) > 0, spread, 0.0)


def _training_data(fitted: FittedModel, X: Any, y: Any, covariates: Any, sample_weight: Any) -> _Training:
    estimator, codes = fitted.estimator, numbers(fitted.estimator.codes_)
    if y is None:
        raise ValueError("y=None: intervals need y beside X or covariates; give all or none")
    if X is not None:
        data = model_data(fitted, X, y, covariates, "covariate_effects")
        given, beside = data.given, data.covariates
        if estimator.model == "filter":
            codes = data.X @ numbers(estimator.components_).T
    elif estimator.covariate_columns_ or estimator.constraint is not None:
        raise ValueError("X=None: the model has covariate columns in X, or a constraint; intervals need X")
    else:
        extra = estimator._roles.check_covariates(covariates, codes, "covariate_effects")
        beside = inputs.as_numpy(estimator._roles.regressors(None, extra))
        given = estimator._given(y, codes)
    y = given.values
    inputs.check_length("y", y, codes)
    if len(y) != len(estimator.codes_):
        raise ValueError(
            f"X: {len(y)} samples, but the model was fitted to {len(estimator.codes_)}; intervals need "
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
    beside = np.empty((len(codes), 0)) if beside is None else numbers(beside)
    return _Training(codes[kept], beside[kept], targets, loss, weight, factor)


def _check_order(codes: Any, kept: Any) -> None:
    """Raise a ValueError where codes (n, r) of the given X are not those of the training samples."""
    # Far above what single precision loses, and far below the difference between two samples.
    wrong = np.flatnonzero(np.any(np.abs(codes - kept) > 1e-3 * np.abs(kept).max(), axis=1))
    if len(wrong):
        raise ValueError(
            f"X: {len(wrong)} of {len(codes)} samples are not those the model was fitted to, the first at "
            f"position {wrong[0]}; intervals need the training data in its order"
        )


def _errors(fitted: FittedModel, data: _Training, probability: float) -> tuple[Any, float]:
    """Standard errors (κ, q) of γ as the estimator sees it, NaN where unknown; and the quantile."""
    estimator = fitted.estimator
    beta = _activation(estimator, "factor_coef_")
    kappa, q = len(beta), data.covariates.shape[1]
    if estimator.model == "feature":
        warnings.warn(
            "model='feature': no intervals of the covariates, since its codes have seen the labels; "
            "model='filter' has them",
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
    bend = data.loss.curvature(activations, data.targets)

    def curvature(weight: Any) -> Any:
        """Σ_i weight_i (∇²ℓ_i ⊗ d_i d_iᵀ), (κd, κd), output by output."""
        return bend.weighted(weight[:, None]).gram(D, data.loss.convex)

    ridge = np.kron(np.eye(kappa), _ridge(estimator, D.shape[1]))
    loss_weight = data.weight * data.class_weight
    H = curvature(loss_weight) + ridge
    try:
        inverse = _inverse(H)
    except np.linalg.LinAlgError:  # something about γ is not determined at all
        return np.full((kappa, q), np.nan), 0.0
    covariance = inverse
    if np.ptp(data.class_weight) > 0:
        covariance = inverse @ (curvature(loss_weight * data.class_weight) + ridge) @ inverse
    variance = np.diag(covariance).reshape(kappa, -1)
    if not fitted.outcome.unknown_variance:  # minus a log-likelihood: it has its unit
        return np.sqrt(variance[:, r : r + q]), float(ndtri(probability))
    fitted_numbers = np.sum(inverse * (H - ridge)) / kappa  # of parameters, shrunk ones in part
    free = max(float(np.sum(data.weight)) - fitted_numbers, 1.0)
    sigma2 = data.weight @ (data.targets - activations) ** 2 / free  # (κ,)
    variance = 2 * sigma2[:, None] * variance
    return np.sqrt(variance[:, r : r + q]), float(stdtrit(free, probability))


def _ridge(estimator: Any, size: int) -> Any:
    """The curvature (d, d) of λ‖Wβ‖² + Σ_j ρ_j γ_j² for one output; the intercept is free."""
    W = numbers(estimator.components_)
    lam = float(getattr(estimator, "lam_", estimator.lam))
    rho = np.asarray(getattr(estimator, "lam_covariates_", lam), dtype=np.float64)
    r, q = len(W), estimator.covariate_coef_.shape[1]
    P = np.zeros((size, size))
    P[:r, :r] = 2 * lam * (W @ W.T)
    covariates = np.arange(r, r + q)
    P[covariates, covariates] = 2 * rho
    return P


def _inverse(H: Any) -> Any:
    """H⁻¹ of a positive definite matrix in coordinates of any unit; LinAlgError where it is not."""
    scale = np.sqrt(np.diag(H))
    if not np.all(scale > 0):
        raise np.linalg.LinAlgError
    scaled = H / np.outer(scale, scale)
    # Not a condition number but how much of any one coordinate the others leave: exact collinearity is none.
    if np.linalg.eigvalsh(scaled)[0] < 1e-12:
        raise np.linalg.LinAlgError
    return np.linalg.inv(scaled) / np.outer(scale, scale)


def _activation(estimator: Any, name: str) -> Any:
    """Coefficients of the activations of the loss (κ, …): of several classes the first has none."""
    return numbers(estimator._by_activation(getattr(estimator, name)))
