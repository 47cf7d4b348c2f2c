"""Newton steps by conjugate gradients: their model, their radius, several points at once."""

from functools import partial

import numpy as np
import pytest
from tests.problems import MODELS, example, loss_named
from tests.samples.cutting import cut
from tests.samples.libraries import every_library, plain
from tests.subspace.models import FAR, dense_model, framed, placed
from tests.subspace.points import CASES, near_optimum, one_model_each, random_point, subspace, together

from superfactor.problem import state
from superfactor.subspace import newton_model, truncated
from superfactor.subspace.truncated import truncated_step

every_case = pytest.mark.parametrize("case", CASES)
every_model = pytest.mark.parametrize("model", MODELS)


@pytest.fixture
def to_the_end(monkeypatch):
    """Conjugate gradients without a tolerance, so that steps are exact."""
    loose = truncated.conjugate_gradients

    def tight(*system, **how):
        return loose(*system, **(how | {"tol": 1e-13, "max_iter": 1000}))

    monkeypatch.setattr(truncated, "conjugate_gradients", tight)


@every_model
@every_case
def test_products_solve_the_eliminated_system(model, case, to_the_end, blocks=3):
    problem, _ = example(model, 9, 5, xi=0.2, **CASES[case])
    inside = subspace(cut(problem, blocks), 2)
    for seed in range(2):
        point = near_optimum(inside, seed)
        exact, found = (newton_model._exact_step(inside, point), truncated_step(inside, point, FAR))
        assert not exact.saddle
        assert not found.saddle
        size = np.linalg.norm(placed(exact))
        np.testing.assert_allclose(placed(found), placed(exact), atol=1e-6 * size)
        np.testing.assert_allclose(found.decrease, exact.decrease, rtol=1e-8)


@one_model_each
@pytest.mark.parametrize("radius", [1e-3, 3.0, np.inf])
def test_the_model_never_increases_and_steps_stay_inside_the_radius(model, case, radius):
    """At any point, also saddles: decreases are those of the explicit model."""
    problem, _ = example(model, 9, 5, xi=0.05, **CASES[case])
    inside = subspace(problem, 2)
    bent = 0
    for seed in range(6):
        point = random_point(inside, seed)
        step = truncated_step(inside, point, radius)
        frame = inside.frame(point)
        slope, H = dense_model(inside, point, frame)
        x = framed(step, frame)
        decrease = -(slope @ x + 0.5 * x @ H @ x)
        np.testing.assert_allclose(step.decrease, decrease, rtol=1e-7)
        assert step.decrease > 0
        assert slope @ x < 0
        assert step.length <= radius * (1 + 1e-9)
        assert np.isfinite(step.length)
        if np.linalg.eigvalsh(H)[0] < 0:
            bent += 1
        if radius < 0.1:  # much shorter than the step along the gradient
            assert step.saddle
            np.testing.assert_allclose(step.length, radius, rtol=1e-9)
        smaller = step.apply(inside, point, 1e-4)
        assert smaller.F < point.F
    assert bent >= 3


@one_model_each
def test_steps_of_several_points(model, case, blocks=3):
    """Several points, each within its own radius, against each alone."""
    problem, _ = example(model, 9, 5, xi=0.2, **CASES[case])
    inside = subspace(cut(problem, blocks), 2)
    alone = [near_optimum(inside, 0), near_optimum(inside, 1), *map(partial(random_point, inside), (2, 3))]
    points, radius = together(alone), np.array([FAR, 0.1, np.inf, 2.0])
    steps = truncated_step(inside, points, radius)
    t = np.array([1.0, 0.5, 0.1, 0.0])
    moved = steps.apply(inside, points, t)
    for i, point in enumerate(alone):
        one = truncated_step(inside, point, radius[i])
        np.testing.assert_allclose(steps.decrease[i], one.decrease, rtol=1e-8)
        np.testing.assert_allclose(steps.length[i], one.length, rtol=1e-7)
        assert steps.saddle[i] == one.saddle
        expected = one.apply(inside, point, t[i])
        np.testing.assert_allclose(moved.F[i], expected.F, rtol=1e-9)
        # The signs of a frame are arbitrary; the product does not depend on them.
        A = expected.W @ expected.beta
        np.testing.assert_allclose(moved.W[i] @ moved.beta[i], A, atol=1e-6 * (1 + np.abs(A).max()))
        np.testing.assert_allclose(moved.gamma[i], expected.gamma, atol=1e-6)


