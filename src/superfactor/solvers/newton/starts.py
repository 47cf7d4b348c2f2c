"""Other places to start from, for problems whose first answer is not proven optimal (docs/method.md §6).

Starts are subspaces of the basis at hand, and descend side by side (`fleet`). Three ways lead down from each:

- labels first: from a small ξ up to the problem's own, so that reconstruction comes in by and by;
- data first: from large ξ and λ down, so that labels do;
- straight: at the problem's weights at once.

On many problems these end in different valleys, whichever subspace they start from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from superfactor._arrays import Array, frobenius2, full_like_of, indices, namespace, to_numpy
from superfactor.solution import OtherStarts
from superfactor.solvers.newton.descent import Stride
from superfactor.solvers.newton.directions import Directions, own_directions
from superfactor.solvers.newton.fleet import Fleet
from superfactor.solvers.newton.rounds import rounds
from superfactor.solvers.newton.state import RESTARTING, Run, State
from superfactor.subspace import Inside, Point, fit_ridge
from superfactor.subspace.newton_model import elimination_pays

#: Factors of (ξ, λ) on the way to the problem's own, and steps at each: what is left is left to the next.
LABELS_FIRST = ((1e-3, 1.0), (1e-2, 1.0), (1e-1, 1.0))
DATA_FIRST = ((1e3, 1e3), (1e2, 1e2), (1e1, 1e1))
STRAIGHT = ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0))
STEPS_ON_THE_WAY = 2
# The share of what is allowed that starts descend side by side for; the rest is for those that had to stop.
_RACING = 0.85
# So many starts lead to the first answer, where steps are by conjugate gradients.
_FIRST = 2
# Of what supervision can change: who has come so close to the end of a valley does not leave it any more.
_ROUGHLY = 1e-3
# A start that promises this share of what is nothing stays where it is.
_NOTHING = 1e-6
# What a model promises is about what is left once it is minimised to the end: rarely more than so many times.
_TRUST = 30
_UNFINISHED = "another start had led lower when the search was stopped"
# λ times these for starts from ridge regression.
_RIDGES = (1.0, 1e2, 1e4, 1e6)
# How far W is bent around a point: tangents of angles.
_FAR = (0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Effort:
    """How much to spend on other starts."""

    allowance: float  # of the operations that the first answer took
    # Operations that hardly anybody will notice, whatever the first answer took, for one output; valleys
    # multiply with outputs, and so does this
    floor: float
    most: int  # starts that descend side by side, at most
    waves: int  # fleets of them
    steps: int  # of each at the problem's own weights, at most
    finished: int  # how many that are below the answer are finished, or go on alone where products are dear
    hops: int = 0  # fleets that start near the best until then, after these
    before: Effort | None = None  # what is spent before all that, and on the same starts as without the rest


# Starts by default where products are dear.
_FEW = 16
_AUTO = Effort(1.25, 2.5e9, 24, 1, 40, 3, 1)
EFFORTS = {"auto": _AUTO, "thorough": Effort(math.inf, 0.0, 32, 6, 100, 24, 6, _AUTO)}


def effort_named(search: str) -> Effort | None:
    """That of "auto" or "thorough", None for "off"."""
    if search not in ("off", *EFFORTS):
        raise ValueError(f"search={search!r}: 'auto', 'off' or 'thorough' is required")
    return EFFORTS.get(search)


def ridge_subspace(inside: Inside, point: Point, lam: float) -> tuple[Array, Array, Array]:
    """W (k, r), the proximal point of the ridge solution's residuals (η = 1/(2λ)), its A (k, κ), γ (q, κ)."""
    problem, k = inside.problem, inside.basis.size
    xp = namespace(inside.D)
    ridge = xp.concat([full_like_of(inside.D, k, lam), problem.covariate_ridge])
    coef, _, pulled = fit_ridge(inside.loss, ridge, point.coef, max_iter=10, tol=1e-3)
    A = coef[:k, :]
    if lam > 0:
        W = inside.leading(pulled[:k, :] / (2 * problem.xi**0.5 * lam**0.5))
    else:
        W = loud_directions(inside, A)
    return W, A, coef[k:, :]


