"""X in memory, in one block or several per core; and a share of the samples of every block."""

import numpy as np
import pytest
from tests.problems import example
from tests.samples.cutting import blocks_of, cut

from superfactor.options import Options
from superfactor.samples import Block, Design, memory, subsample

P, KAPPA = 6, 2


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "cores", "expected"), [(29, 3, 7), (5, 16, 5), (9, 1, 1)])
def test_large_data_are_divided_among_the_cores(monkeypatch, kind, n, cores, expected):
    monkeypatch.setattr(memory, "cores", lambda: cores)  # for any machine
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


def test_stored_values_decide_for_sparse_data_and_rows_for_dense_ones(monkeypatch):
    monkeypatch.setattr(memory, "cores", lambda: 2)

    def count(sparse, **sizes):
        made, _ = example("filter", 29, P, KAPPA, sparse=sparse, options=Options(**sizes))
        return len(made.samples.blocks)

    assert count(False, rows_a_block=14) == 2  # more than two blocks' worth of rows
    assert count(False, rows_a_block=15, values_worth_threads=0) == 1
    assert count(True, values_worth_threads=10) == 2
    assert count(True, values_worth_threads=29 * P, rows_a_block=1) == 1


# --- some of the samples -----------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_annotations_of_some_samples(sparse, weighted):
    problem, reference = example("filter", 60, P, 2, sparse=sparse, weighted=weighted)
    seen = []
    samples = cut(problem, 4, on_block=lambda *rows: seen.append(rows)).samples
    data, known = subsample(samples, 0.25)
    assert seen[0] == (0, 60) and [row for row in seen if row[0] == 60] == [(60, 60)]  # one pass
    np.testing.assert_array_equal(subsample(samples, 0.25)[0].dense(), data.dense())
    sizes = [int(np.ceil(block.n_samples / 4)) for block in samples.blocks]
    assert data.shape == (sum(sizes), P)
    assert data.is_sparse == sparse
    # Each row belongs to a sample, in order; each block contributes its share.
    plain = reference.X.T / problem.scale
    root = np.ones((len(plain), 1)) if not weighted else np.sqrt(reference.weight)[:, None]
    found = data.times(np.eye(P))
    whole = root * plain
    index = [int(np.argmin(np.abs(whole - row).sum(axis=1))) for row in found]
    np.testing.assert_allclose(found, whole[index], atol=1e-14)
    assert index == sorted(set(index))
    ends = np.cumsum([block.n_samples for block in samples.blocks])
    assert np.bincount(np.searchsorted(ends, index, side="right")).tolist() == sizes
    np.testing.assert_array_equal(known.targets, reference.Y.T[index])
    np.testing.assert_array_equal(known.covariates, reference.aux.T[index])
    omega = (reference.weight * reference.class_weight)[index]
    np.testing.assert_allclose(known.loss_weight[:, 0], omega, rtol=1e-14)
    assert (known.root_weight is None) == (not weighted)
