"""Ridge regressions with many penalties: what conjugate gradients find, and how a path uses them."""

import numpy as np
import pytest

from superfactor.losses import SquaredError, resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.solvers.newton import solve_path
from superfactor.solvers.newton.ridge_directions import ridge_directions, shifted_solutions

SHIFTS = np.geomspace(1e-3, 1e3, 7)
WEIGHTS = [(xi, lam) for xi in (0.01, 1.0) for lam in (10.0, 1.0, 0.1)]


def numbers(n=60, p=90, seed=0, covariates=None, **options):
    """A squared error on X whose range is too large for the initial basis, and that is not compressed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(3, 0.1, p) + 0.5
    y = X[:, :3].sum(axis=1, keepdims=True) + rng.standard_normal((n, 1))
    options = Options(**{"whole_range": 8, "compressed_side": 0, **options})
    return state("filter", X, y, SquaredError(), xi=1.0, lam=1.0, covariates=covariates, options=options)


def test_all_shifts_are_solved_in_one_krylov_space():
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((30, 50)), rng.standard_normal((50, 2))
    G, asked = X.T @ X, []

    def power(T):
        asked.append(T.shape)
        return G @ T

    found = shifted_solutions(power, B, SHIFTS, tol=1e-10).reshape(50, len(SHIFTS), 2)
    assert len(asked) < 120 and set(asked) == {(50, 2)}
    for j, shift in enumerate(SHIFTS):
        exact = np.linalg.solve(G + shift * np.eye(50), B)
        np.testing.assert_allclose(found[:, j], exact, atol=1e-7 * abs(exact).max())


def test_a_solved_column_stays_until_the_others_are_solved():
    G = np.diag(np.arange(1.0, 9.0))
    B = np.column_stack([np.eye(8)[:, 2], np.ones(8)])  # an eigenvector is solved at once
    found = shifted_solutions(lambda T: G @ T, B, SHIFTS, tol=1e-12).reshape(8, len(SHIFTS), 2)
    for j, shift in enumerate(SHIFTS):
        np.testing.assert_allclose(found[:, j], B / (np.diag(G) + shift)[:, None], rtol=1e-8, atol=1e-12)


def test_the_ridge_regression_of_each_penalty_is_in_the_span():
    problem = numbers()
    S = np.linalg.qr(ridge_directions(problem, WEIGHTS).array())[0]
    data = problem.compact.whole
    X, y = data.data.dense(), np.asarray(data.known.targets)
    X, y = X - X.mean(axis=0), y - y.mean()
    lam = problem.restated(1.0, 0.1).lam
    A = np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)
    assert np.linalg.norm(A - S @ (S.T @ A)) < 1e-3 * np.linalg.norm(A)


def test_a_path_with_shared_directions_ends_no_higher():
    alone, along = numbers(), numbers()
    plain = list(solve_path(alone, 2, WEIGHTS, tol=1e-6, search="off"))
    shared = ridge_directions(along, WEIGHTS)
    found = list(solve_path(along, 2, WEIGHTS, tol=1e-6, search="off", shared=shared))
    for a, b in zip(plain, found, strict=True):
        assert b.objective <= a.objective * (1 + 1e-6)


@pytest.mark.parametrize(
    "problem",
    [
        numbers(whole_range=200),
        numbers(covariates=np.random.default_rng(1).standard_normal((60, 5))),
        state(
            "filter",
            np.random.default_rng(0).standard_normal((60, 90)),
            (np.arange(60) % 2)[:, None].astype(float),
            resolve_link("logistic", 1),
            xi=1.0,
            lam=1.0,
            options=Options(whole_range=8),
        ),
    ],
    ids=["small", "many covariates", "classes"],
)
def test_no_directions_where_they_would_not_help(problem):
    assert ridge_directions(problem, WEIGHTS) is None
