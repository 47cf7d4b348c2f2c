"""The joint Newton step against differences of the paper's objective."""

import numpy as np
import pytest
from superfactor.lifting import GrowingBasis
from superfactor.solvers.subspace import SubspaceProblem
from tests import naive
from tests.solvers.examples import MODELS, example

from superfactor.solvers import newton_step as module

CASES = {
    "binary": {"kappa": 1},
    "two outputs": {"kappa": 2, "weighted": True},
    "three outputs": {"kappa": 3, "covariates": None},
    "probit": {"kappa": 1, "loss": "probit", "weighted": True},
    "squared": {"kappa": 2, "loss": "squared"},
    "no intercept": {"kappa": 1, "fit_intercept": False, "covariates": None},
}
every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)


def subspace(problem, rank, size=None):
    """The problem on its whole search side, or on a random part of it."""
    sampled = problem.sampled()
    basis, rng = GrowingBasis.of(sampled), np.random.default_rng(9)
    basis.extend(basis.everything(problem.side) if size is None else basis.random(rng, size))
    return SubspaceProblem(sampled, basis, rank)


def paper_value(problem, inside, P, W, beta, gamma):
    """F by the naive objective at the point W (k, r), β, γ: best B for the span of W."""
    root, vectors = np.sqrt(P.weight), inside.basis.vectors
    W = vectors(np.linalg.qr(W)[0]), vectors(W)
    if P.model == "filter":
        X = P.X * root
        return naive.lifted_objective(
            P, W[1] @ beta / problem.data.scale, W[0] @ (W[0].T @ X) / root, gamma
        )
    X = (P.X * root).T
    A, B = W[1] @ beta / root[:, None], W[0] @ (W[0].T @ X) / root[:, None]
    return naive.lifted_objective(P, A.T, B.T, gamma)


def near_optimum(inside, seed=0):
    """A point whose model is bent upwards but whose slopes are far from zero."""
    rng = np.random.default_rng(seed)
    point = inside.polish(inside.leading())
    for _ in range(8):
        W = inside.proximal_subspace(point, 0.1, inside.gradient(point))
        point = inside.polish(W)
    W = np.linalg.qr(point.W + 0.02 * rng.standard_normal(point.W.shape))[0]
    beta = W.T @ point.W @ point.beta
    return inside.at(
        W,
        beta + 0.05 * rng.standard_normal(beta.shape),
        point.gamma + 0.05 * rng.standard_normal(point.gamma.shape),
    )


def random_point(inside, seed=0):
    rng = np.random.default_rng(seed)
    r, kappa = inside.rank, inside.problem.n_outputs
    W = np.linalg.qr(rng.standard_normal((inside.basis.size, r)))[0]
    gamma = rng.standard_normal((inside.problem.n_covariates, kappa))
    return inside.at(W, rng.standard_normal((r, kappa)), gamma)


def moved_value(problem, inside, P, frame, point, T, v, g):
    W = frame.W + frame.complement @ T
    return paper_value(problem, inside, P, W, frame.beta + v, point.gamma + g)


def derivatives(f, size, h=2e-3):
    """Gradient and Hessian at 0, fourth-order differences."""
    e = np.eye(size) * h
    f0 = f(np.zeros(size))
    plus, minus = np.array([f(x) for x in e]), np.array([f(-x) for x in e])
    plus2, minus2 = np.array([f(2 * x) for x in e]), np.array([f(-2 * x) for x in e])
    gradient = (8 * (plus - minus) - (plus2 - minus2)) / (12 * h)
    H = np.diag((16 * (plus + minus) - (plus2 + minus2) - 30 * f0) / (12 * h * h))
    for i in range(size):
        for j in range(i):

            def mixed(k, i=i, j=j):
                a, b = k * e[i], k * e[j]
                return (f(a + b) - f(a - b) - f(b - a) + f(-a - b)) / (4 * (k * h) ** 2)

            H[i, j] = H[j, i] = (4 * mixed(1) - mixed(2)) / 3
    return gradient, H


@every_model
@every_case
@pytest.mark.parametrize("size", [None, 4])
def test_values_are_the_papers(model, case, size):
    problem, P = example(model, 7, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2, size)
    point = random_point(inside)
    expected = paper_value(problem, inside, P, point.W, point.beta, point.gamma)
    np.testing.assert_allclose(point.F, expected, rtol=1e-12)
    polished = inside.polish(point.W, point.beta, point.gamma)
    assert polished.F <= point.F
    expected = paper_value(problem, inside, P, polished.W, polished.beta, polished.gamma)
    np.testing.assert_allclose(polished.F, expected, rtol=1e-12)


@every_model
@every_case
def test_step_solves_the_second_order_model(model, case):
    """Newton's step from a Hessian by differences of the naive objective in (T, v, g)."""
    problem, P = example(model, 7, 4, xi=0.2, **CASES[case])
    inside = subspace(problem, 2, 4)
    point = near_optimum(inside)
    step = module.newton_step(inside, point)
    assert not step.saddle
    shapes = step.T.shape, step.v.shape, step.g.shape
    cuts = np.cumsum([np.prod(s) for s in shapes])

    def f(x):
        T, v, g = (part.reshape(s) for part, s in zip(np.split(x, cuts[:-1]), shapes, strict=True))
        return moved_value(problem, inside, P, step.frame, point, T, v, g)

    gradient, H = derivatives(f, int(cuts[-1]))
    assert np.linalg.norm(gradient) > 0.1  # the point is not stationary
    expected = -np.linalg.solve(H, gradient)
    found = np.concatenate([step.T.ravel(), step.v.ravel(), step.g.ravel()])
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.linalg.norm(expected))
    decrease = -0.5 * gradient @ expected
    np.testing.assert_allclose(step.decrease, decrease, rtol=1e-4)


