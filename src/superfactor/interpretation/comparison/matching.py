"""Which factor of one set is which of another: pairs that are most alike, with their signs aligned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from superfactor.interpretation.view import FactorView


@dataclass(frozen=True, eq=False)
class Matched:
    """Factors put beside those of another view; k of them have a partner.

    Attributes
    ----------
    view : FactorView
        The k factors, in the order of their partners and with the sign that makes the cosine with
        them non-negative, so that a coefficient may be negative.
    beside : array of shape (k,) of int
        Positions of the partners in the other view, ascending: 0, …, r − 1 where both have r factors.
    number : array of shape (k,) of int
        What each factor is called in its own order, from 1.
    similarity : array of shape (k,)
        ``|cosine|`` of the correlations of a factor and of its partner with all features: 1 is the same
        factor.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import factor_view, matched, unsupervised
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> pairs = matched(factor_view(model), unsupervised(model, X, y))
    >>> pairs.similarity.round(2)
    array([1.  , 0.14])
    >>> pairs.number
    array([1, 2])
    """

    view: FactorView
    beside: Any
    number: Any
    similarity: Any


def matched(view: FactorView, other: FactorView) -> Matched:
    """The factors of `other`, each beside the factor of `view` it is paired with.

    Each view is in an order of its own, so that factors at the same place need not be alike. Here
    they are paired one to one such that the sum of ``|cosine|`` of their correlations with all features
    is largest; where one view has more factors, some of them stay without a partner.

    Parameters
    ----------
    view, other : FactorView
        Of the same features after the same preprocessing, such as ``factor_view(model)`` and
        ``unsupervised(model, X, y)``.

    Returns
    -------
    pairs : Matched
        The factors of `other` that have a partner, in the order of `view`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import factor_view, matched, unsupervised
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X - X.mean(), y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> model = SMFClassifier(n_components=2).fit(X, y)
    >>> pairs = matched(factor_view(model), unsupervised(model, X, y))
    >>> pairs.similarity.round(2)
    array([1.  , 0.14])
    """
    if view.weights.shape[1] != other.weights.shape[1]:
        raise ValueError(
            f"other: factors of {other.weights.shape[1]} features, but those of view have "
            f"{view.weights.shape[1]}; the numbers must agree"
        )
    beside, order, signs, similarity = match(view.correlations, other.correlations)
    rows = ("correlations", "patterns", "weights")
    columns = ("coef", "scores", "turn")
    # Adding zero makes −0.0 plain zero.
    turned = {name: getattr(other, name)[order] * signs[:, None] + 0.0 for name in rows}
    turned |= {name: getattr(other, name)[:, order] * signs + 0.0 for name in columns}
    shown = replace(
        other, **turned, share=other.share[order], contribution=other.contribution[order], source=None
    )
    return Matched(shown, beside, order + 1, similarity)


def match(reference: Any, atoms: Any, kinds: Any = None) -> tuple[Any, Any, Any, Any]:
    """Pairs of rows of the reference (r, p) and of the atoms (s, p), k = min(r, s) of them.

    Given (k,) are positions in the reference, ascending; those of their partners; ±1 by which the partners
    point the same way; and ``|cosine|``, 0 where a row is zero. Rows of the same of two `kinds`, (r,) and
    (s,) of bool, are paired first, however alike others are.
    """
    cosine = _directions(reference) @ _directions(atoms).T
    gain = np.abs(cosine)
    if kinds is not None:  # one pair of a kind is worth more than all cosines
        gain = gain + len(gain) * np.equal.outer(*map(np.asarray, kinds))
    rows, order = linear_sum_assignment(gain, maximize=True)
    paired = cosine[rows, order]
    return rows, order, np.where(paired < 0, -1.0, 1.0), np.abs(paired)


def _directions(atoms: Any) -> Any:
    """Rows of length one; a zero row stays zero."""
    length = np.linalg.norm(atoms, axis=1, keepdims=True)
    return atoms / np.where(length > 0, length, 1)
