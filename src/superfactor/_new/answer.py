"""From a problem to its solution in the user's units: from any start, along paths, after a crash."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from superfactor._arrays import Array, cast, moved, one_blas_thread
from superfactor._files import replacing
from superfactor._new.certificate import Bound, bounded
from superfactor._new.compression import Rounding
from superfactor._new.models import MODELS
from superfactor._new.newton import Inside, Point
from superfactor._new.problem import Problem
from superfactor._new.solve import EFFORT, Found, Search, minimise, reweighted
from superfactor._new.subspace import leading_basis
from superfactor._new.tall import dot, here, norms, orthonormal, pull, there
from superfactor.models.factors import Factors, turn_features, turn_filters
from superfactor.solution import History, Monitor, OtherStarts

#: L (N, r), β (r, κ), P (other, r) and γ (q, κ) with A = Lβ and B = LPᵀ: in the user's units, samples in
#: units of √w.
Parts: TypeAlias = tuple[Array, Any, Array, Any]

MOST_STEPS = 500
# Seconds between two writes of a checkpoint.
_EVERY = 10.0


@dataclass(frozen=True)
class Start:
    """A point to start from, in the user's units: A = Lβ.

    L are weights of features (p, r) in the filter model and codes of samples (n, r) in the feature model. A
    fitted model, a checkpoint and the solution for neighbouring weights are all of this kind.
    """

    L: Array
    beta: Any  # (r, κ)
    gamma: Any  # (q, κ)


@dataclass(frozen=True)
class Answer:
    """The result of the solver in the user's units.

    Attributes
    ----------
    factors : Factors
        W, H, β, γ, padded with zeros to the rank that was asked for.
    code_sizes : array (r,)
        The norms of the columns of codes·√w.
    objective : float
    activations : tall (n, κ)
        Without the part of the covariates.
    history : History
    reason : str
    converged, stopped_early : bool
    searched : OtherStarts or None
        None without a search.
    gradient_mapping : float
        ‖Z − Π(Z − τ∇F)‖/τ of Algorithm 1, the norm of the gradient of block coordinate descent.
    violation : float
        The largest entry of Z − Π_Θ(Z).
    """

    factors: Factors
    code_sizes: Array
    objective: float
    activations: Array
    history: History
    reason: str
    converged: bool
    stopped_early: bool
    searched: OtherStarts | None
    locate: Callable[[], Found] = field(repr=False)
    gradient_mapping: float = math.nan
    violation: float = 0.0

    @cached_property
    def found(self) -> Found:
        """The point with a subspace, for a bound."""
        return self.locate()

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.history)

    def bound(self, *, ascent: int = 0) -> Bound:
        """Return a lower bound of F over all factors of this rank."""
        return bounded(self.found, ascent=ascent)

    def start(self, model: str) -> Start:
        """Return this answer as a start for another problem."""
        L = self.factors.components if model == "filter" else self.factors.codes
        return Start(L, here(self.factors.beta), here(self.factors.gamma))


def solve(
    problem: Problem,
    rank: int,
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    search: str = "auto",
    start: Start | None = None,
    callback: Callable[[int, float], bool] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    codes: bool = True,
) -> Answer:
    """Minimise F over all points of low rank.

    Parameters
    ----------
    problem : Problem
    rank : int
    tol : float
        Relative to the part of F that supervision can change.
    max_iter : int, optional
        Most Newton steps; 500 if None.
    search : {"off", "auto", "thorough"}
        Effort for other starts where the first answer is not proven.
    start : Start, optional
        In place of ridge regression.
    callback : callable, optional
        (iteration, objective) -> True to stop.
    checkpoint : path, optional
        A file of the best point so far, written from time to time. If it exists, the search starts from it.
    codes : bool
        Whether the answer has the codes of the samples.
    """
    monitor = Monitor(MOST_STEPS if max_iter is None else max_iter, callback, best_so_far=True)
    rows = problem.rows
    if checkpoint is not None and Path(checkpoint).exists():
        start = _read(Path(checkpoint), problem, rank)

    def observe(inside: Inside, at: Point, expand: Callable[[Any], Any]) -> None:
        if checkpoint is not None:
            writer.write(_as_start(problem, inside, at, expand))

    writer = _Writer(None if checkpoint is None else Path(checkpoint))
    search_ = Search(tol, EFFORT[search], np.random.default_rng(random_state), _recorder(monitor), observe)
    with one_blas_thread:
        found = minimise(rows, problem.model, rank, problem.xi, problem.lam, search_, _own(problem, start))
        writer.write(_as_start(problem, found.inside, found.at, found.expand), last=True)
        return answer(problem, rank, found, monitor, codes)


def solve_path(
    problem: Problem,
    rank: int,
    weights: Iterable[tuple[float, float]],
    *,
    tol: float = 1e-8,
    random_state: int | np.random.Generator | None = 0,
    search: str = "auto",
) -> Iterator[Answer]:
    """Yield the answers at each pair (ξ, λ) in the user's units.

    Each search starts from the subspace and the point of the one before. Neighbours should be similar; large
    λ first is fastest.
    """
    rng, found = np.random.default_rng(random_state), None
    for xi, lam in weights:
        here_ = problem.restated(xi, lam)
        monitor = Monitor(MOST_STEPS)
        search_ = Search(tol, EFFORT[search], rng, _recorder(monitor))
        with one_blas_thread:
            if found is None:
                found = minimise(here_.rows, here_.model, rank, here_.xi, here_.lam, search_)
            else:
                found = reweighted(found, here_.rows.rho, here_.xi, here_.lam, search_)
            result = answer(here_, rank, found, monitor)
        yield result


def _recorder(monitor: Monitor) -> Callable[[float, str], bool]:
    def record(F: float, kind: str) -> bool:
        if kind == "newton":
            monitor.record(F, 1.0, kind)
        else:
            monitor.poll(F)
        return monitor.stopped

    return record


def answer(problem: Problem, rank: int, found: Found, monitor: Monitor, codes: bool = True) -> Answer:
    """Return the point of a search in the user's units."""
    rows, at, filters = problem.rows, found.at, problem.model == "filter"
    W = found.W if filters else there(found.W, problem.rows.Y)  # compressed rows are NumPy's float64
    P = rows.times(W) if filters else rows.back(W)
    image = P if filters else W
    factors, signal = _factors(problem, (W, at.beta, P, at.gamma), image, rows.scale, codes)
    return Answer(
        **_padded(factors, rank),
        objective=float(at.F),
        activations=signal,
        history=monitor.history,
        reason=monitor.stop_reason
        or ("converged" if found.converged else "the subspace can grow no further"),
        converged=found.converged,
        stopped_early=monitor.stopped_early,
        searched=OtherStarts(found.starts, found.agreed),
        locate=lambda: found,
    )


