"""The default solver on samples in blocks, in memory and in files: the optimum of the same samples in one."""

import numpy as np
import pytest
from tests import naive
from tests.problems import MODELS, example, lifted
from tests.solvers.examples import in_blocks

from superfactor.options import Options
from superfactor.samples import Block
from superfactor.solvers import newton

SIZES = {"whole range": (60, 12), "growing subspace": (120, 80), "few samples": (12, 9)}
# The optimum is proven, so no other starts are compared.
LAM = {"filter": 200.0, "feature": 2.0}
every_model = pytest.mark.parametrize("model", MODELS)


def check(found, P, rank):
    """Check that the point has this rank, and that its naive objective is the reported one."""
    value = naive.lifted_objective(P, *lifted(P.model, found.factors))
    np.testing.assert_allclose(found.objective, value, rtol=1e-10)
    assert found.factors.components.shape == (P.X.shape[0], rank)
    assert found.factors.codes.shape == (P.X.shape[1], rank)
    assert found.converged


@every_model
@pytest.mark.parametrize(
    ("size", "kappa", "place", "sparse"),
    [
        ("whole range", 1, "memory", False),
        ("growing subspace", 1, "memory", True),
        ("few samples", 3, "files", False),
    ],
)
def test_blocks_have_the_objective_of_one(model, size, kappa, place, sparse, tmp_path):
    problem, P = example(model, *SIZES[size], kappa, sparse=sparse, weighted=True, xi=0.5, lam=LAM[model])
    whole = newton.solve(problem, 2, tol=1e-10)
    folder = tmp_path if place == "files" else None
    found = newton.solve(in_blocks(problem, 5, folder, threads=2), 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)
    check(found, P, 2)
    for one, other in zip(lifted(model, found.factors), lifted(model, whole.factors), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4 * (1 + np.abs(other).max()))
    # Factors with the signs, the order and the scale of one block.
    np.testing.assert_allclose(
        found.factors.components, whole.factors.components, atol=1e-3 * np.abs(P.X).max()
    )


class SomeCurvature(Options):
    """Curvature from three of ten samples, for any number of samples."""

    def curvature_share(self, n_samples, columns, n_outputs):
        return 0.3


@every_model
@pytest.mark.parametrize(("blocks", "kappa", "size"), [(1, 3, (400, 12)), (4, 1, (200, 80))])
def test_curvature_from_some_of_the_samples_leads_to_the_same_optimum(model, blocks, kappa, size):
    given = {"weighted": True, "xi": 0.5, "lam": LAM[model]}
    exact = newton.solve(example(model, *size, kappa, **given)[0], 2, tol=1e-10)
    problem, P = example(model, *size, kappa, options=SomeCurvature(), **given)
    found = newton.solve(in_blocks(problem, blocks), 2)
    np.testing.assert_allclose(found.objective, exact.objective, rtol=1e-7)
    check(found, P, 2)


# --- beginning with some of the samples -------------------------------------------------------------

FEW = Options(fewest_subsample=20)


@pytest.mark.parametrize(("model", "kappa", "place"), [("filter", 1, "memory"), ("feature", 3, "files")])
def test_beginning_with_some_of_the_samples_ends_at_the_same_optimum(model, kappa, place, tmp_path):
    given = {"weighted": True, "xi": 0.5, "lam": LAM[model]}
    whole = newton.solve(example(model, 300, 90, kappa, **given)[0], 2, tol=1e-10)
    problem, P = example(model, 300, 90, kappa, options=FEW, **given)
    blocks = in_blocks(problem, 5, tmp_path if place == "files" else None)
    share = blocks.subsample_share()
    assert 0 < share <= 1 / 8
    few = blocks.subsampled(share)
    assert 300 * share <= few.n_samples <= 300 * share + 5  # a block gives at least its share
    mean, expected = few.squared_norm / few.n_samples, blocks.squared_norm / 300
    np.testing.assert_allclose(mean, expected, rtol=0.5)
    found = newton.solve(blocks, 2, tol=1e-10)
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-9)
    check(found, P, 2)


@every_model
def test_codes_are_not_returned_unless_requested(model):
    problem, _ = example(model, 60, 12, 2, weighted=True, lam=5.0)
    full, bare = (newton.solve(in_blocks(problem, 5), 2, codes=codes) for codes in (True, False))
    assert bare.factors.codes is None
    np.testing.assert_allclose(bare.factors.components, full.factors.components, atol=1e-9)
    np.testing.assert_allclose(bare.code_sizes, full.code_sizes, rtol=1e-7)
    np.testing.assert_allclose(bare.signal.array(), full.signal.array(), atol=1e-7)


@every_model
def test_a_solution_keeps_only_its_own_matrices_with_the_samples(model):
    """Matrices of a search are deleted with it; a hundred fits must not fill the memory."""
    problem, _ = example(model, 60, 12, 1, lam=0.05)
    blocks = in_blocks(problem, 3)
    for _ in range(3):
        found = newton.solve(blocks, 2)
        blocks.samples.sum(Block.covariate_gram)  # changes are sent with a call
        kept = [len(block._store._matrices) for block in blocks.samples.blocks]
        assert max(kept) <= 6
    del found
    blocks.samples.sum(Block.covariate_gram)
    assert [len(block._store._matrices) for block in blocks.samples.blocks] == [0, 0, 0]
