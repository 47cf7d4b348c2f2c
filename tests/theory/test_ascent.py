"""Dual ascent: the relaxation against its definition, its gradient against differences, its projection
against the optimality condition.
"""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.restarts import best_of

from superfactor.solvers import newton
from superfactor.subspace import Basis, Inside
from superfactor.theory.ascent import _project_fantope, _Relaxation, ascend
from superfactor.theory.dual import Dual
from superfactor.theory.top_sums import FullSpectrum

every_model = pytest.mark.parametrize("model", MODELS)


def relaxed(model, **given):
    problem, P = example(model, 10, 5, 1, lam=0.4, **given)
    everything = problem.model.everything(problem.side, 10)
    return problem, P, Basis.empty(problem).extended(everything)[0]


def fantope_point(rng, k, rank, inner=False):
    M = rng.standard_normal((k, k))
    Pi = _project_fantope(M + M.T, rank)
    return 0.5 * Pi + 0.5 * rank / k * np.eye(k) if inner else Pi


@pytest.mark.parametrize(("seed", "rank"), [(0, 1), (1, 2), (2, 4)])
def test_the_nearest_point_of_the_fantope(seed, rank):
    """Feasible, and ⟨M − Π, Q − Π⟩ ≤ 0 for every feasible Q."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((6, 6)) * 3
    M = M + M.T
    Pi = _project_fantope(M, rank)
    values = np.linalg.eigvalsh(Pi)
    assert values[0] >= -1e-12 and values[-1] <= 1 + 1e-12
    assert np.trace(Pi) == pytest.approx(rank, abs=1e-9)
    for _ in range(20):
        W = np.linalg.qr(rng.standard_normal((6, rank)))[0]  # its extreme points are projectors
        assert np.sum((M - Pi) * (W @ W.T - Pi)) <= 1e-8
    np.testing.assert_allclose(_project_fantope(Pi, rank), Pi, atol=1e-9)


@every_model
def test_at_a_projector_the_relaxation_is_F(model, weighted=True):
    """J(WWᵀ) is F with the best β and γ for the span of W."""
    problem, _, basis = relaxed(model, weighted=weighted)

    W = np.linalg.qr(np.random.default_rng(0).standard_normal((basis.size, 2)))[0]
    J = _Relaxation(problem, basis).at(W @ W.T).J
    assert pytest.approx(Inside(basis, 2).polish(W).F, rel=1e-9) == J


@every_model
def test_inside_the_set_the_relaxation_is_its_definition(model):
    """min over A, γ of the loss + λ⟨A, Π⁻¹A⟩ + the reconstruction, by L-BFGS."""
    problem, _, basis = relaxed(model)
    rng, k, q = np.random.default_rng(1), basis.size, problem.n_covariates
    Pi = fantope_point(rng, k, 2, inner=True)
    arrays, inverse = problem.arrays(), np.linalg.inv(Pi)
    Phi = arrays.known.over_root(basis.features.array())
    ridge = problem.covariate_ridge[:, None]

    def f(x):
        A, gamma = x[:k, None], x[k:, None]
        value, E = arrays.loss_terms(Phi @ A + arrays.covariates @ gamma)
        value += problem.lam * np.sum(A * (inverse @ A)) + np.sum(ridge * gamma**2)
        slope = [Phi.T @ E + 2 * problem.lam * inverse @ A, arrays.covariates.T @ E + 2 * ridge * gamma]
        return value, np.vstack(slope).ravel()

    best = minimize(f, np.zeros(k + q), jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})
    expected = best.fun + problem.xi * (problem.squared_norm - np.sum(Pi * basis.D))
    found = _Relaxation(problem, basis).at(Pi)
    assert pytest.approx(expected, rel=1e-7) == found.J
    # Its gradient, by differences along feasible directions.
    for seed in range(3):
        step = fantope_point(np.random.default_rng(seed), k, 2) - Pi
        h = 1e-5
        up, down = (_Relaxation(problem, basis).at(Pi + s * h * step).J for s in (1, -1))
        slope = np.sum(found.gradient * step)
        assert (up - down) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("model", "seed"), [("filter", 0), ("feature", 1)])
def test_ascent_raises_the_bound_and_stays_below_every_point(model, seed):
    problem, P = example(model, 12, 6, 1, seed=seed, xi=0.5, lam=0.3)
    dual = Dual(problem, FullSpectrum(problem, 2))
    basis = Basis.empty(problem).extended(problem.model.everything(problem.side, 12))[0]
    W = np.linalg.qr(np.random.default_rng(seed).standard_normal((basis.size, 2)))[0]
    found = newton.solve(problem, 2).objective
    bounds = [ascend(dual, basis, W, found, tol=1e-9, max_iter=m).value for m in (0, 5, 150)]
    best = min(found, best_of(P, 2, 4, seed, max_iter=80))
    assert bounds == sorted(bounds)
    assert bounds[-1] > bounds[0] + 1e-3
    assert bounds[-1] <= best * (1 + 1e-9)
    # At the end it equals the relaxation, the best bound of any dual point, also from another start.
    V = naive.project_rank(np.eye(basis.size), 2)[:, :2]
    again = ascend(dual, basis, V, found, tol=1e-9, max_iter=150).value
    assert again == pytest.approx(bounds[-1], rel=1e-3)
