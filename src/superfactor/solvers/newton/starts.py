"""Other starts, for problems whose first answer is not proven optimal (docs/method.md §6).

Starts are subspaces of the current basis. They descend together (`batch`), each along one of three schedules
of the weights (ξ, λ):

- labels first: ξ grows from a small value to the problem's own, so reconstruction gains weight gradually;
- data first: ξ and λ decrease from large values, so the labels gain weight gradually;
- direct: the problem's own weights from the first step on.

On many problems the schedules end in different local minima, whichever subspace they start from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from superfactor._arrays import Array, frobenius2, full_like_of, indices, namespace, to_numpy
from superfactor.solution import OtherStarts
from superfactor.solvers.newton.batch import Batch
from superfactor.solvers.newton.descent import NOTHING, Stride
from superfactor.solvers.newton.directions import Directions, own_directions
from superfactor.solvers.newton.rounds import rounds
from superfactor.solvers.newton.state import RESTARTING, Run, State
from superfactor.subspace import Inside, Point, fit_ridge
from superfactor.subspace.newton_model import elimination_pays

#: Factors of the problem's own (ξ, λ) in each stage of a schedule.
LABELS_FIRST = ((1e-3, 1.0), (1e-2, 1.0), (1e-1, 1.0))
DATA_FIRST = ((1e3, 1e3), (1e2, 1e2), (1e1, 1e1))
DIRECT = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
#: Newton steps in each stage.
STEPS_PER_STAGE = 2
# Share of the budget for new starts; the rest continues those that were stopped.
_SHARE_OF_NEW_STARTS = 0.85
# Number of starts that give the first answer where steps use conjugate gradients.
_FIRST = 2
# Tolerance relative to what supervision can change: a descent this close to a minimum does not leave it.
_ROUGH_TOL = 1e-3
# F rarely falls by more than this multiple of the decrease that a fully minimised model predicts.
_SAFETY = 30
_UNFINISHED = "another start had reached a lower objective when the search was stopped"
# Starts from ridge regression use λ times these.
_RIDGES = (1.0, 1e2, 1e4, 1e6)
# Tangents of the angles by which W is rotated around a point.
_TANGENTS = (0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Effort:
    """How much to spend on other starts."""

    allowance: float  # budget, as a multiple of the operations of the first answer
    # Least budget in operations for one output, too small to notice; it grows with the number of outputs,
    # since the number of local minima does
    floor: float
    max_starts: int  # most starts in a batch
    batches: int  # number of batches of new starts
    steps: int  # most steps of each start at the problem's own weights
    # How many starts below the answer are finished, or continue alone where products are expensive
    finished: int
    halved: tuple[int, ...] = ()  # after so many steps of a batch only its lower half continues
    nearby_batches: int = 0  # number of later batches, of starts near the best point so far
    before: Effort | None = None  # an effort that is spent first, on the same starts as if it were alone


_AUTO = Effort(1.25, 2.5e9, 24, 1, 40, 3, (3, 6, 9, 12))
EFFORTS = {"auto": _AUTO, "thorough": Effort(math.inf, 0.0, 32, 6, 100, 24, (), 6, _AUTO)}


def effort_named(search: str) -> Effort | None:
    """Return the effort of "auto" or "thorough"; None for "off"."""
    if search not in ("off", *EFFORTS):
        raise ValueError(f"search={search!r}: 'auto', 'off' or 'thorough' is required")
    return EFFORTS.get(search)


def ridge_subspace(inside: Inside, point: Point, lam: float) -> tuple[Array, Array, Array]:
    """Return W (k, r), the proximal point of the ridge solution's residuals (η = 1/(2λ)), A and γ.

    A is (k, κ), γ (q, κ).
    """
    problem, k = inside.problem, inside.basis.size
    xp = namespace(inside.D)
    ridge = xp.concat([full_like_of(inside.D, k, lam), problem.covariate_ridge])
    coef, _, pulled = fit_ridge(inside.loss, ridge, point.coef, max_iter=10, tol=1e-3)
    A = coef[:k, :]
    if lam > 0:
        W = inside.leading(pulled[:k, :] / (2 * problem.xi**0.5 * lam**0.5))
    else:
        W = coefficient_directions(inside, A)
    return W, A, coef[k:, :]


def coefficient_directions(inside: Inside, A: Array) -> Array:
    """Return W (k, r): the directions of A (k, κ), then leading directions of PCA."""
    dominant = 1e3 * math.sqrt(float(namespace(A).max(inside.D)))
    return inside.leading(A * (dominant / (math.sqrt(frobenius2(A)) + 1e-300)))


@dataclass(frozen=True)
class Start:
    """A point to start from, W (k, r), β (r, κ), γ (q, κ), and a schedule of the weights."""

    W: Array
    beta: Array
    gamma: Array
    schedule: tuple[tuple[float, float], ...] = DIRECT  # factors of the problem's own (ξ, λ)


def candidate_starts(
    inside: Inside, current: Point, directions: Directions, rng: np.random.Generator
) -> Iterator[Start]:
    """Yield starts: PCA with two schedules, then random subspaces and those of ridge regressions."""
    xp, problem, r = namespace(inside.D), inside.problem, inside.rank
    none = xp.zeros_like(current.beta), directions.gamma
    pca = inside.leading()

    def random() -> Start:
        return Start(directions.subspace(rng, r), *none)

    yield Start(pca, *none, DATA_FIRST)
    yield Start(pca, *none, LABELS_FIRST)
    longest = Stride.of(problem).longest
    for factor in _RIDGES:
        # A proximal step from the current point: the longest that is allowed, then shorter ones.
        W = inside.proximal_subspace(current, longest / factor**0.5, inside.gradient(current))
        yield Start(W, W.T @ current.W @ current.beta, current.gamma)
        W, A, gamma = ridge_subspace(inside, current, problem.lam * factor)
        yield Start(W, W.T @ A, gamma)
        yield random()
        W = coefficient_directions(inside, A)
        yield Start(W, W.T @ A, gamma)
        yield random()
    while True:
        for schedule in (DIRECT, LABELS_FIRST, DIRECT, DATA_FIRST):
            yield replace(random(), schedule=schedule)


def nearby_starts(
    inside: Inside, best: Point, directions: Directions, rng: np.random.Generator
) -> Iterator[Start]:
    """Yield starts around a point: one direction of its W is rotated, every other time towards the labels."""
    own = own_directions(inside, best)
    while True:
        for tangent in _TANGENTS:
            for labels in (True, False):
                W = directions.near(own, rng, tangent, labels)
                yield Start(W, W.T @ best.W @ best.beta, best.gamma)


def supervised_start(state: State, run: Run) -> State:
    """Return the state from which a search starts: the ridge solution, if that is lower than PCA.

    Where Newton systems are expensive, PCA descends along both its schedules instead, which costs no more.
    """
    inside = state.inside
    if elimination_pays(inside):
        W, A, gamma = ridge_subspace(inside, state.point, state.problem.lam)
        new = inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
        return replace(state, point=new) if new.F < state.point.F else state
    directions = Directions.of(inside)
    starts = list(islice(candidate_starts(inside, state.point, directions, run.rng), _FIRST))
    descents = Descents(inside, math.inf, _ROUGH_TOL * state.supervised)

    def record(F: float) -> bool:
        run.monitor.record(F, 1.0, "newton")
        return run.monitor.stopped

    descents.run(continued(inside, starts), 100, record)
    return replace(state, point=descents.lowest)


def continued(inside: Inside, starts: Sequence[Start]) -> Batch:
    """Return a batch at the problem's own weights, after each start has followed its schedule."""
    xp = namespace(inside.D)
    W, beta, gamma = (
        xp.stack(parts) for parts in zip(*((s.W, s.beta, s.gamma) for s in starts), strict=True)
    )
    batch: Batch | None = None
    if any(start.schedule is not DIRECT for start in starts):
        for factors in zip(*(start.schedule for start in starts), strict=True):
            stage = inside.with_factors(indices(inside.D, np.asarray(factors)))
            batch = Batch.at(stage, W, beta, gamma) if batch is None else batch.moved_to(stage)
            for _ in range(STEPS_PER_STAGE):
                batch = batch.stepped(stage)
                if np.all(batch.left <= 1e-2 * to_numpy(stage.supervised(batch.points))):
                    break
    return Batch.at(inside, W, beta, gamma) if batch is None else batch.moved_to(inside)


