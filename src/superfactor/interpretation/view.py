"""`FactorView`: the factors of a model in a fixed rotation, order and sign, ready to be shown.

What a fit determines is less than it shows. F depends on the factors through products only,
codes·components and codes·coefᵀ (or componentsᵀ·coefᵀ), so that turned factors reconstruct and predict
exactly as well. Fixed are here:

rotation  "predictive" puts the whole classifier into as few factors as can be; the others are the
          background, principal axes of what else varies. "variance" shows the factors of the fit, which
          are singular vectors of the lifted matrix. "varimax" gives each factor few large weights.
order     by contribution to the prediction: the norm over outputs of the coefficient per standard
          deviation of the code, largest first; then by share of variance, as in the background.
sign      the coefficient of the positive class is positive, so that "high" means "more of that class";
          without one (several classes, regression) the coefficient that is largest in size; without any
          effect the largest weight. Where all weights and codes are non-negative, as in supervised
          NMF, there is nothing to turn and no sign to choose, and nothing is changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import to_numpy
from superfactor.interpretation.models import FittedModel, fitted_model
from superfactor.interpretation.outcome import Outcome, targets_of
from superfactor.interpretation.predictive import predictive_turn
from superfactor.interpretation.rotation import varimax
from superfactor.models import model_named

ROTATIONS = ("predictive", "variance", "varimax")
# What the factors come back as most often (docs/interpretation.md has the figures).
DEFAULT = "predictive"
# A contribution this small beside the largest is rounding: none at all.
_NEGLIGIBLE = 1e-9
# A smaller share of X is rounding, in single precision too: spare rank, with arbitrary weights.
_NOTHING = 1e-14


@dataclass(frozen=True, eq=False)
class FactorView:
    """Everything needed to show factors; NumPy arrays only. Factors are in display order and sign.

    Attributes
    ----------
    weights : array of shape (r, p)
        The atoms, in the units of the fit: after a StandardScaler, standardised features. Zero
        where a factor holds nothing of X, because X has fewer than r dimensions.
    scaled : array of shape (r, p)
        ``weights`` divided by the largest of each factor in size: from −1 to 1.
    coef : array of shape (outputs, r)
        What moving a sample along one factor by one standard deviation of the training codes adds
        to its activations, one row per output. Two classes: to the log-odds of the positive class
        (logistic link). Several: to the log-odds of each class against the (geometric) mean of all
        of them. Regression: to the prediction, in the units of y; survival times: to the log hazard.
        Exactly 0 in background factors.
    share : array of shape (r,)
        Share of the sum of squares of X, which is variance where X is centred.
    codes : array of shape (n, r)
        Codes of the training samples; those of the feature model have seen the labels.
    turn : array of shape (r, r)
        ``transform(X) @ turn`` are the codes of other samples in the order, sign and rotation of the
        view, and ``turn @ weights`` the atoms of the fit. Orthogonal where those are.
    features : array of shape (p,)
        Names, as strings.
    classes : tuple of str or None
        None in regression.
    outputs : tuple of str
        Names of the rows of ``coef``: the positive one of two classes, each of several classes, the
        targets y, or y0, y1, …, or the risk.
    model : {"filter", "feature", "svd"}
        Which model they are of.
    supervised : bool
        False for plain SVD.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import factor_view
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> view = factor_view(model)
    >>> view.weights.shape, view.coef.shape, view.outputs
    ((2, 4), (3, 2), ('setosa', 'versicolor', 'virginica'))
    >>> view.share.round(2)
    array([0.82, 0.11])
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

    @property
    def predictive(self) -> Any:
        """(r,) bool: which factors carry the classifier. The others are background."""
        return np.any(self.coef != 0, axis=0)


