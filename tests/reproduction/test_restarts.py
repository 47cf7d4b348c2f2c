"""The objective of the restarts against the paper's formula, finite differences and brute force."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.special import logsumexp

from reproduction.restarts import FactoredObjective, Weighted, random_restarts


def paper_objective(model, X, Y, C, W, beta, gamma, xi, lam):
    """F with the best B for the span of W, straight from its definition; W, β in the user's units."""
    span = W @ np.linalg.pinv(W)
    A = W @ beta
    B = X @ span if model == "filter" else span @ X
    a = (X @ A if model == "filter" else A) + C @ gamma
    loss = logsumexp(np.hstack([np.zeros((len(X), 1)), a]), axis=1).sum() - np.sum(Y * a)
    return loss + xi * np.sum((X - B) ** 2) + lam * (np.sum(A**2) + np.sum(gamma**2))


def example(model, n, p, kappa, seed=0, xi=0.3, lam=0.2):
    rng = np.random.default_rng(seed)
    X, C = 5 * rng.standard_normal((n, p)), rng.standard_normal((n, 2))
    Y = np.eye(kappa + 1)[rng.integers(0, kappa + 1, n)][:, 1:]
    return Weighted(model, X, Y, xi, lam, C)


@pytest.mark.parametrize("kappa", [1, 2])
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_objective_is_that_of_the_paper(model, kappa):
    given = example(model, 14, 6, kappa)
    objective = FactoredObjective(given, 3)
    x = objective.start(np.random.default_rng(1)) + 0.1
    W, beta, gamma = objective.split(x)
    data = (given.X, given.Y, given.covariates)
    expected = paper_objective(model, *data, W, beta, gamma, 0.3, 0.2)
    assert objective(x)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shape", [(14, 6), (9, 30)], ids=["tall", "wide and compressed"])
@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_gradient_agrees_with_finite_differences(model, shape):
    objective = FactoredObjective(example(model, *shape, 2), 2)
    x = objective.start(np.random.default_rng(2)) + 0.1
    wrong = check_grad(lambda z: objective(z)[0], lambda z: objective(z)[1], x)
    assert wrong <= 1e-5 * np.linalg.norm(objective(x)[1])


def test_restarts_find_the_optimum_of_a_landscape_with_a_trap():
    """Two features, one of them large and useless: starting from PCA a local method stays there."""
    y, u = np.repeat([0.0, 1.0], 10), np.tile([1.0, -1.0], 10)
    X, ones, xi, lam = np.c_[3 * u, 2 * y - 1], np.ones((20, 1)), 0.05, 0.001
    given = Weighted("filter", X, y[:, None], xi, lam, intercept=True)

    def best_at(angle):
        w = np.array([[np.cos(angle)], [np.sin(angle)]])

        def value(v):
            return (
                paper_objective("filter", X, y[:, None], ones, w, v[:1, None], v[1:, None], xi, lam)
                - lam * v[1] ** 2
            )  # the intercept bears no penalty

        return minimize(value, np.zeros(2)).fun

    values = [best_at(angle) for angle in np.linspace(0, np.pi, 61)]
    ends = random_restarts(given, 1, 20)
    assert ends.min() == pytest.approx(min(values), rel=1e-5)
    assert values[0] > 1.5 * ends.min()  # the poor local minimum
