"""The dual bound against the formulas of docs/method.md §7, written out with explicit matrices."""

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example
from tests.solvers.examples import activations
from tests.solvers.restarts import best_of

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.samples import Block, Design
from superfactor.solvers import newton
from superfactor.subspace import LossOn, fit_ridge, leading_basis
from superfactor.theory.dual import Dual
from superfactor.theory.top_sums import FullSpectrum, KnownSpectrum, RitzSpectrum

CASES = {
    "binary": {"kappa": 1},
    "three outputs": {"kappa": 3},
    "weighted": {"kappa": 2, "weighted": True},
    "no intercept": {"kappa": 1, "fit_intercept": False},
    "nothing but X": {"kappa": 2, "fit_intercept": False, "covariates": None},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "sparse": {"kappa": 1, "sparse": True, "weighted": True},
}
SHAPES = [(9, 6), (6, 9), (7, 7)]
every_model = pytest.mark.parametrize("model", MODELS)
one_shape_each = pytest.mark.parametrize(
    ("case", "n", "p"), [(case, *SHAPES[i % 3]) for i, case in enumerate(CASES)]
)


def residuals(problem, a):
    """The best γ for a (n, κ), the activations with it and the residuals E = ω∘∇ℓ (n, κ)."""
    offset = problem.samples.keep(Block.given, a)
    design = Design(None, offset=offset.place)
    loss = LossOn(problem, design, problem.n_covariates)
    start = np.zeros((problem.n_covariates, a.shape[1]))
    gamma, _, _ = fit_ridge(loss, problem.covariate_ridge, start, tol=1e-16)
    return gamma, *(
        problem.samples.stack(question, design, gamma) for question in (Block.activations, Block.residuals)
    )


def dual_of(problem, rank, way="Gram matrix"):
    """The dual through one kind of spectrum."""
    if way == "known spectrum":
        return Dual(problem.compact, KnownSpectrum(problem.compact, rank, problem.compact.singular_values))
    if way == "Gram matrix":
        return Dual(problem, FullSpectrum(problem, rank))
    basis = leading_basis(problem, 6 * rank + 20, 6 * rank + 20, np.random.default_rng(0), 8)
    return Dual(problem, RitzSpectrum(problem, rank, basis))


def weights(problem):
    return problem.arrays().loss_weight


def value_at(dual, G, omega):
    """D at dual points G = ω∘g (n, κ), made feasible."""
    return dual.value(dual.problem.samples.keep(Block.given, G / omega)).value


def entropy(P, a, G):
    """−Σω ℓ*(y, g): closed forms for logistic and squared error, the tangent for probit."""
    omega = P.weight * P.class_weight
    g = G / omega[:, None]
    if P.loss == "squared":
        return np.sum(omega[:, None] * (-g * P.Y.T - g**2 / 4))
    if P.loss == "probit":
        loss = [naive.loss_value("probit", P.Y[:, i], a[i]) for i in range(len(a))]
        return omega @ loss - np.sum(G * a)
    prob = g + P.Y.T
    prob = np.hstack([1 - prob.sum(axis=1, keepdims=True), prob])
    assert np.all(prob > 0)
    return -np.sum(omega[:, None] * prob * np.log(prob))


def explicit_dual(P, rank, a, G):
    """D(G) with M(G) as a dense matrix in the user's units."""
    root = np.sqrt(P.weight)
    X, c2 = P.X * root, 1 / (4 * P.xi * P.lam)
    if P.model == "filter":
        M = X @ X.T + c2 * (P.X @ G) @ (P.X @ G).T
    else:
        scaled = G / root[:, None]
        M = X.T @ X + c2 * scaled @ scaled.T
    top = np.sum(np.linalg.eigvalsh(M)[::-1][:rank])
    value = entropy(P, a, G) + P.xi * (np.sum(X**2) - top)
    for x, ridge in zip(P.aux, P.ridge, strict=True):
        if ridge > 0:
            value -= np.sum((x @ G) ** 2) / (4 * ridge)
        else:
            assert np.max(np.abs(x @ G)) < 1e-9
    return value


