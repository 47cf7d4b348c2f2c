"""LPGD with a convex set on (A, B, γ) against the naive Algorithm 1 with its projection."""

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.examples import assert_same_iterates, distance, random_start

from superfactor.constraints import Box, FrobeniusBall, NonNegative, Product, UserSet
from superfactor.solvers import lpgd


def ball(radius):
    def project(A, B, gamma):
        size = np.sqrt(sum(np.sum(x**2) for x in (A, B, gamma)))
        return tuple(x * min(1.0, radius / size) for x in (A, B, gamma))

    return project


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "compress"), [((12, 7), True), ((7, 12), True), ((12, 7), False)])
def test_an_active_frobenius_ball(model, shape, compress):
    problem, P = example(model, *shape, 2, weighted=True)
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.03, 12, project=ball(8.0))
    free = naive.algorithm_1(P, 2, point, 0.03, 12)
    assert distance(path[-1], free[-1]) > 0.1
    found = assert_same_iterates(
        problem, P, 2, path, 0.03, start=start, constraint=FrobeniusBall(8.0), compress=compress
    )
    assert found.violation < 1e-9


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(12, 7), (7, 12)])
def test_a_product_of_sets(model, shape):
    """Balls on A and B allow compression for any set on γ."""

    def project(A, B, gamma):
        size = np.linalg.norm(A)
        return A * min(1.0, 0.5 / size), ball(9.0)(0 * A, B, 0 * gamma)[1], np.maximum(gamma, -0.1)

    problem, P = example(model, *shape, 2, weighted=True)
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.03, 12, project=project)
    theta = Product(A=FrobeniusBall(0.5), B=FrobeniusBall(9.0), gamma=Box(lower=-0.1))
    for compress in (None, False):
        options = {"start": start, "constraint": theta, "compress": compress}
        assert_same_iterates(problem, P, 2, path, 0.03, **options)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("theta", "low", "high", "weighted"), [(NonNegative(), 0, None, True), (Box(-1, 2), -1, 2, False)]
)
def test_entrywise_constraints(model, weighted, theta, low, high):
    problem, P = example(model, 9, 6, 1, weighted=weighted)
    root = np.sqrt(P.weight)
    unit = 1.0 if model == "filter" else root

    def project(A, B, gamma):  # the bounds apply to A and B, not to √w times them
        return (
            np.clip(A / unit, low, high) * unit,
            np.clip(B / root, low, high) * root,
            np.clip(gamma, low, high),
        )

    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.03, 12, project=project)
    found = assert_same_iterates(problem, P, 2, path, 0.03, start=start, constraint=theta)
    # Π_r is the last operation and leaves Θ; the distance is reported (in units of √w).
    A, B, gamma = path[-1]
    parts = (A * unit, B * root, gamma)
    outside = max(np.max(np.abs(x - y)) for x, y in zip(parts, project(*parts), strict=True))
    assert outside > 1e-6
    np.testing.assert_allclose(found.violation, outside, rtol=1e-6)
    assert "rank projection leaves the constraint" in found.reason


@pytest.mark.parametrize(("model", "rows"), [("filter", 6), ("feature", 9)])
def test_what_a_users_set_receives(model, rows):
    problem, _ = example(model, 9, 6, 2)
    shapes = set()

    def project(point):
        shapes.add(tuple(part.shape for part in point))
        return point

    found = lpgd.solve(problem, 2, step_size=0.02, max_iter=3, tol=0, constraint=UserSet(project))
    assert shapes == {((rows, 2), (9, 6), (3, 2))}
    free = lpgd.solve(problem, 2, step_size=0.02, max_iter=3, tol=0)
    np.testing.assert_allclose(found.history.objective, free.history.objective, rtol=1e-11)
