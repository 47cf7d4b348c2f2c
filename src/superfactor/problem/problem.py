"""The immutable problem that every solver gets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from superfactor._arrays import Array, cast, eps, moved, namespace, to_numpy, zeros_like_of
from superfactor.losses import Loss
from superfactor.models import LiftedArrays, Model, Side
from superfactor.options import Options
from superfactor.problem.whole import Short, Whole
from superfactor.samples import Block, Samples, in_memory, subsample
from superfactor.spectrum import working_memory


@dataclass(frozen=True)
class Problem:
    """The problem that a solver minimises.

    Attributes
    ----------
    model : Model
        The filter or the feature model.
    samples : Samples
        The object that holds the samples.
    shape : tuple of int
        (n, p).
    n_outputs : int
        κ.
    loss : Loss
        ℓ.
    covariate_ridge : array of shape (q,)
        ρ, in the user's units, 0 for the intercept. NumPy float64, like all small arrays of the solver,
        whatever the library of X.
    ridge_follows : bool
        Whether ρ = λ in the user's units, so that ρ changes with λ.
    has_intercept : bool
        Whether the last covariate is the intercept.
    xi, lam : float
        ξ and λ in the units of X̃ and Ã.
    scale : float
        The factor s of X̃ = diag(√w)X/s.
    squared_norm : float
        ‖X̃‖².
    smallest_weight, largest_weight : float
        The extremes of ω_i/w_i, which multiplies the loss's curvature in Ã.
    null_loss : float
        Σ_i ω_i ℓ(y_i, 0).
    total_weight : float
        Σ_i ω_i.
    like : array
        An array with the floating type, library and device of the blocks.
    options : Options
        Thresholds that select the method.
    row_size : float, optional
        Mean number of stored values in a row of X; None if X is dense.
    whole : Whole, optional
        The arrays, if they are in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=0.1)
    >>> problem.n_samples, problem.n_outputs, problem.has_intercept
    (20, 1, True)
    >>> problem.restated(xi=2.0, lam=0.1).users_weights
    (2.0, 0.1)
    """

    model: Model
    samples: Samples
    shape: tuple[int, int]
    n_outputs: int
    loss: Loss
    covariate_ridge: Array
    ridge_follows: bool
    has_intercept: bool
    xi: float
    lam: float
    scale: float
    squared_norm: float
    smallest_weight: float
    largest_weight: float
    null_loss: float
    total_weight: float
    like: Array
    options: Options
    row_size: float | None = None
    whole: Whole | None = None

    # --- sizes and units ---------------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """Number of samples, n."""
        return self.shape[0]

    @property
    def n_covariates(self) -> int:
        """Number of covariates q, including the intercept."""
        return int(self.covariate_ridge.shape[0])

    @property
    def epsilon(self) -> float:
        """Machine epsilon of the blocks' floating type."""
        return eps(self.like)

    @property
    def users_weights(self) -> tuple[float, float]:
        """ξ and λ in the user's units."""
        return self.model.users_weights(self.xi, self.lam, self.scale)

    @cached_property
    def steepest(self) -> float:
        """Return α⁺ of the loss; if that is infinite, a bound of the curvature near fitted targets."""
        bound = self.loss.curvature_bounds(self.n_outputs)[1]
        return bound if bound < math.inf else max(self.samples.gather(Block.steepest, None))

    @property
    def can_be_bounded(self) -> bool:
        """Whether dual points bound F from below: λ > 0, and a convex loss with a conjugate."""
        return self.lam > 0 and self.loss.convex and self.loss.has_conjugate

    @property
    def curves_by_sample(self) -> bool:
        """Whether the search side is the samples, and every sample has its own curvature."""
        return self.model.searches_samples and not self.loss.couples_samples

    @property
    def xp(self) -> Any:
        """The array library of the solver's own small arrays."""
        return namespace(self.covariate_ridge)

    def zeros(self, *shape: int) -> Array:
        """Return zeros of the library and type of the solver's own small arrays."""
        return zeros_like_of(self.covariate_ridge, *shape)

    @property
    def side(self) -> Side:
        """The search side."""
        return Side(self.samples, self.shape, self.covariate_ridge)

    # --- versions of the same problem -------------------------------------------------------------------

    def restated(self, xi: float, lam: float) -> Problem:
        """Return the problem at other weights ξ and λ > 0 in the user's units; its own λ must be > 0 too."""
        own_xi, own_lam = self.model.own_weights(xi, lam, self.scale)
        return self.at_weights(own_xi, own_lam)

    def at_weights(self, xi: float, lam: float) -> Problem:
        """Return the problem at other weights in its own units."""
        ridge = self.covariate_ridge
        if self.ridge_follows and self.lam > 0:
            ridge = ridge * (lam / self.lam)
        return replace(self, xi=xi, lam=lam, covariate_ridge=ridge)

    @property
    def _short(self) -> Short | None:
        return None if self.whole is None else self.whole.short

    @property
    def compact(self) -> Problem:
        """The problem in the coordinates of X's right singular vectors, if X is wide; otherwise itself."""
        # Caching `self` would be a reference cycle, and the samples would outlive the fit.
        return self._compressed or self

    @cached_property
    def _compressed(self) -> Problem | None:
        if self._short is None:
            return None
        whole = self._short.whole
        return replace(
            self,
            samples=self._short.samples,
            shape=whole.data.shape,
            squared_norm=whole.data.sum_of_squares(),
            like=whole.data.empty(),
            whole=whole,
        )

    @property
    def has_few_features(self) -> bool:
        """Whether X̃ᵀX̃ costs less than the products with X that it saves."""
        return self.shape[1] <= min(self.n_samples, self.options.few_features)

    @property
    def feature_gram(self) -> Array | None:
        """X̃ᵀX̃ (p, p), NumPy, of few features; None if it would need another pass over X."""
        known = self.has_few_features and (self.whole is not None or self.samples.knows_gram)
        return self.samples.gram()[0] if known else None

    def expand(self, atoms: Array) -> Array:
        """Return vectors (p, j) of all features from those of the `compact` problem."""
        return atoms if self._short is None else to_numpy(self._short.expand(moved(atoms, self.like)))

    @property
    def singular_values(self) -> Array | None:
        """σ if X̃ = UΣ in its own right singular vectors, as in a compact problem; otherwise None."""
        values = None if self.whole is None else self.whole.data.singular_values
        return None if values is None else to_numpy(values)

    @property
    def compression_rounding(self) -> float:
        """In a compact problem, a bound of ‖X̃ − UΣQᵀ‖; otherwise 0."""
        known = None if self.whole is None else self.whole.data.rounding
        return 0.0 if known is None else known.rows

    def arrays(self) -> LiftedArrays:
        """Return the problem as arrays; a ValueError if X is not in memory."""
        if self.whole is None:
            raise ValueError(
                "X: an array in memory is required here; only the default solver and its certificate work "
                "on rows that are read in passes or kept on a cluster"
            )
        return LiftedArrays(
            self.model,
            self.whole.threaded,
            self.whole.known,
            cast(moved(self.covariate_ridge, self.like), self.like),
            self.loss,
            self.xi,
            self.lam,
            self.scale,
        )

    def subsample_share(self) -> float | None:
        """Return the share of samples to start with; None if there are few samples, or long rows."""
        options, (n, p) = self.options, self.shape
        if self.loss.couples_samples:
            return None
        itemsize = 4 if self.epsilon > 1e-10 else 8  # float32 or float64
        row = (p if self.row_size is None else self.row_size + 1) * itemsize
        room = options.subsample_memory * working_memory()
        enough = max(options.enough_subsample, options.enough_a_feature * p)
        count = min(n // options.subsample_ratio, room / row, enough)
        return count / n if count >= max(options.fewest_subsample, 2 * self.n_outputs) else None

    def curvature_share(self, columns: int) -> float:
        """Return the share of samples over which the curvature is summed, for a design with these columns."""
        if self.loss.couples_samples:
            return 1.0
        return self.options.curvature_share(self.n_samples, columns, self.n_outputs)

    def subsampled(self, share: float) -> Problem:
        """Return the problem of about this share of the samples, in memory, with about the same optimum."""
        data, known = subsample(self.samples, share)
        fewer = data.shape[0] / self.n_samples
        return replace(
            self,
            samples=in_memory(data, known, self.loss, self.options),
            shape=data.shape,
            lam=self.model.subsampled_ridge(self.lam, fewer),
            covariate_ridge=self.covariate_ridge * fewer,
            squared_norm=data.sum_of_squares(),
            null_loss=self.null_loss * fewer,
            total_weight=self.total_weight * fewer,
            whole=Whole(data, known, self.loss, self.options),
        )

    # --- parts of F that do not use samples --------------------------------------------------------------

    def covariate_penalty(self, gamma: Array) -> Array:
        """Return Σ_j ρ_j‖γ_j‖² (…) for γ (…, q, κ)."""
        return self.xp.sum(self.covariate_ridge[:, None] * gamma**2, axis=(-2, -1))

    def dual_bound(self, conjugate: float, pulled: Array, top: float) -> float:
        """Return a lower bound of F (docs/method.md §7).

        −Σωℓ*(g) − Σ_j‖x'_jᵀ(ω∘g)‖²/(4ρ_j) + ξ(‖X̃‖² − Σ_{i≤r} eig_i(M)).

        Parameters
        ----------
        conjugate : float
            Σ_i ω_i ℓ*(y_i, g_i).
        pulled : array
            X'ᵀ(ω∘g) (q, κ); must be 0 for covariates that are not penalised.
        top : float
            Σ_{i≤r} eig_i(M), or an upper bound.
        """
        xp, ridge = self.xp, self.covariate_ridge
        safe = xp.where(ridge > 0, ridge, xp.full_like(ridge, math.inf))
        penalised = float(xp.sum(pulled**2 / (4 * safe[:, None])))
        return -conjugate - penalised + self.xi * (self.squared_norm - top)

    def dual_scale(self) -> float:
        """The factor 1/(2√(ξλ)) that turns Φᵀ(ω∘g) into Q with M = G + QQᵀ."""
        return 0.5 / math.sqrt(self.xi) / math.sqrt(self.lam)