def loud_directions(inside: Inside, A: Array) -> Array:
    """The directions of A (k, κ) themselves, filled up by PCA."""
    loud = 1e3 * math.sqrt(float(namespace(A).max(inside.D)))
    return inside.leading(A * (loud / (math.sqrt(frobenius2(A)) + 1e-300)))


@dataclass(frozen=True)
class Start:
    """A place to start from, W (k, r), β (r, κ), γ (q, κ), and a way down."""

    W: Array
    beta: Array
    gamma: Array
    way: tuple[tuple[float, float], ...] = STRAIGHT


def places(
    inside: Inside, current: Point, directions: Directions, rng: np.random.Generator
) -> Iterator[Start]:
    """Where to start from: PCA on its two ways, then random subspaces and those of ridge regressions."""
    xp, problem, r = namespace(inside.D), inside.problem, inside.rank
    none = xp.zeros_like(current.beta), directions.gamma
    pca = inside.leading()

    def random() -> Start:
        return Start(directions.subspace(rng, r), *none)

    yield Start(pca, *none, DATA_FIRST)
    yield Start(pca, *none, LABELS_FIRST)
    longest = Stride.of(problem).longest
    for factor in _RIDGES:
        # Where a proximal step from the current point leads, as long as steps may be, and shorter.
        W = inside.proximal_subspace(current, longest / factor**0.5, inside.gradient(current))
        yield Start(W, W.T @ current.W @ current.beta, current.gamma)
        W, A, gamma = ridge_subspace(inside, current, problem.lam * factor)
        yield Start(W, W.T @ A, gamma)
        yield random()
        W = loud_directions(inside, A)
        yield Start(W, W.T @ A, gamma)
        yield random()
    while True:
        for way in (STRAIGHT, LABELS_FIRST, STRAIGHT, DATA_FIRST):
            yield replace(random(), way=way)


def nearby(inside: Inside, best: Point, directions: Directions, rng: np.random.Generator) -> Iterator[Start]:
    """Places around a point: one direction of its W is bent towards where labels pull, a little or far."""
    own = own_directions(inside, best)
    while True:
        for far in _FAR:
            for labels in (True, False):
                W = directions.near(own, rng, far, labels)
                yield Start(W, W.T @ best.W @ best.beta, best.gamma)


def supervised_start(state: State, run: Run) -> State:
    """Where a search begins once its subspace is there: from the ridge solution, if that is lower than PCA.

    Where Newton systems are dear PCA goes down on both its ways instead; that costs no more.
    """
    inside = state.inside
    if elimination_pays(inside):
        W, A, gamma = ridge_subspace(inside, state.point, state.problem.lam)
        new = inside.polish(W, W.T @ A, gamma, max_iter=10, tol=1e-10)
        return replace(state, point=new) if new.F < state.point.F else state
    directions = Directions.of(inside)
    starts = list(islice(places(inside, state.point, directions, run.rng), _FIRST))
    race = Race(inside, math.inf, _ROUGHLY * state.supervised)

    def record(F: float) -> bool:
        run.monitor.record(F, 1.0, "newton")
        return run.monitor.stopped

    race.run(led(inside, starts), 100, record)
    return replace(state, point=race.lowest)


