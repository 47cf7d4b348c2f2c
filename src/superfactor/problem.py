"""The problem: F over matrices of rank at most r, stated once for an array, a file and a cluster.

    F(A, B, γ) = Σ_i ω_i ℓ(y_i, a_i) + ξ‖X̃ − B̃‖² + λ‖Ã‖² + Σ_j ρ_j‖γ_j‖²

`state` makes it of a user's arrays or rows, `pose` of samples whoever holds them. The default solver and the
certificate ask the samples; Algorithm 1, block coordinate descent and dual ascent take its `arrays`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, cast, eps, moved, namespace, to_numpy, zeros_like_of
from superfactor.losses import Loss
from superfactor.models import LiftedArrays, Model, Side, model_named
from superfactor.options import Options
from superfactor.samples import (
    Annotations,
    Block,
    LocalSamples,
    Samples,
    SampleTable,
    in_memory,
    in_passes,
    subsample,
)
from superfactor.spectrum import DataMatrix, RowSource, compress, power_of_two, top_eigenpairs, working_memory
from superfactor.units import Auto, Weights, largest_square, null_loss

__all__ = ["Problem", "pose", "state"]

# Between these a loss can be squared without leaving the range of floats.
_LOSSES = 1e-150, 1e150
# Of ‖X‖²: below this share, what is left of X without its mean is rounding.
_NO_VARIATION = 1e-12


@dataclass(frozen=True)
class Whole:
    """All samples at hand: X̃ (n, p), and what is known besides, as the user gave it too (`table`)."""

    data: DataMatrix
    known: Annotations
    loss: Loss
    options: Options
    table: SampleTable | None = None

    @cached_property
    def threaded(self) -> DataMatrix:
        """X̃ with the products of a large sparse X shared among the cores."""
        return self.data.threaded(self.options.values_worth_threads)

    @cached_property
    def short(self) -> Short | None:
        """Wide data in the coordinates of its right singular vectors; None where that does not apply.

        Computed once: restated problems, the solver, the certificate and the theory share it.
        """
        found = compress(self.data, self.options.compressed_side)
        if found is None:
            return None
        like = found.data.xp.empty(0, dtype=found.data.dtype, device=found.data.device)
        # In float64, of what the user gave: in the type of X it may have been rounded.
        known = self.known.like(like) if self.table is None else self.table.annotations(slice(None), like)
        samples = in_memory(found.data, known, self.loss, self.options)
        return Short(replace(self, data=found.data, known=known), samples, found.expand)


@dataclass(frozen=True)
class Short:
    """The same samples with fewer features, and the way back to vectors of all features."""

    whole: Whole
    samples: LocalSamples
    expand: Callable[[Array], Array]


@dataclass(frozen=True)
class Problem:
    """What every solver works on.

    Attributes
    ----------
    model : Model
        The filter or the feature model.
    samples : Samples
        Whoever holds them.
    shape : tuple of int
        (n, p).
    n_outputs : int
        κ.
    loss : Loss
        ℓ.
    covariate_ridge : array of shape (q,)
        ρ, in the user's units, 0 for the intercept; in NumPy's float64, as all small arrays of the
        solver, wherever X lives.
    ridge_follows : bool
        Whether ρ is λ in the user's units, and changes with it.
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
        An array in the floating type and place in which the blocks compute.
    options : Options
        When which method runs.
    row_size : float, optional
        The number of stored values in a row of X, on average; None for all p of them.
    whole : Whole, optional
        The arrays, where they are in memory.

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
        """n."""
        return self.shape[0]

    @property
    def n_covariates(self) -> int:
        """q, the intercept included."""
        return int(self.covariate_ridge.shape[0])

    @property
    def epsilon(self) -> float:
        """The precision of the blocks' floating type."""
        return eps(self.like)

    @property
    def users_weights(self) -> tuple[float, float]:
        """ξ and λ in the user's units."""
        return self.model.users_weights(self.xi, self.lam, self.scale)

    @property
    def can_be_bounded(self) -> bool:
        """Whether dual points bound F from below: λ > 0, and a convex loss with a conjugate."""
        return self.lam > 0 and self.loss.convex and self.loss.has_conjugate

    @property
    def xp(self) -> Any:
        """The array library of the solver's own small arrays."""
        return namespace(self.covariate_ridge)

    def zeros(self, *shape: int) -> Array:
        """Zeros in the type and place of the solver's own small arrays."""
        return zeros_like_of(self.covariate_ridge, *shape)

    @property
    def side(self) -> Side:
        """The search side."""
        return Side(self.samples, self.shape, self.covariate_ridge)

    # --- the same problem, seen otherwise ---------------------------------------------------------------

    def restated(self, xi: float, lam: float) -> Problem:
        """At other weights ξ and λ > 0 in the user's units; this one has a λ > 0 too."""
        own_xi, own_lam = self.model.own_weights(xi, lam, self.scale)
        return self.at_weights(own_xi, own_lam)

    def at_weights(self, xi: float, lam: float) -> Problem:
        """The same in the problem's own units."""
        ridge = self.covariate_ridge
        if self.ridge_follows and self.lam > 0:
            ridge = ridge * (lam / self.lam)
        return replace(self, xi=xi, lam=lam, covariate_ridge=ridge)

    @property
    def compact(self) -> Problem:
        """Wide data in the coordinates of its right singular vectors; where that does not apply, itself."""
        # A problem that kept itself would be a cycle, and its samples outlive the fit.
        return self._compressed or self

    @cached_property
    def _compressed(self) -> Problem | None:
        short = None if self.whole is None else self.whole.short
        if short is None:
            return None
        data = short.whole.data
        return replace(
            self,
            samples=short.samples,
            shape=data.shape,
            squared_norm=data.sum_of_squares(),
            like=data.xp.empty(0, dtype=data.dtype, device=data.device),
            whole=short.whole,
        )

    def expand(self, atoms: Array) -> Array:
        """Vectors (p, j) of all features from those of the `compact` problem."""
        short = None if self.whole is None else self.whole.short
        if short is None:
            return atoms
        return to_numpy(short.expand(moved(atoms, self.like)))

    @property
    def singular_values(self) -> Array | None:
        """σ where X̃ is UΣ in its own right singular vectors, as in a compact problem; else None."""
        values = None if self.whole is None else self.whole.data.singular_values
        return None if values is None else to_numpy(values)

    @property
    def compression_rounding(self) -> float:
        """In a compact problem, a bound of ‖X̃ − UΣQᵀ‖; else 0."""
        known = None if self.whole is None else self.whole.data.rounding
        return 0.0 if known is None else known.rows

    def arrays(self) -> LiftedArrays:
        """The problem as arrays; a ValueError where X is not in memory."""
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
        """Which share of the samples to begin with; None where all of them are few, or their rows long."""
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
        """The share of the samples whose curvature is summed up, for so many columns of a design."""
        if self.loss.couples_samples:
            return 1.0
        return self.options.curvature_share(self.n_samples, columns, self.n_outputs)

    def subsampled(self, share: float) -> Problem:
        """About this share of the samples of every block, in memory; its optimum is about where it was."""
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

    # --- the parts of F that need no sample --------------------------------------------------------------

    def covariate_penalty(self, gamma: Array) -> Array:
        """Σ_j ρ_j‖γ_j‖² (…) for γ (…, q, κ)."""
        return self.xp.sum(self.covariate_ridge[:, None] * gamma**2, axis=(-2, -1))

    def dual_bound(self, conjugate: float, pulled: Array, top: float) -> float:
        """−Σωℓ*(g) − Σ_j‖x'_jᵀ(ω∘g)‖²/(4ρ_j) + ξ(‖X̃‖² − Σ_{i≤r} eig_i(M)): never above F (docs/method.md §7).

        Parameters
        ----------
        conjugate : float
            Σ_i ω_i ℓ*(y_i, g_i).
        pulled : array
            X'ᵀ(ω∘g) (q, κ); covariates that are not penalised must see none of it.
        top : float
            Σ_{i≤r} eig_i(M), or more.
        """
        xp, ridge = self.xp, self.covariate_ridge
        safe = xp.where(ridge > 0, ridge, xp.full_like(ridge, math.inf))
        penalised = float(xp.sum(pulled**2 / (4 * safe[:, None])))
        return -conjugate - penalised + self.xi * (self.squared_norm - top)

    def dual_scale(self) -> float:
        """1/(2√(ξλ)), by which Φᵀ(ω∘g) becomes Q with M = G + QQᵀ."""
        return 0.5 / math.sqrt(self.xi) / math.sqrt(self.lam)


