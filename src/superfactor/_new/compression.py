"""Exact compression: with fewer samples than features, everything depends on X̃ = UΣQᵀ by UΣ (n, m) alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import wide
from superfactor._new.rows import InMemory, Rows
from superfactor._new.tall import here, there

#: Most samples, and the operations a stored value of X for which decomposing XXᵀ pays: about those of the
#: products of a fit. Sparse products are slower.
MOST_SAMPLES, DENSE_VALUE, SPARSE_VALUE = 2000, 5e3, 3e4
# Eigenvalues of XXᵀ have half the digits of singular values: they do not tell directions below this share of
# σ₁.
_FINE = 1e-4
# Directions below this share of ‖X‖ are dropped; their size is part of the rounding error.
_DROPPED = 1e-10
# Values of X that may be copied.
_COPIED = 2e7


Map = Callable[[Any], Any]


@dataclass(frozen=True)
class Rounding:
    """Bounds of what is lost when UΣ replaces X̃."""

    rows: float = 0.0  # a bound of ‖X̃ − UΣQᵀ‖
    gram: float = 0.0  # a bound of ‖X̃X̃ᵀ − UΣ²Uᵀ‖
    precision: float = 0.0  # machine epsilon of the user's factors, where it is larger than that of UΣ


def pays(rows: Rows) -> bool:
    """Return whether decomposing the Gram matrix of the samples costs less than it saves."""
    (n, p), blocks = rows.shape, rows.blocks
    if not isinstance(blocks, InMemory) or p < 2 * n or n > MOST_SAMPLES:
        return False
    return 10 * n**3 <= blocks.values * (SPARSE_VALUE if sp.issparse(blocks.X) else DENSE_VALUE)


def compressed(rows: Rows) -> tuple[Rows, Map, Map, Rounding]:
    """Return rows with UΣ in place of X̃, the maps T ↦ QT and T ↦ QᵀT, and what is lost.

    T ↦ QT maps (m, k) to (p, k). UΣ is NumPy's float64 whatever X is: it is small, and proofs need its
    digits.
    """
    if not pays(rows) or rows.total == 0:
        return rows, _same, _same, Rounding()
    X, root = rows.blocks.X, 1.0 if rows.weight is None else np.sqrt(here(rows.weight))
    n, p = rows.shape
    values, U = np.linalg.eigh(rows.sample_gram())
    values, U = values[::-1], U[:, ::-1]
    rank = int(np.sum(values > _FINE**2 * values[0]))
    # UΣ²Uᵀ = X̃X̃ᵀ + Δ is the Gram matrix of (I + ½ΔG⁺)X̃, to first order.
    gram = (2 * p**0.5 + 4 * n**0.5) * np.finfo(float).eps * rows.total
    left = rows.back(there(U[:, rank:], rows.Y)) if rank < n else np.zeros((p, 0))
    dropped = float(np.linalg.norm(left))
    if dropped > _DROPPED * rows.total**0.5:
        if n * p > _COPIED:
            return rows, _same, _same, Rounding()
        dense = wide(X.toarray() if sp.issparse(X) else X)
        U, sigma, Qt = np.linalg.svd(here(dense) / rows.scale * root, full_matrices=False)
        rank = int(np.sum(sigma > _FINE**4 * sigma[0]))
        dropped, Q = float(np.linalg.norm(sigma[rank:])), Qt[:rank].T
        lost = dropped + 4 * n**0.5 * np.finfo(float).eps * rows.total**0.5
        rounding = Rounding(lost, 2 * lost * rows.total**0.5)

        def expand(T: Any) -> Any:
            return Q @ T

        def contract(T: Any) -> Any:
            return Q.T @ T
    else:
        sigma = np.sqrt(values[:rank])
        rounding = Rounding(gram / sigma[-1] + dropped, gram + 2 * dropped * rows.total**0.5)
        down = U[:, :rank] / sigma[:rank]

        def expand(T: Any) -> Any:
            return rows.back(there(down @ T, rows.Y))

        def contract(T: Any) -> Any:
            return down.T @ here(rows.times(T))

    U, sigma = U[:, :rank], sigma[:rank]
    unroot = 1.0 if rows.weight is None else 1 / np.where(root > 0, root, np.inf)
    small = Rows(
        U * sigma * unroot,
        _double(rows.Y),
        rows.loss,
        _double(rows.Z),
        rows.rho,
        weight=None if rows.weight is None else here(rows.weight),
        loss_weight=here(rows.loss_weight),
    )
    small.total, small.squares = rows.total, sigma**2
    return small, expand, contract, replace(rounding, precision=rows.eps)


def _same(T: Any) -> Any:
    return T


def _double(x: Any) -> Any:
    return np.asfortranarray(here(x))
