"""λ of the filter model from the data: how much of y can the features explain (docs/method.md §12)?

Numbers, times and counts may be mostly noise or hardly any: no fixed share of σ₁(X)² suits both. Around the
best model without factors the loss is about a parabola in the coefficients θ of the features,

    ``bᵀθ + ½ θᵀMθ,   b = X̃ᵀE/√w,   M = h·G``,

with residuals ``E``, the Gram matrix ``G = X̃ᵀX̃`` of centred features and ``h`` the mean curvature.
That is a linear regression. With eigenvalues ``m_j`` of ``M``, ``z_j = (v_jᵀb)²/m_j`` and
``d_j = m_j/(m_j + 2λ)``, two well-known criteria say which λ predicts best:

    marginal likelihood               ``(N − 1) log(R + Σ_j z_j(1 − d_j)) − Σ_j log(1 − d_j)``
    generalized cross-validation      ``log(R + Σ_j z_j(1 − d_j)²) − 2 log(N − 1 − Σ_j d_j)``

Where the size φ of the noise is known (`Loss.dispersion`) the first is
``Σ_j log(1 + m_j/2λ) − Σ_j z_j d_j/φ``: labels that wide X tells apart look like numbers without noise, and
would hardly be shrunk.

``N`` counts observations, ``R`` is what no coefficients explain. The first shrinks too little where few
strong factors carry everything, the second where there is only noise: λ is the geometric mean of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import to_numpy
from superfactor.problem.whole import Whole
from superfactor.samples import Block, Design, Samples
from superfactor.units import null_model

# λ is looked for between these shares of the largest m_j, at so many places.
_RANGE, _PLACES = (1e-5, 1e3), 81
# A Gram matrix of features costs n·p² operations, its decomposition some 10·p³: half a second at most.
_MOST_OPERATIONS = 2e9
# Singular values that are at hand, but of uncentred features: beyond this side their mean stays in.
_LARGEST_CENTRED = 800
# Observations of an output: with fewer there is nothing to estimate from.
_FEWEST = 3
# Eigenvalues below this share of the largest are rounding.
_NO_EIGENVALUE = 1e-10


@dataclass(frozen=True)
class _Parabola:
    """The loss of one output around the best model without factors."""

    m: Any  # (k,), eigenvalues of M, positive
    z: Any  # (k,), what each direction explains
    rest: float  # R
    count: float  # N
    dispersion: float | None = None  # φ, what z_j is on average where there is only noise, if that is known

    def marginal(self, lam: float) -> float:
        """Twice the negative logarithm of the marginal likelihood, up to a constant."""
        d = self.m / (self.m + 2 * lam)
        if self.dispersion is not None:
            return float(np.sum(np.log1p(self.m / (2 * lam)) - self.z * d / self.dispersion))
        left = self.rest + float(np.sum(self.z * (1 - d)))
        return (self.count - 1) * float(np.log(left)) + float(np.sum(np.log1p(self.m / (2 * lam))))

    def cross_validated(self, lam: float) -> float:
        """N times the logarithm of the generalized cross-validation error, up to a constant."""
        d = self.m / (self.m + 2 * lam)
        freedom = self.count - 1 - float(np.sum(d))
        if freedom < 1e-3 * self.count:
            return math.inf
        left = self.rest + float(np.sum(self.z * (1 - d) ** 2))
        return self.count * (math.log(left) - 2 * math.log(freedom))


def estimated_ridge(
    samples: Samples,
    whole: Whole | None,
    shape: tuple[int, int],
    shared: float,
    start: Any,
    ridge: Any,
    dispersions: Sequence[float | None],
) -> float | None:
    """λ in the units of X̃; None where X is too large for it, or where nothing varies.

    Parameters
    ----------
    samples : Samples
    whole : Whole or None
        X in memory, whose decomposition is used where there is one.
    shape : (n_samples, n_features)
    shared : float
        Σw where the features count without their means, infinite where they do not.
    start : array of shape (q, κ)
        Coefficients of the covariates, intercept included, at which the best model without factors is sought.
    ridge : array of shape (q,)
        Their ridge.
    dispersions : of the κ outputs
        As the loss has them.
    """
    n, p = shape
    short = None if whole is None else whole.short
    # Wide X is asked on the side of its samples where it is not compressed.
    wide = whole is not None and short is None and 2 * n <= p and n <= whole.options.compressed_side
    if short is None and not wide and (n + 10 * p) * p**2 > _MOST_OPERATIONS:
        return None
    asked = samples if short is None else short.samples
    coef = null_model(asked, start, ridge)
    if whole is not None and wide:
        values, U = _spectrum_of_samples(whole, shared)
        pull = U.T @ to_numpy(asked.stack(Block.pulled, Design(None), coef))
        pull = np.sqrt(np.clip(values, 0.0, None))[:, None] * pull
    else:
        values, V = _spectrum(asked, whole, p, shared)
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


def _spectrum(samples: Samples, whole: Whole | None, n_features: int, shared: float) -> tuple[Any, Any]:
    """Eigenvalues (k,) and eigenvectors (p, k) of X̃ᵀX̃, means taken off where `shared` is finite."""
    short = None if whole is None else whole.short
    if short is not None:
        squares = to_numpy(short.whole.data.singular_values) ** 2
        if len(squares) > _LARGEST_CENTRED:
            return squares, np.eye(len(squares))
        gram = np.diag(squares)
    else:
        known = None if whole is None else whole.feature_gram
        gram = to_numpy(samples.sum(Block.power, np.eye(n_features)) if known is None else known)
    s = to_numpy(samples.sum(Block.row_sum))
    return np.linalg.eigh((gram + gram.T) / 2 - s @ s.T / shared)


def _spectrum_of_samples(whole: Whole, shared: float) -> tuple[Any, Any]:
    """The same of X̃X̃ᵀ: eigenvalues (n,) and eigenvectors (n, n)."""
    gram, root = to_numpy(whole.data.gram()), whole.data.root_weight
    ones = np.ones((len(gram), 1)) if root is None else to_numpy(root)
    image = gram @ ones / shared
    centred = gram - image @ ones.T - ones @ image.T + ones @ (ones.T @ image / shared) @ ones.T
    return np.linalg.eigh((centred + centred.T) / 2)
