"""Stating a problem: from a user's data, or from a `Samples` object."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor._arrays import Array, moved, namespace, to_numpy
from superfactor.losses import Loss
from superfactor.models import Model, model_named
from superfactor.options import Options
from superfactor.problem.estimated_ridge import estimated_ridge
from superfactor.problem.problem import Problem
from superfactor.problem.whole import Whole
from superfactor.samples import Block, Samples, SampleTable, in_memory, in_passes, subsample
from superfactor.spectrum import DataMatrix, RowSource, power_of_two, top_eigenpairs, working_memory
from superfactor.units import Auto, Weights, covariate_ridges, largest_square, null_loss

# Squares of losses between these do not over- or underflow.
_LOSSES = 1e-150, 1e150
# Below this share of ‖X‖², the centred X is only rounding errors.
_NO_VARIATION = 1e-12
# With many samples and features, σ₁² is estimated, because products may be passes over a file and it is only
# a unit: width of a block, most passes and smallest relative change.
_WIDTH, _PASSES, _CHANGE = 8, 8, 1e-3
# Products of few samples are computed with a group of rows in memory at a time. Two groups take no more
# passes than the estimate.
_GROUPS = 2
_STEPS, _ALL_DIGITS = 300, 1e-13


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
    """State the problem of a user's data, in the user's units.

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
        ρ ≥ 0 of all covariates, "auto", or None for the paper's choice ρ = λ.
    covariates : array of shape (n, q), or None
        Without the intercept, which this function adds as an unpenalised column of ones.
    fit_intercept : bool, default=True
        Whether to add an intercept.
    sample_weight : array of shape (n,), optional
        Multiplies every term of a sample. Samples of weight 0 are skipped in a source, and not allowed in an
        array.
    class_weight : array of shape (n,), optional
        Multiplies only the loss of a sample; 0 if it has no label.
    rank : int, optional
        The number of factors of later fits, for an estimate of the memory that a search on a source needs.
    on_block : callable, optional
        Called after each block of a pass over a source, as on_block(rows done, rows in all).
    options : Options, optional
        Thresholds that select the method.

    Returns
    -------
    problem : Problem
        Input of every solver and of the theory.

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
    whole = None
    if isinstance(X, RowSource):
        like: Array = np.empty(0, dtype=X.dtype)
        samples = in_passes(X, table, loss, rank, on_block)
        row_size = X.row_size
    else:
        data = DataMatrix(X, table.sample_weight)
        like = data.empty()
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
    """State the problem of samples in the user's units, with one pass over X.

    Takes a few more passes if λ of the filter model is "auto".

    Parameters
    ----------
    samples : Samples
        The object that holds the samples.
    model, shape, n_outputs, loss
        As `Problem` has them.
    weights : Weights
        ξ, λ and the ridge of the covariates, numbers or "auto".
    n_covariates : int
        Number of covariates without the intercept.
    fit_intercept : bool
        Whether the last covariate is the intercept.
    like, options, row_size, whole
        As `Problem` has them.

    Returns
    -------
    problem : Problem
        The same as from `state`.

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
    elif options.is_wide(shape) and _fits(shape, row_size, like, options):
        whole = Whole(*subsample(samples, 1.0), loss, options)
    nothing = null_loss(samples, loss, n_outputs, n_covariates, fit_intercept)
    total, telling, of_samples = (float(x) for x in samples.sum(Block.total_weights))
    # The mean of X is fitted by the intercept, or does not affect the loss, so λ does not depend on it.
    shared = of_samples if fit_intercept or loss.ignores_constants else math.inf

    row_products = _row_products(samples, whole, shape, like, options)

    def largest() -> float:
        found = _largest_variation(samples, whole, shape, shared, options, row_products) * scale**2
        # Only informative samples, such as those with a label or an event, count in the loss.
        return (found if found > _NO_VARIATION * squared else 0.0) * telling / of_samples

    def ridge_from_data() -> float | None:
        ridge = np.append(covariate_ridges(samples)[:n_covariates], np.zeros(int(fit_intercept)))
        dispersions = loss.dispersions(n_outputs)
        short = None if whole is None else whole.short
        found = estimated_ridge(samples, short, shape, shared, nothing.coef, ridge, dispersions, row_products)
        return None if found is None else found * scale**2

    def usual_ridge() -> float:
        if model.searches_samples:
            return model.usual_lam * loss.feature_ridge
        found = ridge_from_data() if loss.estimates_ridge else None
        lowest, highest = loss.curvature_bounds(n_outputs)
        if found is not None and 0 < lowest == highest:
            return found
        # If the loss is not quadratic, the estimate holds for small effects only: use at least the λ of
        # classes.
        return max(model.usual_lam * (model.natural_ridge(largest) or 1.0), found or 0.0)

    against = nothing.at_best * (loss.feature_xi if model.searches_samples else 1.0)
    xi, lam = weights.of_factors(model, squared, against, usual_ridge)
    own_xi, own_lam = model.own_weights(xi, lam, scale)
    _refuse_what_leaves_floats(nothing.at_zero, xi=(xi, own_xi), lam=(lam, own_lam))
    ridge = np.zeros(n_covariates + int(fit_intercept))
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


def _fits(shape: tuple[int, int], row_size: float | None, like: Array, options: Options) -> bool:
    """Return whether the rows of X take no more memory than those of a first subsample."""
    n, p = shape
    size = n * (p if row_size is None else row_size + 1) * like.dtype.itemsize
    return bool(size <= options.subsample_memory * working_memory())


def _row_products(
    samples: Samples, whole: Whole | None, shape: tuple[int, int], like: Array, options: Options
) -> Callable[[], Array] | None:
    """Return what computes X̃X̃ᵀ (n, n) of wide X; None for other X, and if it takes too many passes."""
    n, p = shape
    if not options.is_wide(shape):
        return None
    if whole is not None:
        return cache(lambda: to_numpy(whole.data.gram()))
    rows = int(options.subsample_memory * working_memory() / (8 * p))
    return cache(lambda: samples.row_products(rows)) if n <= _GROUPS * rows else None


def _largest_variation(
    samples: Samples,
    whole: Whole | None,
    shape: tuple[int, int],
    total: float,
    options: Options,
    row_products: Callable[[], Array] | None,
) -> float:
    """Return σ₁² of the centred X̃, of weight `total`; of X̃ itself if `total` is infinite.

    Exact if X is wide or has few features; otherwise an estimate from below. The method depends on the shape
    alone, so that the same X leads to the same number in memory, on disk and on a cluster. The centred matrix
    is not formed: X stays sparse.
    """
    if row_products is not None:
        return _largest_of_few_samples(samples, whole, total, row_products)
    p = shape[1]
    if p <= options.few_features:
        gram, s = samples.gram()
        return float(np.linalg.eigvalsh(gram - s @ s.T / total)[-1])

    def power(T: Array) -> Array:
        product, s = samples.sum(Block.power_and_sum, T)
        return product - s @ (s.T @ T) / total

    start = np.random.default_rng(0).standard_normal((p, min(_WIDTH, p)))
    return largest_square(power, start, _PASSES, _CHANGE)


def _largest_of_few_samples(
    samples: Samples, whole: Whole | None, total: float, row_products: Callable[[], Array]
) -> float:
    """Return the same for wide X, from products of its samples."""
    if whole is not None and whole.short is not None:
        squares = to_numpy(whole.short.whole.data.singular_values) ** 2
        s = whole.short.samples.sum(Block.row_sum)
        return float(top_eigenpairs(squares, s, 1, np.full((1, 1), -1 / total))[0][0])
    ones = to_numpy(samples.stack(Block.roots))

    def centred(T: Array) -> Array:
        return T - ones @ (ones.T @ T) / total

    def product(T: Array) -> Array:
        if whole is None:
            return row_products() @ T
        data = whole.threaded  # which may be sparse
        image = data.times(data.transpose_times(moved(T, data.empty())))
        return np.asarray(to_numpy(image), dtype=float)

    start = np.random.default_rng(0).standard_normal((len(ones), 1))
    return largest_square(lambda T: centred(product(centred(T))), start, _STEPS, _ALL_DIGITS)


def _refuse_what_leaves_floats(nothing: float, **weights: tuple[float, float]) -> None:
    """Raise a ValueError if squares of the null loss or of a weight over- or underflow.

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
    """Return the largest power of two up to ‖X‖; a ValueError if squares over- or underflow."""
    if squared == 0:
        return 1.0
    tiny = float(namespace(like).finfo(like.dtype).smallest_normal)
    # Squares of many small entries underflow long before their sum; a large sum bounds all of them.
    low, high = tiny**0.75, tiny**-0.9
    if not low < squared < high:
        size = math.sqrt(squared) if squared < math.inf else math.inf
        raise ValueError(
            f"X: the root of its sum of squares is {size:.0e}; between {low**0.5:.0e} and "
            f"{high**0.5:.0e} is required, beyond which squares leave the range of {like.dtype}. Rescale X"
        )
    return power_of_two(math.sqrt(squared))
