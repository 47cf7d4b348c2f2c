"""Matching of two sets of factors: pairs of the most similar factors, with aligned signs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from superfactor.interpretation.view import FactorView


@dataclass(frozen=True, eq=False)
class Matched:
    """Factors matched to those of another view; k of them have a partner.

    Attributes
    ----------
    view : FactorView
        The k factors in the order of their partners, with the sign that makes the cosine with the partner
        non-negative. Coefficients may therefore be negative.
    beside : array of shape (k,) of int
        Positions of the partners in the other view, ascending: 0, …, r − 1 if both have r factors.
    number : array of shape (k,) of int
        The number of each factor in its own view, from 1.
    similarity : array of shape (k,)
        ``|cosine|`` between the correlations of a factor with all features and those of its partner: 1 means
        the same factor.

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
    """Match the factors of `other` one to one with those of `view`.

    Each view has its own order, so factors with the same number can differ. The pairs maximize the sum of
    ``|cosine|`` between their correlations with all features. If one view has more factors, some have no
    partner.

    Parameters
    ----------
    view, other : FactorView
        Views of the same features after the same preprocessing, such as ``factor_view(model)`` and
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
            f"other: factors of {other.weights.shape[1]} features, but view has {view.weights.shape[1]}; the "
            "same features are required"
        )
    beside, order, signs, similarity = match(view.correlations, other.correlations)
    rows = ("correlations", "patterns", "weights")
    columns = ("coef", "scores", "turn")
    # Adding 0.0 turns −0.0 into 0.0.
    turned = {name: getattr(other, name)[order] * signs[:, None] + 0.0 for name in rows}
    turned |= {name: getattr(other, name)[:, order] * signs + 0.0 for name in columns}
    shown = replace(
        other, **turned, share=other.share[order], contribution=other.contribution[order], source=None
    )
    return Matched(shown, beside, order + 1, similarity)


def match(reference: Any, atoms: Any, kinds: Any = None) -> tuple[Any, Any, Any, Any]:
    """Match rows of the reference (r, p) with rows of the atoms (s, p): k = min(r, s) pairs.

    Returns arrays (k,): ascending positions in the reference, positions of the partners, signs ±1 that align
    the partners, and ``|cosine|``, 0 for a zero row. Rows with equal `kinds`, (r,) and (s,) of bool, are
    paired first, whatever their cosine.
    """
    cosine = _directions(reference) @ _directions(atoms).T
    gain = np.abs(cosine)
    if kinds is not None:  # one pair of equal kinds outweighs all cosines
        gain = gain + len(gain) * np.equal.outer(*map(np.asarray, kinds))
    rows, order = linear_sum_assignment(gain, maximize=True)
    paired = cosine[rows, order]
    return rows, order, np.where(paired < 0, -1.0, 1.0), np.abs(paired)


def _directions(atoms: Any) -> Any:
    """Return the rows scaled to length 1; a zero row stays zero."""
    length = np.linalg.norm(atoms, axis=1, keepdims=True)
    return atoms / np.where(length > 0, length, 1)