def state(
    model: str | Model,
    X: Any,
    targets: Any,
    loss: Loss,
    *,
    xi: float | Auto,
    lam: float | Auto,
    lam_covariates: float | Auto | None = None,
    covariates: Any = None,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    class_weight: Any = None,
    rank: int = 1,
    on_block: Callable[[int, int], None] | None = None,
    options: Options | None = None,
) -> Problem:
    """The problem of a user's data, in the user's units.

    Parameters
    ----------
    model : str or Model
        "filter" or "feature".
    X : array of shape (n, p)
        Dense of any array library, SciPy-sparse, or a `RowSource`.
    targets
        Class numbers 0 … κ (n,), integers; or (n, κ), one-hot without class 0 or real values.
    loss : Loss
        ℓ, of `superfactor.losses`.
    xi, lam : float or Auto
        ξ > 0 and λ ≥ 0 of the paper's F, a sum over samples; or "auto" (`superfactor.units`).
    lam_covariates : float or Auto, optional
        ρ ≥ 0 of all covariates, "auto", or None for the paper's: the same λ.
    covariates : array of shape (n, q), or None
        The intercept is added here, as an unpenalised column of ones.
    fit_intercept : bool, default=True
        Whether there is one.
    sample_weight : array of shape (n,), optional
        Multiplies every term of a sample; samples of weight 0 are left out of a source, and must not be
        among those of an array.
    class_weight : array of shape (n,), optional
        Multiplies the loss of a sample only; 0 where it has no label.
    rank : int, optional
        The number of factors to come, which says how much room a search on a source will need.
    on_block : callable, optional
        Hears of each block of a pass over a source, as on_block(rows done, rows in all).
    options : Options, optional
        When which method runs.

    Returns
    -------
    problem : Problem
        For every solver, and for the theory.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=0.1)
    >>> problem.shape, problem.n_outputs
    ((20, 5), 1)
    """
    options = Options() if options is None else options
    targets = to_numpy(targets)
    n_outputs = int(targets.max()) if targets.ndim == 1 else int(targets.shape[1])
    table = SampleTable(
        targets,
        n_outputs,
        None if covariates is None else to_numpy(covariates),
        fit_intercept,
        None if sample_weight is None else to_numpy(sample_weight),
        None if class_weight is None else to_numpy(class_weight),
    )
    chosen = model_named(model) if isinstance(model, str) else model
    whole, row_size = None, None
    if isinstance(X, RowSource):
        like: Array = np.empty(0, dtype=X.dtype)
        samples = in_passes(X, table, loss, rank, on_block)
        row_size = X.row_size
    else:
        data = DataMatrix(X, table.sample_weight)
        like = data.xp.empty(0, dtype=data.dtype, device=data.device)
        whole = Whole(data, table.annotations(slice(None), like), loss, options, table)
        samples = in_memory(data, whole.known, loss, options)
        row_size = X.nnz / X.shape[0] if sp.issparse(X) else None
    return pose(
        samples,
        model=chosen,
        shape=(samples.n_samples, int(X.shape[1])),
        n_outputs=n_outputs,
        loss=loss,
        weights=Weights(xi, lam, lam_covariates),
        n_covariates=table.n_covariates,
        fit_intercept=fit_intercept,
        like=like,
        options=options,
        row_size=row_size,
        whole=whole,
    )


