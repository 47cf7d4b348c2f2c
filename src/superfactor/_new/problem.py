"""A problem in the user's units, and the rows and weights that the solver works with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, device, moved, namespace, to_numpy
from superfactor._new.rows import Rows
from superfactor._new.units import Units, usual_weights
from superfactor.losses import Loss

# Squares of losses between these do not over- or underflow.
_LOSSES = 1e-150, 1e150


@dataclass(frozen=True)
class Problem:
    """F over factors of a rank: rows of X̃ = diag(√w)X/s, a model, and weights in the units of X̃ and Ã.

    X is replaced by X̃, and A by Ã = sA in the filter model: ξ and λ of the paper become ξs² and λ/s².
    """

    rows: Rows
    model: str  # "filter" or "feature"
    xi: float
    lam: float
    has_intercept: bool  # whether the last covariate is the intercept
    ridge_follows: bool  # whether the ridge of covariates is λ
    null_loss: float  # Σωℓ(y, 0)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p)."""
        return self.rows.shape

    @property
    def unit(self) -> float:
        """Ã/A."""
        return self.rows.scale if self.model == "filter" else 1.0

    @property
    def users_weights(self) -> tuple[float, float]:
        """ξ and λ in the user's units."""
        return self.xi / self.rows.scale**2, self.lam * self.unit**2

    def restated(self, xi: float, lam: float) -> Problem:
        """Return the problem at other weights in the user's units; λ > 0 here and before."""
        own = lam / self.unit**2
        rows = self.rows
        if self.ridge_follows and self.lam > 0:
            rows = rows.with_ridge(rows.rho * (own / self.lam))
        return replace(self, rows=rows, xi=xi * self.rows.scale**2, lam=own)


def state(
    model: str,
    X: Any,
    targets: Any,
    loss: Loss,
    *,
    xi: float | str,
    lam: float | str,
    lam_covariates: float | str | None = None,
    covariates: Any = None,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    class_weight: Any = None,
) -> Problem:
    """State the problem of a user's data.

    Parameters
    ----------
    model : {"filter", "feature"}
    X : array of any library, SciPy-sparse, or an object that yields blocks (`Rows`); (n, p)
    targets : class numbers 0 … κ (n,), integers; or (n, κ), one-hot without class 0 or real values
    loss : Loss
    xi, lam : float or "auto"
        ξ > 0 and λ ≥ 0 of the paper's F, a sum over samples.
    lam_covariates : float, "auto" or None
        ρ ≥ 0 of all covariates; None is the paper's choice ρ = λ.
    covariates : array (n, q), optional
        Without the intercept.
    fit_intercept : bool
    sample_weight : array (n,), optional
        Multiplies every term of a sample.
    class_weight : array (n,), optional
        Multiplies only the loss of a sample; 0 if it has no label.
    """
    like = _like(X)
    n = int(X.shape[0])
    Y = _targets(to_numpy(targets), like)
    xp = namespace(like)

    def tall(x: Any, dtype: Any = like.dtype) -> Array:
        return xp.asarray(np.ascontiguousarray(x, dtype=float), dtype=dtype, device=device(like))

    columns = [np.zeros((n, 0)) if covariates is None else to_numpy(covariates)] + [
        np.ones((n, 1))
    ] * fit_intercept
    weight = None if sample_weight is None else to_numpy(sample_weight)[:, None]
    of_loss = np.ones((n, 1)) if class_weight is None else to_numpy(class_weight)[:, None]
    q = columns[0].shape[1]
    rows = Rows(
        X,
        Y,
        loss,
        tall(np.hstack(columns)),
        np.zeros(q + fit_intercept),
        weight=None if weight is None else tall(weight, xp.float64),
        loss_weight=tall(of_loss if weight is None else of_loss * weight, xp.float64),
    )
    rows = rows.rescaled(_unit(rows.total, like))
    units = Units(rows, fit_intercept)
    xi, lam = usual_weights(units, model, xi, lam)
    rho = np.zeros(q + fit_intercept)
    if q:
        given = lam if lam_covariates is None else lam_covariates
        rho[:q] = units.covariate_ridges[:q] if given == "auto" else float(given)
    s = rows.scale
    own = xi * s**2, lam / s**2 if model == "filter" else lam
    null = units.null[0]
    _refuse_what_leaves_floats(null, xi=(xi, own[0]), lam=(lam, own[1]))
    return Problem(rows.with_ridge(rho), model, *own, fit_intercept, lam_covariates is None, null)


def _like(X: Any) -> Array:
    """Return an empty array of the floating type, library and device of X."""
    is_array = isinstance(X, np.ndarray) or hasattr(X, "__array_namespace__")
    if sp.issparse(X) or (not is_array and hasattr(X, "map")):
        return np.empty(0, dtype=X.dtype)
    xp = namespace(X)
    return xp.empty(0, dtype=X.dtype, device=device(X))


def _targets(y: Any, like: Array) -> Array:
    """Return targets (n, κ), one-hot without class 0 for class numbers (n,), stored by columns."""
    columns = np.arange(1, int(y.max()) + 1)[:, None] == y[None, :] if y.ndim == 1 else y.T
    xp = namespace(like)
    return xp.astype(moved(np.ascontiguousarray(columns), like), like.dtype, copy=False).T


def _unit(squared: float, like: Array) -> float:
    """Return the largest power of two up to ‖X‖; a ValueError if squares over- or underflow."""
    if squared == 0:
        return 1.0
    tiny = float(namespace(like).finfo(like.dtype).smallest_normal)
    low, high = tiny**0.75, tiny**-0.9
    if not low < squared < high:
        size = math.sqrt(squared) if squared < math.inf else math.inf
        raise ValueError(
            f"X: the root of its sum of squares is {size:.0e}; between {low**0.5:.0e} and {high**0.5:.0e} is "
            f"required, beyond which squares leave the range of {like.dtype}. Rescale X"
        )
    return math.ldexp(1.0, math.frexp(math.sqrt(squared))[1] - 1)


def _refuse_what_leaves_floats(nothing: float, **weights: tuple[float, float]) -> None:
    """Raise a ValueError if squares of the null loss or of a weight over- or underflow."""
    low, high = _LOSSES
    if nothing and not low < nothing < high:
        raise ValueError(
            f"y: the loss without a model is {nothing:.0e}; between {low:.0e} and {high:.0e} is required. "
            "Rescale y, or sample_weight"
        )
    for name, (users, own) in weights.items():
        if (users or own) and not 1e-306 < min(users, own) <= max(users, own) < 1e306:
            raise ValueError(
                f"{name}: {users:.0e}, that is {own:.0e} in units of X, leaves the range of floats. "
                "Rescale X or y"
            )
