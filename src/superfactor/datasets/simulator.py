"""Simulate data from the generative model of supervised matrix factorization (section 4 of the paper).

    x_i = b_i + ε_i,      x'_i = c_i + ε'_i,      y_i ~ Multinomial(1, g(a_i))
    a_i = Aᵀx_i + γᵀx'_i     (filter)          rank [A, Bᵀ] ≤ r
    a_i = A_i  + γᵀx'_i      (feature)         rank [A, B] ≤ r

with Gaussian noise of standard deviation σ (`noise`) and σ' (`covariate_noise`). Samples are rows, as in
scikit-learn: B is n × p, and the paper's is p × n.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superfactor.losses import Link, resolve_link

Floats = NDArray[np.float64]

__all__ = ["Simulation", "simulate"]


@dataclass(frozen=True)
class Simulation:
    """Simulated data with their truth; n samples, p features, q covariates, κ + 1 classes.

    Attributes
    ----------
    model : str
        "filter" or "feature".
    X : array of shape (n, p)
        The noisy data.
    covariates : array of shape (n, q), or None
        None when q = 0.
    y : array of shape (n,)
        Classes 0..κ.
    B : array of shape (n, p)
        The data without noise, B = H·Wᵀ.
    A : array
        Filter: (p, κ), A = W·β; feature: (n, κ), A = H·β.
    gamma : array of shape (q, κ)
        γ, coefficients of the covariates.
    W : array of shape (p, r)
        Orthonormal atoms as columns.
    H : array of shape (n, r)
        Codes.
    beta : array of shape (r, κ)
        β.
    activations : array of shape (n, κ)
        Activations, which the link turns into probabilities.
    probabilities : array of shape (n, κ + 1)
        Class probabilities from which y was drawn.
    noise : float
        σ.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.datasets import simulate
    >>> data = simulate("filter", 100, 30, 3, random_state=0)
    >>> data.W.shape, data.H.shape, data.covariates is None
    ((30, 3), (100, 3), True)
    >>> bool(np.allclose(data.B, data.H @ data.W.T))
    True
    """

    model: str
    X: Floats
    covariates: Floats | None
    y: NDArray[np.int64]
    B: Floats
    A: Floats
    gamma: Floats
    W: Floats
    H: Floats
    beta: Floats
    activations: Floats
    probabilities: Floats
    noise: float

    @property
    def xi(self) -> float:
        """ξ = 1/(2σ²), at which F is the negative log-likelihood; inf without noise."""
        return math.inf if self.noise == 0 else 0.5 / self.noise**2


def simulate(
    model: str = "filter",
    n_samples: int = 200,
    n_features: int = 20,
    rank: int = 2,
    *,
    n_classes: int = 2,
    n_covariates: int = 0,
    noise: float = 0.1,
    covariate_noise: float = 0.1,
    signal: float = 2.0,
    link: str | Link = "logistic",
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> Simulation:
    """Draw data with a known low-rank truth.

    Parameters
    ----------
    model : {"filter", "feature"}
        Model from which the labels are drawn.
    n_samples, n_features, rank : int
        n, p and r ≤ min(n, p).
    n_classes : int
        κ + 1 ≥ 2.
    n_covariates : int
        q ≥ 0.
    noise, covariate_noise : float
        σ and σ' ≥ 0; the entries of B and of the covariates have variance one.
    signal : float
        Standard deviation of each activation due to the factors, and the same again due to covariates if
        there are any. With 0, labels are random.
    link : str or Link
        The score function h, as for the classifier.
    random_state : int or Generator or RandomState, optional
        Seed or generator. The same seed gives the same data.

    Returns
    -------
    data : Simulation
        X, y and the truth.

    Examples
    --------
    >>> from superfactor.datasets import simulate
    >>> data = simulate("feature", 100, 30, 3, n_classes=4, random_state=0)
    >>> data.X.shape, data.A.shape, sorted(set(data.y.tolist()))
    ((100, 30), (100, 3), [0, 1, 2, 3])
    """
    from superfactor.models import MODELS  # imported here to keep `superfactor.datasets` cheap to import

    if model not in MODELS:
        raise ValueError(f"model={model!r}: allowed are 'filter' and 'feature'")
    n = _count("n_samples", n_samples, 1)
    p = _count("n_features", n_features, 1)
    r = _count("rank", rank, 1)
    kappa = _count("n_classes", n_classes, 2) - 1
    q = _count("n_covariates", n_covariates, 0)
    if r > min(n, p):
        raise ValueError(f"rank={rank!r}: at most min(n_samples, n_features) = {min(n, p)}")
    noise = _size("noise", noise)
    covariate_noise = _size("covariate_noise", covariate_noise)
    signal = _size("signal", signal)
    loss = resolve_link(link, kappa)
    rng = _generator(random_state)

    W = np.linalg.qr(rng.standard_normal((p, r)))[0]
    # The rows of W have mean squared norm r/p: this size of the codes gives B entries of variance one.
    size = math.sqrt(p / r)
    H = size * rng.standard_normal((n, r))
    beta = _columns(rng, r, kappa, signal / size)
    gamma = _columns(rng, q, kappa, signal)
    B = H @ W.T
    C = rng.standard_normal((n, q))
    X = B + noise * rng.standard_normal((n, p))
    covariates = C + covariate_noise * rng.standard_normal((n, q))
    kind = MODELS[model]
    A = kind.phi(lambda: W, lambda: H) @ beta
    a = kind.phi(lambda: X @ A, lambda: A) + covariates @ gamma
    probabilities: Floats = np.asarray(loss.probabilities(a), dtype=np.float64)
    # The class is the number of cumulative probabilities that a uniform draw exceeds.
    cuts = np.cumsum(probabilities[:, :-1], axis=1)
    y = np.sum(rng.random((n, 1)) >= cuts, axis=1).astype(np.int64)
    return Simulation(
        model=model,
        X=X,
        covariates=covariates if q else None,
        y=y,
        B=B,
        A=A,
        gamma=gamma,
        W=W,
        H=H,
        beta=beta,
        activations=a,
        probabilities=probabilities,
        noise=noise,
    )


def _columns(rng: np.random.Generator, rows: int, columns: int, norm: float) -> Floats:
    """Return random directions (rows, columns), each column of the given norm."""
    M = rng.standard_normal((rows, columns))
    return norm * M / np.linalg.norm(M, axis=0) if rows else M


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r}: an integer of at least {least} is required")
    return int(value)


def _size(name: str, value: Any) -> float:
    size = float(value) if isinstance(value, numbers.Real) else math.nan
    if not 0 <= size < math.inf:
        raise ValueError(f"{name}={value!r}: a finite number of at least 0 is required")
    return size


def _generator(random_state: int | np.random.Generator | np.random.RandomState | None) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
