"""The default solver on samples in blocks, in memory and in files: the optimum of the same samples in one."""

import weakref

import numpy as np
import pytest
from superfactor.lifting import design, state_problem, subsample
from superfactor.solvers.subspace import SubspaceProblem
from tests import naive
from tests.lifting.cutting import cut
from tests.solvers.examples import MODELS, example, lifted
from tests.solvers.restarts import best_of

from superfactor.losses import resolve_link
from superfactor.solvers import lifted_newton

SIZES = {"whole range": (60, 12), "growing subspace": (150, 90), "few samples": (12, 9)}
# Labels count, and the optimum is beyond doubt: no other starts are compared.
LAM = {"filter": 200.0, "feature": 2.0}
every_model = pytest.mark.parametrize("model", MODELS)
every_size = pytest.mark.parametrize("size", SIZES)
outputs = pytest.mark.parametrize("kappa", [1, 3])


def check(found, P, rank):
    """A point of this rank whose value by the naive objective is the one told."""
    value = naive.lifted_objective(P, *lifted(P.model, found.factors))
    np.testing.assert_allclose(found.objective, value, rtol=1e-10)
    assert found.factors.components.shape == (P.X.shape[0], rank)
    assert found.factors.codes.shape == (P.X.shape[1], rank)
    assert found.converged


@every_model
@every_size
@outputs
@pytest.mark.parametrize("place", ["memory", "files"])
def test_blocks_have_the_objective_of_one(model, size, kappa, place, tmp_path):
    problem, P = example(model, *SIZES[size], kappa, weighted=True, xi=0.5, lam=LAM[model])
    whole = lifted_newton.solve(problem, 2, tol=1e-10)
    folder = tmp_path if place == "files" else None
    found = lifted_newton.solve_sampled(cut(problem, 5, folder, threads=2), 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)
    check(found, P, 2)
    for one, other in zip(lifted(model, found.factors), lifted(model, whole.factors), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4 * (1 + np.abs(other).max()))
    # Factors with the signs, the order and the scale of one block.
    np.testing.assert_allclose(
        found.factors.components, whole.factors.components, atol=1e-3 * np.abs(P.X).max()
    )


@every_model
@pytest.mark.parametrize("case", ["logistic", "probit", "squared"])
@pytest.mark.parametrize("extra", ["intercept", "nothing", "covariates"])
def test_every_loss_reaches_what_restarts_find(model, case, extra):
    """Where nothing is proven other starts are compared, in blocks as in one."""
    options = {
        "intercept": {"covariates": None},
        "nothing": {"covariates": None, "fit_intercept": False},
        "covariates": {"fit_intercept": False},
    }[extra]
    problem, P = example(model, 14, 6, 1, loss=case, xi=0.3, lam=0.2, **options)
    found = lifted_newton.solve_sampled(cut(problem, 5), 2, tol=1e-10)
    check(found, P, 2)
    best = best_of(P, 2, 10, 0, max_iter=200)
    assert found.objective <= best + 1e-8 * abs(best)


@every_model
def test_sparse_samples_in_blocks(model):
    problem, P = example(model, 150, 90, 1, sparse=True, weighted=True, lam=LAM[model])
    whole = lifted_newton.solve(problem, 2, tol=1e-10)
    found = lifted_newton.solve_sampled(cut(problem, 5, threads=3), 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)
    check(found, P, 2)


@every_model
@pytest.mark.parametrize("blocks", [1, 4])
@outputs
@pytest.mark.parametrize("size", [(400, 12), (300, 90)], ids=["whole range", "growing subspace"])
def test_curvature_from_some_of_the_samples_leads_to_the_same_optimum(
    model, blocks, kappa, size, monkeypatch
):
    problem, P = example(model, *size, kappa, weighted=True, xi=0.5, lam=LAM[model])
    exact = lifted_newton.solve(problem, 2, tol=1e-10)
    monkeypatch.setattr(design, "curvature_share", lambda *sizes: 0.3)
    found = lifted_newton.solve_sampled(cut(problem, blocks), 2)
    np.testing.assert_allclose(found.objective, exact.objective, rtol=1e-7)
    check(found, P, 2)


@every_model
@outputs
@pytest.mark.parametrize("place", ["memory", "files"])
def test_beginning_with_some_of_the_samples_ends_at_the_same_optimum(
    model, kappa, place, tmp_path, monkeypatch
):
    problem, P = example(model, 300, 90, kappa, weighted=True, xi=0.5, lam=LAM[model])
    whole = lifted_newton.solve(problem, 2, tol=1e-10)
    monkeypatch.setattr(subsample, "_FEWEST", 20)
    sampled = cut(problem, 5, tmp_path if place == "files" else None)
    share = subsample.subsample_share(sampled)
    assert 0 < share <= 1 / 8
    few = subsample.subsampled(sampled, share)
    assert 300 * share <= few.n_samples <= 300 * share + 5  # a block gives at least its share
    np.testing.assert_allclose(
        few.squared_norm / few.n_samples, sampled.squared_norm / 300, rtol=0.5
    )
    found = lifted_newton.solve_sampled(sampled, 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)
    check(found, P, 2)


@every_model
def test_labels_use_the_rank_that_X_has_to_spare_after_such_a_beginning(model, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = np.outer(rng.standard_normal(300), np.ones(5)), (rng.random((300, 1)) < 0.4) * 1.0
    loss = resolve_link("logistic", 1)
    problem = state_problem(model, X, y, loss, xi=1e-2, lam=0.5)
    whole = lifted_newton.solve(problem, 2, tol=1e-10)
    monkeypatch.setattr(subsample, "_FEWEST", 20)
    sampled = cut(problem, 5)
    assert subsample.subsample_share(sampled) is not None
    found = lifted_newton.solve_sampled(sampled, 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)
    assert found.factors.components.shape == (5, 2)


@every_model
def test_samples_to_begin_with_are_not_kept(model, monkeypatch):
    """They take as much memory as is allowed, and the search among all of them needs it."""
    problem, _ = example(model, 300, 20, 1, lam=LAM[model])
    monkeypatch.setattr(subsample, "_FEWEST", 20)
    drawn, alive = [], []
    draw, polish = lifted_newton.subsampled, SubspaceProblem.polish

    def drawing(*arguments):
        few = draw(*arguments)
        drawn.append(weakref.ref(few.samples))
        return few

    def polishing(self, *arguments, **options):
        if self.problem.n_samples == 300:
            alive.append(drawn[0]() is not None)
        return polish(self, *arguments, **options)

    monkeypatch.setattr(lifted_newton, "subsampled", drawing)
    monkeypatch.setattr(SubspaceProblem, "polish", polishing)
    lifted_newton.solve_sampled(cut(problem, 5), 2)
    assert alive and not any(alive)


@every_model
def test_codes_are_left_with_the_samples_where_nobody_wants_them(model):
    problem, _ = example(model, 60, 12, 2, weighted=True, lam=5.0)
    full, bare = (
        lifted_newton.solve_sampled(cut(problem, 5), 2, codes=codes) for codes in (True, False)
    )
    assert bare.factors.codes.shape[0] == 0
    np.testing.assert_allclose(bare.factors.components, full.factors.components, atol=1e-9)
    rows = bare.basis.problem.samples.gather("codes", bare.codes_turn)
    np.testing.assert_allclose(np.concatenate(rows), full.factors.codes, atol=1e-7)