@every_model
@every_case
def test_length_of_the_step(model, case):
    """`apply` moves Wβ to (W + tW⊥T)(β + tv) and keeps W orthonormal."""
    problem, P = example(model, 7, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2)
    point = near_optimum(inside)
    step = module.newton_step(inside, point)
    for t in (0.0, 0.3, 1.0):
        new = step.apply(inside, point, t)
        np.testing.assert_allclose(new.W.T @ new.W, np.eye(2), atol=1e-13)
        f = step.frame
        A = (f.W + t * f.complement @ step.T) @ (f.beta + t * step.v)
        np.testing.assert_allclose(new.W @ new.beta, A, atol=1e-12)
        expected = moved_value(problem, inside, P, f, point, t * step.T, t * step.v, t * step.g)
        np.testing.assert_allclose(new.F, expected, rtol=1e-11)


@every_model
@every_case
def test_conjugate_gradients_find_the_same_step(model, case, monkeypatch):
    problem, _ = example(model, 9, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2)
    point = near_optimum(inside)
    direct = module.newton_step(inside, point)
    loose = module.conjugate_gradients
    monkeypatch.setattr(module, "DENSE_UNKNOWNS", 0)
    for tol, agreement in ((1e-4, 1e-2), (1e-13, 1e-7)):
        monkeypatch.setattr(
            module,
            "conjugate_gradients",
            lambda apply, rhs, main, _, limit, tol=tol: loose(apply, rhs, main, tol, limit),
        )
        iterated = module.newton_step(inside, point)
        size = np.linalg.norm(direct.T) + np.linalg.norm(direct.v) + np.linalg.norm(direct.g)
        for part in ("T", "v", "g"):
            a, b = getattr(iterated, part), getattr(direct, part)
            np.testing.assert_allclose(a, b, atol=agreement * size)
        np.testing.assert_allclose(iterated.decrease, direct.decrease, rtol=agreement)


@every_model
@every_case
def test_the_two_direct_systems_have_the_same_solution(model, case, monkeypatch):
    # The elimination's curvature is summed up in every case, not only where it is the smaller system.
    monkeypatch.setattr(module, "_eliminates", lambda *sizes: True)
    problem, _ = example(model, 9, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2)
    for point in (near_optimum(inside), random_point(inside)):
        quadratic = module._quadratic_model(inside, point)
        eliminated = module._eliminate(inside, point, quadratic)
        kept = module._keep(inside, point, quadratic)
        for one, other in zip(eliminated, kept, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("rest", "rank", "width", "kappa", "expected"),
    [
        pytest.param(3, 2, 6, 1, True, id="one output: 6 unknowns against 6 + 3"),
        pytest.param(3, 2, 6, 3, False, id="outputs outnumber factors: 18 against 6 + 9"),
        pytest.param(95, 50, 101, 1, False, id="too many for a dense system"),
    ],
)
def test_elimination_is_chosen_where_it_is_smaller(rest, rank, width, kappa, expected, monkeypatch):
    monkeypatch.setattr(module, "DENSE_UNKNOWNS", 100)
    assert module._eliminates(rest, rank, width, kappa) is expected


@every_model
@every_case
def test_steps_converge_quadratically(model, case):
    """From near the optimum the error is squared: a wrong entry in the model makes it linear."""
    problem, _ = example(model, 9, 5, xi=0.2, **CASES[case])
    inside = subspace(problem, 2)
    point = near_optimum(inside)
    decreases = []
    for _ in range(7):
        step = module.newton_step(inside, point)
        decreases.append(step.decrease)
        point = step.apply(inside, point, 1.0)
    noise = 1e-13 * abs(point.F)
    assert decreases[-1] < noise
    clear = [d for d in decreases if d > noise]
    # Decreases are squares of distances: from one to the next the exponent doubles.
    if len(clear) >= 3:
        assert clear[-1] / clear[-2] < 0.1 * np.sqrt(clear[-2] / clear[-3])


@every_model
@every_case
def test_rotation_curvature_is_the_diagonal_of_the_hessian(model, case):
    """At any point, saddles included."""
    problem, P = example(model, 7, 4, xi=0.05, **CASES[case])
    inside = subspace(problem, 2)
    for seed in range(3):
        point = random_point(inside, seed)
        frame = inside.frame(point)
        found = module.rotation_curvature(inside, point, frame)
        h = 1e-3
        for j, i in np.ndindex(*found.shape):
            T = np.zeros(found.shape)
            values = []
            for t in (-2, -1, 0, 1, 2):
                T[j, i] = t * h
                values.append(moved_value(problem, inside, P, frame, point, T, 0.0, 0.0))
            second = np.dot([-1, 16, -30, 16, -1], values) / (12 * h * h)
            np.testing.assert_allclose(found[j, i], second, atol=1e-4 * (1 + abs(second)))


@every_model
@pytest.mark.parametrize("case", ["binary", "two outputs", "squared"])
def test_a_step_is_always_downhill(model, case):
    """Far from any optimum, where the model is bent the wrong way, the step still descends."""
    problem, _ = example(model, 9, 6, xi=0.05, **CASES[case])
    inside = subspace(problem, 2)
    saddles = 0
    for seed in range(20):
        point = random_point(inside, seed)
        step = module.newton_step(inside, point)
        saddles += step.saddle
        assert step.decrease > 0
        assert step.apply(inside, point, 1e-4).F < point.F
    assert saddles > 5
