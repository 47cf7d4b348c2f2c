"""What a user may pass as a constraint, and what they are told otherwise."""

import math
import pickle

import numpy as np
import pytest

from superfactor.constraints import (
    Box,
    FrobeniusBall,
    NonNegative,
    Product,
    UserSet,
    WholeSpace,
    resolve_constraint,
)


def test_resolve():
    assert resolve_constraint(None) == WholeSpace()
    ball = FrobeniusBall(2.0)
    assert resolve_constraint(ball) is ball


@pytest.mark.parametrize("value", [3.0, "ball", FrobeniusBall])
def test_a_wrong_type_names_the_parameter(value):
    with pytest.raises(TypeError, match="constraint="):
        resolve_constraint(value)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan])
def test_a_bad_radius_is_named(radius):
    with pytest.raises(ValueError, match=r"radius=.*positive"):
        FrobeniusBall(radius)


@pytest.mark.parametrize(
    ("lower", "upper", "name"),
    [
        (1.0, 0.0, "lower"),
        (np.array([0.0, 2.0]), 1.0, "lower"),
        (math.nan, 1.0, "lower"),
        (0.0, np.array([1.0, math.nan]), "upper"),
        (math.inf, math.inf, "no finite point"),
        (-math.inf, -math.inf, "no finite point"),
    ],
)
def test_bad_bounds_are_named(lower, upper, name):
    with pytest.raises(ValueError, match=name):
        Box(lower, upper)


def test_a_product_takes_sets_and_triples():
    with pytest.raises(TypeError, match=r"B=1\.0"):
        Product(B=1.0)
    with pytest.raises(TypeError, match="tuple"):
        Product().project(np.ones((2, 2)))


def test_a_user_set_takes_functions():
    with pytest.raises(TypeError, match="project="):
        UserSet(3)
    with pytest.raises(TypeError, match="contains="):
        UserSet(np.abs, contains=True)


def test_a_user_set_may_decide_membership():
    even = UserSet(lambda Z: np.full_like(Z, Z.mean()), contains=lambda Z, tol: np.ptp(Z) <= tol)
    assert even.contains(np.ones((2, 2)))
    assert not even.contains(np.array([[1.0, 1.1]]))
    # Without a function of its own, projecting decides.
    assert not UserSet(lambda Z: np.full_like(Z, Z.mean())).contains(np.array([[1.0, 1.1]]))


def test_sets_travel_and_say_what_they_are():
    for convex_set, text in (
        (WholeSpace(), "WholeSpace()"),
        (FrobeniusBall(2.0), "FrobeniusBall(radius=2.0)"),
        (Box(0.0, 1.0), "Box(lower=0.0, upper=1.0)"),
        (NonNegative(), "NonNegative()"),
        (Product(B=NonNegative()), "Product(A=WholeSpace(), B=NonNegative(), gamma=WholeSpace())"),
    ):
        assert repr(pickle.loads(pickle.dumps(convex_set))) == text