def pose(
    samples: Samples,
    *,
    model: Model,
    shape: tuple[int, int],
    n_outputs: int,
    loss: Loss,
    weights: Weights,
    n_covariates: int,
    fit_intercept: bool,
    like: Array,
    options: Options,
    row_size: float | None = None,
    whole: Whole | None = None,
) -> Problem:
    """The problem of samples that are in the user's units, by one pass over X.

    Some more passes where λ of the filter model is "auto".

    Parameters
    ----------
    samples : Samples
        Whoever holds them.
    model : Model
        Filter or feature.
    shape : tuple of int
        (n, p).
    n_outputs : int
        κ.
    loss : Loss
        ℓ.
    weights : Weights
        ξ, λ and the ridge of the covariates, numbers or "auto".
    n_covariates : int
        Not counting the intercept.
    fit_intercept : bool
        Whether the last covariate is the intercept.
    like : array
        An array in the floating type and place in which the blocks compute.
    options : Options
        When which method runs.
    row_size : float, optional
        The number of stored values in a row of X, on average; None for all p of them.
    whole : Whole, optional
        The arrays, where they are in memory.

    Returns
    -------
    problem : Problem
        As `state` gives it for data of a user.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import SquaredError
    >>> from superfactor.models import Filter
    >>> from superfactor.options import Options
    >>> from superfactor.problem import pose
    >>> from superfactor.samples import SampleTable, in_memory
    >>> from superfactor.spectrum import DataMatrix
    >>> from superfactor.units import Weights
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.ones((20, 1))
    >>> known = SampleTable(y, 1, None, False, None, None).annotations(slice(None), X)
    >>> samples = in_memory(DataMatrix(X), known, SquaredError(), Options())
    >>> problem = pose(
    ...     samples,
    ...     model=Filter(),
    ...     shape=X.shape,
    ...     n_outputs=1,
    ...     loss=SquaredError(),
    ...     weights=Weights(1.0, 0.1, None),
    ...     n_covariates=0,
    ...     fit_intercept=False,
    ...     like=X,
    ...     options=Options(),
    ... )
    >>> tuple(round(weight, 6) for weight in problem.users_weights)
    (1.0, 0.1)
    """
    if loss.couples_samples and whole is None:
        raise ValueError(
            f"X: an array in memory is required: {type(loss).__name__} compares all samples with each other, "
            "so that they cannot be read in passes or kept on a cluster"
        )
    squared = float(samples.sum(Block.squared_norm))
    scale = _unit_of(squared, like)
    samples.rescale(scale)
    ranges = samples.gather(Block.weight_range)
    if whole is not None:
        whole = replace(whole, data=whole.data.over(scale))
    q = n_covariates + int(fit_intercept)
    nothing = null_loss(samples, loss, n_outputs, n_covariates, fit_intercept)
    total, telling, of_samples = (float(x) for x in samples.sum(Block.total_weights))

    def variation() -> float:
        """σ₁² of X without its mean; 0 where there is nothing but rounding."""
        found = largest_variation() * scale**2
        return found if found > _NO_VARIATION * squared else 0.0

    def largest_variation() -> float:
        short = None if whole is None else whole.short
        values = None if short is None else short.whole.data.singular_values
        # What all samples share is the intercept's, or nothing to the loss: no ridge needs to allow for it.
        total = of_samples if fit_intercept or loss.ignores_constants else math.inf
        if values is None:
            return largest_square(samples, shape[1], total)
        assert short is not None
        _, s = short.samples.sum(Block.power_and_sum, np.zeros((len(values), 1)))
        squares = to_numpy(values) ** 2
        core = np.full((1, 1), -1 / total)
        return float(top_eigenpairs(squares, s, 1, core)[0][0])

    # Of the samples' weight only what tells something of y weighs against λ: labels, or events, may be few.
    xi, lam = weights.of_factors(model, squared, nothing.at_best, lambda: variation() * telling / of_samples)
    own_xi, own_lam = model.own_weights(xi, lam, scale)
    _refuse_what_leaves_floats(nothing.at_zero, xi=(xi, own_xi), lam=(lam, own_lam))
    ridge = np.zeros(q)
    ridge[:n_covariates] = weights.of_covariates(samples, n_covariates, lam)
    return Problem(
        model=model,
        samples=samples,
        shape=shape,
        n_outputs=n_outputs,
        loss=loss,
        covariate_ridge=ridge,
        ridge_follows=weights.lam_covariates is None,
        has_intercept=fit_intercept,
        xi=own_xi,
        lam=own_lam,
        scale=scale,
        squared_norm=squared / scale**2,
        smallest_weight=min(low for low, _ in ranges),
        largest_weight=max(high for _, high in ranges),
        null_loss=nothing.at_zero,
        total_weight=total,
        like=like,
        options=options,
        row_size=row_size,
        whole=whole,
    )


