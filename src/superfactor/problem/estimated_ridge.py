"""Estimate λ of the filter model from how much of y the features explain (docs/method.md §12).

Numbers, times and counts may contain much noise or little, so no fixed share of σ₁(X)² suits all. Around the
best model without factors, the loss is approximately quadratic in the coefficients θ of the features,

    ``bᵀθ + ½ θᵀMθ,   b = X̃ᵀE/√w,   M = h·G``,

with residuals ``E``, the Gram matrix ``G = X̃ᵀX̃`` of centred features and ``h`` the mean curvature.
This is a linear regression. With eigenvalues ``m_j`` of ``M``, ``z_j = (v_jᵀb)²/m_j`` and
``d_j = m_j/(m_j + 2λ)``, two standard criteria select the λ that predicts best:

    marginal likelihood               ``(N − 1) log(R + Σ_j z_j(1 − d_j)) − Σ_j log(1 − d_j)``
    generalized cross-validation      ``log(R + Σ_j z_j(1 − d_j)²) − 2 log(N − 1 − Σ_j d_j)``

If the variance φ of the noise is known (`Loss.dispersion`), the first is
``Σ_j log(1 + m_j/2λ) − Σ_j z_j d_j/φ``. Otherwise, labels that a wide X separates would look like numbers
without noise, and λ would be too small.

``N`` is the number of observations, ``R`` the part that no coefficients explain. The first criterion gives
too small a λ if few strong factors explain everything, the second if there is only noise. λ is the geometric
mean of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import to_numpy
from superfactor.problem.whole import Short
from superfactor.samples import Block, Design, Samples
from superfactor.units import null_model

# λ is one of so many values between these shares of the largest m_j.
_RANGE, _PLACES = (1e-5, 1e3), 81
# A Gram matrix of features costs n·p² operations, its decomposition about 10·p³: half a second at most.
_MOST_OPERATIONS = 2e9
# Known singular values are those of uncentred features; for more samples than this, the mean of wide X is not
# removed.
_LARGEST_CENTRED = 800
# Fewest observations of an output for an estimate.
_FEWEST = 3
# Eigenvalues below this share of the largest are rounding errors.
_NO_EIGENVALUE = 1e-10


@dataclass(frozen=True)
class _Parabola:
    """Quadratic approximation of the loss of one output around the best model without factors."""

    m: Any  # (k,), eigenvalues of M, positive
    z: Any  # (k,), the decrease that each direction explains
    rest: float  # R
    count: float  # N
    dispersion: float | None = None  # φ, the mean of z_j for pure noise, if known

    def marginal(self, lam: float) -> float:
        """Return twice the negative log marginal likelihood, up to a constant."""
        d = self.m / (self.m + 2 * lam)
        if self.dispersion is not None:
            return float(np.sum(np.log1p(self.m / (2 * lam)) - self.z * d / self.dispersion))
        left = self.rest + float(np.sum(self.z * (1 - d)))
        return (self.count - 1) * float(np.log(left)) + float(np.sum(np.log1p(self.m / (2 * lam))))

    def cross_validated(self, lam: float) -> float:
        """Return N times the log generalized cross-validation error, up to a constant."""
        d = self.m / (self.m + 2 * lam)
        freedom = self.count - 1 - float(np.sum(d))
        if freedom < 1e-3 * self.count:
            return math.inf
        left = self.rest + float(np.sum(self.z * (1 - d) ** 2))
        return self.count * (math.log(left) - 2 * math.log(freedom))


def estimated_ridge(
    samples: Samples,
    short: Short | None,
    shape: tuple[int, int],
    shared: float,
    start: Any,
    ridge: Any,
    dispersions: Sequence[float | None],
    row_products: Callable[[], Any] | None,
) -> float | None:
    """Return λ in the units of X̃; None if X is too large, or constant.

    Parameters
    ----------
    samples : Samples
    short : Short or None
        X in coordinates of its right singular vectors, if it is compressed.
    shape : (n_samples, n_features)
    shared : float
        Σw if features are centred, infinite otherwise.
    start : array of shape (q, κ)
        Coefficients of covariates and intercept from which the search for the best model without factors
        starts.
    ridge : array of shape (q,)
        Their ridge.
    dispersions : of the κ outputs
        From the loss.
    row_products : callable or None
        Returns X̃X̃ᵀ (n, n) if X is wide.
    """
    n, p = shape
    wide = row_products is not None
    if not wide and (n + 10 * p) * p**2 > _MOST_OPERATIONS:
        return None
    if wide and n > _LARGEST_CENTRED:
        shared = math.inf
    asked = samples if short is None else short.samples
    coef = null_model(asked, start, ridge)
    if row_products is not None and short is None:
        values, U = _spectrum_of_samples(row_products(), to_numpy(asked.stack(Block.roots)), shared)
        pull = U.T @ to_numpy(asked.stack(Block.pulled, Design(None), coef))
        pull = np.sqrt(np.clip(values, 0.0, None))[:, None] * pull
    else:
        values, V = _spectrum(samples, short, shared)
        pull = V.T @ to_numpy(asked.sum(Block.pull, Design(None), coef))
    kept = values > _NO_EIGENVALUE * max(values.max(initial=0.0), 1e-300)
    pull = pull[kept]  # (k, κ)
    bend, squares, counts = (np.asarray(to_numpy(x)) for x in asked.sum(Block.working, Design(None), coef))
    total = float(asked.sum(Block.total_weights)[2])
    outputs = []
    for c in np.flatnonzero((bend > 0) & (counts >= _FEWEST)):
        m = bend[c] / total * values[kept]
        z = pull[:, c] ** 2 / m
        explained = float(z.sum())
        rest = max(squares[c] * counts[c] / bend[c] - explained, 1e-9 * explained, 1e-300)
        outputs.append(_Parabola(m, z, rest, counts[c], dispersions[int(c)]))
    if not outputs or not kept.any():
        return None
    places = np.geomspace(*_RANGE, _PLACES) * max(output.m.max() for output in outputs)
    criteria = (_Parabola.marginal, _Parabola.cross_validated)
    sums = [[sum(criterion(output, lam) for output in outputs) for lam in places] for criterion in criteria]
    return float(np.exp(np.mean([np.log(places[int(np.argmin(values))]) for values in sums])))


def _spectrum(samples: Samples, short: Short | None, shared: float) -> tuple[Any, Any]:
    """Return eigenvalues (k,) and eigenvectors (p, k) of X̃ᵀX̃, centred if `shared` is finite."""
    if short is None:
        G, s = samples.gram()
    else:
        squares = to_numpy(short.whole.data.singular_values) ** 2
        if shared == math.inf:
            return squares, np.eye(len(squares))
        G, s = np.diag(squares), to_numpy(short.samples.sum(Block.row_sum))
    return np.linalg.eigh((G + G.T) / 2 - s @ s.T / shared)


def _spectrum_of_samples(gram: Any, ones: Any, shared: float) -> tuple[Any, Any]:
    """Return the same for X̃X̃ᵀ: eigenvalues (n,) and eigenvectors (n, n); `ones` is √w (n, 1)."""
    image = gram @ ones / shared
    centred = gram - image @ ones.T - ones @ image.T + ones @ (ones.T @ image / shared) @ ones.T
    return np.linalg.eigh((centred + centred.T) / 2)
