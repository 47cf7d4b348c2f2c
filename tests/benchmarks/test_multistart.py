from dataclasses import replace

import numpy as np
import pytest
from benchmarks import hard
from benchmarks.multistart import Given, Objective, descend, lowest
from scipy.optimize import minimize, minimize_scalar
from tests import naive

MODELS = ("filter", "feature")


def _given(model, seed=0, n=14, p=5, kappa=2, rank=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (kappa + 1)
    return Given(
        model,
        rng.standard_normal((n, p)),
        y,
        rank,
        0.7,
        0.3,
        rng.standard_normal((n, 2)),
        rng.uniform(0.5, 2, n),
        rng.uniform(0.5, 2, kappa + 1),
    )


def _in_full(given, x):
    """F of the paper at a point, from A, B and γ."""
    objective = Objective(given)
    U, beta, gamma = (part[0] for part in objective.split(objective.orthonormal(x)))
    root = np.sqrt(given.sample_weight)[:, None]
    by_filter = given.model == "filter"
    left, _, right = np.linalg.svd(root * given.X, full_matrices=not by_filter)
    side = right.T if by_filter else left
    W = side @ U
    if by_filter:
        A, B = W @ beta, W @ (W.T @ given.X.T)
    else:
        A, B = (W @ beta / root).T, (W @ (W.T @ (root * given.X)) / root).T
    stated = naive.state(
        given.model,
        given.X,
        np.eye(given.y.max() + 1)[given.y][:, 1:],
        given.xi,
        given.lam,
        given.covariates,
        sample_weight=given.sample_weight,
        class_weight=given.class_weight[given.y],
    )
    return naive.lifted_objective(stated, A, B, gamma)


@pytest.mark.parametrize("model", MODELS)
def test_the_objective_is_that_of_the_paper(model):
    given = _given(model)
    objective = Objective(given)
    for x in objective.starts(12, seed=1):
        F = objective.floor + objective(x[None])[0][0]
        assert pytest.approx(_in_full(given, x[None]), rel=1e-10) == F


@pytest.mark.parametrize("model", MODELS)
def test_the_gradient_is_that_of_differences(model):
    objective = Objective(_given(model))
    x = objective.starts(10, seed=1)[-1]
    slope = objective(x[None])[1][0]
    steps = 1e-6 * np.eye(len(x))
    differences = (objective(x + steps)[0] - objective(x - steps)[0]) / 2e-6
    np.testing.assert_allclose(slope, differences, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("model", MODELS)
def test_second_derivatives_are_those_of_differences(model):
    objective = Objective(_given(model))
    x = objective.orthonormal(objective.starts(10, seed=1))[-1]
    found = objective.hessian(x)
    steps = 1e-6 * np.eye(len(x))
    differences = (objective(x + steps)[1] - objective(x - steps)[1]) / 2e-6
    np.testing.assert_allclose(found, differences, atol=1e-7 * np.abs(found).max())


def test_dependent_columns_are_no_point():
    objective = Objective(_given("filter"))
    x = objective.starts(9, seed=1)[-1:]
    U, beta, gamma = objective.split(x.copy())
    U[:, :, 1] = U[:, :, 0]
    assert objective(objective.join(U, beta, gamma))[0][0] == np.inf


def test_descents_side_by_side_are_those_one_by_one():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((12, 12))
    M = M @ M.T + 0.01 * np.eye(12)
    b = rng.standard_normal(12)

    def bowl(x):
        return np.sum(0.5 * x * (x @ M) - x * b, axis=1) + 0.1 * np.sum(x**4, axis=1), (
            x @ M - b + 0.4 * x**3
        )

    starts = rng.standard_normal((5, 12))
    together, values = descend(bowl, starts, 300)
    alone = np.concatenate([descend(bowl, start[None], 300)[0] for start in starts])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    by_scipy = minimize(lambda x: bowl(x[None])[0][0], starts[0], tol=1e-12).fun
    np.testing.assert_allclose(values, by_scipy, rtol=1e-8)


def test_the_two_feature_case_is_solved():
    """By brute force over the angle of the only factor, convex in the rest."""
    given = hard.problem(0, "ordinary")

    def at(angle):
        z = given.X @ [np.cos(angle), np.sin(angle)]

        def rest(x):
            a = x[0] * z + x[1]
            return np.sum(np.logaddexp(0, a) - given.y * a) + given.lam * x[0] ** 2

        lost = given.xi * (np.sum(given.X**2) - np.sum(z**2))
        return minimize(rest, [0.0, 0.0], tol=1e-10).fun + lost

    angles = np.linspace(0, np.pi, 60)
    rough = min(angles, key=at)
    near = (rough - 0.06, rough + 0.06)
    best = minimize_scalar(at, bounds=near, method="bounded", options={"xatol": 1e-10}).fun
    assert lowest(given) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_a_proven_optimum_is_found(model):
    given = replace(_given(model), lam=3.0)
    found = hard.fit(given)
    assert found.certificate_.is_global
    assert lowest(given, count=12) == pytest.approx(found.objective_, rel=1e-8)


def test_a_rank_that_the_data_has_not_is_no_trouble():
    given = _given("filter", rank=4)
    tied = replace(given, X=given.X[:, [0, 1, 0, 1, 0]])
    assert np.isfinite(lowest(tied, count=8))