def _refuse_what_leaves_floats(nothing: float, **weights: tuple[float, float]) -> None:
    """Raise a ValueError where the loss of no model, or a weight, is beyond what floats can square.

    `weights` are ξ and λ in the user's units, and in the problem's own.
    """
    low, high = _LOSSES
    if nothing and not low < nothing < high:
        raise ValueError(
            f"y: the loss without a model is {nothing:.0e}; between {low:.0e} and {high:.0e} is required. "
            "Rescale y, or sample_weight"
        )
    for name, both in weights.items():
        zero = name == "lam" and not any(both)
        if not (zero or 1e-306 < min(both) <= max(both) < 1e306):
            users, own = both
            raise ValueError(
                f"{name}: {users:.0e}, that is {own:.0e} in units of X, leaves the range of floats. "
                "Rescale X or y"
            )


def _unit_of(squared: float, like: Array) -> float:
    """The power of two nearest below ‖X‖; a ValueError where squares leave the range of X's type."""
    if squared == 0:
        return 1.0
    tiny = float(namespace(like).finfo(like.dtype).smallest_normal)
    # Squares of many entries lose their digits long before their sum does; a large sum bounds them all.
    low, high = tiny**0.75, tiny**-0.9
    if not low < squared < high:
        size = math.sqrt(squared) if squared < math.inf else math.inf
        raise ValueError(
            f"X: the root of its sum of squares is {size:.0e}; between {low**0.5:.0e} and "
            f"{high**0.5:.0e} is required, beyond which squares leave the range of {like.dtype}. Rescale X"
        )
    return power_of_two(math.sqrt(squared))
