"""γ minimised over and the blocks rescaled: the theorem's condition is independent of ξ and covariates."""

import numpy as np
import pytest
from tests.theory.naive import project, random_problem
from tests.theory.test_constants import stated

from superfactor.theory import theorem_constants


def test_profiling_undoes_what_covariates_and_the_intercept_do_to_the_spectrum():
    """Feature model, n = 60, λ = 1: the joint spectrum is wide, the profiled one [2, 2.25]."""
    rng = np.random.default_rng(0)
    naive = random_problem(rng, "feature", 60, 5, 2, 1, 0.5, 1.0, 1.0, True)
    constants = theorem_constants(stated(naive), profiled=True)
    assert (constants.mu, constants.L) == pytest.approx((2.0, 2.25))
    joint, profiled = [], []
    for size in (0.0, 0.3, 1.0):
        U = size * rng.standard_normal((naive.J.shape[1], 1))
        joint.extend(np.linalg.eigvalsh(naive.hessian(U)))
        profiled.extend(np.linalg.eigvalsh(naive.profiled_hessian(U)))
    assert min(joint) < 2 - 0.01
    assert max(joint) > 10
    assert min(profiled) >= 2 - 1e-9
    assert max(profiled) <= 2.25 + 1e-9


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_schur_complement_is_the_hessian_of_the_profiled_objective(model):
    rng = np.random.default_rng(1)
    naive = random_problem(rng, model, 8, 3, 1, 2, 0.5, 0.4, 1.0, True)
    A, h = rng.standard_normal((naive.side, 2)), 1e-4
    H = naive.profiled_hessian(naive.minimise(A))
    for k in range(0, A.size, 3):
        e = np.zeros(A.size)
        e[k] = h
        e = e.reshape(A.shape)
        up, down = (naive.gradient(naive.minimise(A + s * e))[: naive.side] for s in (1, -1))
        np.testing.assert_allclose((up - down).reshape(-1) / (2 * h), H[:, k], atol=1e-6)


@pytest.mark.parametrize(("xi", "seed"), [(1e-3, 0), (1e3, 1)])
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_profiled_rescaled_iteration_obeys_its_rate(model, seed, xi):
    """For any ξ, with covariates and an intercept, on correctly specified problems."""
    rng = np.random.default_rng(100 + seed)
    kappa, lam = 1 + seed % 2, 0.5 if model == "feature" else 8.0
    naive = random_problem(rng, model, 14, 7, 2, kappa, xi, lam, 0.6, True, data_rank=2)
    constants = theorem_constants(stated(naive), profiled=True)
    assert constants.applies
    assert theorem_constants(stated(naive)).step_window is None
    rank = 2 if model == "filter" else 2 + kappa
    rho, s = constants.best_rate, np.sqrt((constants.mu + constants.L) / 2 / (2 * xi))
    # θ_s = [sA, B]: the block of B has curvature 2ξ, the middle of that of sA, [μ, L]/s².
    step = 1 / (2 * xi)
    best = np.hstack([s * naive.minimise()[: naive.side], naive.target])
    theta = project(best + s * rng.standard_normal(best.shape), rank)
    first = np.linalg.norm(theta - best)
    for t in range(1, 16):
        A = theta[:, :kappa] / s
        gA = naive.gradient(naive.minimise(A))[: naive.side]
        gB = 2 * xi * (theta[:, kappa:] - naive.target)
        theta = project(theta - step * np.hstack([gA / s, gB]), rank)
        assert np.linalg.norm(theta - best) <= rho**t * first + 1e-9 * first
