"""The default solver: joint Newton steps in a growing subspace, and other starts where nothing is proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, moved, namespace
from superfactor._new.certificate import bounded, excess
from superfactor._new.compression import Rounding, compressed
from superfactor._new.models import MODELS, Filter
from superfactor._new.newton import Inside, Point, fit_ridge
from superfactor._new.rows import Rows
from superfactor._new.starts import other_starts, pca_start, ridge_start
from superfactor._new.subspace import Basis, leading_basis
from superfactor._new.tall import beside, dot, orthonormal, pull

# The time for other starts, relative to the first answer's, and at least so many operations an output.
EFFORT = {"off": 0.0, "auto": 1.25, "thorough": 30.0}
_LEAST_EFFORT = 2.5e9
# A start among some of the samples: not fewer than this, and as accurate as sampling makes it worth.
_FEWEST_SAMPLED, _SAMPLED_TOL = 2048, 1e-4
# Most rounds of descent and growth.
_ROUNDS = 60


Start = tuple[Any, Any, Any]  # L (N, r) on the search side, β (r, κ), γ (q, κ)


@dataclass
class Search:
    """What a search is asked for, and what it reports to."""

    tol: float = 1e-8
    effort: float = EFFORT["auto"]
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    record: Callable[[float, str], bool] = lambda F, kind: False  # (F, kind of step) -> whether to stop
    # Called after every round.
    observe: Callable[[Inside, Point, Callable[[Any], Any]], None] = lambda *_: None


@dataclass
class Found:
    """A point with the subspace in which it was found."""

    inside: Inside
    at: Point
    converged: bool
    expand: Callable[[Any], Any]
    rounding: Rounding  # of the compression
    rank: int  # of all points that a bound is for; W may have fewer columns, if more are of no use
    starts: int = 0
    agreed: int = 0

    @property
    def W(self) -> Array:
        """W on the search side of the user's X̃: (p, r) small, or (n, r) tall."""
        W = self.inside.basis.vectors(self.at.W)
        return self.expand(W) if isinstance(self.inside.basis.model, Filter) else W


def minimise(
    rows: Rows, model: str, rank: int, xi: float, lam: float, search: Search, start: Start | None = None
) -> Found:
    """Minimise F over factors of this rank, from other starts too if the first answer is not proven global.

    `start` has L (N, r) on the search side of `rows`, β and γ; by default it is the solution for some of the
    rows, or ridge regression.
    """
    small, expand, contract, rounding = compressed(rows)
    space: Any = MODELS[model](small)
    wanted = rank
    # In the feature model the scores of samples may leave the range of X: its rank is no limit.
    rank = min(rank, space.side)
    if start is None and (share := _sampled_share(small)) < 1:
        inside, at, starts, agreed = _from_sample(space, rank, xi, lam, share, search)
        inside, at, converged = improved(inside, at, search, expand, 1e-3)
        return Found(inside, at, converged, expand, rounding, wanted, starts, agreed)
    basis = first_basis(space, rank, search.rng)
    inside = Inside(basis, min(rank, basis.size), xi, lam)
    if start is None:
        point = inside.polished(*(ridge_start(inside, lam) if lam > 0 else pca_start(inside)))
    else:
        # The rows may be compressed, and then in NumPy, whatever X is.
        L = contract(start[0]) if model == "filter" else cast(moved(start[0], small.Y), small.Y)
        inside, point = _started(inside, (L, *start[1:]))
    found = Found(*improved(inside, point, search, expand), expand, rounding, wanted)
    return _searched(found, search)


def reweighted(found: Found, rho: Any, xi: float, lam: float, search: Search) -> Found:
    """Return the answer at other weights, from the subspace and the point of neighbouring ones."""
    inside, at = found.inside, found.at
    inside.rows.rho = rho
    inside = replace(inside, xi=xi, lam=lam)
    point = inside.polished(at.W, at.beta, at.gamma)
    if lam > 0:
        point = min(point, inside.polished(*ridge_start(inside, lam)), key=lambda each: float(each.F))
    improvement = improved(inside, point, search, found.expand)
    found = Found(*improvement, found.expand, found.rounding, found.rank)
    return _searched(found, search)


