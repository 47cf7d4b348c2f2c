"""Starts, iterates and solutions of the naive reference, for tests of solvers."""

from dataclasses import replace

import numpy as np
from tests import naive
from tests.problems import lifted
from tests.samples.cutting import cut

from superfactor._arrays import to_numpy
from superfactor.models import Factors
from superfactor.solvers import lpgd


def random_start(P, r, seed=1):
    """Factors far from X and outside its range, and the same point for the reference."""
    rng = np.random.default_rng(seed)
    (p, n), kappa, q = P.X.shape, P.kappa, P.aux.shape[0]
    f = Factors(*(rng.standard_normal(s) for s in ((p, r), (n, r), (r, kappa), (q, kappa))))
    return f, lifted(P.model, f)


def activations(problem, found):
    """Activations a (n, κ) of a solution, in NumPy: its signal plus the covariates' part."""
    covariates = to_numpy(problem.arrays().covariates)
    return to_numpy(found.signal.array()) + covariates @ to_numpy(found.factors.gamma)


def in_blocks(problem, count, folder=None, **how):
    """The same problem, with samples in uneven blocks and without arrays."""
    blocks = cut(problem, count, folder, **how)
    blocks.samples.rescale(1.0)  # their rows are those of X̃ already
    return replace(blocks, whole=None)


def distance(first, second):
    return max(np.max(np.abs(a - b), initial=0.0) for a, b in zip(first, second, strict=True))


def assert_same_iterates(problem, P, rank, path, tau, times=(1, 2, 12), **options):
    scale = max(np.max(np.abs(x)) for x in path[-1])
    for t in times:
        found = lpgd.solve(problem, rank, step_size=tau, max_iter=t, tol=0, **options)
        assert found.n_iter == t
        assert distance(lifted(P.model, found.factors), path[t]) < 1e-10 * scale
        values = [naive.lifted_objective(P, *point) for point in path[1 : t + 1]]
        np.testing.assert_allclose(found.history.objective, values, rtol=1e-10)
        np.testing.assert_allclose(found.objective, values[-1], rtol=1e-10)
        a = naive.activations(P, path[t][0], path[t][2])
        np.testing.assert_allclose(activations(problem, found), a.T, atol=1e-9 * (1 + np.max(np.abs(a))))
    return found
