"""A share of the samples of every block, in memory."""

import numpy as np
import pytest
from tests.problems import example
from tests.samples.cutting import cut

from superfactor.samples import subsample

N, P = 60, 5


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("blocks", [1, 4])
def test_rows_and_annotations_of_some_samples(sparse, weighted, blocks):
    problem, reference = example("filter", N, P, 2, sparse=sparse, weighted=weighted)
    samples = cut(problem, blocks).samples
    data, known = subsample(samples, 0.25)
    sizes = [int(np.ceil(block.n_samples / 4)) for block in samples.blocks]
    assert data.shape == (sum(sizes), P)
    assert data.is_sparse == sparse
    # Every row is one of a sample, in their order, as many of each block as its share.
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


def test_one_pass_over_X():
    problem, _ = example("filter", N, P, 2)
    seen = []
    subsample(cut(problem, 4, on_block=lambda *rows: seen.append(rows)).samples, 0.5)
    assert seen[0] == (0, N)
    assert [row for row in seen if row[0] == N] == [(N, N)]


def test_the_same_samples_every_time():
    problem, _ = example("filter", N, P, 2)
    samples = cut(problem, 4).samples
    one, other = (subsample(samples, 0.3)[0].times(np.eye(P)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
