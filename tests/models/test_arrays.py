"""A problem as arrays, against the paper's objective written out sample by sample."""

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example, lifted, objective

from superfactor.losses import resolve_link
from superfactor.models import Factors
from superfactor.problem import state

CASES = {
    "weighted": {"kappa": 3, "weighted": True},
    "neither": {"kappa": 1, "covariates": None, "fit_intercept": False},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared", "weighted": True, "fit_intercept": False},
    "sparse": {"kappa": 1, "sparse": True, "weighted": True},
    "no ridge": {"kappa": 1, "lam": 0.0},
}
every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)
every_shape = pytest.mark.parametrize(("n", "p"), [(9, 6), (6, 9)])


def as_arrays(model, n, p, **case):
    problem, P = example(model, n, p, **case)
    return problem.arrays(), P


def random_point(arrays, seed=5, rank=2):
    """Random Ã (N, κ), B̃ = W·C and γ."""
    rng = np.random.default_rng(seed)
    q, kappa = arrays.n_covariates, arrays.n_outputs
    return (
        rng.standard_normal((arrays.side, kappa)),
        rng.standard_normal((arrays.side, rank)),
        rng.standard_normal((rank, arrays.other_side)),
        rng.standard_normal((q, kappa)),
    )


def in_paper_units(arrays, P, A, W, C, gamma):
    """The same point in the paper's notation: A, B, γ from Ã, B̃ by their definitions."""
    root, scale = np.sqrt(P.weight), arrays.scale
    if P.model == "filter":  # Ã = s·A, columns of B̃ are √w_i·b_i/s
        return A / scale, W @ C * scale / root, gamma
    return (A / root[:, None]).T, (W @ C * scale / root[:, None]).T, gamma


@every_model
@every_case
@every_shape
def test_values_and_gradients_are_the_papers(model, case, n, p):
    arrays, P = as_arrays(model, n, p, **CASES[case])
    A, W, C, gamma = random_point(arrays)
    paper = in_paper_units(arrays, P, A, W, C, gamma)
    expected = naive.activations(P, paper[0], paper[2])
    a = arrays.activations(A, gamma)
    np.testing.assert_allclose(a, expected.T, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(objective(arrays, A, (W, C), gamma), naive.lifted_objective(P, *paper))
    _, E = arrays.loss_terms(a)
    in_A, _, in_gamma = naive.gradient(P, *paper)
    unit = arrays.scale if model == "filter" else np.sqrt(P.weight)[:, None]
    in_A = in_A / unit if model == "filter" else in_A.T / unit
    found = arrays.pull(E) + 2 * arrays.lam * A
    np.testing.assert_allclose(found, in_A, atol=1e-10 * (1 + np.abs(in_A).max()))
    found = arrays.covariates.T @ E + 2 * arrays.covariate_ridge[:, None] * gamma
    np.testing.assert_allclose(found, in_gamma, atol=1e-10 * (1 + np.abs(in_gamma).max(initial=0)))


@every_model
@every_case
def test_sizes_and_annotations(model, case):
    arrays, P = as_arrays(model, 7, 5, **CASES[case])
    assert (arrays.side, arrays.other_side) == ((5, 7) if model == "filter" else (7, 5))
    assert (arrays.n_outputs, arrays.n_covariates) == (P.kappa, P.aux.shape[0])
    np.testing.assert_array_equal(arrays.targets, P.Y.T)
    np.testing.assert_array_equal(arrays.covariates, P.aux.T)
    np.testing.assert_allclose(arrays.loss_weight[:, 0], P.weight * P.class_weight)
    np.testing.assert_allclose(arrays.covariate_ridge, P.ridge)
    np.testing.assert_allclose(arrays.users_weights, (P.xi, P.lam), rtol=1e-14)


# --- weights ----------------------------------------------------------------------------------------------


@every_model
def test_weight_two_is_the_sample_twice(model):
    rng = np.random.default_rng(0)
    n, weight = 6, np.array([1.0, 2, 1, 3, 1, 2])
    X, C = rng.standard_normal((n, 4)), rng.standard_normal((n, 2))
    Y = np.eye(3)[np.arange(n) % 3][:, 1:]
    index = np.repeat(np.arange(n), weight.astype(int))

    def arrays(rows, **stated):
        loss = resolve_link("logistic", 2)
        stated = {"xi": 0.5, "lam": 0.3, "covariates": C[rows]} | stated
        return state(model, X[rows], Y[rows], loss, **stated).arrays()

    weighted, repeated = arrays(np.arange(n), sample_weight=weight), arrays(index)
    # With the same A for every copy of a sample and the same filters, the objective is the same for every γ.
    gamma = rng.standard_normal((3, 2))
    if model == "filter":
        W = np.linalg.qr(rng.standard_normal((4, 2)))[0]
        subspaces = W, W
        A = [W @ rng.standard_normal((2, 2))] * 2
        A = [a * p.scale for a, p in zip(A, (weighted, repeated), strict=True)]
    else:
        H = rng.standard_normal((n, 2))  # rows of H are the codes of the samples
        subspaces = np.sqrt(weight)[:, None] * H, H[index]
        subspaces = [np.linalg.qr(h)[0] for h in subspaces]
        a = H @ rng.standard_normal((2, 2))
        A = [np.sqrt(weight)[:, None] * a, a[index]]
    values = [
        objective(p, a, (W, p.image(W).T), gamma)
        for p, W, a in zip((weighted, repeated), subspaces, A, strict=True)
    ]
    np.testing.assert_allclose(*values, rtol=1e-12)


# --- factors ----------------------------------------------------------------------------------------------


def random_factors(P, r=2, seed=1):
    rng = np.random.default_rng(seed)
    (p, n), q = P.X.shape, P.aux.shape[0]
    return Factors(*(rng.standard_normal(s) for s in ((p, r), (n, r), (r, P.kappa), (q, P.kappa))))


@every_model
@every_shape
@pytest.mark.parametrize("weighted", [False, True])
def test_splitting_and_unlifting_are_inverse(model, n, p, weighted):
    arrays, P = as_arrays(model, n, p, kappa=2, weighted=weighted)
    f = random_factors(P)
    L, beta, other = arrays.split(f)
    value = objective(arrays, L @ beta, (L, other.T), f.gamma)
    np.testing.assert_allclose(value, naive.lifted_objective(P, *lifted(model, f)), rtol=1e-12)
    sizes = np.linalg.norm(f.codes * np.sqrt(P.weight)[:, None], axis=0)
    np.testing.assert_allclose(arrays.code_sizes(f), sizes, rtol=1e-13)
    turned, after = (way(L, beta, other, f.gamma) for way in (arrays.unlift, arrays.unrotated))
    for found in (turned, after):
        for a, b in zip(lifted(model, found), lifted(model, f), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12 * (1 + np.abs(b).max()))
    # Unrotated: the same directions, of norm one.
    directions = f.components / np.linalg.norm(f.components, axis=0)
    np.testing.assert_allclose(after.components, directions, atol=1e-13)


@every_model
def test_an_atom_of_zeros_stays_one(model):
    arrays, P = as_arrays(model, 6, 5, kappa=2)
    f = random_factors(P)
    f.components[:, 1] = 0
    L, beta, other = arrays.split(f)
    found = arrays.unrotated(L, beta, other, f.gamma)
    np.testing.assert_array_equal(found.components[:, 1], 0)
    np.testing.assert_allclose(found.beta[1], f.beta[1], rtol=1e-13)
    np.testing.assert_allclose(found.codes[:, 1], f.codes[:, 1], rtol=1e-13)
