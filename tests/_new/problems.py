"""Problems for the new core and for the naive reference side by side."""

import numpy as np
import scipy.sparse as sp
from tests import naive

from superfactor._new.problem import state
from superfactor.losses import SquaredError, resolve_link
from superfactor.models import Factors

MODELS = ("filter", "feature")


def example(
    model, n, p, kappa, seed=0, sparse=False, weighted=False, loss="logistic", asarray=np.asarray, **stated
):
    """The same random problem for the core and for the reference."""
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
    own = SquaredError() if loss == "squared" else resolve_link(loss, kappa)
    ours = state(model, X if sparse else asarray(X), targets, own, **stated)
    return ours, naive.state(model, X, targets, loss=loss, **stated)


def lifted(model, f):
    """A, B, γ of factors, in the paper's orientation."""
    A = f.components @ f.beta if model == "filter" else (f.codes @ f.beta).T
    return A, f.components @ f.codes.T, f.gamma


def random_start(P, r, seed=1):
    """Factors far from X and outside its range, and the same point for the reference."""
    rng = np.random.default_rng(seed)
    (p, n), kappa, q = P.X.shape, P.kappa, P.aux.shape[0]
    f = Factors(*(rng.standard_normal(s) for s in ((p, r), (n, r), (r, kappa), (q, kappa))))
    return f, lifted(P.model, f)


def distance(first, second):
    return max(np.max(np.abs(a - b), initial=0.0) for a, b in zip(first, second, strict=True))
