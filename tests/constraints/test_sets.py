"""Projections: nearest, inside, idempotent, non-expansive, on every array library."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.libraries import LIBRARIES

from superfactor.constraints import (
    Box,
    FrobeniusBall,
    NonNegative,
    Product,
    UserSet,
    WholeSpace,
    norm,
    resolve_constraint,
)

SHAPES = ((4, 2), (4, 5), (3, 2))  # A, B, γ


def _halfspace(Z):
    """Nearest point with ``Σ entries ≤ 1``, for one array."""
    return Z - max(0.0, float(Z.sum()) - 1.0) / math.prod(Z.shape)


SETS = {
    "whole": WholeSpace(),
    "ball": FrobeniusBall(1.5),
    "box": Box(-0.5, 0.8),
    "half-open": Box(upper=0.3),
    "nonnegative": NonNegative(),
    "product": Product(A=FrobeniusBall(0.7), B=NonNegative(), gamma=UserSet(_halfspace)),
    "partial product": Product(B=Box(0.0, 1.0)),
}


def triple(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return tuple(scale * rng.standard_normal(shape) for shape in SHAPES)


def minus(Z, other):
    return tuple(z - o for z, o in zip(Z, other, strict=True))


def inner(Z, other):
    return sum(float(np.sum(z * o)) for z, o in zip(Z, other, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    convex_set=st.sampled_from(list(SETS.values())), seed=st.integers(0, 2**31), scale=st.floats(1e-3, 1e3)
)
def test_projection_is_the_nearest_point(convex_set, seed, scale):
    Z, other = triple(seed, scale), triple(seed + 1, scale)
    projected = convex_set.project(Z)
    assert isinstance(projected, tuple)
    assert convex_set.contains(projected)
    # Idempotent.
    again = convex_set.project(projected)
    assert norm(minus(again, projected)) <= 1e-14 * norm(Z)
    # Optimal: ⟨Z − ΠZ, C − ΠZ⟩ ≤ 0 for every C of the set characterises the projection.
    inside = convex_set.project(other)
    angle = inner(minus(Z, projected), minus(inside, projected))
    assert angle <= 1e-12 * norm(Z) * (norm(inside) + norm(Z))
    # Non-expansive.
    distance = norm(minus(projected, inside))
    assert distance <= norm(minus(Z, other)) * (1 + 1e-12)


@pytest.mark.parametrize("name", [name for name in SETS if "product" not in name])
def test_single_arrays_keep_their_form(name):
    Z = 3.0 * np.random.default_rng(0).standard_normal((4, 3))
    projected = SETS[name].project(Z)
    assert isinstance(projected, np.ndarray)
    assert projected.shape == Z.shape
    assert SETS[name].contains(projected)
    assert SETS[name].contains(Z) == (name == "whole")


def test_a_tuple_is_one_joint_point():
    Z = (np.full((2, 2), 3.0), np.full((1, 4), 4.0), np.zeros((0, 2)))
    assert norm(Z) == pytest.approx(math.sqrt(4 * 9 + 4 * 16))
    A, B, gamma = FrobeniusBall(1.0).project(Z)
    np.testing.assert_allclose(A, 0.3)
    np.testing.assert_allclose(B, 0.4)
    assert gamma.shape == (0, 2)


def test_box_with_array_bounds():
    lower = np.array([0.0, -1.0])
    upper = np.array([0.5, math.inf])
    Z = np.array([[-1.0, -2.0], [2.0, 7.0]])
    np.testing.assert_array_equal(Box(lower, upper).project(Z), [[0.0, -1.0], [0.5, 7.0]])


def test_membership_is_relative():
    ball = FrobeniusBall(2.0)
    edge = np.array([[2.0, 0.0]])
    assert ball.contains(edge)
    assert ball.contains(edge * (1 + 1e-10))
    assert not ball.contains(edge * (1 + 1e-8))
    assert ball.contains(edge * (1 + 1e-8), tol=1e-7)
    orthant = NonNegative()
    assert orthant.contains(np.array([1e6, -1e-5]))
    assert not orthant.contains(np.array([1.0, -1e-5]))
    # In a product, each part is relative to its own size.
    product = Product(A=NonNegative())
    assert not product.contains((-np.ones((1, 1)), 1e12 * np.ones((1, 1)), np.zeros((0, 1))))


def test_nan_is_in_no_set():
    Z = tuple(np.full(shape, math.nan) for shape in SHAPES)
    for name, convex_set in SETS.items():
        assert not convex_set.contains(Z), name


@pytest.mark.parametrize("size", [1e-200, 1e200, 1e300])
def test_norms_neither_overflow_nor_underflow(size):
    Z = size * np.array([[3.0, 4.0]])
    assert norm(Z) == pytest.approx(5 * size, rel=1e-15, abs=0.0)
    np.testing.assert_allclose(FrobeniusBall(size).project(Z), size * np.array([[0.6, 0.8]]))


def test_rotation_invariance_is_declared_and_true():
    rotation = np.linalg.qr(np.random.default_rng(5).standard_normal((4, 4)))[0]
    Z = 2.0 * np.random.default_rng(6).standard_normal((4, 5))
    for name in ("whole", "ball", "box", "nonnegative"):
        project = SETS[name].project
        commutes = np.allclose(project(rotation @ Z), rotation @ project(Z), atol=1e-12)
        assert commutes == SETS[name].rotation_invariant, name
    assert Product(A=FrobeniusBall(1.0)).rotation_invariant
    assert not SETS["product"].rotation_invariant
    assert not UserSet(_halfspace).rotation_invariant


@pytest.mark.parametrize("convert", LIBRARIES)
@pytest.mark.parametrize("name", ["whole", "ball", "half-open"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_libraries_agree_with_numpy(name, convert, dtype):
    Z = tuple(part.astype(dtype) for part in triple(9, scale=2.0))
    expected = SETS[name].project(Z)
    projected = SETS[name].project(tuple(convert(part) for part in Z))
    assert SETS[name].contains(projected, tol=1e-6)
    for found, part in zip(projected, expected, strict=True):
        assert type(found) is type(convert(part))
        assert part.dtype == dtype
        assert found.dtype == convert(part).dtype
        np.testing.assert_allclose(np.asarray(found), part, rtol=1e-6)


# --- valid and invalid arguments ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: resolve_constraint("ball"), TypeError, "constraint="),
        (lambda: resolve_constraint(FrobeniusBall), TypeError, "constraint="),
        (lambda: FrobeniusBall(0.0), ValueError, r"radius=.*positive"),
        (lambda: FrobeniusBall(math.nan), ValueError, r"radius=.*positive"),
        (lambda: Box(np.array([0.0, 2.0]), 1.0), ValueError, "lower"),
        (lambda: Box(math.nan, 1.0), ValueError, "lower"),
        (lambda: Box(0.0, np.array([1.0, math.nan])), ValueError, "upper"),
        (lambda: Box(math.inf, math.inf), ValueError, "no finite point"),
        (lambda: Box(-math.inf, -math.inf), ValueError, "no finite point"),
        (lambda: Product(B=1.0), TypeError, r"B=1\.0"),
        (lambda: Product().project(np.ones((2, 2))), TypeError, "tuple"),
        (lambda: UserSet(3), TypeError, "project="),
        (lambda: UserSet(np.abs, contains=True), TypeError, "contains="),
    ],
)
def test_invalid_arguments_raise(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_resolve():
    ball = FrobeniusBall(2.0)
    assert resolve_constraint(None) == WholeSpace() and resolve_constraint(ball) is ball


def test_a_user_set_may_decide_membership():
    even = UserSet(lambda Z: np.full_like(Z, Z.mean()), contains=lambda Z, tol: np.ptp(Z) <= tol)
    assert even.contains(np.ones((2, 2)))
    assert not even.contains(np.array([[1.0, 1.1]]))
    # Without its own function, the projection decides.
    assert not UserSet(lambda Z: np.full_like(Z, Z.mean())).contains(np.array([[1.0, 1.1]]))


def test_sets_can_be_pickled_and_have_a_representation():
    for convex_set, text in (
        (WholeSpace(), "WholeSpace()"),
        (FrobeniusBall(2.0), "FrobeniusBall(radius=2.0)"),
        (Box(0.0, 1.0), "Box(lower=0.0, upper=1.0)"),
        (NonNegative(), "NonNegative()"),
        (Product(B=NonNegative()), "Product(A=WholeSpace(), B=NonNegative(), gamma=WholeSpace())"),
    ):
        assert repr(pickle.loads(pickle.dumps(convex_set))) == text
