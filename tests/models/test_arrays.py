"""The lifted problems against the paper's objective, written out sample by sample."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime, minimize
from superfactor.lifting import ArrayDesign, fit_ridge, state_problem
from tests import naive
from tests.solvers.examples import MODELS, example

from superfactor.losses import resolve_link

CASES = {
    "binary": {"kappa": 1},
    "three outputs": {"kappa": 3},
    "weighted": {"kappa": 3, "weighted": True},
    "no intercept": {"kappa": 2, "fit_intercept": False},
    "no covariates": {"kappa": 1, "covariates": None},
    "neither": {"kappa": 1, "covariates": None, "fit_intercept": False},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True},
    "sparse": {"kappa": 1, "sparse": True, "weighted": True},
    "no ridge": {"kappa": 1, "lam": 0.0},
}
every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)
every_shape = pytest.mark.parametrize(("n", "p"), [(9, 6), (6, 9)])


def random_point(problem, seed=5, rank=2):
    """Ã (N, κ), B̃ = W·C and γ, nothing optimal about them."""
    rng = np.random.default_rng(seed)
    q, kappa = problem.covariates.shape[1], problem.n_outputs
    return (
        rng.standard_normal((problem.side, kappa)),
        rng.standard_normal((problem.side, rank)),
        rng.standard_normal((rank, problem.other_side)),
        rng.standard_normal((q, kappa)),
    )


def in_paper_units(problem, P, A, W, C, gamma):
    """The same point as the paper writes it: A, B, γ from Ã, B̃ by the definitions in `problem`."""
    root, scale = np.sqrt(P.weight), problem.data.scale
    if P.model == "filter":  # Ã = s·A, columns of B̃ are √w_i·b_i/s
        return A / scale, W @ C * scale / root, gamma
    return (A / root[:, None]).T, (W @ C * scale / root[:, None]).T, gamma


@every_model
@every_case
@every_shape
def test_objective_is_the_papers(model, case, n, p):
    problem, P = example(model, n, p, **CASES[case])
    for seed in range(3):
        A, W, C, gamma = random_point(problem, seed)
        expected = naive.lifted_objective(P, *in_paper_units(problem, P, A, W, C, gamma))
        np.testing.assert_allclose(problem.objective(A, (W, C), gamma), expected, rtol=1e-12)


@every_model
@every_case
@every_shape
def test_activations_are_the_papers(model, case, n, p):
    problem, P = example(model, n, p, **CASES[case])
    A, W, C, gamma = random_point(problem)
    paper = in_paper_units(problem, P, A, W, C, gamma)
    expected = naive.activations(P, paper[0], paper[2])
    np.testing.assert_allclose(problem.activations(A, gamma), expected.T, rtol=1e-11, atol=1e-12)


@every_model
@every_case
def test_gradient_by_differences(model, case):
    problem, _ = example(model, 7, 5, **CASES[case])
    A, W, C, gamma = random_point(problem)
    _, E = problem.loss_terms(problem.activations(A, gamma))
    in_A = problem.pull(E) + 2 * problem.lam * A
    in_gamma = problem.covariates.T @ E + 2 * problem.covariate_ridge[:, None] * gamma

    def at_A(x):
        return problem.objective(x.reshape(A.shape), (W, C), gamma)

    def at_gamma(x):
        return problem.objective(A, (W, C), x.reshape(gamma.shape))

    size = 1 + np.max(np.abs(in_A))
    np.testing.assert_allclose(in_A.ravel(), approx_fprime(A.ravel(), at_A, 1e-6), atol=1e-4 * size)
    if gamma.size:
        np.testing.assert_allclose(
            in_gamma.ravel(), approx_fprime(gamma.ravel(), at_gamma, 1e-6), atol=1e-4 * size
        )


@every_model
@every_shape
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_products_are_adjoint(model, n, p, weighted, sparse):
    problem, _ = example(model, n, p, 2, weighted=weighted, sparse=sparse)
    rng = np.random.default_rng(0)
    T, E = rng.standard_normal((problem.side, 3)), rng.standard_normal((n, 3))
    Z = rng.standard_normal((problem.other_side, 3))
    image = problem.image(T)
    assert image.shape == (problem.other_side, 3)
    np.testing.assert_allclose(np.sum(image * Z), np.sum(T * problem.back(Z)), rtol=1e-12)
    np.testing.assert_allclose(
        np.sum(problem.features(T, image) * E), np.sum(T * problem.pull(E)), rtol=1e-12
    )


@every_model
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kappa", [1, 3])
def test_compact_problem_has_the_same_objective(model, sparse, weighted, kappa):
    problem, P = example(model, 6, 14, kappa, sparse=sparse, weighted=weighted)
    small, back = problem.compact
    assert small.data.shape[1] <= 6 < problem.data.shape[1]
    rng = np.random.default_rng(0)
    W = np.linalg.qr(rng.standard_normal((small.side, 2)))[0]
    beta = rng.standard_normal((2, kappa))
    gamma = rng.standard_normal((P.aux.shape[0], kappa))
    inside = small.objective(W @ beta, (W, small.image(W).T), gamma)
    V = back(W)
    assert V.shape == (problem.side, 2)
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-10)
    outside = problem.objective(V @ beta, (V, problem.image(V).T), gamma)
    np.testing.assert_allclose(inside, outside, rtol=1e-11)
    A, B, gamma = in_paper_units(problem, P, V @ beta, V, problem.image(V).T, gamma)
    np.testing.assert_allclose(inside, naive.lifted_objective(P, A, B, gamma), rtol=1e-11)


@every_model
def test_tall_data_are_their_own_compact_problem(model):
    problem, _ = example(model, 9, 4, 1)
    small, back = problem.compact
    assert small is problem
    T = np.ones((3, 1))
    assert back(T) is T


@every_model
@pytest.mark.parametrize("sparse", [False, True])
def test_weight_two_is_the_sample_twice(model, sparse):
    rng = np.random.default_rng(0)
    n, weight = 6, np.array([1.0, 2, 1, 3, 1, 2])
    X, C = rng.standard_normal((n, 4)), rng.standard_normal((n, 2))
    Y = np.eye(3)[np.arange(n) % 3][:, 1:]
    index = np.repeat(np.arange(n), weight.astype(int))

    def problem(rows, **options):
        data = sp.csr_array(X[rows]) if sparse else X[rows]
        loss = resolve_link("logistic", 2)
        return state_problem(
            model, data, Y[rows], loss, xi=0.5, lam=0.3, covariates=C[rows], **options
        )

    weighted, repeated = problem(np.arange(n), sample_weight=weight), problem(index)
    # The same A for every copy of a sample, the same filters: the same objective, whatever γ is.
    gamma = rng.standard_normal((3, 2))
    if model == "filter":
        W = np.linalg.qr(rng.standard_normal((4, 2)))[0]
        lifted = W, W
        A = [W @ rng.standard_normal((2, 2))] * 2
        A = [a * p.data.scale for a, p in zip(A, (weighted, repeated), strict=True)]
    else:
        H = rng.standard_normal((n, 2))  # rows of H are the codes of the samples
        lifted = np.sqrt(weight)[:, None] * H, H[index]
        lifted = [np.linalg.qr(h)[0] for h in lifted]
        a = H @ rng.standard_normal((2, 2))
        A = [np.sqrt(weight)[:, None] * a, a[index]]
    values = [
        p.objective(a, (W, p.image(W).T), gamma)
        for p, W, a in zip((weighted, repeated), lifted, A, strict=True)
    ]
    np.testing.assert_allclose(*values, rtol=1e-12)


@every_model
@pytest.mark.parametrize("loss", ["logistic", "probit", "squared"])
def test_ridge_reaches_the_minimum(model, loss):
    """The small regression inside every step: its gradient vanishes, and scipy finds nothing lower."""
    problem, _ = example(model, 12, 5, 1 if loss == "probit" else 2, loss=loss, weighted=True)
    rng = np.random.default_rng(0)
    J, ridge = rng.standard_normal((12, 4)), np.array([0.3, 1e-3, 2.0, 0.0])
    offset, kappa = rng.standard_normal((12, problem.n_outputs)), problem.n_outputs

    def value(x):
        theta = x.reshape(4, kappa)
        f, E = problem.loss_terms(offset + J @ theta)
        gradient = J.T @ E + 2 * ridge[:, None] * theta
        return f + np.sum(ridge[:, None] * theta**2), gradient.ravel()

    design = ArrayDesign(problem, J, offset)
    theta, f, pulled = fit_ridge(design, ridge, np.zeros((4, kappa)))
    a, E = design.a, design.E
    best = minimize(value, np.zeros(4 * kappa), jac=True, options={"gtol": 1e-9})
    np.testing.assert_allclose(f, best.fun, rtol=1e-10)
    assert f == pytest.approx(value(theta.ravel())[0], rel=1e-13)
    assert np.max(np.abs(value(theta.ravel())[1])) < 1e-6
    np.testing.assert_allclose(a, offset + J @ theta, atol=1e-12)
    np.testing.assert_allclose(E, problem.loss_terms(a)[1], atol=1e-12)
    np.testing.assert_allclose(pulled, J.T @ E, atol=1e-12)
