"""X in memory, in one block or cut for the cores."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.problems import example
from tests.samples.cutting import blocks_of

from superfactor.losses import resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.samples import Block, Design, memory

P, KAPPA = 6, 2


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "cores", "expected"), [(29, 3, 7), (29, 16, 16), (5, 16, 5), (9, 1, 1)])
def test_large_data_are_cut_for_the_cores(monkeypatch, kind, n, cores, expected):
    monkeypatch.setattr(memory, "cores", lambda: cores)  # whatever machine this is
    options = Options(rows_a_block=4 if n > 8 else 2, values_worth_threads=0)
    problem, _ = example("filter", n, P, KAPPA, weighted=True, sparse=kind == "sparse", options=options)
    made = problem.samples
    sizes = [block.n_samples for block in made.blocks]
    assert sum(sizes) == made.n_samples == n
    assert len(sizes) == expected
    assert min(sizes) > 0
    assert made.threads == min(cores, expected)
    (one,) = blocks_of(problem, [0, n])
    np.testing.assert_allclose(made.stack(Block.images, np.eye(P)), one.images(np.eye(P)), atol=1e-14)
    coef = np.random.default_rng(5).standard_normal((problem.n_covariates, KAPPA))
    asked = Design(None), coef
    for a, b in zip(made.sum(Block.evaluate, *asked), one.evaluate(*asked), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_small_data_are_one_block(sparse):
    problem, _ = example("filter", 29, P, KAPPA, sparse=sparse)
    assert len(problem.samples.blocks) == 1
    assert problem.samples.threads == 1


def test_stored_values_decide_for_sparse_data_and_rows_for_dense_ones(monkeypatch):
    monkeypatch.setattr(memory, "cores", lambda: 2)

    def count(sparse, **sizes):
        made, _ = example("filter", 29, P, KAPPA, sparse=sparse, options=Options(**sizes))
        return len(made.samples.blocks)

    assert count(False, rows_a_block=14) == 2  # more than two blocks' worth of rows
    assert count(False, rows_a_block=15, values_worth_threads=0) == 1
    assert count(True, values_worth_threads=10) == 2
    assert count(True, values_worth_threads=29 * P, rows_a_block=1) == 1


def test_rows_of_sparse_data_share_them():
    X = sp.random_array((29, P), density=0.5, rng=np.random.default_rng(7), format="csr")
    problem = state("filter", X, np.zeros((29, 1)), resolve_link("logistic", 1), xi=1.0, lam=1.0)
    data = problem.whole.data
    part = data.rows(4, 20)
    assert np.shares_memory(part._X.data, data._X.data)
    expected = X.toarray()[4:20] / problem.scale
    np.testing.assert_allclose(part.times(np.eye(P)), expected, atol=1e-15)
