"""`FactorView`: the scores of the factors of a model, in a fixed rotation, order and sign.

A factor is a new variable with a score for every sample. A fit determines only the span of the scores:
rotated factors reconstruct and predict equally well. The view fixes the

rotation  "predictive" puts the whole prediction into as few scores as possible. The other scores are
          uncorrelated with them and are the principal axes of the remaining variance
          (`superfactor.estimators.fitted.scores`). "variance" gives the principal axes of everything that the
          scores explain. "varimax" rotates these so that each factor goes with few features.
order     by effect on the prediction, then by share of variance.
sign      the coefficient of the positive class is positive, so "high" means "more of that class". Without a
          positive class (several classes, regression) the largest coefficient in absolute value is positive,
          without any effect the largest correlation.

Scores are uncorrelated and have variance 1 on the training samples. Non-negative parts, as in supervised NMF,
are the exception: rotation would make them negative, so they are not rotated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from superfactor._arrays import to_numpy
from superfactor._deprecated import renamed_attributes
from superfactor.estimators.fitted.scores import (
    are_parts,
    effects_of,
    parts_turn,
    predictive_turn,
    principal_turn,
    whitening,
)
from superfactor.interpretation.models import FittedModel, fitted_model
from superfactor.interpretation.rotation import varimax
from superfactor.outcomes import Outcome
from superfactor.outcomes.reading import ShownOutputs

ROTATIONS = ("predictive", "variance", "varimax")
DEFAULT = "predictive"
#: The values of features in tables and plots: their correlations with a factor, or their weights in it.
BY = ("correlation", "weight")
#: Factors that contribute a smaller share to the prediction are background.
LEAST_CONTRIBUTION = 0.01
# Coefficients smaller than this, relative to the largest, are rounding errors.
_NEGLIGIBLE = 1e-9
# A smaller share of X is rounding, also in single precision: the factor is unused, its weights are arbitrary.
_NOTHING = 1e-14


@dataclass(frozen=True)
class Source:
    """The factors of a fit before rotation, in NumPy's float64.

    Attributes
    ----------
    weights : V (p, r), codes = XV
    covariance : K (p, r), of each feature with each code
    C : (r, r), the covariance of the codes
    mean : (r,), the mean of the codes
    scale : (p,), standard deviations of the features
    shown : the outputs that are shown, and the positive one
    effect : (outputs, r), what one unit of each code adds to the outputs
    codes : (n, r), of the training samples
    parts : whether the factors are non-negative parts, which are not rotated
    turn, contribution : M (r, r) and (r,) of the predictive rotation, if known
    """

    weights: Any
    covariance: Any
    C: Any
    mean: Any
    scale: Any
    shown: ShownOutputs
    effect: Any
    codes: Any
    parts: bool = False
    turn: Any = None
    contribution: Any = None

    def turned(self, rotation: str | None) -> tuple[Any, Any]:
        """Return M (r, r) and the contribution of each factor to the prediction (r,), None if unknown."""
        gram = self.covariance.T @ self.covariance
        if self.parts:
            if rotation not in (None, "variance"):
                raise ValueError(
                    f"rotation={rotation!r}: these factors are non-negative parts, which a rotation would "
                    "make negative; None or 'variance' is required"
                )
            own = parts_turn(self.C, self.effect) if self.turn is None else self.turn
            return own, self.contribution
        if rotation in (None, DEFAULT):
            if self.turn is not None:
                return self.turn, self.contribution
            return predictive_turn(self.C, gram, self.effect)[0], None
        turn = principal_turn(self.C, gram)
        if rotation == "varimax":
            turn = turn @ varimax((self.covariance @ turn).T)
        return turn, None


@renamed_attributes(codes="scores", scaled=("shown('weight')", lambda view: view.shown("weight")))
@dataclass(frozen=True, eq=False)
class FactorView:
    """All arrays needed to show factors, in NumPy. Factors are in display order and sign.

    Attributes
    ----------
    correlations : array of shape (r, p)
        Correlation of each feature with the score of each factor, from −1 to 1. 0 for a constant feature.
    patterns : array of shape (r, p)
        The change of each feature, in its units at the fit, per standard deviation of the score:
        X ≈ mean + scores @ patterns.
    weights : array of shape (r, p)
        How scores are computed: ``X @ weights.T`` plus a constant. A feature can have a large weight
        because it cancels noise in another one, and a weight of 0 although it correlates with the factor.
    coef : array of shape (outputs, r)
        What one standard deviation of the score adds to the activations, one row per output. Two classes:
        to the log-odds of the positive class (logistic link). Several: to the log-odds of each class
        against the (geometric) mean of all of them. Regression: to the prediction, in the units of y.
        Survival times: to the log hazard.
    share : array of shape (r,)
        Share of the variance of X that the factor explains.
    contribution : array of shape (r,)
        Share of the explained deviance of the training samples that is lost without the factor. In rotations
        other than the predictive one, its share of the variance of the activations.
    scores : array of shape (n, r)
        Scores of the training samples, with mean 0 and variance 1. In the feature model these are rotated
        training codes, which depend on the labels.
    turn : array of shape (r, r)
        ``(transform(X) - center) @ turn`` are the scores of other samples: see ``scores_of``.
    center : array of shape (r,)
        The mean of ``transform(X)`` over the training samples.
    features : array of shape (p,)
        Names, as strings.
    classes : tuple of str or None
        None in regression.
    outputs : tuple of str
        Names of the rows of ``coef``: the positive one of two classes, each of several classes, the
        targets y, or y0, y1, …, or the risk.
    outcome : superfactor.outcomes.Outcome
        The kind of y: classes, numbers or times.
    model : {"filter", "feature", "svd"}
        The model of the factors.
    supervised : bool
        False for plain SVD.
    source : object or None
        The factors before rotation, for other rotations; None for a subset of the factors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import factor_view
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> view = factor_view(model)
    >>> view.correlations.shape, view.coef.shape, view.outputs
    ((2, 4), (3, 2), ('setosa', 'versicolor', 'virginica'))
    >>> view.share.round(2)
    array([0.92, 0.02])
    """

    correlations: Any
    patterns: Any
    weights: Any
    coef: Any
    share: Any
    contribution: Any
    scores: Any
    turn: Any
    center: Any
    features: Any
    classes: tuple[str, ...] | None
    outputs: tuple[str, ...]
    outcome: Outcome
    model: str
    supervised: bool
    source: Source | None = field(default=None, repr=False)

    @property
    def positive(self) -> str | None:
        """The positive one of two classes, otherwise None."""
        return self.outputs[0] if self.classes is not None and len(self.classes) == 2 else None

    @property
    def carries(self) -> Any:
        """(r,) bool: the factor has any effect on the prediction."""
        return np.any(self.coef != 0, axis=0)

    @property
    def predictive(self) -> Any:
        """(r,) bool: ``contribution`` is at least 1 %. The other factors are background."""
        return self.contribution >= LEAST_CONTRIBUTION

    @property
    def explained(self) -> float:
        """The share of the variance of X that all factors explain together; scores may be correlated."""
        if self.source is None:
            return float(np.sum(self.share))
        patterns = self.source.covariance @ whitening(self.source.C)  # of uncorrelated scores
        return float(np.sum(patterns**2) / (np.sum(self.source.scale**2) or 1.0))

    @property
    def disagree(self) -> Any:
        """(r, p) bool: features whose weight and correlation have opposite signs."""
        return self.weights * self.correlations < 0

    def shown(self, by: str = "correlation") -> Any:
        """Return the values (r, p) by which features are ranked and drawn, from −1 to 1.

        Parameters
        ----------
        by : {"correlation", "weight"}, default="correlation"
            "weight" is the weight divided by the largest absolute weight of the factor.
        """
        check_by(by)
        if by == "correlation":
            return self.correlations
        largest = np.max(np.abs(self.weights), axis=1, keepdims=True)
        return self.weights / np.where(largest > 0, largest, 1) + 0.0

    def scores_of(self, codes: Any) -> Any:
        """Return the scores (m, r) of samples with the codes (m, r) from ``transform``."""
        return (np.asarray(to_numpy(codes), dtype=np.float64) - self.center) @ self.turn


def factor_view(model: Any, *, rotation: str | None = None, positive: Any = None) -> FactorView:
    """Return the factors of a fitted model in display order and sign.

    Parameters
    ----------
    model : SMFClassifier, SMFRegressor, SMFSurvival, a Pipeline that ends in one, a search, or a FactorView
        Fitted. For a search such as SMFClassifierCV its ``best_estimator_`` is used.
    rotation : None, "predictive", "variance" or "varimax", default=None
        None is "predictive", and leaves a FactorView unchanged. Non-negative parts are never rotated.
        Reconstruction and prediction are the same in all rotations.
    positive : class label, optional
        The positive class. With two classes its log-odds are shown; by default the rarer class in the
        training samples, or the second if both are equally frequent. With several classes its coefficients
        are made positive; by default, for each factor, the class with the largest coefficient.

    Returns
    -------
    view : FactorView
        The arrays behind tables and plots.

    Notes
    -----
    A view uses only what ``fit`` stored, and does not require X. In the feature model ``view.scores`` come
    from the training codes, which depend on the labels. Scores of new samples come from ``transform``, which
    does not use labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import factor_view
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> view = factor_view(model)
    >>> view.features[abs(view.correlations[0]).argmax()]
    'petal length (cm)'
    >>> factor_view(model, rotation="variance").share.round(2)
    array([0.92, 0.02])
    """
    check_rotation(rotation)
    if not isinstance(model, FactorView):
        fitted = fitted_model(model)
        shown = fitted.outcome.shown_outputs(fitted.estimator, positive)
        return arrange(source_of(fitted.estimator, shown), rotation, view_names(fitted))
    if rotation is None and positive is None:
        return model
    return _of_view(model, rotation, positive)


def check_rotation(rotation: Any) -> None:
    """Raise a ValueError unless `rotation` is None or one of `ROTATIONS`."""
    if rotation is not None and rotation not in ROTATIONS:
        words = ", ".join(map(repr, ROTATIONS))
        raise ValueError(f"rotation={rotation!r}: None, {words} is required")


def check_by(by: Any) -> None:
    """Raise a ValueError unless `by` is one of `BY`."""
    if by not in BY:
        raise ValueError(f"by={by!r}: {' or '.join(map(repr, BY))} is required")


def source_of(estimator: Any, shown: ShownOutputs) -> Source:
    """Return the factors of a fitted estimator before rotation."""
    names = ("score_covariance_", "score_mean_", "feature_scale_", "factor_coef_", "codes_")
    weights, patterns, turn, contribution, *kept = (
        np.asarray(to_numpy(values), dtype=np.float64)
        for values in (
            estimator._coding.weights,
            estimator.patterns_,
            estimator.factor_turn_,
            estimator.factor_contribution_,
            *(getattr(estimator, name) for name in names),
        )
    )
    C, mean, scale, effect, codes = kept
    parts = are_parts(np.asarray(to_numpy(estimator.components_)), codes)
    effect = shown.effects(effect)
    return Source(weights, patterns.T @ C, C, mean, scale, shown, effect, codes, parts, turn, contribution)


def arrange(source: Source, rotation: str | None, names: dict[str, Any]) -> FactorView:
    """Return the rotated factors in display order and sign; `names` are the other fields of the view."""
    turn, contribution = source.turned(rotation)
    coef = effects_of(turn, source.C, source.effect)
    size = np.linalg.norm(coef, axis=0)
    coef[:, size <= _NEGLIGIBLE * size.max(initial=0.0)] = 0.0
    size = np.linalg.norm(coef, axis=0)
    if contribution is None:
        contribution = size**2 / (np.sum(size**2) or 1.0)
    patterns = (source.covariance @ turn).T
    share = np.sum(patterns**2, axis=1) / (np.sum(source.scale**2) or 1.0)
    empty = share <= _NOTHING
    turn = np.where(empty, 0.0, turn)
    patterns = np.where(empty[:, None], 0.0, patterns)
    order = np.lexsort((-share, -size))
    turn, patterns, coef = turn[:, order], patterns[order], coef[:, order]
    scale = np.where(source.scale > 0, source.scale, 1.0)
    correlations = np.clip(patterns / scale, -1.0, 1.0)
    signs = np.ones(len(order)) if source.parts else _signs(correlations, coef, source.shown.up)
    turn = turn * signs
    # Adding 0.0 turns −0.0 into 0.0.
    return FactorView(
        correlations=correlations * signs[:, None] + 0.0,
        patterns=patterns * signs[:, None] + 0.0,
        weights=(source.weights @ turn).T + 0.0,
        coef=coef * signs + 0.0,
        share=share[order],
        contribution=np.where(empty, 0.0, contribution)[order],
        scores=(source.codes - source.mean) @ turn + 0.0,
        turn=turn + 0.0,
        center=source.mean,
        source=source,
        outputs=source.shown.outputs,
        **names,
    )


def _signs(correlations: Any, coef: Any, up: int | None) -> Any:
    """Return ±1 (r,) that makes the coefficient `up`, the largest one or a correlation positive."""
    factors = np.arange(len(correlations))
    leading = coef[np.argmax(np.abs(coef), axis=0), factors]
    if up is not None:
        leading = np.where(coef[up] != 0, coef[up], leading)
    strongest = correlations[factors, np.argmax(np.abs(correlations), axis=1)]
    return np.where(np.where(leading != 0, leading, strongest) < 0, -1.0, 1.0)


def _of_view(view: FactorView, rotation: str | None, positive: Any) -> FactorView:
    """Return the view in another rotation, or for another positive class."""
    if view.source is None:
        raise ValueError(
            f"rotation={rotation!r}, positive={positive!r}: this view has a subset of the factors; "
            "None is required"
        )
    source = view.source
    shown = source.shown.towards(positive)
    effect = source.effect if shown.positive == source.shown.positive else -source.effect
    names = {name: getattr(view, name) for name in ("features", "classes", "outcome", "model", "supervised")}
    return arrange(replace(source, shown=shown, effect=effect), rotation, names)


def view_names(fitted: FittedModel) -> dict[str, Any]:
    """Return the fields of a view that are not numbers, without its outputs."""
    return {
        "features": np.array([str(name) for name in fitted.feature_names], dtype=object),
        "classes": fitted.outcome.class_names(fitted.estimator),
        "outcome": fitted.outcome,
        "model": fitted.estimator.model,
        "supervised": True,
    }
