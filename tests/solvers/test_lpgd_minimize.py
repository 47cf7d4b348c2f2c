"""`lpgd.minimize` on the paper's other examples: matrix regression and matrix completion."""

import numpy as np
import pytest

from superfactor.solvers import lpgd


def planted(rng, rows=9, columns=8, rank=2):
    return rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))


def regression(rng, theta, gamma, n=600):
    """y_i = ⟨X_i, θ⟩ + ⟨z_i, γ⟩ with f = Σ(y_i − ŷ_i)²/n, whose curvature is near 2."""
    X = rng.standard_normal((n, *theta.shape))
    Z = rng.standard_normal((n, len(gamma)))
    y = np.einsum("nij,ij->n", X, theta) + Z @ gamma

    def objective(theta, gamma):
        e = np.einsum("nij,ij->n", X, theta) + Z @ gamma - y
        return e @ e / n, 2 * np.einsum("nij,n->ij", X, e) / n, 2 * Z.T @ e / n

    return objective


def completion(D, mask):
    def objective(theta, gamma):
        assert gamma is None
        R = (theta - D) * mask
        return float((R**2).sum()), 2 * R, None

    return objective


def test_matrix_regression_recovers_the_planted_matrix():
    rng = np.random.default_rng(0)
    theta, gamma = planted(rng), np.array([1.0, -2.0, 0.5])
    found = lpgd.minimize(
        regression(rng, theta, gamma), 2, (np.zeros((9, 8)), np.zeros(3)), step_size=0.4, tol=1e-10
    )
    assert found.converged
    assert found.n_iter < 200
    np.testing.assert_allclose(found.theta, theta, atol=1e-7)
    np.testing.assert_allclose(found.gamma, gamma, atol=1e-7)
    assert found.objective < 1e-12
    assert found.history.objective[-1] == found.objective


def test_matrix_completion_recovers_the_hidden_entries():
    rng = np.random.default_rng(1)
    theta = planted(rng, 20, 18, 2)
    mask = rng.random(theta.shape) < 0.7
    found = lpgd.minimize(completion(theta, mask), 2, theta * mask, step_size=0.5, max_iter=5000, tol=1e-10)
    np.testing.assert_allclose(found.theta[~mask], theta[~mask], atol=1e-6)
    assert found.gamma is None
    assert np.linalg.matrix_rank(found.theta, tol=1e-9) == 2
    # Too small a rank cannot explain the matrix: the objective stays large.
    poor = lpgd.minimize(completion(theta, mask), 1, theta * mask, step_size=0.5)
    assert poor.objective > 1


def test_the_first_step_is_the_formula():
    rng = np.random.default_rng(2)
    D, start = rng.standard_normal((5, 4)), rng.standard_normal((5, 4))
    found = lpgd.minimize(
        completion(D, np.ones((5, 4))),
        2,
        start,
        step_size=0.1,
        max_iter=1,
        tol=0,
        project=lambda theta, gamma: (np.clip(theta, -0.5, 0.5), gamma),
    )
    U, s, Vt = np.linalg.svd(np.clip(start - 0.2 * (start - D), -0.5, 0.5))
    expected = (U[:, :2] * s[:2]) @ Vt[:2]
    np.testing.assert_allclose(found.theta, expected, atol=1e-12)
    outside = np.max(np.abs(expected) - 0.5)
    np.testing.assert_allclose(found.violation, max(outside, 0), atol=1e-12)
    np.testing.assert_allclose(found.gradient_mapping, np.linalg.norm(expected - start) / 0.1, rtol=1e-12)


def test_one_short_step_is_not_convergence():
    """One zero gradient does not end the iteration."""
    slopes = iter([0.0, 1.0, 0.0, 0.0, 1.0])

    def objective(theta, gamma):
        return 1.0, next(slopes) * np.ones_like(theta), None

    found = lpgd.minimize(objective, 1, np.ones((2, 2)), step_size=0.1)
    assert found.n_iter == 4  # short, long, short, short
    assert found.converged


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": 0}, r"rank=0: an integer >= 1 is required"),
        ({"rank": -2}, r"rank=-2: an integer >= 1 is required"),
        ({"rank": 1.0}, r"rank=1\.0: an integer >= 1 is required"),
        ({"rank": True}, r"rank=True: an integer >= 1 is required"),
        ({"step_size": 0}, r"step_size=0: a finite number > 0 is required"),
        ({"step_size": -0.1}, r"step_size=-0\.1: a finite number > 0 is required"),
        ({"step_size": float("nan")}, r"step_size=nan: a finite number > 0"),
        ({"step_size": float("inf")}, r"step_size=inf: a finite number > 0"),
        ({"step_size": "auto"}, r"step_size='auto': a finite number > 0"),
        ({"start": np.full((3, 3), np.nan)}, r"start: θ contains NaN or infinity; finite"),
        ({"start": (np.ones((3, 3)), np.array([np.inf]))}, r"start: γ contains NaN or infinity"),
        ({"start": np.ones(3)}, r"start: a matrix θ .* but θ is ndarray of shape \(3,\)"),
        ({"start": [[1.0]]}, r"start: a matrix θ .* but θ is list"),
    ],
)
def test_bad_arguments_raise(change, message):
    options = {"rank": 1, "start": np.ones((3, 3)), "step_size": 0.1, **change}
    with pytest.raises(ValueError, match=message):
        lpgd.minimize(completion(np.ones((3, 3)), np.ones((3, 3))), **options)
