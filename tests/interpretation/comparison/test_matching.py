"""`matched` against factors whose partners are known, and every assignment tried."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from tests.interpretation.data import pipeline, table

from superfactor.interpretation import factor_view, matched, unsupervised
from superfactor.interpretation.comparison.matching import match

ROWS, COLUMNS = ("correlations", "patterns", "weights"), ("coef", "scores", "turn")


def shuffled(view, order, signs):
    """The same factors under other numbers and signs."""
    signs = np.asarray(signs, dtype=float)
    turned = {name: getattr(view, name)[order] * signs[:, None] for name in ROWS}
    turned |= {name: getattr(view, name)[:, order] * signs for name in COLUMNS}
    turned |= {name: getattr(view, name)[order] for name in ("share", "contribution")}
    return replace(view, **turned)


def fitted_views(rank=4):
    X, y = table(n=60)
    fit = pipeline(rank=rank).fit(X, y)
    return factor_view(fit), unsupervised(fit, X, y)


def test_factors_in_another_order_are_matched():
    view, _ = fitted_views()
    pairs = matched(view, shuffled(view, [2, 0, 3, 1], [1, -1, -1, 1]))
    assert list(pairs.number) == [2, 4, 1, 3]
    np.testing.assert_array_equal(pairs.beside, range(4))
    np.testing.assert_allclose(pairs.similarity, 1)
    for name in (*ROWS, *COLUMNS, "share", "contribution"):
        np.testing.assert_array_equal(getattr(pairs.view, name), getattr(view, name))


def test_no_other_pairs_are_more_similar():
    view, plain = fitted_views()
    pairs = matched(view, plain)
    mine, theirs = (
        v.correlations / np.linalg.norm(v.correlations, axis=1, keepdims=True) for v in (view, plain)
    )
    cosine = mine @ theirs.T
    best = max(sum(abs(cosine[j, k]) for j, k in enumerate(p)) for p in permutations(range(4)))
    np.testing.assert_allclose(pairs.similarity.sum(), best)
    np.testing.assert_allclose(pairs.similarity, np.abs(cosine[np.arange(4), pairs.number - 1]))
    assert np.all(np.sum(view.correlations * pairs.view.correlations, axis=1) > 0)


def test_kinds_are_matched_among_themselves():
    reference, atoms = np.eye(3), np.eye(3)[[1, 0, 2]]
    rows, order, _, similarity = match(reference, atoms)
    assert (list(rows), list(order)) == ([0, 1, 2], [1, 0, 2])
    first = np.array([True, False, False])
    _, order, _, similarity = match(reference, atoms, (first, first))
    assert order[0] == 0 and similarity[0] == 0


@pytest.mark.parametrize("kept", [[3, 1], [0, 1, 2, 3]], ids=["fewer", "more"])
def test_other_ranks_leave_some_without_a_partner(kept):
    view, _ = fitted_views()
    few = shuffled(view, kept, np.ones(len(kept)))
    first, second = (view, few) if len(kept) == 2 else (shuffled(view, [2, 0], [1, 1]), few)
    pairs = matched(first, second)
    assert (list(pairs.beside), list(pairs.number)) == (
        ([1, 3], [2, 1]) if len(kept) == 2 else ([0, 1], [3, 1])
    )
    np.testing.assert_allclose(pairs.similarity, 1)
    assert pairs.view.weights.shape == (2, 7)


def test_factors_of_other_features():
    view, _ = fitted_views()
    with pytest.raises(ValueError, match="other: factors of 6 features, but view has 7"):
        matched(view, replace(view, weights=view.weights[:, 1:]))
    with pytest.raises(ValueError, match=r"rotation='varimax', .*a subset of the factors"):
        factor_view(matched(view, view).view, rotation="varimax")