def _started(inside: Inside, start: Start) -> tuple[Inside, Point]:
    """Return the subspace extended by L, and the point Lβ in it; further columns are leading directions."""
    L, beta, gamma = start
    basis = inside.basis if inside.basis.whole else inside.basis.grown(L)
    V, r = basis.coordinates(L), inside.rank
    W, R = np.linalg.qr(np.hstack([V, np.eye(basis.size, r)]))
    return (inside := replace(inside, basis=basis)), inside.polished(
        W[:, :r], (R[:, : V.shape[1]] @ beta)[:r], gamma
    )


def _searched(found: Found, search: Search) -> Found:
    """Return the lowest of a point and of other starts, unless the point is proven optimal."""
    rows = found.inside.rows
    if search.effort == 0 or bounded(found, exact=False, shorter=False).proven:
        return found
    budget = search.effort * max(rows.work, _LEAST_EFFORT * min(rows.outputs, 4) / EFFORT["auto"])
    other, starts, agreed = other_starts(
        found.inside, found.at, budget, search.rng, lambda F: search.record(F, "other starts")
    )
    worthwhile = found.at.F - search.tol * (found.at.F - found.inside.unsupervised)
    if float(other.F) < worthwhile:
        improvement = improved(found.inside, other, search, found.expand)
        found = Found(*improvement, found.expand, found.rounding, found.rank)
        agreed = 0
    return replace(found, starts=starts, agreed=agreed)


def first_basis(space: Any, rank: int, rng: np.random.Generator) -> Basis:
    """Return leading directions of X, and a chain from the gradient of the loss without factors."""
    basis, rows = leading_basis(space, rank, rng), space.rows
    if basis.whole:
        return basis
    gamma = fit_ridge(rows, rows.Z, rows.rho, np.zeros((len(rows.rho), rows.outputs)))
    return basis.grown(space.gradient(rows.evaluate(dot(rows.Z, gamma))[1]), depth=3)


