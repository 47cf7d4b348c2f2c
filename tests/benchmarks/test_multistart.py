import numpy as np
import pytest
from benchmarks import hard
from benchmarks.multistart import Given, Objective, lowest
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
