"""`FactorView`: the factors of a model in a fixed order and sign, ready to be shown.

What a fit determines is less than it shows. F depends on the factors through products only,
codes·components and codes·coefᵀ (or componentsᵀ·coefᵀ), so any orthogonal R turns the factors into
others that reconstruct and predict exactly as well. The estimators return the one choice that comes
from the singular vectors of the lifted matrix, which leaves order and signs open. Here they are:

order   by contribution to the prediction: the norm over outputs of the coefficient per standard
        deviation of the code, largest first; then by share of variance.
sign    the coefficient that is largest in size is positive, so that "high" means "more of that
        class"; without any effect the largest weight is positive. Where all weights and codes are
        non-negative, as in supervised NMF, there is no sign to choose and none is changed.

``rotation="varimax"`` takes another R: the one with few large weights in each factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import to_numpy
from superfactor.interpretation.models import FittedModel, fitted_model
from superfactor.interpretation.rotation import varimax
from superfactor.models import model_named

# A contribution this small beside the largest is rounding: none at all.
_NEGLIGIBLE = 1e-9
# A smaller share of X is rounding, in single precision too: spare rank, with arbitrary weights.
_NOTHING = 1e-14
_NAMES = ("features", "classes", "outputs", "model", "supervised")


@dataclass(frozen=True, eq=False)
class FactorView:
    """Everything needed to show factors; NumPy arrays only. Factors are in display order and sign.

    Attributes
    ----------
    weights : (r, p)
        The atoms, in the units of the fit: after a StandardScaler, standardised features. Zero
        where a factor holds nothing of X, because X has fewer than r dimensions.
    scaled : (r, p)
        ``weights`` divided by the largest of each factor in size: from −1 to 1.
    coef : (κ, r)
        What moving a sample along one factor by one standard deviation of the training codes adds
        to its activations: to the log-odds against the first class (logistic link), or to the
        prediction in the units of y (regression).
    share : (r,)
        Share of the sum of squares of X, which is variance where X is centred.
    codes : (n, r)
        Codes of the training samples; those of the feature model have seen the labels.
    turn : (r, r)
        Orthogonal: ``transform(X) @ turn`` are the codes of other samples in the order, sign and
        rotation of the view.
    features : (p,)
        Names, as strings.
    classes : tuple of str, or None in regression
    outputs : tuple of str
        Names of the κ rows of ``coef``: all classes but the first, or the targets y, or y0, y1, ….
    model : "filter", "feature" or "svd"
    supervised : bool
    """

    weights: Any
    scaled: Any
    coef: Any
    share: Any
    codes: Any
    turn: Any
    features: Any
    classes: tuple[str, ...] | None
    outputs: tuple[str, ...]
    model: str
    supervised: bool


def factor_view(model: Any, *, rotation: str | None = None) -> FactorView:
    """The factors of a fitted model in display order and sign.

    Parameters
    ----------
    model : SMFClassifier, SMFRegressor, a Pipeline that ends in one, a search, or a FactorView
        Fitted. A search such as SMFClassifierCV stands for its ``best_estimator_``.
    rotation : None or "varimax", default=None
        None shows the factors of the fit. "varimax" turns them until each has few large weights;
        reconstruction and prediction are unchanged, shares and coefficients are those of the turned
        factors. (With sample weights, shares after a rotation are approximate: codes are counted
        once each.)

    Returns
    -------
    view : FactorView

    Notes
    -----
    In the filter model ``coef`` is ``coef_`` times the standard deviation of the codes, since the
    atoms are orthonormal; where they are not (supervised NMF) moving along one of them moves the
    projections on all, and that is counted. In the feature model the training codes were chosen
    together with the labels: their spread between classes, and with it ``coef``, is larger than
    that of new samples.
    """
    if rotation not in (None, "varimax"):
        raise ValueError(f"rotation={rotation!r}: None or 'varimax' is required")
    if isinstance(model, FactorView):
        return model if rotation is None else _turned_view(model)
    return _of_estimator(fitted_model(model), rotation)


def arrange(
    weights: Any, codes: Any, effect: Any, share: Any, names: dict[str, Any], turn: Any = None
) -> FactorView:
    """Factors put in order and sign.

    Parameters
    ----------
    weights : (r, p)
    codes : (n, r)
    effect : (κ, r), change of the activations per unit of each code
    share : (r,)
    names : the fields of the view that are no numbers
    turn : (r, r), by which the factors have been turned already; None if they have not
    """
    weights = filled(weights, share)
    coef = effect * codes.std(axis=0)
    contribution = np.linalg.norm(coef, axis=0)
    negligible = contribution <= _NEGLIGIBLE * contribution.max()
    coef[:, negligible], contribution[negligible] = 0, 0
    order = np.lexsort((-share, -contribution))
    turn = (np.eye(len(weights)) if turn is None else turn)[:, order]
    weights, codes, coef = weights[order], codes[:, order], coef[:, order]
    if (weights < 0).any() or (codes < 0).any():
        signs = _signs(weights, coef)
        weights, codes, coef = weights * signs[:, None], codes * signs, coef * signs
        turn = turn * signs
    largest = np.max(np.abs(weights), axis=1, keepdims=True)
    scaled = weights / np.where(largest > 0, largest, 1)
    # Adding zero makes −0.0 plain zero.
    return FactorView(
        weights + 0.0, scaled + 0.0, coef + 0.0, share[order], codes + 0.0, turn + 0.0, **names
    )


def _signs(weights: Any, coef: Any) -> Any:
    """±1 (r,): makes the largest coefficient of each factor positive, or else its largest weight."""
    factors = np.arange(len(weights))
    leading_coef = coef[np.argmax(np.abs(coef), axis=0), factors]
    leading_weight = weights[factors, np.argmax(np.abs(weights), axis=1)]
    return np.where(np.where(leading_coef != 0, leading_coef, leading_weight) < 0, -1.0, 1.0)


def _turned(
    weights: Any, codes: Any, effect: Any, share: Any, names: dict[str, Any], turn: Any = None
) -> FactorView:
    """The same after varimax; ‖X‖² is what the shares before it were taken of."""
    weights = filled(weights, share)
    R = varimax(weights)
    total = _sizes(weights, codes).sum() / (share.sum() or 1.0)
    weights, codes, turn = R.T @ weights, codes @ R, R if turn is None else turn @ R
    return arrange(weights, codes, effect @ R, _sizes(weights, codes) / (total or 1.0), names, turn)


def filled(weights: Any, share: Any) -> Any:
    """The weights (r, p), all zero in factors that hold nothing of X: those would be arbitrary."""
    return np.where(share[:, None] > _NOTHING, weights, 0.0)


def _sizes(weights: Any, codes: Any) -> Any:
    """‖w_j‖²‖h_j‖² (r,)."""
    return np.sum(weights**2, axis=1) * np.sum(codes**2, axis=0)


def _turned_view(view: FactorView) -> FactorView:
    spread = view.codes.std(axis=0)
    effect = view.coef / np.where(spread > 0, spread, 1)
    names = {name: getattr(view, name) for name in _NAMES}
    return _turned(view.weights, view.codes, effect, view.share, names, view.turn)


def _of_estimator(fitted: FittedModel, rotation: str | None) -> FactorView:
    estimator = fitted.estimator
    weights, codes, coef, share = (
        np.asarray(to_numpy(values), dtype=np.float64)
        for values in (
            estimator.components_,
            estimator.codes_,
            estimator.coef_,
            estimator.explained_variance_ratio_,
        )
    )
    effect = model_named(estimator.model).effects(weights, coef)
    put = arrange if rotation is None else _turned
    return put(weights, codes, effect, share, view_names(fitted))


def view_names(fitted: FittedModel) -> dict[str, Any]:
    """The fields of a view that are no numbers."""
    estimator = fitted.estimator
    classes, kappa = None, len(estimator.coef_)
    outputs = ("y",) if kappa == 1 else tuple(f"y{k}" for k in range(kappa))
    if hasattr(estimator, "classes_"):
        classes = tuple(str(label) for label in estimator.classes_)
        outputs = classes[1:]
    features = np.array([str(name) for name in fitted.feature_names], dtype=object)
    return {
        "features": features,
        "classes": classes,
        "outputs": outputs,
        "model": estimator.model,
        "supervised": True,
    }