def _sampled_share(rows: Rows) -> float:
    """Return the share of the rows to start with; 1 if there are not many."""
    n, p = rows.shape
    wanted = min(n // 8, max(8192, 16 * p))
    return rows.share(wanted) if wanted >= _FEWEST_SAMPLED else 1.0


def _from_sample(
    space: Any, rank: int, xi: float, lam: float, share: float, search: Search
) -> tuple[Inside, Point, int, int]:
    """Return a subspace and a point from the solution for some of the rows, and the starts that it tried."""
    filters, rows = isinstance(space, Filter), space.rows
    few = replace(search, tol=_SAMPLED_TOL, observe=lambda *_: None, record=lambda F, kind: False)
    # λ counts once for all samples together (filter), or for each (feature).
    first = minimise(rows.sample(share), space.name, rank, xi, lam * share if filters else lam, few)
    inside = first.inside
    W, beta, theta, others, _ = inside.frame(first.at)
    V = np.hstack([W, orthonormal(others[:, : rank + 10], W)])
    if filters:
        L = first.expand(inside.basis.vectors(V))
    else:
        L = _codes(space, dot(inside.basis.image, inside.basis.turn @ V), beta, first.at.gamma, xi, theta)
    space.rough = MODELS["filter"](inside.rows) if filters else None
    inside = Inside(Basis(space, orthonormal(L)), rank, xi, lam)
    W, R = np.linalg.qr(inside.basis.coordinates(L[:, :rank]))
    return inside, inside.at(W, R @ beta, first.at.gamma), first.starts, first.agreed


def _codes(space: Any, image: Any, beta: Any, gamma: Any, xi: float, theta: Any) -> Array:
    """Return X̃ times an image (p, m) of W and other directions, with the best scores as its first r columns.

    These are the best for this image and β: a few Newton steps a row, with steps limited so that activations
    stay sensible.
    """
    rows, r = space.rows, len(theta)
    codes = rows.times(image)
    target, xp = codes[:, :r], namespace(codes)
    W = dot(target, np.diag(1 / theta))
    most = 4 * max(1.0, float(xp.max(xp.abs(dot(rows.unrooted(W), beta)))))
    for _ in range(12):
        a = dot(rows.unrooted(W), beta) + dot(rows.Z, gamma)
        _, E = rows.evaluate(a)
        gradient = dot(rows.unrooted(E), beta.T) + dot(W, np.diag(2 * xi * theta)) - 2 * xi * target
        step = space.softened(gradient, 2 * xi * theta, rows.curvature(a), beta)
        size = xp.max(xp.abs(dot(step, beta)), axis=-1, keepdims=True) / most
        W = W - step / xp.clip(size, min=1.0)
        if float(xp.max(size)) < 0.1:
            break
    E = space.gradient(rows.evaluate(dot(rows.unrooted(W), beta) + dot(rows.Z, gamma))[1])
    return beside(W, codes[:, r:], E)


def improved(
    inside: Inside, at: Point, search: Search, expand: Callable[[Any], Any], share: float = 0.1
) -> tuple[Inside, Point, bool]:
    """Descend inside S, bound what lies outside, and enlarge S, until the bound is below the tolerance."""
    model = inside.basis.model
    estimate, flat, chain = share * (at.F - inside.unsupervised), 0, model.chain
    for count in range(_ROUNDS):
        goal = max(search.tol, inside.noise) * max(at.F - inside.unsupervised, 0.0)
        before, start = at.F, at.W
        enough = 0.1 * goal if inside.basis.whole else max(0.1 * goal, 0.02 * estimate)
        at, left, stopped = descended(inside, at, enough, search)
        search.observe(inside, at, expand)
        flat = flat + 1 if before - at.F <= 0.05 * goal else 0
        frame, R, bounds = outside(inside, at)
        if bounds.sum() > 0.4 * estimate and count:
            chain = min(chain + 1, 2 if model.name == "feature" else 3)
        estimate = float(bounds.sum())
        if inside.basis.whole or estimate + left <= goal or flat == 3:
            return inside, at, not stopped or bool(estimate + left <= goal)
        if stopped:
            return inside, at, False
        inside, at = enlarged(inside, at, start, frame, R, bounds, chain, goal)
    return inside, at, False


def descended(inside: Inside, at: Point, goal: float, search: Search) -> tuple[Point, float, bool]:
    """Take Newton steps until at most `goal` is left; return the point, what is left, and whether to stop."""
    left, stopped = np.inf, False
    for _ in range(200):
        before = at.F
        at, left, far = inside.newton(at)
        stopped = search.record(float(at.F), "newton")
        if abs(before - at.F - left) < 0.1 * left:  # a good model: the next step will find little
            left = 0.1 * left
        if (left <= goal and not far) or stopped:
            break
    return at, float(left), stopped


def outside(inside: Inside, at: Point) -> tuple[Any, Array, Any]:
    """Return the frame of a point, residuals outside S, and by how much F may fall along each."""
    basis, xi = inside.basis, inside.xi
    W, beta, theta, _, rest = frame = inside.frame(at)
    assert at.E is not None
    R = basis.outside(basis.model.gradient(dot(at.E, beta.T / (-2 * xi)), dot(basis.image, basis.turn @ W)))
    size, gap = np.sqrt(np.diag(pull(R, R))), theta - rest
    # Without a gap there is no bound, but an estimate.
    gap = np.where(gap > 0, gap, np.maximum(0.5 * (theta - basis.d[-1]), gap))
    return frame, R, xi * excess(size, np.maximum(gap, -size))


def enlarged(
    inside: Inside, at: Point, start: Any, frame: Any, R: Array, bounds: Any, chain: int, goal: float
) -> tuple[Inside, Point]:
    """Return S extended by the residuals that matter.

    A full S is first restricted to its best directions, with the W that the last descent started from, as
    conjugate gradients would keep it.
    """
    basis, (W, beta, theta, others, _) = inside.basis, frame
    model, r = basis.model, len(beta)
    T = model.softened(R, 2 * inside.xi * theta, at.H, beta)
    if isinstance(model, Filter):
        order = np.argsort(-bounds)
        rest = bounds.sum() - np.cumsum(bounds[order])
        T = T[:, order[: 1 + np.argmax(rest <= max(0.1 * bounds.sum(), 0.3 * goal))]]
    if len(W) + chain * T.shape[1] > max(6 * r, 2 * r + 30) + 8 * beta.shape[1]:
        basis = basis.restricted(np.hstack([W, orthonormal(np.hstack([start, others[:, :10]]), W)]))
        W = basis.turn.T @ np.eye(basis.size, r)
    if (rough := getattr(model, "rough", None)) is not None:  # the chain needs no exact products
        second = rough.with_power(T)[1]
        T, chain = np.hstack([T, second, rough.with_power(second)[1]]), 1
    old, basis = basis.turn, basis.grown(T, chain)
    inside = replace(inside, basis=basis)
    W = basis.turn[: len(old)].T @ (old @ W)
    return inside, inside.at(W, beta, at.gamma)
