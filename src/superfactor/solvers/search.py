"""One search: rounds of descent inside a subspace, a bound on what lies outside, and growth.

Rounds of (1) second-order descent inside a subspace S of the search side, (2) the residual of the full
problem outside S, (3) short Krylov chains that enlarge S where the residual is large — block Davidson,
carried over from eigenproblems (docs/method.md §11). Where S is the whole range of X the rounds end at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from superfactor._arrays import Array, cast, eigh_descending, eye_like, namespace, wide
from superfactor.lifting import Factors, GrowingBasis, LiftedProblem, SampledProblem, Vectors
from superfactor.solvers.checkpoint import Checkpoint
from superfactor.solvers.descent import Descent
from superfactor.solvers.enlarge import Residual, chain_lengths, enlarge, residual
from superfactor.solvers.newton_step import newton_step
from superfactor.solvers.resuming import (
    FINISHED,
    GROWING,
    RESTARTING,
    Beginning,
    random_state,
    restore_random,
)
from superfactor.solvers.solution import Monitor, Solution
from superfactor.solvers.starts import Effort, promising, ridge_subspace, starting_points
from superfactor.solvers.subspace import Point, SubspaceProblem

# Up to this dimension the subspace is the whole range of X from the start.
WHOLE_RANGE = 64
_MAX_ROUNDS = 60


class Search:
    """The state of one solve: basis, inner problem, current point."""

    def __init__(
        self,
        problem: SampledProblem,
        rank: int,
        tol: float,
        rng: np.random.Generator,
        monitor: Monitor,
        begin: Beginning | None = None,
        checkpoint: Checkpoint | None = None,
    ):
        self.problem, self.tol, self.rng = problem, tol, rng
        self.begun, self.checkpoint, self.phase = begin, checkpoint, GROWING
        self.basis = GrowingBasis.of(problem)
        self.range = min(problem.shape)
        self.whole = self.range <= max(4 * rank, WHOLE_RANGE)
        self._subspace: Vectors = None
        if begin is None:
            self._leading_subspace(rank)
        else:
            self._subspace = self.basis.begin(begin.vectors, begin.tall)
        if self.basis.size < rank:  # rank X < r: labels may use the spare rank
            self.basis.extend(self.basis.random(self.rng, rank - self.basis.size))
        if self.whole and begin is None:
            self.basis.rotate(eigh_descending(self.basis.D)[1])
        self.rank = min(rank, self.basis.size)
        labels = min(problem.n_outputs, rank)
        self.capacity = max(6 * rank, 2 * rank + 30) + 8 * labels
        if self.whole:
            self.capacity = self.basis.size + 4 * rank + 20 * labels
        self._random = random_state(rng)
        self._begin(monitor)

    def _begin(self, monitor: Monitor) -> None:
        self.monitor = monitor
        self.inside = SubspaceProblem(self.problem, self.basis, self.rank)
        self.descent = Descent(self.inside, monitor)
        self.floor = self.inside.pca_value()
        self.reason, self.converged, self.left = "", False, math.inf

    def weigh(self, problem: LiftedProblem, monitor: Monitor) -> None:
        """Take up the same data at other weights ξ and λ; the basis and the point stay."""
        self.problem = replace(
            self.problem,
            xi=problem.xi,
            lam=problem.lam,
            covariate_ridge=wide(problem.covariate_ridge),
        )
        self.basis.problem = self.problem
        self._begin(monitor)

    # --- sizes and tolerances --------------------------------------------------------------------

    @property
    def goal(self) -> float:
        """tol times what supervision can change, but not below the noise of F itself."""
        noise = 16 * self.problem.epsilon * abs(self.point.F)
        return max(self.tol * self.supervised, noise)

    def work(self, outputs: int) -> float:
        """About the operations of a Newton step with so many coefficients for each direction of the basis."""
        unknowns = float(self.basis.size * outputs)
        return (self.problem.n_samples + unknowns) * unknowns**2

    @property
    def supervised(self) -> float:
        """F − D(0), what supervision can change; separable classes may send it to zero, so not quite."""
        return max(self.point.F - self.floor, 1e-4 * self.problem.null_loss)

    @property
    def proven(self) -> bool:
        gap = self.inside.duality_gap(self.point)
        return gap <= 10 * self.goal + 1e-7 * self.supervised

    # --- the leading subspace ----------------------------------------------------------------------

    def _leading_subspace(self, rank: int) -> None:
        """The whole range of X when that is small, a block-Krylov approximation of its top otherwise."""
        basis = self.basis
        if self.whole:
            basis.extend(basis.everything(max(self.range, WHOLE_RANGE)))
        else:
            basis.fill_leading(4 * rank, 2 * rank + 10, self.rng, max(8, rank // 2))

    # --- the main loop -------------------------------------------------------------------------------

    def run(self, starts: bool) -> None:
        """The whole search."""
        self.grow()
        done = self.begun is not None and self.begun.phase == FINISHED
        if starts and not done and not self.proven and not self.monitor.stopped:
            self.phase = RESTARTING
            self._save(force=True)
            self.restart()
        self.sharpen()
        if not self.monitor.stopped:
            self.phase = FINISHED
        self._save(force=True)

    def grow(self) -> None:
        """Starts, then rounds of descent and enlargement until the bound outside S is small."""
        inside, begun = self.inside, self.begun
        if begun is not None and self._subspace is not None:
            W = self.basis.products(self._subspace)[0][:, : self.rank]
            self.basis.release(self._subspace)
            self.point = inside.polish(W, begun.beta, begun.gamma, max_iter=30, tol=1e-10)
            if begun.random is not None:
                restore_random(self.rng, begun.random)
        else:
            self.point = inside.polish(inside.leading(), max_iter=30, tol=1e-10)
            self._add_label_directions()
            self._supervised_start()
        self._save()
        self.point = self.descent.proximal(self.point)
        self._rounds()

    def beginning(self) -> Beginning:
        """What a search of a like problem needs to go on from here."""
        frame = self.inside.frame(self.point)
        V = namespace(frame.W).concat([frame.W, frame.complement], axis=1)
        return Beginning(self.basis.feature_vectors(V), frame.beta, self.point.gamma)

    def _reached(self, point: Point) -> None:
        """Write down how far the search has come; of other starts, only the best one at its end."""
        if self.phase == GROWING:
            self.point = point
            self._save()

    def _save(self, force: bool = False) -> None:
        """Write the state of the search, if somebody wants it and it is time."""
        if self.checkpoint is not None:
            self.checkpoint.save(lambda: self._state().arrays(), force)

    def _state(self) -> Beginning:
        begin, tall = self.beginning(), None
        if self.problem.name == "feature":
            tall = self.basis.vectors(self.inside.frame(self.point).W)
        return replace(
            begin,
            tall=tall,
            objective=self.point.F,
            phase=self.phase,
            random=self._random,
        )

    def resume(self) -> None:
        """From the point of other weights; if its end is not proven optimal, from the ridge solution too."""
        old = self.point
        self.point = self.inside.polish(old.W, old.beta, old.gamma, max_iter=30, tol=1e-4)
        self._rounds()
        if self.proven or self.monitor.stopped:
            return
        first, outcome = self._hold(self.point), self.outcome
        W, A, gamma = ridge_subspace(self.inside, self.point, self.problem.lam)
        start = self.inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
        self.point, left = self.descent.run(start, 0.1 * self.goal, limit=6)
        if self.point.F - 10 * left < first[0].F:  # it may still get below
            self._rounds()
        if first[0].F <= self.point.F:
            self._return_to(*first)
            self.left, self.reason, self.converged = outcome
        self.basis.release(first[1])

    def _rounds(self) -> None:
        """Descend inside S, bound what lies outside, enlarge S: until the bound is below the tolerance."""
        estimate = 0.1 * self.supervised
        flat, previous, final = 0, math.inf, False
        self.converged = True
        for _ in range(_MAX_ROUNDS):
            goal = 0.1 * self.goal
            loose = goal if final else max(goal, 0.02 * estimate)
            self.point, self.left = self.descent.run(self.point, loose, reached=self._reached)
            if self.monitor.stopped:
                self.reason, self.converged = str(self.monitor.stop_reason), False
                return
            outside = 0.0 if self.whole else float(self.basis.D[-1, -1])
            found = residual(self.inside, self.point, outside)
            estimate = found.total
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
            if self._enlarge(found) == 0:
                if final:
                    self.reason = "the objective can fall by no more than the tolerance"
                    return
                final = True
        self.reason, self.converged = f"reached the limit of {_MAX_ROUNDS} rounds", False

    def _add_label_directions(self) -> None:
        """Where the labels pull: ΦᵀE, and for the filter model a short Krylov chain of it."""
        if self.whole and self.problem.name == "filter":
            return
        block = self.basis.leading(self.basis.pull(self.point.theta), self.rank)
        for _ in range(4 if self.problem.name == "filter" else 1):
            added = self.basis.extend(block)
            if added == 0:
                break
            block = self.basis.latest_powers(added)
        self._embed()

    def _embed(self) -> None:
        self.inside.refresh()
        self.floor = min(self.floor, self.inside.pca_value())
        self.point = self.inside.embedded(self.point)

    def _supervised_start(self) -> None:
        W, A, gamma = ridge_subspace(self.inside, self.point, self.problem.lam)
        new = self.inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
        if new.F < self.point.F:
            self.point = new

    def _enlarge(self, found: Residual) -> int:
        """Add Krylov chains where the residual is large; a full basis keeps its best part first."""
        active, depth = chain_lengths(found.bounds, self.goal, self.supervised)
        room = self.capacity - self.basis.size
        if depth.sum() > room and not self.whole:
            self._thick_restart(found)
            room = self.capacity - self.basis.size
            while depth.sum() > room and depth.max() > 1:
                depth = np.minimum(depth, depth.max() - 1)
            active, depth = active[:room], depth[:room]
        added = enlarge(self.inside, self.point, found, active, depth)
        self._embed()
        return added

    def _thick_restart(self, found: Residual) -> None:
        """S ← W and the leading directions of its complement."""
        frame, outputs = found.frame, min(self.problem.n_outputs, self.rank)
        keep = min(2 * self.rank + 10, self.capacity - 2 * outputs - 1)
        V = namespace(frame.W).concat(
            [frame.W, frame.complement[:, : max(keep - self.rank, 0)]], axis=1
        )
        self.basis.rotate(V)
        self.inside.refresh()
        W = eye_like(V, V.shape[1], self.rank)
        self.point = self.inside.at(W, frame.beta, self.point.gamma)

    # --- other starts -----------------------------------------------------------------------------

    def restart(self) -> None:
        """Short descents from other places inside S; the most promising are finished."""
        effort = Effort.for_work(self.work(min(self.problem.n_outputs, self.rank)))
        value = self.supervised
        points = starting_points(self.inside, self.point, effort, self.rng)
        found = promising(self.inside, points, effort, self.point.F, 1e-5 * value, self.monitor)
        held = [self._hold(point) for point in found[: effort.finished * 4]]
        best, outcome, seen = self._hold(self.point), self.outcome, [self.point.F]
        for point, W in held:
            if len(seen) > effort.finished or self.monitor.stopped:
                break
            if any(abs(point.F - other) <= 1e-7 * value for other in seen):
                continue  # the same valley again
            seen.append(point.F)
            self._return_to(point, W)
            self._rounds()
            if self.point.F < best[0].F:
                self.basis.release(best[1])
                best, outcome = self._hold(self.point), self.outcome
                self._save()
        self._return_to(*best)
        self.left, self.reason, self.converged = outcome
        for _, W in [*held, best]:
            self.basis.release(W)

    def _hold(self, point: Point) -> tuple[Point, Vectors]:
        """The point, and its W in full coordinates: the basis may turn before it is used again."""
        return point, self.basis.hold(point.W)

    @property
    def outcome(self) -> tuple[float, str, bool]:
        return self.left, self.reason, self.converged

    def _return_to(self, point: Point, W: Vectors) -> None:
        self.basis.extend(W)
        self.inside.refresh()
        self.point = self.inside.at(self.basis.products(W)[0], point.beta, point.gamma)

    # --- the answer ---------------------------------------------------------------------------------

    def sharpen(self) -> None:
        """The last digits: β and γ to the end, then W, beyond what F itself can show."""
        inside = self.inside
        point = inside.polish(self.point.W, self.point.beta, self.point.gamma, max_iter=10)
        if not self.monitor.stopped:
            slack = self.descent.slack * abs(point.F)
            last = self.descent.proximal(point)
            point = last if point.F - slack > last.F else point
            # One step more squares what error is left in W.
            step = newton_step(inside, point)
            if step is not None and not step.saddle and step.decrease <= self.goal:
                sharper = step.apply(inside, point, 1.0)
                point = sharper if point.F + slack >= sharper.F else point
        self.point = point

    def sampled_solution(self, codes: bool = True) -> Solution:
        """The answer where the samples alone know the problem; their codes (n, r) only if wanted."""
        point, problem = self.point, self.problem
        turned = self.basis.unlifted(point.W, point.beta)
        turn = point.W @ turned.codes_turn
        rows = problem.samples.stack("codes", turn) if codes else problem.like
        parts = turned.components, rows, turned.beta, point.gamma
        factors = Factors(*(cast(part, problem.like) for part in parts))
        return replace(self._solved(factors), codes_turn=turn, code_sizes=turned.code_sizes)

    def solution(self, problem: LiftedProblem, expand: Callable[[Array], Array]) -> Solution:
        point = self.point
        xp = problem.data.xp

        def back(x: Array) -> Array:
            return xp.astype(x, problem.data.dtype, copy=False)

        W = back(expand(self.basis.vectors(point.W)))
        factors = problem.unlift(W, back(point.beta), back(point.gamma))
        activations = self.problem.samples.stack("activations", point.theta)
        return replace(self._solved(factors), activations=activations)

    def _solved(self, factors: Factors) -> Solution:
        return Solution(
            factors=factors,
            objective=self.point.F,
            activations=None,
            history=self.monitor.history,
            reason=self.reason,
            converged=self.converged,
            stopped_early=self.monitor.stopped_early,
            gradient_mapping=self.descent.mapping,
            basis=self.basis,
            theta=self.point.theta,
        )
