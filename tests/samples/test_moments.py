"""Moments of features and codes against explicit centred matrices, and rounding errors of spare rank."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.problems import example
from tests.samples.cutting import cut
from tests.samples.libraries import every_library, plain

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.samples import Block, Moments, moments_of


def by_hand(X, V, weight):
    """Means and deviations of features, the mean of codes XV, their covariance C, and K of both."""
    D, S = weight / weight.sum(), X @ V
    mean, centre = D @ X, D @ S
    Xc, Sc = X - mean, S - centre
    return mean, np.sqrt(D @ Xc**2), centre, (Sc.T * D) @ Sc, (Xc.T * D) @ Sc


def as_tuple(found):
    return found.feature_mean, found.feature_scale, found.score_mean, found.C, found.K


def compare(found, expected, rtol=1e-10):
    for a, b in zip(as_tuple(found), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())
        assert a.dtype == np.float64


def data(n=30, p=8, offset=3.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * np.linspace(1, 4, p) + offset
    return np.where(rng.random((n, p)) < 0.4, 0, X), rng.standard_normal((p, 3)), rng


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
def test_of_arrays(kind, weighted):
    X, V, rng = data()
    weight = rng.uniform(0.1, 3, len(X)) if weighted else None
    made = {"dense": np.asarray, "sparse": sp.csr_array, "float32": np.float32}[kind]
    scores, found = moments_of(made(X), V, weight)
    rtol = 1e-5 if kind == "float32" else 1e-10
    compare(found, by_hand(X, V, np.ones(len(X)) if weight is None else weight), rtol)
    np.testing.assert_allclose(scores, X @ V, rtol=rtol, atol=rtol)
    assert found.variance == pytest.approx(np.sum(found.feature_scale**2))


@every_library
def test_of_other_libraries(convert):
    X, V, _ = data()
    Y = np.arange(len(X))[:, None] % 2 * 1.0
    problem = state("filter", convert(X), convert(Y), resolve_link("logistic", 1), xi=1.0, lam=1.0)
    (tall,), sums = problem.samples.make(Block.scored, V)
    compare(Moments.of(sums, problem.scale), by_hand(X, V, np.ones(len(X))))
    np.testing.assert_allclose(plain(tall.array())[:, :3] * problem.scale, X @ V, atol=1e-12)


@pytest.mark.parametrize(("count", "sparse"), [(1, False), (3, True)])
def test_sums_of_blocks_are_those_of_all_samples(count, sparse):
    problem, reference = example("filter", 23, 6, 2, weighted=True, sparse=sparse)
    V = np.random.default_rng(1).standard_normal((6, 4))
    (tall,), sums = cut(problem, count).samples.make(Block.scored, V)
    compare(Moments.of(sums, problem.scale), by_hand(reference.X.T, V, reference.weight))
    root = np.sqrt(reference.weight)[:, None]
    expected = np.hstack([reference.X.T @ V, np.ones((23, 1))]) * root / problem.scale
    np.testing.assert_allclose(tall.array(), expected, rtol=1e-12)


def test_a_constant_feature_has_no_covariance():
    X, V, _ = data()
    X[:, 2], X[:, 5] = 1e5 / 3, 0
    _, found = moments_of(X, V)
    assert not found.feature_scale[[2, 5]].any() and not found.K[[2, 5]].any()
    assert np.all(np.delete(found.feature_scale, [2, 5]) > 0)


@pytest.mark.parametrize(("offset", "unit"), [(0.0, 1e12), (30.0, 1.0), (1000.0, 1e-12)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_of_rounding_errors_are_left_out(dtype, offset, unit):
    """The centred X has rank 2; one code is the sum of two others, and one is orthogonal to X."""
    rng = np.random.default_rng(2)
    atoms = rng.standard_normal((2, 12))
    X = ((rng.standard_normal((40, 2)) @ atoms + offset) * unit).astype(dtype)
    V = rng.standard_normal((12, 5))
    V[:, 3] = 100 * (V[:, 0] + V[:, 1])
    away = np.linalg.svd(np.vstack([atoms, np.ones(12)]))[2][3:]  # orthogonal to every row of X
    V[:, 4] = away.T @ rng.standard_normal(len(away))
    _, found = moments_of(X, V)
    scale = np.sqrt(np.diag(found.C))
    assert scale[4] == 0 and not found.K[:, 4].any()
    values = np.linalg.eigvalsh(found.C[:4, :4] / np.outer(scale[:4], scale[:4]))
    assert values[1] < 1e-14 and values[2] > 1e-3
    if dtype == np.float64:
        *_, C, K = by_hand(X.astype(np.longdouble), V, np.ones(40))
        np.testing.assert_allclose(found.C[:4, :4], C[:4, :4], rtol=1e-7)
        np.testing.assert_allclose(found.K[:, :4], K[:, :4], atol=1e-7 * np.abs(K).max())


def test_a_small_code_is_kept():
    """A code with small but accurate variance is not spare rank: the unit of V has no effect."""
    X, V, _ = data()
    V *= [1, 1e-9, 1e9]
    compare(moments_of(X, V)[1], by_hand(X, V, np.ones(len(X))))
