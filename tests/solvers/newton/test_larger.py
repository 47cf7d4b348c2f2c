"""The default solver where the subspace has to grow, on real data, and on other array libraries."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests import naive
from tests.problems import MODELS, lifted
from tests.solvers.examples import activations

from superfactor.losses import SquaredError, resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.solvers import newton

every_model = pytest.mark.parametrize("model", MODELS)


# --- a growing subspace ----------------------------------------------------------------------------


def planted(n, p, kappa, sparse, seed=0):
    """Data of slowly decaying spectrum whose classes hide in the middle of it."""
    rng = np.random.default_rng(seed)
    if sparse:
        X = sp.random_array((n, p), density=0.05, rng=rng, format="csr")
        signal = X @ rng.standard_normal((p, 1))
    else:
        X = rng.standard_normal((n, p)) * (1 + np.arange(p)) ** -0.5
        signal = X[:, 10:20].sum(axis=1, keepdims=True)
    noisy = signal[:, 0] + 0.5 * signal.std() * rng.standard_normal(n)
    labels = np.searchsorted(np.quantile(noisy, np.arange(1, kappa + 1) / (kappa + 1)), noisy)
    return X, np.eye(kappa + 1)[labels][:, 1:]


@every_model
@pytest.mark.parametrize(
    ("n", "p", "kappa", "sparse", "weighted", "lam"),
    [(150, 100, 2, True, True, 1.0), (100, 120, 1, False, False, 1.0)],
)
def test_growing_subspace_finds_the_optimum_of_the_whole(model, n, p, kappa, sparse, weighted, lam):
    X, Y = planted(n, p, kappa, sparse)
    weight = np.random.default_rng(1).uniform(0.5, 2, n) if weighted else None
    whole, grown = (
        newton.solve(
            state(
                model,
                X,
                Y,
                resolve_link("logistic", kappa),
                xi=2.0,
                lam=lam,
                sample_weight=weight,
                options=Options(whole_range=limit),
            ),
            5,
            tol=tol,
        )
        for limit, tol in ((10_000, 1e-10), (1, 1e-9))
    )
    assert whole.basis().size >= min(n, p)
    assert grown.basis().size < min(n, p)
    np.testing.assert_allclose(grown.objective, whole.objective, rtol=1e-7)
    P = naive.state(model, X, Y, 2.0, lam, sample_weight=weight)
    value = naive.lifted_objective(P, *lifted(model, grown.factors))
    np.testing.assert_allclose(grown.objective, value, rtol=1e-9)


# --- real data ---------------------------------------------------------------------------------------


# --- array libraries ---------------------------------------------------------------------------------


def array_problem(model, shape, convert, loss, lam):
    rng = np.random.default_rng(0)
    n, _ = shape
    X = rng.standard_normal(shape)
    kappa = 1 if loss == "probit" else 2
    Y = rng.standard_normal((n, 2)) if loss == "squared" else None
    if Y is None:
        Y = np.eye(kappa + 1)[np.arange(n) % (kappa + 1)][:, 1:]
    arrays = (X, Y, rng.standard_normal((n, 1)), rng.uniform(0.5, 2, n))
    X, Y, covariates, weight = (convert(x) for x in arrays)
    resolved = SquaredError() if loss == "squared" else resolve_link(loss, kappa)
    return state(model, X, Y, resolved, xi=0.7, lam=lam, covariates=covariates, sample_weight=weight)


@pytest.fixture
def library(request):
    """An array library, PyTorch held to one thread: its pool and ours would fight over the cores."""
    xp = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    if request.param == "torch":
        before = xp.get_num_threads()
        xp.set_num_threads(1)
        yield xp
        xp.set_num_threads(before)
    else:
        yield xp


@pytest.mark.parametrize("library", ["torch", "array_api_strict"], indirect=True)
@pytest.mark.parametrize(
    ("model", "shape", "loss", "lam"),
    [
        ("filter", (20, 9), "logistic", 0.3),  # not proven at once: with other starts
        ("feature", (20, 9), "squared", 5.0),
        ("feature", (9, 20), "logistic", 5.0),
        ("filter", (9, 20), "probit", 5.0),
        ("feature", (80, 75), "logistic", 5.0),  # a growing subspace
    ],
)
def test_same_path_on_other_array_libraries(library, model, shape, loss, lam):
    here, there = (
        array_problem(model, shape, convert, loss, lam) for convert in (np.asarray, library.asarray)
    )
    ours, theirs = newton.solve(here, 2), newton.solve(there, 2)
    assert type(theirs.factors.codes) is type(library.asarray(np.ones(1)))
    np.testing.assert_allclose(theirs.objective, ours.objective, rtol=1e-9)
    np.testing.assert_allclose(activations(there, theirs), activations(here, ours), atol=1e-4)
    assert theirs.reason == ours.reason
