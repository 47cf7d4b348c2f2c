"""Seconds and objectives of one run, and when it has to stop."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Keeps (seconds, objective) of the iterations, until `limit` seconds are over or the goal is reached.

    The goal is an objective and a tolerance. A run that falls below the goal continues, because the distance
    matters.
    """

    def __init__(self, limit: float, goal: tuple[float, float] | None = None) -> None:
        self.steps: list[tuple[float, float]] = []
        self.limit, self.goal = limit, goal
        self.iterations = 0
        self.stopped = False
        self._start = time.perf_counter()
        self._standing = 0.0

    @property
    def seconds(self) -> float:
        """Since the start, without the time the clock stood still."""
        return time.perf_counter() - self._start - self._standing

    def record(self, objective: float) -> bool:
        """Keep an iteration; whether to stop."""
        self.iterations += 1
        return self._keep(self.seconds, objective)

    def evaluate(self, objective: Callable[[], float]) -> bool:
        """The same for a method that has no use for its objective: the clock stands still meanwhile.

        Where that takes longer than the iterations, some are left out.
        """
        self.iterations += 1
        now = self.seconds
        self.stopped = now > self.limit
        if self.stopped or self._standing <= now:
            self._keep(now, objective())
            self._standing += self.seconds - now
        return self.stopped

    def _keep(self, seconds: float, objective: float) -> bool:
        self.steps.append((seconds, objective))
        reached = self.goal is not None and abs(objective - self.goal[0]) <= self.goal[1]
        self.stopped = reached or seconds > self.limit
        return self.stopped


def time_to(steps: list[tuple[float, float]], objective: float) -> float | None:
    """Seconds until an iteration was at most that; None if none was."""
    return next((seconds for seconds, value in steps if value <= objective), None)
