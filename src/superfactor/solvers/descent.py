"""Descent inside a subspace: Newton where it can be trusted, proximal steps where it cannot."""

from __future__ import annotations

import math
from collections.abc import Callable

from superfactor._arrays import frobenius2, namespace
from superfactor.solvers.newton_step import NewtonStep, newton_step, rotation_curvature
from superfactor.solvers.solution import Monitor
from superfactor.solvers.subspace import Point, SubspaceProblem


class Descent:
    """Moves a point of a `SubspaceProblem` downhill, never up.

    `eta` is the length of the proximal steps: it grows while the objective falls, up to 1/(2λ), where the
    step is the certificate's own eigenproblem, and falls back to 1/L_A, where descent is certain.
    """

    def __init__(self, inside: SubspaceProblem, monitor: Monitor, *, polish: int = 8):
        self.inside, self.monitor, self._polish = inside, monitor, polish
        problem = inside.problem
        alpha = problem.loss.curvature_bounds(problem.n_outputs)[1]
        # For the filter model ‖Φ‖² ≤ ‖X̃‖² bounds σ₁²; for the feature model Φ is the identity.
        norm = problem.squared_norm if problem.name == "filter" else 1.0
        if alpha == float("inf"):
            alpha = 1.0
        self.shortest = 1 / (2 * problem.lam + alpha * problem.largest_weight * norm + 1e-300)
        self.longest = 1 / (2 * problem.lam) if problem.lam > 0 else 1e10 * self.shortest
        self.longest = max(self.longest, self.shortest)
        self.eta = min(8 * self.shortest, self.longest)
        self.mapping = float("inf")
        self.slack = 16 * problem.epsilon

    def proximal(self, point: Point) -> Point:
        """One proximal step with the best (β, γ) for its subspace; the point itself if nothing falls."""
        inside = self.inside
        gradient = inside.gradient(point)
        A = point.W @ point.beta
        while True:
            W = inside.proximal_subspace(point, self.eta, gradient)
            new = inside.polish(W, W.T @ A, point.gamma, max_iter=self._polish, tol=1e-10)
            if point.F + self.slack * abs(point.F) >= new.F:
                break
            if self.eta <= 1.001 * self.shortest / 64:
                new = point
                break
            self.eta = self.eta / 4
        self.mapping = inside.mapping_norm(point, new, self.eta)
        self.monitor.record(min(new.F, point.F), self.eta, "proximal")
        self.eta = min(2 * self.eta, self.longest)
        return new if new.F <= point.F else point

    def newton(self, point: Point) -> tuple[Point, NewtonStep, float] | None:
        """A joint Newton step: the new point, the step and the length used; None where nothing falls."""
        step = newton_step(self.inside, point)
        if step is None:
            return None
        norm = math.sqrt(frobenius2(step.T))
        t = min(1.0, 1 / norm) if norm > 0 else 1.0
        for _ in range(4):
            new = step.apply(self.inside, point, t)
            if point.F + self.slack * abs(point.F) >= new.F:
                self.monitor.record(min(new.F, point.F), t, "newton")
                return (new if new.F <= point.F else point), step, t
            t /= 3
        return None

    def escape(self, point: Point) -> Point:
        """Leave a saddle: turn one direction of W into its complement where that curves downwards.

        By symmetry a saddle can be a fixed point of the proximal step (docs/method.md §6, two features).
        """
        inside, frame = self.inside, self.inside.frame(point)
        xp = namespace(frame.W)
        if frame.nu.shape[0] == 0:
            return point
        curvature = rotation_curvature(inside, point, frame)
        worst = int(xp.argmin(xp.reshape(curvature, (-1,))))
        j, i = divmod(worst, curvature.shape[1])
        if float(curvature[j, i]) >= 0:
            return point
        best = point
        out, turned = frame.complement[:, j], frame.W[:, i]
        for angle in (0.05, 0.2, 0.5, 1.0, 1.5):
            column = math.cos(angle) * turned + math.sin(angle) * out
            W = xp.concat([frame.W[:, :i], column[:, None], frame.W[:, i + 1 :]], axis=1)
            new = inside.polish(W, frame.beta, point.gamma, max_iter=8, tol=1e-10)
            if new.F < best.F:
                best = new
        self.monitor.record(best.F, 1.0, "escape")
        return best

    def run(
        self,
        point: Point,
        goal: float,
        limit: int = 100,
        reached: Callable[[Point], None] | None = None,
    ) -> tuple[Point, float]:
        """Descend until what is left inside the subspace is below `goal`; `reached` hears of every point.

        Returns the point and an estimate of what is left: the last predicted decrease, or what the
        last proximal step gained.
        """
        last, left = math.inf, math.inf
        for _ in range(limit):
            if self.monitor.stopped:
                break
            if reached is not None:
                reached(point)
            start = point
            moved = self.newton(point)
            if moved is not None:
                point, step, t = moved
                left = step.decrease
                if left <= goal and not step.saddle:
                    break
                slow = left > 0.5 * last or 0.1 * left > start.F - point.F
                last = math.inf if slow or t < 1 else left
                if not slow or (step.saddle and 0.01 * left < start.F - point.F):
                    continue
            # Newton is not to be trusted here: eigenvectors settle nearly degenerate directions.
            point = self.proximal(point)
            left = start.F - point.F
            if left <= 0.1 * goal:
                escaped = self.escape(point)
                if 0.1 * goal >= point.F - escaped.F:
                    break
                point = escaped
        return point, left