def tangent_bound(P, rank, A, B, gamma):
    """F − gap(Z) at Z = (θ, γ), in the metric s² = λ/ξ with μ = 2ξ, θ and ∇F explicit."""
    gA, gB, _ = naive.gradient(P, A, B, gamma)
    s, mu, root = np.sqrt(P.lam / P.xi), 2 * P.xi, np.sqrt(P.weight)
    unit = s if P.model == "filter" else s * root
    theta = naive.stack(P, unit * A, root * B)
    slope = naive.stack(P, gA / unit, gB / root)
    tail = np.linalg.svd(theta - slope / mu, compute_uv=False)[rank:]
    gap = np.sum(slope**2) / (2 * mu) - mu / 2 * np.sum(tail**2)
    return naive.lifted_objective(P, A, B, gamma) - gap


@every_model
@one_shape_each
def test_dual_is_its_formula(model, case, n, p):
    problem, P = example(model, n, p, lam=0.2, **CASES[case])
    omega, rng = weights(problem), np.random.default_rng(0)
    for rank in (1, 3, min(n, p)):
        _, a, E = residuals(problem, 2 * rng.standard_normal((n, P.kappa)))
        value = value_at(dual_of(problem, rank), E, omega)
        expected = explicit_dual(P, rank, a, E)
        size = np.abs(expected) + P.xi * np.sum(P.X**2)
        np.testing.assert_allclose(value, expected, atol=1e-10 * size)
        assert value <= expected + 1e-14 * size  # rounding may only weaken the bound


@every_model
@one_shape_each
def test_dual_at_the_residuals_is_the_tangent_bound(model, case, n, p):
    problem, P = example(model, n, p, lam=0.2, **CASES[case])
    rng = np.random.default_rng(1)
    rank, shape = 2, (p, P.kappa) if model == "filter" else (P.kappa, n)
    A = rng.standard_normal(shape) * 0.3
    B = naive.project_rank(P.X, rank) + 0.1  # the bound does not use B
    offset = naive.activations(P, A, np.zeros((P.aux.shape[0], P.kappa))).T
    gamma, _, E = residuals(problem, offset)
    expected = tangent_bound(P, rank, A, B, gamma)
    found = value_at(dual_of(problem, rank), E, weights(problem))
    np.testing.assert_allclose(found, expected, atol=1e-9 * (1 + P.xi * np.sum(P.X**2)))


@every_model
def test_an_unbalanced_dual_point_gives_no_bound(model, monkeypatch):
    """Without balancing, residuals of the fit without intercept give a value above the optimum with it."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((20, 4)), (np.arange(20) < 3)[:, None].astype(float)
    given = {"xi": 1.0, "lam": 5.0}
    bare, full = (
        state(model, X, y, resolve_link("logistic", 1), fit_intercept=flag, **given) for flag in (False, True)
    )
    found = newton.solve(bare, 2)
    _, E = full.arrays().loss_terms(activations(bare, found))
    dual, best = dual_of(full, 2), best_of(naive.state(model, X, y, **given), 2, 5)
    assert value_at(dual, E, 1.0) <= best * (1 + 1e-9)
    monkeypatch.setattr(Dual, "_balanced", lambda self, points: points)
    assert value_at(dual, E, 1.0) > best + 1.0


@pytest.mark.parametrize(("model", "lam"), [("filter", 0.1), ("feature", 0.001)])
def test_shorter_dual_points_bound_too(model, lam):
    """For small ξ and λ the residuals are so large that their bound is below bound(0)."""
    problem, P = example(model, 12, 9, 2, seed=5, xi=0.01, lam=lam)
    found = newton.solve(problem, 1)
    dual = dual_of(problem, 1)
    points = problem.samples.keep(Block.dual_points, *_activations_of(problem, found))
    assert dual.value(points).value < dual.unsupervised
    shorter = dual.shortened(points)
    assert dual.unsupervised < shorter.value <= best_of(P, 1, 5)
    lengths = np.linspace(0.05, 1, 39)
    values = [value_at(dual, t * points.array(), np.ones(1)) for t in lengths]
    assert np.all(np.diff(values, 2) <= 1e-9 * abs(found.objective))  # concave in t
    assert shorter.value >= max(values) - 0.1 * (max(values) - dual.unsupervised)


def _activations_of(problem, found):
    return Design(None, offset=found.signal.place), found.factors.gamma
