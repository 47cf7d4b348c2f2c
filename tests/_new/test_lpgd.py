"""LPGD against the naive Algorithm 1, and on matrix regression and completion."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from tests import naive
from tests._new.problems import MODELS, distance, example, lifted, random_start
from tests.libraries import LIBRARIES

from superfactor._new import lpgd, thin
from superfactor._new.answer import solve
from superfactor._new.problem import state
from superfactor.constraints import Box, FrobeniusBall, NonNegative, Product, UserSet
from superfactor.losses import PoissonLoss, resolve_link


def assert_same_iterates(problem, P, rank, path, tau, times=(1, 2, 12), **options):
    scale = max(np.max(np.abs(x)) for x in path[-1])
    for t in times:
        found = lpgd.solve(problem, rank, step_size=tau, max_iter=t, tol=0, **options)
        assert found.n_iter == t
        assert distance(lifted(P.model, found.factors), path[t]) < 1e-10 * scale
        values = [naive.lifted_objective(P, *point) for point in path[1 : t + 1]]
        np.testing.assert_allclose(found.history.objective, values, rtol=1e-10)
        a = naive.activations(P, path[t][0], 0 * path[t][2]).T
        np.testing.assert_allclose(found.activations, a, atol=1e-9 * (1 + np.max(np.abs(a))))
    return found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("kappa", "shape", "options"),
    [
        (1, (12, 7), {"weighted": True}),
        (3, (7, 12), {"weighted": True}),
        (3, (12, 7), {"sparse": True}),
        (1, (7, 12), {"loss": "probit"}),
        (2, (9, 9), {"loss": "squared", "weighted": True}),
    ],
)
def test_iterates_are_those_of_algorithm_1(model, kappa, shape, options):
    problem, P = example(model, *shape, kappa, **options)
    tau = {"logistic": 0.03, "probit": 0.01, "squared": 0.001}[P.loss]
    start, point = random_start(P, 5)  # of more columns than the rank
    path = naive.algorithm_1(P, 2, point, tau, 12)
    root = np.sqrt(P.weight)
    units = (1.0 if model == "filter" else root, root, 1.0)
    moved = [np.sum((u * (a - b)) ** 2) for u, a, b in zip(units, *path[-2:], strict=True)]
    for compress in (True, False):
        found = assert_same_iterates(problem, P, 2, path, tau, start=start, compress=compress)
        np.testing.assert_allclose(found.gradient_mapping, np.sqrt(np.sum(moved)) / tau, rtol=1e-9)
    assert found.bound().lower <= min(found.objective, solve(problem, 2).objective * (1 + 1e-12))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "tau"), [((12, 7), 1e-3), ((7, 12), 1.0), ((9, 9), 0.2)])
def test_any_step_from_pca(model, shape, tau):
    """τ up to 1.0: 2ξτ = 1.4 > 1, and far beyond 2/L for the loss."""
    problem, P = example(model, *shape, 2)
    path = naive.algorithm_1(P, 3, naive.pca_start(P, 3), tau, 5)
    for compress in (True, False):
        assert_same_iterates(problem, P, 3, path, tau, times=(1, 5), start="pca", compress=compress)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(90, 110), (110, 90)])
def test_iterates_where_eigenvectors_come_from_a_subspace(model, shape):
    problem, P = example(model, *shape, 1)
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.002, 4)
    assert_same_iterates(problem, P, 2, path, 0.002, times=(1, 4), start=start)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "start", "tau"), [((20, 31), "pca", 0.01), ((31, 20), "random", 1 / 1.4)])
def test_iterates_for_data_too_large_to_decompose(model, shape, start, tau, monkeypatch):
    problem, _ = example(model, *shape, 2, weighted=True)
    options = {"step_size": tau, "max_iter": 8, "tol": 0, "start": start}
    exact = lpgd.solve(problem, 3, **options)
    monkeypatch.setattr(thin, "_SIDE", 10)
    found = lpgd.solve(problem, 3, **options)
    assert 0 < distance(lifted(model, found.factors), lifted(model, exact.factors)) < 1e-6
    np.testing.assert_allclose(found.history.objective, exact.history.objective, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "size"), [((9, 5), 1e-3), ((5, 9), 1e4)])
def test_iterates_in_any_unit(model, shape, size):
    rng = np.random.default_rng(3)
    X, Y = size * rng.standard_normal(shape), (np.arange(shape[0]) % 2)[:, None]
    options = {"xi": 0.5 / size**2, "lam": 0.4}
    problem, P = (
        state(model, X, Y, resolve_link("logistic", 1), **options),
        naive.state(model, X, Y, **options),
    )
    tau = 0.1 * min(1.0, size) ** 2
    start, point = random_start(P, 2)
    assert_same_iterates(problem, P, 2, naive.algorithm_1(P, 2, point, tau, 12), tau, start=start)


# --- constraints ---------------------------------------------------------------------------------------


def ball(radius):
    def project(A, B, gamma):
        size = np.sqrt(sum(np.sum(x**2) for x in (A, B, gamma)))
        return tuple(x * min(1.0, radius / size) for x in (A, B, gamma))

    return project


def several(A, B, gamma):
    return A * min(1.0, 0.5 / np.linalg.norm(A)), ball(9.0)(0 * A, B, 0 * gamma)[1], np.maximum(gamma, -0.1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(12, 7), (7, 12)])
@pytest.mark.parametrize(
    ("theta", "project"),
    [
        (FrobeniusBall(8.0), ball(8.0)),
        (Product(A=FrobeniusBall(0.5), B=FrobeniusBall(9.0), gamma=Box(lower=-0.1)), several),
    ],
)
def test_active_balls(model, shape, theta, project):
    problem, P = example(model, *shape, 2, weighted=True)
    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.03, 12, project=project)
    for compress in (None, False):
        assert_same_iterates(problem, P, 2, path, 0.03, start=start, constraint=theta, compress=compress)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("theta", "low", "high"), [(NonNegative(), 0, None), (Box(-1, 2), -1, 2)])
def test_entrywise_constraints(model, theta, low, high):
    problem, P = example(model, 9, 6, 1, weighted=True)
    root = np.sqrt(P.weight)
    unit = 1.0 if model == "filter" else root

    def project(A, B, gamma):  # bounds apply to A and B, not to √w times them
        clipped = (np.clip(x / u, low, high) * u for x, u in ((A, unit), (B, root), (gamma, 1.0)))
        return tuple(clipped)

    start, point = random_start(P, 2)
    path = naive.algorithm_1(P, 2, point, 0.03, 12, project=project)
    found = assert_same_iterates(problem, P, 2, path, 0.03, start=start, constraint=theta)
    parts = tuple(x * u for x, u in zip(path[-1], (unit, root, 1.0), strict=True))
    outside = distance(parts, project(*parts))  # Π_r is the last operation and leaves Θ
    np.testing.assert_allclose(found.violation, outside, rtol=1e-6)
    assert "rank projection leaves the constraint" in found.reason


@pytest.mark.parametrize(("model", "rows"), [("filter", 6), ("feature", 9)])
def test_what_a_users_set_receives(model, rows):
    problem, _ = example(model, 9, 6, 2)
    shapes = set()
    theta = UserSet(lambda point: shapes.add(tuple(part.shape for part in point)) or point)
    lpgd.solve(problem, 2, step_size=0.02, max_iter=3, tol=0, constraint=theta)
    assert shapes == {((rows, 2), (9, 6), (3, 2))}


# --- steps, stopping, memory, libraries -----------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("counts", [False, True])
def test_an_automatic_step_never_increases_the_objective(model, counts):
    problem, _ = example(model, 20, 8, 2)
    if counts:  # no bound of the curvature: the step adapts
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((20, 8)), rng.poisson(20.0, (20, 1)).astype(float)
        problem = state(model, X, Y, PoissonLoss(), xi=0.1, lam=0.1)
    found = lpgd.solve(problem, 2, start="random", max_iter=60, tol=0)
    values = np.array(found.history.objective)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < values[0]
    assert counts or len(set(found.history.step)) == 1


def test_stopping():
    problem, _ = example("feature", 12, 5, 1)
    found = lpgd.solve(problem, 2, tol=1e-4)
    assert found.converged
    assert "gradient mapping" in found.reason
    short = lpgd.solve(problem, 2, max_iter=4)
    assert (short.n_iter, short.converged) == (4, False)
    seen = []
    stopped = lpgd.solve(problem, 2, callback=lambda t, F: seen.append((t, F)) or t == 3)
    assert stopped.reason == "stopped early by a callback"
    assert seen == list(enumerate(stopped.history.objective, 1))
    problem, _ = example("filter", 12, 5, 1, loss="squared")
    far = lpgd.solve(problem, 2, step_size=50.0)
    assert "diverged" in far.reason
    assert np.all(np.isfinite(far.factors.components))
    for options in ({"step_size": -1.0}, {"start": "zero"}, {"constraint": NonNegative(), "compress": True}):
        with pytest.raises(ValueError, match=next(iter(reversed(options)))):
            lpgd.solve(problem, 2, **options)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "kind"), [((7, 4), "rank one"), ((4, 7), "full"), ((6, 1), "zero")])
def test_more_components_than_the_data_have(model, shape, kind):
    X = np.random.default_rng(2).standard_normal(shape)
    X = {"rank one": np.outer(X[:, 0], X[0]), "full": X, "zero": 0 * X}[kind]
    Y, options = (np.arange(len(X)) % 2)[:, None], {"xi": 0.5, "lam": 0.4}
    problem, P = (
        state(model, X, Y, resolve_link("logistic", 1), **options),
        naive.state(model, X, Y, **options),
    )
    path = naive.algorithm_1(P, 9, naive.pca_start(P, 9), 0.05, 8)
    found = lpgd.solve(problem, 9, step_size=0.05, max_iter=8, tol=0)
    assert found.factors.components.shape == (shape[1], 9)
    assert distance(lifted(model, found.factors), path[-1]) < 1e-8


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "start"), [((25, 20_000), "pca"), ((4000, 150), "random")])
def test_nothing_of_the_size_of_X_is_allocated(model, shape, start):
    n, p = shape
    rng = np.random.default_rng(0)
    X = sp.random_array(shape, density=0.01, rng=rng, format="csr") if n > p else rng.standard_normal(shape)
    problem = state(model, X, (np.arange(n) % 2)[:, None], resolve_link("logistic", 1), xi=1.0, lam=1.0)
    tracemalloc.start()
    lpgd.solve(problem, 2, step_size=0.01, max_iter=3, tol=0, start=start)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.7 * n * p * 8


@pytest.mark.parametrize("asarray", LIBRARIES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("shape", "compress"), [((20, 9), True), ((9, 20), True), ((9, 20), False)])
def test_libraries_agree(asarray, model, shape, compress):
    options = {"step_size": 0.01, "max_iter": 20, "tol": 0, "start": "random", "compress": compress}
    here, there = (
        lpgd.solve(example(model, *shape, 2, weighted=True, asarray=library)[0], 2, **options)
        for library in (np.asarray, asarray)
    )
    assert type(there.factors.codes) is type(asarray(np.ones(1)))
    np.testing.assert_allclose(there.history.objective, here.history.objective, rtol=1e-7)
    problem, _ = example(model, *shape, 2, asarray=lambda X: X.astype(np.float32))
    single = lpgd.solve(problem, 2, **options).factors
    assert {part.dtype for part in (single.components, single.codes, single.beta)} == {np.dtype(np.float32)}


# --- one's own objective --------------------------------------------------------------------------------


def completion(D, mask):
    def objective(theta, gamma):
        assert gamma is None
        R = (theta - D) * mask
        return float((R**2).sum()), 2 * R, None

    return objective


def test_matrix_regression_recovers_the_planted_matrix():
    """y_i = ⟨X_i, θ⟩ + ⟨z_i, γ⟩ with f = Σ(y_i − ŷ_i)²/n, whose curvature is near 2."""
    rng = np.random.default_rng(0)
    theta, gamma = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 8)), np.array([1.0, -2.0, 0.5])
    X, Z = rng.standard_normal((600, 9, 8)), rng.standard_normal((600, 3))
    y = np.einsum("nij,ij->n", X, theta) + Z @ gamma

    def objective(theta, gamma):
        e = np.einsum("nij,ij->n", X, theta) + Z @ gamma - y
        return e @ e / 600, 2 * np.einsum("nij,n->ij", X, e) / 600, 2 * Z.T @ e / 600

    found = lpgd.minimize(objective, 2, (np.zeros((9, 8)), np.zeros(3)), step_size=0.4, tol=1e-10)
    assert found.converged
    assert found.n_iter < 200
    np.testing.assert_allclose(found.theta, theta, atol=1e-7)
    np.testing.assert_allclose(found.gamma, gamma, atol=1e-7)


def test_the_first_step_is_the_formula():
    rng = np.random.default_rng(2)
    D, start = rng.standard_normal((5, 4)), rng.standard_normal((5, 4))
    options = {"step_size": 0.1, "max_iter": 1, "tol": 0}
    found = lpgd.minimize(
        completion(D, 1.0),
        2,
        start,
        project=lambda theta, gamma: (np.clip(theta, -0.5, 0.5), gamma),
        **options,
    )
    U, s, Vt = np.linalg.svd(np.clip(start - 0.2 * (start - D), -0.5, 0.5))
    expected = (U[:, :2] * s[:2]) @ Vt[:2]
    np.testing.assert_allclose(found.theta, expected, atol=1e-12)
    np.testing.assert_allclose(found.violation, max(np.max(np.abs(expected) - 0.5), 0), atol=1e-12)
    np.testing.assert_allclose(found.gradient_mapping, np.linalg.norm(expected - start) / 0.1, rtol=1e-12)


def test_one_short_step_is_not_convergence():
    slopes = iter([0.0, 1.0, 0.0, 0.0, 1.0])
    found = lpgd.minimize(
        lambda theta, gamma: (1.0, next(slopes) * np.ones_like(theta), None),
        1,
        np.ones((2, 2)),
        step_size=0.1,
    )
    assert found.n_iter == 4  # short, long, short, short


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": 0}, r"rank=0: an integer >= 1 is required"),
        ({"rank": True}, r"rank=True: an integer >= 1 is required"),
        ({"step_size": -0.1}, r"step_size=-0\.1: a finite number > 0 is required"),
        ({"step_size": "auto"}, r"step_size='auto': a finite number > 0"),
        ({"start": (np.ones((3, 3)), np.array([np.inf]))}, r"start: γ contains NaN or infinity"),
        ({"start": [[1.0]]}, r"start: a matrix θ .* but θ is list"),
    ],
)
def test_bad_arguments_raise(change, message):
    options = {"rank": 1, "start": np.ones((3, 3)), "step_size": 0.1, **change}
    with pytest.raises(ValueError, match=message):
        lpgd.minimize(completion(np.ones((3, 3)), 1.0), **options)