@one_model_each
def test_no_rotation_if_the_rank_is_the_dimension(model, case, to_the_end):
    problem, _ = example(model, 9, 3, xi=0.2, **CASES[case])
    inside = subspace(problem, 3, 3)
    point = random_point(inside)
    for step in (newton_model._exact_step(inside, point), truncated_step(inside, point, FAR)):
        frame = inside.frame(point)
        slope, H = dense_model(inside, point, frame)
        expected = -np.linalg.solve(H, slope)
        np.testing.assert_allclose(framed(step, frame), expected, atol=1e-6 * np.linalg.norm(expected))
        np.testing.assert_allclose(step.T, 0, atol=1e-12)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_the_preconditioner_inverts_the_block_of_the_rotation(model):
    """Exact if the curvature of the loss is constant and W is spanned by eigenvectors of D."""
    problem, _ = example(model, 12, 6, xi=0.3, lam=0.5, loss="squared", kappa=2, weighted=False)
    inside = subspace(problem, 2)
    rng = np.random.default_rng(0)
    W = inside.spectrum[1][:, :2]
    point = inside.at(W, 0.1 * rng.standard_normal((2, 2)), np.zeros((problem.n_covariates, 2)))
    at = truncated._Model.at(inside, point)
    T, w = rng.standard_normal(W.shape), np.zeros((2 + problem.n_covariates, 2))
    T -= at.W @ (at.W.T @ T)
    curved, _ = at.product(T, w)
    found, _ = at.preconditioner()(curved, w)
    np.testing.assert_allclose(found, T, rtol=1e-3, atol=1e-8)


def test_covariates_that_are_sums_of_others_in_single_precision():
    """Rounding gives their Gram matrix negative eigenvalues."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((400, 3))
    C = np.column_stack([C, C @ rng.standard_normal((3, 6))]).astype(np.float32)
    problem, _ = example("filter", 400, 5, 3, covariates=C, dtype=np.float32)
    inside = subspace(problem, 2)
    assert np.linalg.eigvalsh(inside.loss.gram)[0] < 0
    point = random_point(inside, size=0.1)
    step = truncated_step(inside, point, np.inf)
    assert step.decrease > 0
    assert step.apply(inside, point, 1e-4).F < point.F


# --- other array libraries ---------------------------------------------------------------------------------


def steps_of(convert, model, loss, kappa):
    """A truncated and an exact step from one point, truncated steps from several; and the new points."""
    rng = np.random.default_rng(0)
    X, covariates = rng.standard_normal((12, 5)), rng.standard_normal((12, 1))
    Y = rng.standard_normal((12, kappa))
    if loss != "squared":
        Y = np.eye(kappa + 1)[np.arange(12) % (kappa + 1)][:, 1:]
    own = loss_named(loss, kappa)
    stated = {"xi": 0.3, "lam": 0.5, "sample_weight": rng.uniform(0.5, 2, 12)}
    problem = state(model, convert(X), convert(Y), own, covariates=convert(covariates), **stated)
    inside = subspace(problem, 2)
    side, q = problem.model.side(problem.shape), problem.n_covariates
    V, beta, gamma = (rng.standard_normal((3, *shape)) for shape in ((side, 2), (2, kappa), (q, kappa)))
    # The same vectors of the search side, for any basis that a library returns.
    W = np.linalg.qr(plain(inside.basis.S.array()).T @ V)[0]
    factors = np.array([[1.0, 1.0], [2.0, 0.5], [0.3, 4.0]])
    there = inside.with_factors(factors)
    points = there.at(W, beta, gamma)
    steps = truncated_step(there, points, np.array([0.3, np.inf, 2.0]))
    moved = steps.apply(there, points, np.array([1.0, 0.5, 0.1]))
    found = {"points": points.F, "decreases": steps.decrease, "lengths": steps.length}
    found |= {"moved": moved.F, "saddles": steps.saddle, "coef": moved.gamma}
    chosen = np.array([2, 0])
    some = steps.taken(chosen).apply(there.taken(chosen), points.taken(chosen), np.array([0.1, 1.0]))
    found["some"] = some.F
    np.testing.assert_allclose(plain(some.F), plain(moved.F)[chosen], rtol=1e-12)
    found["replaced"] = points.replaced(chosen, some).F
    one = inside.at(W[0, ...], beta[0, ...], gamma[0, ...])
    for name, step in (
        ("truncated", truncated_step(inside, one, 0.5)),
        ("exact", newton_model._exact_step(inside, one)),
    ):
        found[f"{name} from one"] = step.apply(inside, one, 0.1).gamma
    return found


@every_library
@pytest.mark.parametrize(("model", "loss", "kappa"), [("filter", "logistic", 3), ("feature", "squared", 2)])
def test_other_libraries(convert, model, loss, kappa):
    """Steps are those of NumPy for any library of the samples."""
    expected = steps_of(np.asarray, model, loss, kappa)
    for name, array in steps_of(convert, model, loss, kappa).items():
        assert type(array) is np.ndarray, name
        np.testing.assert_allclose(plain(array), expected[name], rtol=1e-6, atol=1e-9, err_msg=name)