def led(inside: Inside, starts: Sequence[Start]) -> Fleet:
    """A fleet that has come to the problem's own weights, each start on its way."""
    xp = namespace(inside.D)
    W, beta, gamma = (
        xp.stack(parts) for parts in zip(*((s.W, s.beta, s.gamma) for s in starts), strict=True)
    )
    fleet: Fleet | None = None
    if any(start.way is not STRAIGHT for start in starts):
        for factors in zip(*(start.way for start in starts), strict=True):
            there = inside.with_factors(indices(inside.D, np.asarray(factors)))
            fleet = Fleet.at(there, W, beta, gamma) if fleet is None else fleet.moved_to(there)
            for _ in range(STEPS_ON_THE_WAY):
                fleet = fleet.stepped(there)
                if np.all(fleet.left <= 1e-2 * to_numpy(there.supervised(fleet.points))):
                    break
    return Fleet.at(inside, W, beta, gamma) if fleet is None else fleet.moved_to(inside)


@dataclass
class Race:
    """Starts that descend as long as they may get below the lowest value."""

    inside: Inside  # where
    known: float  # a value to get below
    goal: float  # how much is nothing
    # Where starts were when they settled, or when all had to stop, and how low they may still get
    found: list[tuple[Point, float]] = field(default_factory=list)
    settled: list[float] = field(default_factory=list)  # the values at which starts have settled
    starts: int = 0  # so many there were

    @property
    def lowest(self) -> Point:
        """The best that was found."""
        return min((point for point, _ in self.found), key=lambda point: point.F)

    def run(self, fleet: Fleet, steps: int, tired: Callable[[float], bool]) -> None:
        """Let a fleet descend until `tired` of the lowest value; who has settled or has no hope leaves."""
        self.starts += fleet.size
        lowest = min([self.known, *(point.F for point, _ in self.found)])
        for _ in range(steps):
            fleet = fleet.stepped(self.inside)
            F, left = fleet.F, fleet.left
            lowest = min(lowest, float(F.min()))
            # Where a point was stationary from the beginning nothing is left to be minimised to the end.
            settled = (fleet.solved & (left <= self.goal)) | (left <= _NOTHING * self.goal)
            behind = fleet.solved & (F - _TRUST * left > lowest + self.goal)
            self.settled.extend(float(value) for value in F[settled])
            self._leave(fleet, settled & ~behind, settled=True)
            fleet = fleet.taken(np.flatnonzero(~(settled | behind)))
            # A first answer is finished alone, by more exact steps.
            alone = fleet.size == 1 and self.known == math.inf and not self.found
            if fleet.size == 0 or alone or tired(lowest) or self.agrees(lowest):
                break
        self._leave(fleet, np.ones(fleet.size, dtype=bool))

    def agreed(self, value: float) -> int:
        """How many starts have settled at a value."""
        return sum(abs(F - value) <= 10 * self.goal for F in self.settled)

    def agrees(self, value: float) -> bool:
        """Whether most of the starts have settled at the lowest value: there is hardly another valley."""
        return 2 * self.agreed(min(value, *self.settled)) > self.starts if self.settled else False

    def hopeful(self, most: int) -> list[Start]:
        """Take out those that had to stop and may still get below what is known, the most hopeful first."""
        lowest = min([self.known, *(point.F for point, _ in self.found)])
        return self._taken(sorted(self._below(lowest), key=lambda end: end[1])[:most])

    def together(self, starts: Sequence[Start], steps: int, tired: Callable[[float], bool]) -> None:
        """Let starts descend side by side."""
        if starts:
            self.run(led(self.inside, starts), steps, tired)

    def go_on(self, steps: int, tired: Callable[[float], bool]) -> None:
        """Let the lowest of those that had to stop, and may still get below what is known, descend alone."""
        hopeful = self._below(self.known)
        if hopeful and not tired(self.known):
            self.together(self._taken([min(hopeful, key=lambda end: end[0].F)]), steps, tired)

    def _below(self, value: float) -> list[tuple[Point, float]]:
        return [end for end in self.found if end[1] < min(value, end[0].F) - self.goal]

    def _taken(self, ends: list[tuple[Point, float]]) -> list[Start]:
        chosen = {id(end) for end in ends}
        self.found = [end for end in self.found if id(end) not in chosen]
        self.starts -= len(ends)  # they have been counted
        return [Start(point.W, point.beta, point.gamma) for point, _ in ends]

    def _leave(self, fleet: Fleet, who: np.ndarray, settled: bool = False) -> None:
        for i in np.flatnonzero(who):
            left = 0.0 if settled else _TRUST * fleet.left[i]
            self.found.append((fleet.points[int(i)], float(fleet.F[i] - left)))


