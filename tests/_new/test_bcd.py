"""Block coordinate descent against the naive objective and optimum, and scikit-learn's NMF."""

import numpy as np
import pytest
from sklearn.decomposition import NMF
from tests import naive
from tests._new.problems import MODELS, example, lifted
from tests.libraries import LIBRARIES

from superfactor._new import bcd
from superfactor._new.answer import solve
from superfactor._new.problem import state
from superfactor.losses import resolve_link


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize(
    ("model", "kappa", "shape", "options"),
    [
        ("filter", 1, (20, 9), {"weighted": True}),
        ("filter", 3, (9, 20), {"sparse": True}),
        ("feature", 1, (9, 20), {"loss": "probit"}),
        ("feature", 2, (20, 9), {"loss": "squared", "weighted": True, "sparse": True}),
    ],
)
@pytest.mark.parametrize("start", ["pca", "random"])
def test_the_objective_is_F_and_never_increases(model, kappa, shape, options, start, nonnegative):
    problem, P = example(model, *shape, kappa, **options)
    found = bcd.solve(problem, 2, max_iter=12, tol=0, start=start, nonnegative=nonnegative)
    f = found.factors
    A, B, gamma = lifted(model, f)
    assert found.n_iter == 12
    assert np.all(np.diff(found.history.objective) <= 0)
    assert found.history.objective[-1] < found.history.objective[0]
    np.testing.assert_allclose(found.objective, naive.lifted_objective(P, A, B, gamma), rtol=1e-9)
    np.testing.assert_allclose(found.activations, naive.activations(P, A, 0 * gamma).T, atol=1e-7)
    assert found.bound().lower <= solve(problem, 2).objective * (1 + 1e-12)
    if nonnegative:
        assert min(f.components.min(), f.codes.min()) >= 0
        norms = np.linalg.norm(f.components, axis=0)
        np.testing.assert_allclose(norms[norms > 0], 1.0)


@pytest.mark.parametrize(("model", "kappa", "shape"), [("filter", 2, (14, 6)), ("feature", 1, (6, 14))])
def test_an_easy_problem_ends_at_the_optimum(model, kappa, shape):
    X, Y = (
        np.random.default_rng(5).standard_normal(shape),
        np.eye(kappa + 1)[np.arange(shape[0]) % (kappa + 1)][:, 1:],
    )
    options = {"xi": 1.0, "lam": 0.7}
    problem = state(model, X, Y, resolve_link("logistic", kappa), **options)
    _, value = naive.optimum(naive.state(model, X, Y, **options), 2)
    found = bcd.solve(problem, 2, tol=1e-12, max_iter=2000)
    assert found.converged
    assert found.gradient_mapping < 1e-3
    np.testing.assert_allclose(found.objective, value, rtol=1e-8)


def test_saturated_activations_are_left():
    rng = np.random.default_rng(7)
    X, Y = 100 * rng.standard_normal((15, 40)), np.eye(3)[np.arange(15) % 3][:, 1:]
    problem = state("feature", X, Y, resolve_link("logistic", 2), xi=1e-5, lam=0.5)
    ends = [bcd.solve(problem, 3, start=start, max_iter=100).objective for start in ("pca", "random")]
    assert ends[0] == pytest.approx(ends[1], rel=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_without_supervision_the_result_is_nmf(model):
    rng = np.random.default_rng(4)
    X = rng.random((30, 3)) @ rng.random((3, 12)) + 0.05 * rng.random((30, 12))
    problem = state(model, X, np.arange(30) % 2, resolve_link("logistic", 1), xi=1e6, lam=1.0)
    f = bcd.solve(problem, 3, nonnegative=True, max_iter=800, tol=1e-12).factors
    reference = NMF(3, init="nndsvda", max_iter=5000, tol=1e-9).fit(X)
    assert np.linalg.norm(X - f.codes @ f.components.T) <= 1.01 * reference.reconstruction_err_


@pytest.mark.parametrize(("model", "weighted"), [("filter", True), ("feature", False)])
def test_no_feasible_direction_descends_at_the_end(model, weighted):
    """The first-order conditions of a constrained minimum, with the reference's gradient."""
    problem, P = example(model, 14, 6, 2, weighted=weighted)
    f = bcd.solve(problem, 2, nonnegative=True, max_iter=2000, tol=1e-13).factors
    gA, gB, gamma = naive.gradient(P, *lifted(model, f))
    by_W = gB @ f.codes + (gA @ f.beta.T if model == "filter" else 0)
    by_H = gB.T @ f.components + (gA.T @ f.beta.T if model == "feature" else 0)
    assert np.max(np.abs(gamma)) < 1e-3
    small = 1e-4 * np.linalg.norm(P.X) ** 2
    for x, slope in ((f.components, by_W), (f.codes, by_H)):
        assert np.min(slope) > -small  # F does not fall if the entry leaves zero
        assert np.max(np.abs(slope[x > 1e-8])) < small


def test_stopping():
    problem, _ = example("filter", 12, 5, 1)
    found = bcd.solve(problem, 2)
    assert found.converged
    assert "three iterations" in found.reason
    stopped = bcd.solve(problem, 2, callback=lambda t, F: t == 2)
    assert (stopped.n_iter, stopped.reason) == (2, "stopped early by a callback")
    with pytest.raises(ValueError, match="start='zero'"):
        bcd.solve(problem, 2, start="zero")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("nonnegative", "kind"), [(False, "rank one"), (True, "full"), (True, "zero")])
def test_more_components_than_the_data_have(model, nonnegative, kind):
    X = np.random.default_rng(2).random((7, 4))
    X = {"rank one": np.outer(X[:, 0], X[0]), "full": X, "zero": 0 * X}[kind]
    problem = state(model, X, np.arange(7) % 2, resolve_link("logistic", 1), xi=0.5, lam=0.4)
    found = bcd.solve(problem, 6, nonnegative=nonnegative, max_iter=20)
    assert found.factors.components.shape == (4, 6)
    best = solve(problem, 4).objective
    assert best * (1 - 1e-6) <= found.objective <= best * 1.2 + 0.5


@pytest.mark.parametrize("asarray", LIBRARIES)
@pytest.mark.parametrize(("model", "shape"), [("filter", (20, 9)), ("feature", (9, 20))])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_libraries_agree(asarray, model, shape, nonnegative):
    options = {"max_iter": 4, "tol": 0, "nonnegative": nonnegative}
    here, there = (
        bcd.solve(example(model, *shape, 2, weighted=True, asarray=library)[0], 2, **options)
        for library in (np.asarray, asarray)
    )
    assert type(there.factors.codes) is type(asarray(np.ones(1)))
    np.testing.assert_allclose(there.history.objective, here.history.objective, rtol=1e-7)
    single = bcd.solve(
        example(model, *shape, 2, asarray=lambda X: X.astype(np.float32))[0], 2, **options
    ).factors
    assert {part.dtype for part in (single.components, single.codes, single.beta)} == {np.dtype(np.float32)}