def factor_view(model: Any, *, rotation: str | None = None, positive: Any = None) -> FactorView:
    """The factors of a fitted model in display order and sign.

    Parameters
    ----------
    model : SMFClassifier, SMFRegressor, SMFSurvival, a Pipeline that ends in one, a search, or a FactorView
        Fitted. A search such as SMFClassifierCV stands for its ``best_estimator_``.
    rotation : None, "predictive", "variance" or "varimax", default=None
        None is "predictive" ("variance" for factors of non-negative parts, which no turn leaves
        non-negative), and leaves a FactorView as it is. Reconstruction and prediction are the same in
        all of them; shares and coefficients are those of the turned factors. (With sample weights,
        shares after a rotation are approximate: codes are counted once each.)
    positive : class label, optional
        The class that is up: of two classes the one whose log-odds are shown, by default the rarer one
        in the training samples, or else the second; of several the one whose coefficients are made
        positive, by default the one a factor speaks for most.

    Returns
    -------
    view : FactorView
        Arrays that tables and plots are made of.

    Notes
    -----
    In the filter model ``coef`` is ``coef_`` times the standard deviation of the codes, since the
    atoms are orthonormal; where they are not (supervised NMF) moving along one of them moves the
    projections on all, and that is counted. In the feature model the training codes were chosen
    together with the labels: their spread between classes, and with it ``coef``, is larger than
    that of new samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import factor_view
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> view = factor_view(model)
    >>> view.features[abs(view.weights[0]).argmax()]
    'petal length (cm)'
    >>> factor_view(model, rotation="variance").share.round(2)
    array([0.91, 0.02])
    """
    check_rotation(rotation)
    if not isinstance(model, FactorView):
        return _of_estimator(fitted_model(model), rotation, positive)
    if rotation is None and positive is None:
        return model
    return _of_view(model, rotation, positive)


def check_rotation(rotation: Any) -> None:
    """None, or one of the words."""
    if rotation is not None and rotation not in ROTATIONS:
        words = ", ".join(map(repr, ROTATIONS))
        raise ValueError(f"rotation={rotation!r}: None, {words} is required")


def which_rotation(rotation: str | None, weights: Any, codes: Any) -> str:
    """The rotation that None stands for; non-negative parts are turned by none."""
    parts = len(weights) > 1 and not (weights < 0).any() and not (codes < 0).any()
    if not parts:
        return DEFAULT if rotation is None else rotation
    if rotation in (None, "variance"):
        return "variance"
    raise ValueError(
        f"rotation={rotation!r}: these factors are non-negative parts, which a rotation would spoil; "
        "None or 'variance' is required"
    )


@dataclass(frozen=True)
class Unordered:
    """Factors before they have an order and a sign.

    Attributes
    ----------
    weights : (r, p)
    codes : (n, r)
    effect : (outputs, r), change of the outputs per unit of each code
    share : (r,)
    turn : (r, r), by which the factors have been turned already
    """

    weights: Any
    codes: Any
    effect: Any
    share: Any
    turn: Any

    def rotated(self, rotation: str, model: str) -> Unordered:
        """Turned by "predictive" or "varimax"; the fit's own for "variance"."""
        if rotation == "variance":
            return self
        weights, codes, effect = filled(self.weights, self.share), self.codes, self.effect
        total = _sizes(weights, codes).sum() / (self.share.sum() or 1.0)
        if rotation == "predictive":
            found = predictive_turn(weights, codes, effect, orthonormal_codes=model == "feature")
            M, inverse, effect = found.M, found.inverse, found.effects(effect)
        else:
            M = varimax(weights)
            inverse, effect = M.T, effect @ M
        weights, codes = inverse @ weights, codes @ M
        share = _sizes(weights, codes) / (total or 1.0)
        return Unordered(weights, codes, effect, share, self.turn @ M)


def arrange(factors: Unordered, outcome: Outcome, names: dict[str, Any]) -> FactorView:
    """Factors put in order and sign; `names` are the fields of the view that are no numbers."""
    weights, codes, share = filled(factors.weights, factors.share), factors.codes, factors.share
    coef = factors.effect * codes.std(axis=0)
    contribution = np.linalg.norm(coef, axis=0)
    negligible = contribution <= _NEGLIGIBLE * contribution.max()
    coef[:, negligible], contribution[negligible] = 0, 0
    order = np.lexsort((-share, -contribution))
    turn = factors.turn[:, order]
    weights, codes, coef = weights[order], codes[:, order], coef[:, order]
    if (weights < 0).any() or (codes < 0).any():
        signs = _signs(weights, coef, outcome.up)
        weights, codes, coef = weights * signs[:, None], codes * signs, coef * signs
        turn = turn * signs
    largest = np.max(np.abs(weights), axis=1, keepdims=True)
    scaled = weights / np.where(largest > 0, largest, 1)
    # Adding zero makes −0.0 plain zero.
    return FactorView(
        weights + 0.0,
        scaled + 0.0,
        coef + 0.0,
        share[order],
        codes + 0.0,
        turn + 0.0,
        **names | {"outputs": outcome.outputs},
    )


