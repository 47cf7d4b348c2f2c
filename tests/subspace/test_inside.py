"""The problem inside a subspace, against the paper's objective and dense algebra."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from tests import naive
from tests.problems import MODELS, example
from tests.samples.cutting import cut
from tests.subspace.points import CASES, one_model_each, paper_value, random_point, subspace, together

every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)


@every_model
@every_case
@pytest.mark.parametrize(("size", "blocks"), [(None, 3), (4, 1)])
def test_values_are_the_papers(model, case, size, blocks):
    problem, P = example(model, 7, 5, xi=0.2, **CASES[case])
    inside = subspace(cut(problem, blocks), 2, size)
    point = random_point(inside)
    expected = paper_value(inside, P, point.W, point.beta, point.gamma)
    np.testing.assert_allclose(point.F, expected, rtol=1e-12)
    polished = inside.polish(point.W, point.beta, point.gamma)
    assert polished.F <= point.F
    expected = paper_value(inside, P, polished.W, polished.beta, polished.gamma)
    np.testing.assert_allclose(polished.F, expected, rtol=1e-12)


@one_model_each
def test_polish_finds_the_best_coefficients(model, case):
    problem, P = example(model, 7, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2, 4)
    W = random_point(inside).W
    q, kappa = problem.n_covariates, problem.n_outputs
    found = inside.polish(W)
    np.testing.assert_array_equal(found.W, W)

    def value(x):
        x = x.reshape(2 + q, kappa)
        return paper_value(inside, P, W, x[:2], x[2:])

    best = minimize(value, np.zeros((2 + q) * kappa), options={"gtol": 1e-7})
    assert best.fun + 1e-9 >= found.F
    np.testing.assert_allclose(found.F, best.fun, rtol=1e-6)
    again = inside.polish(W, found.beta, found.gamma)
    np.testing.assert_allclose(again.F, found.F, rtol=1e-12)


@every_model
@pytest.mark.parametrize("case", ["binary", "two outputs", "squared"])
def test_proximal_subspace_is_the_projection_written_out(model, case):
    """Π_r([s(A − η∇), X̃]) by a singular value decomposition, s² = 1/(2ξη)."""
    problem, _ = example(model, 7, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2)
    point, eta = random_point(inside), 0.05
    gradient = inside.gradient(point)
    W = inside.proximal_subspace(point, eta, gradient)
    arrays, S = problem.arrays(), inside.basis.S.array()
    X = arrays.image(np.eye(arrays.side)).T  # (N, other)
    step = S @ (point.W @ point.beta - eta * gradient) / np.sqrt(2 * problem.xi * eta)
    U = np.linalg.svd(np.hstack([step, X]))[0][:, :2]
    found = S @ W
    np.testing.assert_allclose(found @ found.T, U @ U.T, atol=1e-9)
    A, root = S @ point.W @ point.beta, np.sqrt(2 * problem.xi * eta)
    projected = np.linalg.norm(A - U @ (U.T @ step) * root) / eta
    np.testing.assert_allclose(inside.projected_mapping(point, W, eta), projected, rtol=1e-8)
    new = inside.polish(W)
    moved = np.linalg.norm(new.W @ new.beta - point.W @ point.beta) / eta
    np.testing.assert_allclose(inside.mapping_norm(point, new, eta), moved, rtol=1e-12)


@every_model
@pytest.mark.parametrize("case", ["binary", "two outputs", "squared", "no intercept"])
def test_each_point_with_its_own_weights(model, case):
    """Several points at factors of ξ and λ, against the paper's objective at each pair of weights."""
    problem, _ = example(model, 7, 5, xi=0.2, lam=0.3, **CASES[case])
    inside = subspace(problem, 2, 4)
    assert inside.pca_value > 0  # known before the weights change
    factors = np.array([[1.0, 1.0], [5.0, 0.1], [0.02, 30.0]])
    there = inside.with_factors(factors)
    stacked = together([random_point(inside, seed) for seed in range(3)])
    found = there.at(stacked.W, stacked.beta, stacked.gamma)
    frames, supervised = there.frame(found), there.supervised(found)
    for i, (xi, lam) in enumerate(factors):
        # The ridge of the covariates without the intercept is proportional to λ.
        _, P = example(model, 7, 5, xi=0.2 * xi, lam=0.3 * lam, **CASES[case])
        alone = inside.at_weights(problem.at_weights(problem.xi * xi, problem.lam * lam))
        point = alone.at(stacked.W[i], stacked.beta[i], stacked.gamma[i])
        expected = paper_value(alone, P, point.W, point.beta, point.gamma)
        np.testing.assert_allclose(found.F[i], expected, rtol=1e-11)
        np.testing.assert_allclose(found.F[i], point.F, rtol=1e-12)
        np.testing.assert_allclose(found.loss[i], point.loss, rtol=1e-12)
        np.testing.assert_allclose(there.pca_value[i], alone.pca_value, rtol=1e-12)
        np.testing.assert_allclose(supervised[i], alone.supervised(point), rtol=1e-11)
        np.testing.assert_allclose(frames.ritz[i], alone.frame(point).ritz, rtol=1e-11)
    # The original keeps its weights.
    np.testing.assert_allclose(inside.at(*first_of(stacked)).F, stacked.F[0], rtol=1e-13)


