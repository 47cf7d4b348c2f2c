"""The joint Newton step against differences of the paper's objective."""

from dataclasses import replace

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.samples.cutting import cut
from tests.subspace.models import dense_model, flat, framed
from tests.subspace.points import CASES, moved_value, near_optimum, one_model_each, random_point, subspace

from superfactor.options import Options
from superfactor.subspace import newton_model as module

every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)


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


@one_model_each
def test_step_solves_the_second_order_model(model, case):
    """The Newton step with a Hessian by differences of the naive objective in (T, v, g)."""
    problem, P = example(model, 7, 4, xi=0.2, **CASES[case])
    inside = subspace(problem, 2, 4)
    point = near_optimum(inside)
    step = module.newton_step(inside, point)
    assert not step.saddle
    frame = inside.frame(point)
    shapes = (frame.rest.size, inside.rank), step.v.shape, step.g.shape
    cuts = np.cumsum([np.prod(s) for s in shapes])

    def f(x):
        T, v, g = (part.reshape(s) for part, s in zip(np.split(x, cuts[:-1]), shapes, strict=True))
        return moved_value(inside, P, frame, point, T, v, g)

    gradient, H = derivatives(f, int(cuts[-1]))
    assert np.linalg.norm(gradient) > 0.1  # the point is not stationary
    expected = -np.linalg.solve(H, gradient)
    np.testing.assert_allclose(framed(step, frame), expected, atol=2e-5 * np.linalg.norm(expected))
    decrease = -0.5 * gradient @ expected
    np.testing.assert_allclose(step.decrease, decrease, rtol=1e-4)


# --- by elimination, against a dense system of all unknowns -------------------------------------------------


@every_model
@every_case
def test_elimination_solves_the_whole_system(model, case, blocks=3):
    """At any point: the shifted model at a saddle is a linear system like others."""
    problem, _ = example(model, 9, 5, xi=0.2, **CASES[case])
    inside = subspace(cut(problem, blocks), 2)
    for point in (near_optimum(inside), *(random_point(inside, seed) for seed in range(3))):
        quadratic = module._quadratic_at(inside, point)
        gaps = 0.5 / problem.xi / quadratic.inverse
        slope, H = dense_model(inside, point, quadratic.frame, gaps)
        expected = -np.linalg.solve(H, slope)
        found = flat(module._eliminate(inside, quadratic))
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.linalg.norm(expected))


# --- which of them ------------------------------------------------------------------------------------------


PRODUCTS = {"largest_system": 0}
DENSE = {"expected_products": 10**9}


@every_model
@pytest.mark.parametrize(
    ("kappa", "sizes", "pays"),
    [
        pytest.param(1, {}, True, id="one output"),
        pytest.param(3, {}, True, id="small"),
        pytest.param(3, {"largest_system": 23}, False, id="too many for a dense system"),
        pytest.param(3, {"largest_system": 24}, True, id="the largest dense system"),
        pytest.param(1, {"expected_products": 0}, False, id="products are free"),
        pytest.param(3, {"dense_loss": 1e9}, False, id="dense is slow"),
    ],
)
def test_the_cheaper_way_is_chosen(model, kappa, sizes, pays):
    """k = 5 directions and three covariates: 8κ unknowns."""
    problem, _ = example(model, 9, 6, kappa, options=Options(**sizes))
    inside = subspace(problem, 2, 5)
    assert problem.n_covariates == 3
    assert module.elimination_pays(inside) == pays
    step = module.newton_step(inside, inside.polish(inside.leading()), 1.0)
    assert (step.length is None) == pays  # only a truncated step has a length


@one_model_each
def test_rotation_curvature_is_the_diagonal_of_the_hessian(model, case):
    """At any point, saddles included."""
    problem, P = example(model, 7, 4, xi=0.05, **CASES[case])
    inside = subspace(problem, 2)
    for seed in range(2):
        point = random_point(inside, seed)
        frame = inside.frame(point)
        found = module.rotation_curvature(inside, point, frame)
        h = 1e-3
        for j, i in np.ndindex(*found.shape):
            T = np.zeros(found.shape)
            values = []
            for t in (-2, -1, 0, 1, 2):
                T[j, i] = t * h
                values.append(moved_value(inside, P, frame, point, T, 0.0, 0.0))
            second = np.dot([-1, 16, -30, 16, -1], values) / (12 * h * h)
            np.testing.assert_allclose(found[j, i], second, atol=1e-4 * (1 + abs(second)))


@every_model
@pytest.mark.parametrize("case", ["binary", "two outputs", "squared"])
@pytest.mark.parametrize("sizes", [PRODUCTS, DENSE], ids=["products", "dense"])
def test_a_step_is_always_downhill(model, case, sizes):
    """Also far from any optimum, where the model is not convex."""
    problem, _ = example(model, 9, 6, xi=0.05, options=Options(**sizes), **CASES[case])
    inside = subspace(problem, 2)
    saddles = 0
    for seed in range(12):
        point = random_point(inside, seed)
        step = module.newton_step(inside, point)
        saddles += step.saddle
        assert step.decrease > 0
        assert step.apply(inside, point, 1e-4).F < point.F
    assert saddles > 3


def test_a_constant_curvature_is_summed_once(monkeypatch):
    """Other weights of the same problem share it; that of the logistic loss changes from point to point."""
    for loss, sums in (("squared", 1), ("logistic", 3)):
        problem, _ = example("filter", 12, 6, 1, xi=0.3, lam=0.5, loss=loss)
        inside = subspace(problem, 2)
        calls, kept = [], type(problem.samples).sum

        def counted(samples, method, *arguments, calls=calls, kept=kept):
            calls.append(method.__name__)
            return kept(samples, method, *arguments)

        monkeypatch.setattr(type(problem.samples), "sum", counted)
        points = [random_point(inside, seed) for seed in (0, 1)]
        first, second = (inside.loss.curvature(point.coef) for point in points)
        again = inside.at_weights(replace(problem, lam=1.0)).loss.curvature(points[0].coef)
        monkeypatch.setattr(type(problem.samples), "sum", kept)
        assert calls.count("curvature") == sums
        np.testing.assert_allclose(again, first)
        assert np.allclose(first, second) is (loss == "squared")


def test_a_path_of_weights_keeps_no_rows_of_earlier_ones():
    problem, _ = example("filter", 30, 6, 3, options=Options(values_worth_coarse=1))
    inside = subspace(problem, 2)
    assert inside.loss.coarse is not inside.loss.design
    one = len(inside.loss._kept)
    there = inside.at_weights(replace(problem, lam=1.0))
    assert there.loss.coarse is not inside.loss.coarse
    assert len(there.loss._kept) == one
