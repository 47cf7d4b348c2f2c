"""Problems for the package and for the naive reference side by side."""

import numpy as np
import scipy.sparse as sp
from tests import naive

from superfactor.losses import SquaredError, resolve_link
from superfactor.problem import state

MODELS = ("filter", "feature")


def loss_named(loss, kappa):
    return SquaredError() if loss == "squared" else resolve_link(loss, kappa)


def example(
    model,
    n,
    p,
    kappa,
    seed=0,
    sparse=False,
    weighted=False,
    loss="logistic",
    dtype=float,
    options=None,
    **stated,
):
    """The same random problem for the package and for the reference; `options` are the package's own."""
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((n, p))
    if sparse:
        X = sp.csr_array(X * (rng.random((n, p)) < 0.6))
    if loss == "squared":
        targets = rng.standard_normal((n, kappa))
    else:
        targets = np.eye(kappa + 1)[np.arange(n) % (kappa + 1)][:, 1:]
    stated = {"xi": 0.7, "lam": 0.3, "covariates": rng.standard_normal((n, 2))} | stated
    if weighted:
        stated["sample_weight"] = rng.uniform(0.5, 2, n)
        stated["class_weight"] = rng.uniform(0.5, 2, n)
    own = loss_named(loss, kappa)
    ours = state(model, X.astype(dtype), targets, own, options=options, **stated)
    return ours, naive.state(model, X, targets, loss=loss, **stated)


def lifted(model, factors):
    """A, B, γ of factors, in the paper's orientation."""
    f = factors
    A = f.components @ f.beta if model == "filter" else (f.codes @ f.beta).T
    return A, f.components @ f.codes.T, f.gamma


def objective(arrays, A, B, gamma):
    """F at Ã (N, κ), B̃ = W·C given as the pair W (N, r), C (r, other), and γ (q, κ), by dense arrays."""
    W, C = B
    X = arrays.data.dense()
    X = X if arrays.model.searches_samples else X.T
    penalty = arrays.lam * np.sum(A**2) + np.sum(arrays.covariate_ridge[:, None] * gamma**2)
    return arrays.loss_terms(arrays.activations(A, gamma))[0] + arrays.xi * np.sum((X - W @ C) ** 2) + penalty