def answer_at(
    problem: Problem,
    rank: int,
    point: Parts,
    F: float,
    monitor: Monitor,
    *,
    factors: Factors | None = None,
    **more: Any,
) -> Answer:
    """Return any point as an answer; by default its factors are the singular vectors of θ."""
    rows, (L, beta, P, gamma) = problem.rows, point
    Q = orthonormal(L)
    R = pull(Q, L)
    beta = R @ beta
    found, signal = _factors(
        problem, (Q, beta, dot(P, R.T), gamma), rows.times(Q * rows.scale) if problem.model == "filter" else Q
    )
    sizes = found[1] if factors is None else norms(rows.rooted(factors.codes))

    def locate() -> Found:
        model = MODELS[problem.model](rows)
        basis = leading_basis(model, rank, np.random.default_rng(0))
        basis = basis if basis.whole else basis.grown(Q)
        inside = Inside(basis, min(rank, *problem.shape), problem.xi, problem.lam)
        at = inside.at(basis.coordinates(Q), beta * problem.unit, gamma)
        return Found(inside, replace(at, F=F), False, lambda T: T, Rounding(), rank)

    return Answer(
        **_padded((factors or found[0], sizes), rank),
        objective=F,
        activations=signal,
        history=monitor.history,
        stopped_early=monitor.stopped_early,
        searched=None,
        locate=locate,
        **more,
    )


def _factors(
    problem: Problem, point: Parts, image: Array, scale: float = 1.0, codes: bool = True
) -> tuple[tuple[Factors, Any], Array]:
    """Return the factors of a point with orthonormal L, the sizes of their codes, and activations.

    The activations are those of the features, without covariates. `image` is what the loss reads of L; X and
    B are `scale` times larger than in the units of the point.
    """
    over, (L, beta, P, gamma) = problem.rows.unrooted, point
    if problem.model == "filter":
        tall, turned = P, turn_filters(here(L), beta, pull(P, P), scale)
    else:
        tall, turned = L, turn_features(here(P), beta, scale)
    W, beta_, gamma = (_given(x, tall) for x in (turned.components, turned.beta, gamma))
    found = Factors(W, dot(over(tall), turned.codes_turn) if codes else None, beta_, gamma)
    return (found, turned.code_sizes), dot(over(image), beta)


