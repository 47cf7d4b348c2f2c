"""Problems for the package and for the naive reference side by side."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from tests import naive

from superfactor._arrays import to_numpy
from superfactor.losses import SquaredError, resolve_link
from superfactor.models import Factors
from superfactor.problem import state
from superfactor.samples import Block, LocalSamples
from superfactor.samples.store import InFiles
from superfactor.solvers import lpgd

MODELS = ("filter", "feature")


def example(
    model,
    n,
    p,
    kappa,
    seed=0,
    *,
    sparse=False,
    weighted=False,
    loss="logistic",
    sizes=None,
    **options,
):
    """The same random problem for the package and for the reference; sizes are `Options` of ours."""
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((n, p))
    if sparse:
        X = sp.csr_array(X * (rng.random((n, p)) < 0.6))
    if loss == "squared":
        targets = rng.standard_normal((n, kappa))
    else:
        targets = np.eye(kappa + 1)[np.arange(n) % (kappa + 1)][:, 1:]
    options = {"xi": 0.7, "lam": 0.3, "covariates": rng.standard_normal((n, 2))} | options
    if weighted:
        options["sample_weight"] = rng.uniform(0.5, 2, n)
        options["class_weight"] = rng.uniform(0.5, 2, n)
    resolved = SquaredError() if loss == "squared" else resolve_link(loss, kappa)
    ours = state(model, X, targets, resolved, options=sizes, **options)
    return ours, naive.state(model, X, targets, loss=loss, **options)


def random_start(P, r, seed=1):
    """Factors far from X and outside its range, and the same point for the reference."""
    rng = np.random.default_rng(seed)
    (p, n), kappa, q = P.X.shape, P.kappa, P.aux.shape[0]
    f = Factors(*(rng.standard_normal(s) for s in ((p, r), (n, r), (r, kappa), (q, kappa))))
    return f, lifted(P.model, f)


def lifted(model, f):
    """A, B, γ of factors, in the paper's orientation."""
    A = f.components @ f.beta if model == "filter" else (f.codes @ f.beta).T
    return A, f.components @ f.codes.T, f.gamma


def activations(problem, found):
    """a (n, κ) of a solution, in NumPy: its signal and what the covariates add."""
    covariates = to_numpy(problem.arrays().covariates)
    return to_numpy(found.signal.array()) + covariates @ to_numpy(found.gamma)


def cut(problem, count, folder=None, threads=1):
    """The same problem with its samples in growing blocks; tall matrices in files if a folder is given.

    It holds no arrays: everything has to be asked for.
    """
    n, total = problem.n_samples, count * (count + 1) // 2
    cuts = [0, *(max(i, n * (i * (i + 1) // 2) // total) for i in range(1, count)), n]
    whole, blocks = problem.whole, []
    for start, stop in pairwise(cuts):
        rows, known = whole.data.rows(start, stop), whole.known.between(start, stop)
        store = None if folder is None else InFiles(folder / f"block-{start}", stop - start)
        blocks.append(
            Block(stop - start, rows.over, lambda known=known: known, problem.loss, store, start)
        )
    samples = LocalSamples(blocks, threads)
    samples.rescale(problem.scale)
    return replace(problem, samples=samples, whole=None)


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
        np.testing.assert_allclose(
            activations(problem, found), a.T, atol=1e-9 * (1 + np.max(np.abs(a)))
        )
    return found
