"""The dual bound against the formulas of docs/method.md §7, written out with explicit matrices."""

import numpy as np
import pytest
from superfactor.lifting import ArrayDesign, GrowingBasis, fit_ridge
from tests import naive
from tests.problems import MODELS, example, lifted
from tests.solvers.restarts import best_of

from superfactor.losses import resolve_link
from superfactor.solvers import newton
from superfactor.theory.dual import Dual, leading_basis

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
every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)
every_shape = pytest.mark.parametrize(("n", "p"), SHAPES)


def balanced(problem, a, gamma=None):
    """Activations with the best γ added to a (n, κ), and their residuals E (n, κ)."""
    q = problem.covariates.shape[1]
    gamma = np.zeros((q, a.shape[1])) if gamma is None else gamma
    design = ArrayDesign(problem, problem.covariates, offset=a)
    gamma, _, _ = fit_ridge(design, problem.covariate_ridge, gamma, tol=1e-16)
    return gamma, design.a, design.E


def value_at(dual, problem, E):
    """D at the residuals E = ω∘g (n, κ), made feasible."""
    dual.take(E / problem.loss_weight)
    return dual.value()


def taken(dual, problem):
    """G = ω∘g (n, κ) of the dual points the samples hold."""
    g = np.concatenate(dual.problem.samples.gather("rows", [("dual", None)]))
    return g * problem.loss_weight


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
@every_case
@every_shape
def test_dual_is_its_formula(model, case, n, p):
    problem, P = example(model, n, p, lam=0.2, **CASES[case])
    rng = np.random.default_rng(0)
    for rank in (1, 3, min(n, p)):
        _, a, E = balanced(problem, 2 * rng.standard_normal((n, P.kappa)))
        value = value_at(Dual(problem.sampled(), rank), problem, E)
        expected = explicit_dual(P, rank, a, E)
        size = np.abs(expected) + P.xi * np.sum(P.X**2)
        np.testing.assert_allclose(value, expected, atol=1e-10 * size)
        assert value <= expected + 1e-14 * size  # rounding may only weaken it
        # Compressed data, whose spectrum is known: the same number by another way.
        small = Dual(problem.compact[0].sampled(), rank)
        np.testing.assert_allclose(value_at(small, problem, E), expected, atol=1e-9 * size)


@every_model
@every_case
@every_shape
def test_dual_at_the_residuals_is_the_tangent_bound(model, case, n, p):
    problem, P = example(model, n, p, lam=0.2, **CASES[case])
    rng = np.random.default_rng(1)
    rank, shape = 2, (p, P.kappa) if model == "filter" else (P.kappa, n)
    A = rng.standard_normal(shape) * 0.3
    B = naive.project_rank(P.X, rank) + 0.1  # B takes no part in the bound
    offset = naive.activations(P, A, np.zeros((P.aux.shape[0], P.kappa))).T
    gamma, _, E = balanced(problem, offset)
    expected = tangent_bound(P, rank, A, B, gamma)
    found = value_at(Dual(problem.sampled(), rank), problem, E)
    np.testing.assert_allclose(found, expected, atol=1e-9 * (1 + P.xi * np.sum(P.X**2)))


@every_model
@every_shape
@pytest.mark.parametrize("weighted", [False, True])
def test_without_supervision_the_tail_of_the_spectrum(model, n, p, weighted):
    problem, P = example(model, n, p, 1, weighted=weighted)
    sigma = np.linalg.svd(P.X * np.sqrt(P.weight), compute_uv=False)
    for rank in (1, 2, min(n, p)):
        for each in (problem, problem.compact[0]):
            found = Dual(each.sampled(), rank).unsupervised()
            expected = P.xi * np.sum(sigma[rank:] ** 2)
            np.testing.assert_allclose(found, expected, atol=1e-12 * P.xi * np.sum(sigma**2))


@every_model
@every_case
def test_dual_points_satisfy_what_the_intercept_asks(model, case):
    problem, P = example(model, 9, 5, **CASES[case])
    rng = np.random.default_rng(2)
    _, E = problem.loss_terms(3 * rng.standard_normal((9, P.kappa)))
    dual = Dual(problem.sampled(), 2)
    value = value_at(dual, problem, E)
    G = taken(dual, problem)
    if np.any(P.ridge == 0):
        assert np.max(np.abs(E.sum(axis=0))) > 0.1
        assert np.max(np.abs(G.sum(axis=0))) < 1e-12
    else:
        np.testing.assert_allclose(G, E, rtol=1e-15)
    assert np.isfinite(value)