def _padded(found: tuple[Factors, Any], rank: int) -> dict[str, Any]:
    factors, sizes = found
    like = factors.components
    return {
        "factors": factors.padded(rank),
        "code_sizes": _given(np.append(sizes, np.zeros(rank - len(sizes))), like),
    }


def split(problem: Problem, factors: Factors) -> Parts:
    """Return the parts of factors in the user's units."""
    like, (beta, gamma) = problem.rows.Y, (here(factors.beta), here(factors.gamma))
    W, codes = here(factors.components), problem.rows.rooted(cast(moved(factors.codes, like), like))
    return (W, beta, codes, gamma) if problem.model == "filter" else (codes, beta, W, gamma)


def random_factors(problem: Problem, rank: int, rng: np.random.Generator) -> Factors:
    """Return Gaussian factors in the user's units with ‖WH‖ near ‖X‖, β of size one and γ = 0."""
    rows, (n, p) = problem.rows, problem.shape
    W = rng.standard_normal((p, rank)) / math.sqrt(p)
    codes = rng.standard_normal((n, rank)) * (rows.scale * math.sqrt(rows.total / (n * rank)))
    beta = rng.standard_normal((rank, rows.outputs)) / math.sqrt(rank)
    return Factors(W, codes, beta, np.zeros((len(rows.rho), rows.outputs)))


def _given(x: Any, like: Array) -> Array:
    """Return a small array in the user's library, device and floating type."""
    return cast(moved(np.ascontiguousarray(x), like), like)


def _own(problem: Problem, start: Start | None) -> tuple[Array, Any, Any] | None:
    """Return L on the search side, β and γ in the units of X̃."""
    if start is None:
        return None
    if problem.model == "filter":
        return here(start.L), here(start.beta) * problem.unit, here(start.gamma)
    rows = problem.rows
    return rows.rooted(cast(moved(start.L, rows.Y), rows.Y)), here(start.beta), here(start.gamma)


def _as_start(problem: Problem, inside: Inside, at: Point, expand: Callable[[Any], Any]) -> Start:
    L = inside.basis.vectors(at.W)
    if problem.model == "filter":
        return Start(expand(L), at.beta / problem.unit, at.gamma)
    return Start(problem.rows.unrooted(there(L, problem.rows.Y)), at.beta, at.gamma)


class _Writer:
    """Writes a checkpoint from time to time."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.last = path, time.monotonic()

    def write(self, start: Start, last: bool = False) -> None:
        if self.path is None or (not last and time.monotonic() - self.last < _EVERY):
            return
        with replacing(self.path) as part, open(part, "wb") as file:
            np.savez(file, L=here(start.L), beta=here(start.beta), gamma=here(start.gamma))
        self.last = time.monotonic()


def _read(path: Path, problem: Problem, rank: int) -> Start:
    """Return the point of a checkpoint; a ValueError if it is not one of this problem."""
    side = problem.shape[0 if problem.model == "feature" else 1]
    shapes = (side, None), (None, problem.rows.outputs), (len(problem.rows.rho), problem.rows.outputs)
    try:
        with np.load(path, allow_pickle=False) as file:
            L, beta, gamma = (np.asarray(file[name], dtype=float) for name in ("L", "beta", "gamma"))
    except Exception as error:
        raise ValueError(
            f"checkpoint={str(path)!r}: no checkpoint ({type(error).__name__}); delete the file"
        ) from error
    fits = all(
        x.ndim == 2 and all(want in (None, have) for want, have in zip(shape, x.shape, strict=True))
        for x, shape in zip((L, beta, gamma), shapes, strict=True)
    )
    if (
        not fits
        or L.shape[1] != beta.shape[0]
        or L.shape[1] > rank
        or not all(np.isfinite(x).all() for x in (L, beta, gamma))
    ):
        raise ValueError(
            f"checkpoint={str(path)!r}: of another problem: "
            f"{L.shape[0]} × {L.shape[-1]}, {beta.shape[-1]} outputs; "
            f"{side} × {rank} and {problem.rows.outputs} outputs are required. Delete the file"
        )
    return Start(L, beta, gamma)
