"""The default solver: joint Newton in a growing subspace, with several starts where nothing is proven.

Rounds of (1) second-order descent inside a subspace S of the search side, (2) the residual of the full
problem outside S, (3) short Krylov chains that enlarge S where the residual is large — block Davidson,
carried over from eigenproblems (math §11). Where S is the whole range of X the rounds end at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from superfactor._arrays import (
    Array,
    blas_threads,
    column_norms,
    eigh_descending,
    eps,
    eye_like,
    frobenius2,
    namespace,
)
from superfactor.lifting import LiftedProblem
from superfactor.solvers.descent import Descent
from superfactor.lifting.ridge import fit_ridge
from superfactor.solvers.solution import Monitor, Solution
from superfactor.solvers.subspace import Frame, Point, SubspaceProblem
from superfactor.spectrum import GrowingBasis, fill_leading

# Up to this dimension the subspace is the whole range of X from the start.
WHOLE_RANGE = 64
_MAX_ROUNDS = 60
# So many of the other starts are followed to the end.
_FINISHED = 3


def solve(
    problem: LiftedProblem,
    rank: int,
    *,
    tol: float = 1e-8,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    starts: bool = True,
    callback: Callable[[int, float], bool] | None = None,
) -> Solution:
    """Minimise F over rank ≤ `rank`.

    `tol` is relative to F − ξΣ_{i>r}σ_i², the part of the objective that supervision can change.
    With `starts`, an answer that the duality gap does not prove optimal is compared with other starts.
    """
    monitor = Monitor(500 if max_iter is None else max_iter, callback)
    rng = np.random.default_rng(random_state)
    small, expand = problem.compact
    with blas_threads(1):
        search = _Search(small, rank, tol, rng, monitor)
        search.grow()
        if starts and not search.proven and not monitor.stopped:
            search.restart()
        return search.solution(problem, expand)


class _Search:
    """The state of one solve: basis, inner problem, current point."""

    def __init__(
        self,
        problem: LiftedProblem,
        rank: int,
        tol: float,
        rng: np.random.Generator,
        monitor: Monitor,
    ):
        self.problem, self.tol, self.rng, self.monitor = problem, tol, rng, monitor
        self.basis = GrowingBasis(problem.empty, problem.image, problem.back)
        self.range = min(problem.data.shape)
        self.whole = self.range <= max(4 * rank, WHOLE_RANGE)
        self._leading_subspace(rank)
        self.rank = min(rank, self.basis.size)
        self.inside = SubspaceProblem(problem, self.basis, self.rank)
        self.descent = Descent(self.inside, monitor)
        self.capacity = max(6 * rank, 2 * rank + 30) + 8 * problem.n_outputs
        if self.whole:
            self.capacity = self.basis.size + 4 * rank + 20 * problem.n_outputs
        self.reason = ""
        self.left = float("inf")
        self.outside_estimate = 0.0
        self.floor = self.inside.pca_value()

    # --- sizes and tolerances --------------------------------------------------------------------

    @property
    def goal(self) -> float:
        """tol times what supervision can change, but not below the noise of F itself."""
        noise = 16 * eps(self.problem.targets) * abs(self.point.F)
        return max(self.tol * max(self.point.F - self.floor, 0.0), noise)

    @property
    def proven(self) -> bool:
        gap = self.inside.duality_gap(self.point)
        return gap <= 10 * self.goal + 1e-7 * max(self.point.F - self.floor, 0.0)

    @property
    def work(self) -> float:
        """About how many operations one Newton step takes."""
        return float(self.problem.n_samples * (self.basis.size * self.problem.n_outputs) ** 2)

    # --- the leading subspace ----------------------------------------------------------------------

    def _leading_subspace(self, rank: int) -> None:
        """The whole range of X when that is small, a block-Krylov approximation of its top otherwise."""
        problem, basis = self.problem, self.basis
        empty = problem.empty
        if self.whole:
            if problem.side <= max(self.range, WHOLE_RANGE):
                basis.append(eye_like(empty, problem.side))
            else:
                basis.extend(problem.back(eye_like(empty, problem.other_side)))
        else:
            width = max(8, rank // 2)

            def fresh() -> Array:
                return problem.back(self._random(problem.other_side, width))

            fill_leading(basis, 4 * rank, 2 * rank + 10, fresh)
        if basis.size < rank:  # rank X < r: labels may use the spare rank
            basis.extend(self._random(problem.side, rank - basis.size))
        if self.whole:
            basis.rotate(eigh_descending(basis.D)[1])

    def _random(self, rows: int, columns: int) -> Array:
        xp, like = self.problem.data.xp, self.problem.targets
        block = self.rng.standard_normal((rows, columns))
        return xp.asarray(block, dtype=like.dtype, device=self.problem.data.device)

    # --- the main loop -------------------------------------------------------------------------------

    def grow(self) -> None:
        """Starts, then rounds of descent and enlargement until the bound outside S is small."""
        inside = self.inside
        self.point = inside.polish(inside.leading(), max_iter=30, tol=1e-10)
        self._add_label_directions()
        self._supervised_start()
        self.point = self.descent.proximal(self.point)
        self._rounds()

    def _rounds(self) -> None:
        """Descend inside S, bound what lies outside, enlarge S: until the bound is below the tolerance."""
        estimate = 0.1 * max(self.point.F - self.floor, 0.0)
        flat, previous, final = 0, float("inf"), False
        for _ in range(_MAX_ROUNDS):
            goal = 0.1 * self.goal
            loose = goal if final else max(goal, 0.02 * estimate)
            self.point, self.left = self.descent.run(self.point, loose)
            if self.monitor.stopped:
                self.reason = str(self.monitor.stop_reason)
                return
            bounds, R, frame = self._residual_bounds()
            estimate = float(namespace(bounds).sum(bounds))
            if estimate + self.left <= self.goal:
                if final or self.left <= goal:
                    self.reason = "the objective can fall by no more than the tolerance"
                    return
                final = True
                continue
            flat = flat + 1 if previous - self.point.F <= 0.05 * self.goal else 0
            previous = self.point.F
            if flat == 3:
                self.reason = "the objective has stopped falling at the precision of floats"
                return
            if self._enlarge(bounds, R, frame, estimate) == 0:
                if final:
                    self.reason = "the objective can fall by no more than the tolerance"
                    return
                final = True
        self.reason = f"reached the limit of {_MAX_ROUNDS} rounds"

    def _add_label_directions(self) -> None:
        problem = self.problem
        if self.whole and problem.name == "filter":
            return
        E = self.point.E
        direction = problem.pull(E)
        if problem.name == "filter":
            depth = 4
            weights = None
            for _ in range(depth):
                new, _ = self.basis.new_directions(direction)
                if new.shape[1] == 0:
                    break
                self.basis.append(new)
                direction = self.basis.GS[:, -new.shape[1] :]
        else:
            self.basis.extend(direction)
        self._embed()

    def _embed(self) -> None:
        self.inside.refresh()
        self.point = replace(self.point, W=self.inside.embed(self.point.W))

    def _ridge_subspace(self, lam: float | None = None) -> tuple[Array, Array, Array]:
        """Ridge regression on all of S, then the proximal point of its residual (η = 1/(2λ))."""
        inside, problem = self.inside, self.problem
        xp = namespace(inside.D)
        k, q = self.basis.size, problem.covariates.shape[1]
        J = xp.concat([inside.Phi, problem.covariates], axis=1)
        lam = problem.lam if lam is None else lam
        ridge = xp.concat([xp.full((k,), lam, dtype=J.dtype), problem.covariate_ridge])
        start = xp.concat([self.point.W @ self.point.beta, self.point.gamma])
        theta, _, _, E = fit_ridge(problem, J, ridge, start, max_iter=10, tol=1e-5)
        A = theta[:k, :]
        if lam > 0:
            W = inside.leading(inside.Phi.T @ E / (2 * problem.xi**0.5 * lam**0.5))
        else:
            W = inside.leading(A * 1e3)
        return W, A, theta[k:, :]

    def _supervised_start(self) -> None:
        W, A, gamma = self._ridge_subspace()
        new = self.inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
        if new.F < self.point.F:
            self.point = new

    def _residual_bounds(self) -> tuple[Array, Array, Frame]:
        """Per direction, how far F may fall outside S: ξ·c_i with c_i = |R_i|²/(θ_i − ν̄)."""
        inside, problem, point = self.inside, self.problem, self.point
        xp = namespace(point.W)
        frame = inside.frame(point)
        R = self.basis.GS @ frame.W - problem.pull(point.E) @ (frame.beta.T / (2 * problem.xi))
        R = self.basis.outside(R)
        size = column_norms(R)
        top = float(frame.nu[0]) if frame.nu.shape[0] else 0.0
        gap = frame.theta - top
        if float(gap[-1]) <= 0:
            # Nothing is certifiable: a local estimate, at least half the distance to the spectrum outside.
            floor = 0.5 * (frame.theta - (0.0 if self.whole else float(self.basis.D[-1, -1])))
            gap = xp.where(gap > 0, gap, xp.where(floor > gap, floor, gap))
        safe = xp.where(gap > size, gap, xp.ones_like(gap))
        lower = xp.where(gap > -size, gap, -size)
        c = xp.where(gap > size, size**2 / safe, 2 * size - lower)
        return problem.xi * c, R, frame

    def _enlarge(self, bounds: Array, R: Array, frame: Frame, estimate: float) -> int:
        """Krylov chains of 2ξ(θ_i − G) + |β_i|²·(loss Hessian), started at the largest residuals."""
        problem, basis = self.problem, self.basis
        xp = namespace(R)
        b = np.asarray([float(x) for x in bounds])
        order = np.argsort(-b, kind="stable")
        rest = estimate - np.cumsum(b[order])
        active = order[: int(np.argmax(rest <= max(0.1 * estimate, 0.3 * self.goal))) + 1]
        scale = max(self.point.F - self.floor, 1e-300)
        target = max(0.3 * self.goal, (estimate / scale) ** 1.5 * scale) / self.rank
        depth = np.clip(np.ceil(np.log10(np.maximum(b[active] / target, 1))), 1, 10).astype(int)
        if depth.sum() > self.capacity - basis.size and not self.whole:
            keep = min(2 * self.rank + 10, self.capacity - 2 * problem.n_outputs - 1)
            V = xp.concat([frame.W, frame.complement[:, : max(keep - self.rank, 0)]], axis=1)
            basis.rotate(V)
            self.inside.refresh()
            self.point = replace(
                self.point, W=eye_like(V, V.shape[1], self.rank), beta=frame.beta
            )
            room = self.capacity - basis.size
            while depth.sum() > room and depth.max() > 1:
                depth = np.minimum(depth, depth.max() - 1)
            active, depth = active[:room], depth[:room]
        index = xp.asarray(active)
        before = basis.size
        T = xp.take(R, index, axis=1)
        theta, beta = xp.take(frame.theta, index), xp.take(frame.beta, index, axis=0)
        H = problem.loss_hessian(self.point.a)
        weight = self._directional_curvature(H, beta)
        if problem.root_weight is not None:
            weight = weight / problem.root_weight**2
        while T.shape[1]:
            new, alive = basis.new_directions(T)
            if new.shape[1] == 0:
                break
            index = xp.nonzero(alive)[0]
            theta, weight = xp.take(theta, index), xp.take(weight, index, axis=1)
            depth = depth[np.asarray([int(i) for i in index])] - 1
            Z = problem.image(new)
            on = np.flatnonzero(depth > 0)
            if problem.name == "filter":
                both = problem.back(xp.concat([Z, weight * Z], axis=1))
                G, curved = both[:, : new.shape[1]], both[:, new.shape[1] :]
            else:
                G, curved = problem.back(Z), weight * new
            basis.append(new, Z, G)
            pick = xp.asarray(on)
            T = xp.take(2 * problem.xi * (theta[None, :] * new - G) + curved, pick, axis=1)
            theta, weight, depth = xp.take(theta, pick), xp.take(weight, pick, axis=1), depth[on]
        self._embed()
        return basis.size - before

    @staticmethod
    def _directional_curvature(H: Array, beta: Array) -> Array:
        """β_iᵀ H_n β_i for every sample and row of beta (j, κ): (n, j)."""
        xp = namespace(H)
        out = None
        for c in range(beta.shape[1]):
            for d in range(beta.shape[1]):
                part = H[:, c, d][:, None] * (beta[:, c] * beta[:, d])[None, :]
                out = part if out is None else out + part
        return xp.clip(out, 0.0, None)

    # --- other starts -----------------------------------------------------------------------------

    def restart(self) -> None:
        """Several short descents from other places; the best are finished (math §6)."""
        value = max(self.point.F - self.floor, 0.0)
        points = list(self._starts())
        # Where steps are cheap every start goes far: early values say little about where it will end.
        steps = min(max(int(8e6 / self.work), 6), 40)
        for keep in (len(points), len(points) // 2):
            points = sorted(points, key=lambda point: point.F)[:keep]
            for i, point in enumerate(points):
                descent = Descent(self.inside, Monitor(10**9), polish=4)
                points[i], _ = descent.run(descent.proximal(point), 1e-5 * value, steps)
                if self.monitor.stopped:
                    return
        first = self._hold(self.point)
        held = [self._hold(point) for point in points]
        best = (self.point.F, first, self.left, self.reason)
        seen = [self.point.F]
        for candidate in sorted(held, key=lambda c: c[0].F):
            F = candidate[0].F
            if len(seen) > _FINISHED or self.monitor.stopped:
                break
            if any(abs(F - other) <= 1e-7 * value for other in seen):
                continue  # the same valley again
            seen.append(F)
            self._resume(candidate)
            self._rounds()
            if self.point.F < best[0]:
                best = (self.point.F, self._hold(self.point), self.left, self.reason)
        self._resume(best[1])
        self.left, self.reason = best[2:]

    def _hold(self, point: Point) -> tuple[Point, Array]:
        """A point with its subspace in full coordinates: the basis may turn before it is used again."""
        return point, self.basis.S @ point.W

    def _resume(self, held: tuple[Point, Array]) -> None:
        point, W = held
        self.basis.extend(W)
        self.inside.refresh()
        self.point = replace(point, W=self.basis.S.T @ W)

    def _starts(self) -> Iterator[Point]:
        """PCA, ridge solutions at several λ, a path from large λ down, and random subspaces."""
        inside, problem = self.inside, self.problem
        xp = namespace(inside.D)
        k, r = self.basis.size, self.rank

        def polished(W: Array, A: Array | None = None, gamma: Array | None = None) -> Point:
            beta = None if A is None else W.T @ A
            return inside.polish(W, beta, gamma, max_iter=8, tol=1e-4)

        pca = polished(inside.leading())
        yield pca
        loud = 1e3 * float(xp.max(inside.D)) ** 0.5
        for factor in (1.0, 1e2, 1e4, 1e6):
            W, A, gamma = self._ridge_subspace(problem.lam * factor)
            yield polished(W, A, gamma)
            # The directions of the ridge solution themselves, filled up by PCA.
            W = inside.leading(A * (loud / (math.sqrt(frobenius2(A)) + 1e-300)))
            yield polished(W, A, gamma)
        point = pca
        for factor in (1e4, 1e3, 1e2, 1e1):
            easier = SubspaceProblem(replace(problem, lam=problem.lam * factor), self.basis, r)
            descent = Descent(easier, Monitor(10**9), polish=4)
            point = easier.at(point.W, point.beta, point.gamma)
            point, _ = descent.run(descent.proximal(point), 0.0, 3)
            yield inside.at(point.W, point.beta, point.gamma)
        for _ in range(min(max(int(2e7 / self.work), 4), 16)):
            yield polished(xp.linalg.qr(self._random(k, r))[0])

    # --- the answer ---------------------------------------------------------------------------------

    def solution(self, problem: LiftedProblem, expand: Callable[[Array], Array]) -> Solution:
        inside = self.inside
        point = inside.polish(self.point.W, self.point.beta, self.point.gamma, max_iter=10)
        last = self.descent.proximal(point) if not self.monitor.stopped else point
        if last.F < point.F:
            point = last
        xp = problem.data.xp

        def back(x: Array) -> Array:
            return xp.astype(x, problem.data.dtype)

        W = back(expand(self.basis.S @ point.W))
        r = W.shape[1]
        factors = problem.unlift(W, back(point.beta), back(point.gamma))
        converged = not self.monitor.stopped
        return Solution(
            factors=factors,
            objective=point.F,
            activations=point.a,
            history=self.monitor.history,
            reason=self.reason,
            converged=converged,
            gradient_mapping=self.descent.mapping,
            basis=self.basis,
        )

