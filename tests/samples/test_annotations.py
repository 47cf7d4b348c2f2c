"""Data of samples other than X: parts of it, weights and the intercept."""

from dataclasses import replace

import numpy as np
import pytest

from superfactor.samples import Annotations, SampleTable

N, KAPPA = 12, 2
NAMES = ("targets", "covariates", "loss_weight", "root_weight")


@pytest.fixture
def whole():
    rng = np.random.default_rng(6)
    return Annotations(*(rng.uniform(1, 2, (N, k)) for k in (KAPPA, 2, 1, 1)))


def test_some_of_the_samples_joined_again_and_in_another_type(whole):
    between, some = whole.between(4, 9), whole.take(np.array([7, 2]))
    again = Annotations.joined([whole.between(0, 3), whole.between(3, 4), whole.between(4, N)])
    single = whole.like(np.empty(0, np.float32))
    for name in NAMES:
        expected = getattr(whole, name)
        np.testing.assert_array_equal(getattr(between, name), expected[4:9])
        assert np.shares_memory(getattr(between, name), expected)
        np.testing.assert_array_equal(getattr(some, name), expected[[7, 2]])
        np.testing.assert_array_equal(getattr(again, name), expected)
        assert getattr(single, name).dtype == np.float32
        np.testing.assert_allclose(getattr(single, name), expected, rtol=1e-6)


def test_weights(whole):
    x = np.random.default_rng(0).standard_normal((N, 3))
    np.testing.assert_array_equal(whole.over_root(x), x / whole.root_weight)
    ratio = whole.loss_weight / whole.root_weight**2
    np.testing.assert_allclose(whole.weight_ratio, ratio, rtol=1e-14)
    plain = replace(whole, root_weight=None)
    for part in (plain.between(0, 2), plain.take(np.array([1])), Annotations.joined([plain, plain])):
        assert part.root_weight is None
    np.testing.assert_array_equal(plain.over_root(x), x)
    np.testing.assert_array_equal(plain.weight_ratio, plain.loss_weight)


def stored_by_columns(x):
    """Return whether the numbers of a column are adjacent in memory."""
    return x.strides[0] == x.itemsize


@pytest.mark.parametrize(("order", "labels"), [("C", True), ("C", False), ("F", False)])
def test_targets_are_stored_by_columns(order, labels):
    """Like activations, so that results of both have the same layout."""
    Y = np.asarray(np.random.default_rng(3).standard_normal((N, 3)), order=order)
    table = SampleTable(np.arange(N) % 4 if labels else Y, 3)
    known = table.annotations(slice(0, N), np.empty(0))
    some = known.take(np.array([7, 2, 5, 11, 1]))
    joined = Annotations.joined([known.between(0, 5), known.between(5, N)])
    for each in (known, known.between(2, 9), some, joined, some.like(np.empty(0, np.float32))):
        assert stored_by_columns(each.targets)
    np.testing.assert_array_equal(joined.targets, known.targets)
    assert labels or np.array_equal(known.targets, Y)


# --- the table a user gives -----------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", [slice(2, 7), np.array([8, 1, 5])], ids=["slice", "positions"])
@pytest.mark.parametrize("covariates", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_table(chosen, covariates, weighted):
    rng, intercept, classes = np.random.default_rng(1), weighted, covariates
    labels = np.arange(N) % 3
    C = rng.standard_normal((N, 2)) if covariates else None
    w = rng.uniform(0.5, 2, N) if weighted else None
    c = rng.uniform(0.5, 2, N) if classes else None
    table = SampleTable(labels, KAPPA, C, intercept, w, c)
    assert table.n_covariates == (2 if covariates else 0)
    known = table.annotations(chosen, np.empty(0, np.float32))
    one_hot = np.array([[label == 1, label == 2] for label in labels[chosen]])
    np.testing.assert_array_equal(known.targets, one_hot)
    count = len(one_hot)
    columns = [C[chosen]] if covariates else []
    columns += [np.ones((count, 1))] if intercept else []
    expected = np.hstack(columns) if columns else np.empty((count, 0))
    np.testing.assert_allclose(known.covariates, expected, rtol=1e-6)
    weight = np.ones(count) if w is None else w[chosen]
    if weighted:
        np.testing.assert_allclose(known.root_weight[:, 0], np.sqrt(weight), rtol=1e-6)
    else:
        assert known.root_weight is None
    weight = weight if c is None else weight * c[chosen]
    np.testing.assert_allclose(known.loss_weight[:, 0], weight, rtol=1e-6)
    for name in NAMES:
        part = getattr(known, name)
        assert part is None or part.dtype == np.float32


def test_samples_of_positive_weight():
    weight = np.ones(N)
    weight[[3, 5]] = 0
    table = SampleTable(np.zeros(N, int), 1, sample_weight=weight)
    assert table.weighing(6, 12) is None
    assert table.weighing(2, 7).tolist() == [2, 4, 6]
    assert table.weighing(3, 4).size == 0
    assert SampleTable(np.zeros(N, int), 1).weighing(0, N) is None
