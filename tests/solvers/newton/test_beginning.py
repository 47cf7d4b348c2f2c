"""The start of a search: subspace, point, and gradient of the loss."""

import numpy as np
import pytest
from tests.problems import MODELS
from tests.solvers.newton.searching import GROWING, begun, growing, new_run

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.samples import Block
from superfactor.solvers.newton.beginning import with_label_directions

every_model = pytest.mark.parametrize("model", MODELS)


def of_gram(problem):
    """G of the search side."""
    X = problem.arrays().data.times(np.eye(problem.shape[1]))
    return X.T @ X if problem.model.name == "filter" else X @ X.T


@every_model
def test_otherwise_the_leading_subspace_and_the_gradient_of_the_loss(model):
    problem = growing(model)
    first = begun(problem, 3)
    assert not first.whole
    assert first.basis.size < 40
    S = first.basis.S.array()
    best, own = (np.linalg.eigvalsh(M)[::-1][:3].sum() for M in (of_gram(problem), first.basis.D))
    assert own > 0.97 * best
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal(S.shape))[0]
    assert np.linalg.eigvalsh(Q.T @ of_gram(problem) @ Q)[::-1][:3].sum() < 0.6 * best
    blind = first.inside.polish(first.inside.leading())
    pulled = problem.model.pulled(problem.side, first.basis.design, blind.coef).array()
    inside = np.linalg.norm(S.T @ pulled) / np.linalg.norm(pulled)
    assert inside > 0.9


@every_model
def test_label_directions_contain_the_gradient_of_the_loss(model):
    """ΦᵀE and, for the filter model, its products with powers of G: a chain of four."""
    run = new_run()
    problem = growing(model, options=GROWING)
    first = begun(problem, 2, run)
    more = with_label_directions(first)
    added = more.basis.size - first.basis.size
    a = problem.samples.stack(Block.activations, first.basis.design, first.point.coef)
    E = problem.arrays().loss_terms(a)[1]
    S = more.basis.S.array()
    t, Q = problem.arrays().pull(E), first.basis.S.array()
    for _ in range(added):
        assert np.linalg.norm(t - S @ (S.T @ t)) < 1e-7 * np.linalg.norm(t)
        for _ in range(2):
            t = t - Q @ (Q.T @ t)
        t = t / np.linalg.norm(t)
        Q, t = np.column_stack([Q, t]), of_gram(problem) @ t
    assert added == problem.model.label_steps
    assert pytest.approx(first.point.F, rel=1e-12) == more.point.F


@every_model
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_labels_use_the_spare_rank_of_X(model, shape):
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(shape[0]), rng.standard_normal(shape[1]))
    y = np.arange(shape[0]) % 2
    problem = state(model, X, y, resolve_link("logistic", 1), xi=1.0, lam=0.5)
    first = begun(problem, 3)
    assert first.basis.size >= min(3, problem.compact.shape[1] if model == "filter" else 3)
    assert first.rank == min(3, first.basis.size)
    assert np.isfinite(first.point.F)