@dataclass
class Descents:
    """Descents from several starts, each as long as it may get below the lowest value."""

    inside: Inside
    known: float  # F of the answer to improve on
    goal: float  # differences of F below this count as none
    # (point, optimistic_F) of each start that has ended: optimistic_F is about the lowest F that a continued
    # descent may reach, and F itself for those that are not continued
    found: list[tuple[Point, float]] = field(default_factory=list)
    converged: list[float] = field(default_factory=list)  # F of the starts that have converged
    halved: tuple[int, ...] = ()  # after so many steps of a batch only its lower half continues
    starts: int = 0  # number of starts so far

    @property
    def lowest(self) -> Point:
        """The point with the lowest F."""
        return min((point for point, _ in self.found), key=lambda point: point.F)

    def run(self, batch: Batch, steps: int, budget_spent: Callable[[float], bool]) -> None:
        """Let a batch descend until `budget_spent(lowest F)`.

        A start leaves the batch once it has converged, cannot get below the lowest F, or is in the upper half
        when the batch is halved.
        """
        self.starts += batch.size
        lowest = min([self.known, *(point.F for point, _ in self.found)])
        for step in range(1, steps + 1):
            batch = batch.stepped(self.inside)
            F, left = batch.F, batch.left
            lowest = min(lowest, float(F.min()))
            # The model of a point that was stationary from the beginning predicts nothing.
            converged = (batch.solved & (left <= self.goal)) | (left <= NOTHING * self.goal)
            optimistic_F = F - _SAFETY * left
            behind = batch.solved & (optimistic_F > lowest + self.goal)
            self.converged.extend(float(value) for value in F[converged])
            self._store(batch, np.flatnonzero(converged & ~behind), ended=True)
            batch = batch.taken(np.flatnonzero(~(converged | behind)))
            if step in self.halved:
                order = np.argsort(batch.F, kind="stable")
                lower, upper = np.split(order, [(batch.size + 1) // 2])
                self._store(batch, upper, ended=True)
                batch = batch.taken(np.sort(lower))
            # `rounds` finishes the first answer with more exact steps.
            alone = batch.size == 1 and self.known == math.inf and not self.found
            if batch.size == 0 or alone or budget_spent(lowest) or self.agrees(lowest):
                break
        self._store(batch, np.arange(batch.size))

    def agreed(self, value: float) -> int:
        """Return how many starts have converged to a value."""
        return sum(abs(F - value) <= 10 * self.goal for F in self.converged)

    def agrees(self, value: float) -> bool:
        """Whether most starts have converged to the lowest value, so that a lower minimum is unlikely."""
        return 2 * self.agreed(min(value, *self.converged)) > self.starts if self.converged else False

    def promising(self, most: int) -> list[Start]:
        """Remove and return stopped starts that may still get below the lowest value, the best first."""
        lowest = min([self.known, *(point.F for point, _ in self.found)])
        return self._taken(sorted(self._below(lowest), key=lambda end: end[1])[:most])

    def descend(self, starts: Sequence[Start], steps: int, budget_spent: Callable[[float], bool]) -> None:
        """Let starts follow their schedules, then descend as one batch."""
        if starts:
            self.run(continued(self.inside, starts), steps, budget_spent)

    def continue_lowest(self, steps: int, budget_spent: Callable[[float], bool]) -> None:
        """Continue the lowest of the stopped starts that may still improve on the known answer, alone."""
        promising = self._below(self.known)
        if promising and not budget_spent(self.known):
            self.descend(self._taken([min(promising, key=lambda end: end[0].F)]), steps, budget_spent)

    def _below(self, value: float) -> list[tuple[Point, float]]:
        return [end for end in self.found if end[1] < min(value, end[0].F) - self.goal]

    def _taken(self, ends: list[tuple[Point, float]]) -> list[Start]:
        chosen = {id(end) for end in ends}
        self.found = [end for end in self.found if id(end) not in chosen]
        self.starts -= len(ends)  # they are counted again when they continue
        return [Start(point.W, point.beta, point.gamma) for point, _ in ends]

    def _store(self, batch: Batch, chosen: np.ndarray, ended: bool = False) -> None:
        for i in chosen:
            left = 0.0 if ended else _SAFETY * batch.left[i]
            self.found.append((batch.points[int(i)], float(batch.F[i] - left)))


def other_starts(state: State, run: Run, effort: Effort) -> State:
    """Return the best of this state and of the answers from other starts inside its subspace."""
    state = replace(state, phase=RESTARTING, searched=None)
    if effort.before is not None:
        state = other_starts(state, run, effort.before)
    run.observe(state, True)
    problem, inside = state.problem, state.inside
    samples, begun = problem.samples, problem.samples.operations
    floor = effort.floor * min(problem.n_outputs, 4)
    budget = max(effort.allowance * (begun - run.begun), floor)
    descents = Descents(inside, state.point.F, 1e-6 * state.supervised, halved=effort.halved)

    def spent_after(share: float) -> Callable[[float], bool]:
        def budget_spent(lowest: float) -> bool:
            stop = run.monitor.poll(min(lowest, state.point.F))
            return stop or samples.operations - begun > share * budget

        return budget_spent

    def agreed() -> bool:
        return budget < math.inf and descents.agrees(state.point.F)

    directions = Directions.of(inside)
    cheap, starts = elimination_pays(inside), candidate_starts(inside, state.point, directions, run.rng)
    if not cheap:  # the first answer came from the first of them
        starts = islice(starts, _FIRST, None)
    count, batches = _batch_size(inside, effort, budget), effort.batches + effort.nearby_batches
    for batch in range(batches):
        budget_spent = spent_after(_SHARE_OF_NEW_STARTS * (batch + 1) / batches)
        if budget_spent(descents.known) or agreed():
            continue
        if batch >= effort.batches:
            best = min([state.point, *(point for point, _ in descents.found)], key=lambda at: at.F)
            starts = nearby_starts(inside, best, directions, run.rng)
        stopped = descents.promising(count // 2) if cheap else []
        descents.descend([*stopped, *islice(starts, count)], effort.steps, budget_spent)
    # Continue the stopped starts: in one batch or, where products are expensive, one after another.
    if not cheap:
        for _ in range(effort.finished):
            descents.continue_lowest(effort.steps, spent_after(1.0))
    elif not (spent_after(1.0)(descents.known) or agreed()):
        descents.descend(descents.promising(count), effort.steps, spent_after(1.0))
    return _best_of(state, descents, run, effort.finished)


def _best_of(state: State, descents: Descents, run: Run, most: int) -> State:
    """Return the best of a state and of the descents' points; at most `most` lower points are finished."""
    first, best, finished = state.point.F, state.held(), [state.point.F]
    points = sorted((point for point, _ in descents.found), key=lambda point: point.F)
    rough = replace(state, converged=False, left=math.inf, reason=_UNFINISHED)
    unfinished = False
    for start in [replace(rough, point=point).held() for point in points]:
        again = any(abs(start.F - other) <= descents.goal for other in finished)
        lower = best.F - descents.goal > start.F
        if again or not lower or len(finished) > most or run.monitor.stopped:
            if start.F < best.F:
                best, unfinished = start, True  # as it is
            continue
        finished.append(start.F)
        state = rounds(state.back_to(start), run)
        if state.point.F < best.F:
            best, unfinished = state.held(), False
            run.observe(state, False)
    if unfinished and not run.monitor.stopped:
        best = rounds(state.back_to(best), run).held()
    agreed = descents.agreed(best.F)
    before = state.searched or OtherStarts()
    if abs(first - best.F) <= 10 * descents.goal:
        agreed += before.agreed
    return replace(state.back_to(best), searched=OtherStarts(before.starts + descents.starts, agreed))


def _batch_size(inside: Inside, effort: Effort, budget: float) -> int:
    """Return how many starts share a batch: as many as can converge, or as cost hardly more than one."""
    options, loss = inside.problem.options, inside.loss
    a_product = 8.0 * loss.rows * loss.columns * inside.problem.n_outputs
    products = budget / (effort.steps * options.expected_products)
    room = max(products - options.call_overhead, 0.25 * options.call_overhead)
    return int(min(max(room / a_product, 2), effort.max_starts))