def other_starts(state: State, run: Run, effort: Effort) -> State:
    """The best of this state and of what other starts inside its subspace lead to."""
    state = replace(state, phase=RESTARTING, searched=None)
    if effort.before is not None:
        state = other_starts(state, run, effort.before)
    run.observe(state, True)
    problem, inside = state.problem, state.inside
    samples, begun = problem.samples, problem.samples.operations
    unnoticed = effort.floor * min(problem.n_outputs, 4)
    allowed = max(effort.allowance * (begun - run.begun), unnoticed)
    race = Race(inside, state.point.F, 1e-6 * state.supervised)

    def tired_after(share: float) -> Callable[[float], bool]:
        def tired(lowest: float) -> bool:
            stop = run.monitor.poll(min(lowest, state.point.F))
            return stop or samples.operations - begun > share * allowed

        return tired

    def agreed() -> bool:
        return allowed < math.inf and race.agrees(state.point.F)

    directions = Directions.of(inside)
    cheap, starts = elimination_pays(inside), places(inside, state.point, directions, run.rng)
    if not cheap:  # the first answer came from these
        starts = islice(starts, _FIRST, None)
    count, hops = _side_by_side(inside, effort, allowed), effort.hops
    if not cheap and allowed < math.inf:  # more would cost as much as the first answer once more
        count, hops = min(count, _FEW), 0
    fleets = effort.waves + hops
    for fleet in range(fleets):
        tired = tired_after(_RACING * (fleet + 1) / fleets)
        if tired(race.known) or agreed():
            continue
        if fleet >= effort.waves:
            best = min([state.point, *(point for point, _ in race.found)], key=lambda at: at.F)
            starts = nearby(inside, best, directions, run.rng)
        on = race.hopeful(count // 2) if cheap else []
        race.together([*on, *islice(starts, count)], effort.steps, tired)
    # Side by side or, where products are dear, alone: who had to stop goes on.
    if not cheap:
        for _ in range(effort.finished):
            race.go_on(effort.steps, tired_after(1.0))
    elif not (tired_after(1.0)(race.known) or agreed()):
        race.together(race.hopeful(count), effort.steps, tired_after(1.0))
    return _best_of(state, race, run, effort.finished)


def _best_of(state: State, race: Race, run: Run, most: int) -> State:
    """The best of a state and of the points of a race; so many of those that are lower are finished."""
    first, best, finished = state.point.F, state.held(), [state.point.F]
    points = sorted((point for point, _ in race.found), key=lambda point: point.F)
    rough = replace(state, converged=False, left=math.inf, reason=_UNFINISHED)
    unfinished = False
    for start in [replace(rough, point=point).held() for point in points]:
        again = any(abs(start.F - other) <= race.goal for other in finished)
        lower = best.F - race.goal > start.F
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
    agreed = race.agreed(best.F)
    before = state.searched or OtherStarts()
    if abs(first - best.F) <= 10 * race.goal:
        agreed += before.agreed
    return replace(state.back_to(best), searched=OtherStarts(before.starts + race.starts, agreed))


def _side_by_side(inside: Inside, effort: Effort, allowed: float) -> int:
    """How many starts descend together: as many as can get to their end, or cost hardly more than one."""
    options, loss = inside.problem.options, inside.loss
    a_product = 8.0 * loss.rows * loss.columns * inside.problem.n_outputs
    a_question = inside.problem.samples.latency * options.a_question
    products = allowed / (effort.steps * options.expected_products)
    room = max(products - a_question, 0.25 * a_question)
    return int(min(max(room / a_product, 2), effort.most))