def first_of(points):
    return points.W[0], points.beta[0], points.gamma[0]


def naive_loss_without_factors(P):
    """The loss at the γ that minimises loss and ridge alone, by a general minimiser."""
    A = np.zeros((P.X.shape[0], P.kappa) if P.model == "filter" else (P.kappa, P.X.shape[1]))
    X_cost = naive.lifted_objective(P, A, 0 * P.X, np.zeros((P.aux.shape[0], P.kappa)))
    X_cost -= naive.lifted_objective(P, A, P.X, np.zeros((P.aux.shape[0], P.kappa)))

    def f(x):
        return naive.lifted_objective(P, A, 0 * P.X, x.reshape(-1, P.kappa)) - X_cost

    found = minimize(f, np.zeros(P.aux.shape[0] * P.kappa), method="BFGS")
    gamma = found.x.reshape(-1, P.kappa)
    return found.fun - np.sum(P.ridge[:, None] * gamma**2)


@every_model
def test_what_supervision_can_change_is_positive(model):
    """F less the unavoidable reconstruction error; positive even where labels cost nothing."""
    problem, P = example(model, 9, 6, 2, weighted=True)
    inside = subspace(problem, 2)
    point = random_point(inside)
    sigma = np.linalg.svd(P.X * np.sqrt(P.weight), compute_uv=False)
    expected = point.F - P.xi * np.sum(sigma[2:] ** 2)
    np.testing.assert_allclose(inside.supervised(point), expected, rtol=1e-10)
    nothing = replace(point, F=inside.pca_value)
    alone = naive_loss_without_factors(P)
    np.testing.assert_allclose(inside.supervised(nothing), 1e-4 * alone, rtol=1e-6)
    assert alone < 0.99 * problem.null_loss


@pytest.mark.parametrize(
    ("model", "case"), [("filter", "two outputs"), ("feature", "probit"), ("feature", "squared")]
)
def test_the_duality_gap_is_a_bound(model, case):
    """F minus a bound for every point of the subspace: never negative, and zero at a proven optimum."""
    problem, _ = example(model, 9, 5, xi=0.2, lam=5.0, **{**CASES[case]})
    inside = subspace(problem, 2)
    point = inside.polish(inside.leading())
    first = inside.duality_gap(point)
    assert first > 0
    for _ in range(150):
        W = inside.proximal_subspace(point, 0.02, inside.gradient(point))
        point = inside.polish(W, point.beta, point.gamma)
    gap = inside.duality_gap(point)
    assert -1e-9 * point.F < gap < first
    bound = point.F - gap
    for seed in range(20):
        W = random_point(inside, seed).W
        assert bound - 1e-9 * abs(bound) <= inside.polish(W).F


def far_point(problem, size):
    """A point whose activations have about this size."""
    inside = subspace(problem, 2)
    point = random_point(inside)
    gram = inside.loss.gram
    now = np.sqrt(np.sum(point.coef * (gram @ point.coef)) / problem.total_weight)
    scale = size / now
    return inside, inside.at(point.W, scale * point.beta, scale * point.gamma)


@every_model
@pytest.mark.parametrize("case", ["binary", "two outputs", "probit"])
@pytest.mark.parametrize(("lam", "size", "none"), [(0.0, 40, True), (0.0, 20, False), (1.0, 40, False)])
def test_separable_classes_without_a_ridge_have_no_minimum(model, case, lam, size, none):
    """By the mean square of activations, weights included."""
    problem, _ = example(model, 9, 5, **CASES[case], lam=lam)
    inside, point = far_point(problem, size)
    arrays, S = problem.arrays(), inside.basis.S.array()
    a = arrays.activations(S @ point.W @ point.beta, point.gamma)
    weight = arrays.loss_weight * np.ones((9, 1))
    np.testing.assert_allclose(np.sum(weight * a**2) / weight.sum(), size**2, rtol=1e-10)
    assert inside.has_no_minimum(point) == none