def _signs(weights: Any, coef: Any, up: int | None) -> Any:
    """±1 (r,): makes the coefficient `up`, or the largest, of each factor positive; or a weight."""
    factors = np.arange(len(weights))
    leading = coef[np.argmax(np.abs(coef), axis=0), factors]
    if up is not None:
        leading = np.where(coef[up] != 0, coef[up], leading)
    leading_weight = weights[factors, np.argmax(np.abs(weights), axis=1)]
    return np.where(np.where(leading != 0, leading, leading_weight) < 0, -1.0, 1.0)


def filled(weights: Any, share: Any) -> Any:
    """The weights (r, p), all zero in factors that hold nothing of X: those would be arbitrary."""
    return np.where(share[:, None] > _NOTHING, weights, 0.0)


def _sizes(weights: Any, codes: Any) -> Any:
    """‖w_j‖²‖h_j‖² (r,)."""
    return np.sum(weights**2, axis=1) * np.sum(codes**2, axis=0)


def _of_view(view: FactorView, rotation: str | None, positive: Any) -> FactorView:
    """Another rotation of the same fit, whatever the one of the view is, or another class up."""
    binary = view.classes is not None and len(view.classes) == 2
    own = Outcome(view.classes, view.outputs, 0 if binary else None)
    outcome = own.towards(positive)
    spread = view.codes.std(axis=0)
    effect = view.coef / np.where(spread > 0, spread, 1)
    if outcome.outputs != own.outputs:
        effect = -effect  # the other one of two classes
    weights, codes, share, turn = view.weights, view.codes, view.share, view.turn
    if rotation is not None:
        rotation = which_rotation(rotation, weights, codes)
        r = len(weights)
        if turn.shape == (r, r):  # a part of the factors cannot be turned back
            total = _sizes(weights, codes).sum() / (share.sum() or 1.0)
            weights, codes, effect = turn @ weights, codes @ np.linalg.inv(turn), effect @ turn.T
            share, turn = _sizes(weights, codes) / (total or 1.0), np.eye(r)
    factors = Unordered(weights, codes, effect, share, turn)
    factors = factors.rotated(rotation or "variance", view.model)
    names = {name: getattr(view, name) for name in ("features", "classes", "model", "supervised")}
    return arrange(factors, outcome, names)


def _of_estimator(fitted: FittedModel, rotation: str | None, positive: Any) -> FactorView:
    estimator, outcome = fitted.estimator, Outcome.of(fitted.estimator, positive)
    factors = unordered(estimator, outcome)
    rotation = which_rotation(rotation, factors.weights, factors.codes)
    return arrange(factors.rotated(rotation, estimator.model), outcome, view_names(fitted))


def unordered(estimator: Any, outcome: Outcome) -> Unordered:
    """The factors of a fitted estimator, as they are."""
    weights, codes, coef, share = (
        np.asarray(to_numpy(values), dtype=np.float64)
        for values in (
            estimator.components_,
            estimator.codes_,
            estimator.coef_,
            estimator.explained_variance_ratio_,
        )
    )
    effect = outcome.shown(model_named(estimator.model).effects(weights, coef))
    return Unordered(weights, codes, effect, share, np.eye(len(weights)))


def view_names(fitted: FittedModel) -> dict[str, Any]:
    """The fields of a view that are no numbers; ``outputs`` are the rows of ``coef_``, as they are."""
    estimator = fitted.estimator
    classes: tuple[str, ...] | None = None
    if hasattr(estimator, "classes_"):
        classes = tuple(str(label) for label in estimator.classes_)
    outputs = targets_of(estimator) if classes is None else classes[1:]
    features = np.array([str(name) for name in fitted.feature_names], dtype=object)
    return {
        "features": features,
        "classes": classes,
        "outputs": outputs,
        "model": estimator.model,
        "supervised": True,
    }