@every_model
def test_an_unbalanced_dual_point_is_no_bound(model):
    """Why `balance` is needed: residuals of the fit without intercept overshoot the one with it."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((20, 4)), (np.arange(20) < 3)[:, None].astype(float)
    options = {"xi": 1.0, "lam": 5.0}
    bare, full = (
        state(model, X, y, resolve_link("logistic", 1), fit_intercept=flag, **options)
        for flag in (False, True)
    )
    P = naive.state(model, X, y, **options)
    found = newton.solve(bare, 2)
    _, E = full.loss_terms(found.activations)
    dual, best = Dual(full.sampled(), 2), best_of(P, 2, 5)
    dual.problem.samples.tell("given", "dual", E / full.loss_weight)
    assert dual.value() > best + 1.0
    assert value_at(dual, full, E) <= best * (1 + 1e-9)


@every_model
@pytest.mark.parametrize("case", ["binary", "squared", "probit", "weighted"])
def test_dual_is_concave(model, case):
    problem, P = example(model, 9, 6, lam=0.05, **CASES[case])
    rng = np.random.default_rng(4)
    dual = Dual(problem.sampled(), 2)

    def value(G):
        return value_at(dual, problem, G)

    for _ in range(10):
        first, second = (
            balanced(problem, 2 * rng.standard_normal((9, P.kappa)))[2] for _ in range(2)
        )
        ends = 0.5 * (value(first) + value(second))
        assert value(0.5 * (first + second)) >= ends - 1e-9 * abs(ends)


# --- without the spectrum ------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize(("n", "p"), [(150, 110), (70, 150)])
@pytest.mark.parametrize("sparse", [False, True])
def test_matrix_free_bound(model, n, p, sparse):
    """Through a basis: below the exact bound, and close to it where the basis is the solver's."""
    problem, P = example(model, n, p, 1, sparse=sparse, weighted=True, lam=30.0)
    found = newton.solve(problem, 3, tol=1e-10, starts=False)
    _, E = problem.loss_terms(found.activations)
    exact = Dual(problem.sampled(), 3)
    exact_value = value_at(exact, problem, E)
    G = taken(exact, problem)
    scale = found.objective - exact.unsupervised()
    own = problem.compact[0] is problem
    if own:
        value = value_at(Dual(found.basis.problem, 3, found.basis, exact=False), problem, G)
        np.testing.assert_allclose(value, exact_value, atol=1e-5 * scale)
    for basis in (found.basis if own else None, None):
        sampled = problem.sampled() if basis is None else basis.problem
        free = Dual(sampled, 3, basis, exact=False)
        assert not free.exact
        for point in (G, 0.5 * G, np.zeros_like(G)):
            at_most = value_at(exact, problem, point)
            assert value_at(free, problem, point) <= at_most + 1e-9 * scale
    value = naive.lifted_objective(P, *lifted(model, found.factors))
    assert exact_value <= value * (1 + 1e-10)


@every_model
def test_basis_made_for_the_purpose_holds_the_top(model):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((90, 80)) * 0.9 ** np.arange(80)
    y = (np.arange(90) % 2)[:, None].astype(float)
    problem = state(model, X, y, resolve_link("logistic", 1), xi=1.0, lam=1.0)
    basis = leading_basis(problem.sampled(), 2)
    sigma = np.linalg.svd(X, compute_uv=False) / problem.scale
    assert 2 < basis.size < 80
    S = basis.vectors(np.eye(basis.size))
    np.testing.assert_allclose(S.T @ S, np.eye(basis.size), atol=1e-12)
    np.testing.assert_allclose(np.diag(basis.D)[:2], sigma[:2] ** 2, rtol=1e-8)


# --- dual points live with the samples --------------------------------------------------------------------


@every_model
@every_case
def test_dual_points_of_coefficients(model, case):
    """`take_residuals` is `take` at the residuals of the same activations, however the samples are cut."""
    problem, P = example(model, 11, 6, lam=0.2, **CASES[case])
    theta = np.random.default_rng(6).standard_normal((2 + P.aux.shape[0], P.kappa))
    found = []
    for sampled in (problem.sampled(), in_blocks(problem, 4)):
        basis = GrowingBasis.of(sampled)
        basis.extend(basis.everything(11))
        basis.rotate(np.eye(basis.size)[:, :2])
        dual = Dual(sampled, 2)
        dual.take_residuals(theta)
        found.append((dual.value(), taken(dual, problem)))
        a = np.concatenate(sampled.samples.gather("activations", theta))
        S, C = basis.vectors(np.eye(2)), problem.covariates
        features = problem.features(S, problem.image(S))
        np.testing.assert_allclose(a, features @ theta[:2] + C @ theta[2:], atol=1e-12)
        given = value_at(dual, problem, problem.loss_terms(a)[1])
        np.testing.assert_allclose(given, found[-1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-13)


@every_model
@pytest.mark.parametrize("way", ["known spectrum", "Gram matrix", "basis"])
@every_shape
def test_bound_of_several_blocks_is_that_of_one(model, way, n, p):
    problem, P = example(model, n, p, 2, weighted=True, lam=0.2)
    small = problem.compact[0] if way == "known spectrum" else problem
    _, _, E = balanced(problem, np.random.default_rng(7).standard_normal((n, P.kappa)))
    values = []
    for sampled in (small.sampled(), in_blocks(small, 3)):
        dual = Dual(sampled, 2, exact=way != "basis")
        values.append((value_at(dual, problem, E), dual.unsupervised()))
    np.testing.assert_allclose(values[0], values[1], rtol=1e-10)
