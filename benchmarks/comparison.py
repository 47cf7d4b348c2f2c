"""The table: time to the optimum, whole fit, memory and accuracy of everybody on every case.

Plain Python, because benchopt requires one objective for all solvers (PLS and LDA have another one) and
measures neither memory nor accuracy.

Each method runs in a process of its own. "fit s" is the median of a few whole fits from raw X, "peak MB" by
how much the first of them made the process grow, "accuracy" that on samples held out, "balanced" its mean
over the classes. "to 1e-6 of F" are the seconds until the objective was within 1e-6·F of the lowest that
anybody found for this model: the usual criterion, and an easy one where F is nearly all reconstruction
error, which plain SVD makes smallest. So a hard one stands beside it, within 1e-6 of F − ξΣ_{i>r}σ_i², the
part that supervision can change; "excess" is what was left of that at the end of the run. The objective of
the release is evaluated while its clock stands still. A run that has not arrived in its time has no seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from benchmarks import measure, runs
from benchmarks.cases import Case, planted, real
from benchmarks.clock import Clock, time_to
from benchmarks.methods import METHODS, Method

CLOSE = 1e-6


@dataclass(frozen=True)
class Budget:
    """Seconds: of one run to the optimum, of a process altogether, of repeating a fit."""

    run: float = 6.0
    process: float = 60.0
    repeats: float = 2.0


QUICK = Budget(run=0.5, process=20.0, repeats=0.1)


def comparison(quick: bool = False) -> list[dict[str, Any]]:
    """All methods on planted data of the paper's sizes."""
    budget = QUICK if quick else Budget()
    return [row for case in planted(quick) for row in compare(case, budget)]


def on_real_data(quick: bool = False) -> list[dict[str, Any]]:
    """The same on real tables."""
    budget = QUICK if quick else Budget(run=5.0)
    return [row for case in real() for row in compare(case, budget)]


def compare(case: Case, budget: Budget) -> list[dict[str, Any]]:
    """One row per method."""
    base = case.unsupervised()
    best: dict[str | None, float] = {}
    found = []
    with runs.on_disk(case) as file:
        for index, method in enumerate(METHODS):
            # superfactor's own comes first; who has come as close to it as can be need not go on.
            known = best.get(method.model)
            goal = None if known is None else (known, 0.1 * CLOSE * (known - base))
            try:
                run = measure.isolated(_run, file, index, budget, goal, limit=budget.process)
            except (measure.TakesTooLong, RuntimeError) as error:
                run = {"note": str(error)}
            for _, objective in run.get("steps", ()):
                best[method.model] = min(objective, best.get(method.model, objective))
            found.append((method, run))
    return [_row(case, method, run, best.get(method.model, np.nan), base) for method, run in found]


def _run(file: Path, index: int, budget: Budget, goal: Any) -> dict[str, Any]:
    """What one process finds out about one method."""
    method, case = runs.prepared(file, index)
    fits: list[runs.Run] = []
    peak = measure.peak_megabytes(lambda: fits.append(runs.run(method, case, budget.run)))
    clock, predict = fits[0].clock, fits[0].fitted.predict
    complete = not clock.stopped
    if complete:
        fits = runs.repeated(method, case, fits[0], budget.repeats)
    if method.trace is not None and complete:
        clock = Clock(budget.run, goal)
        method.trace(case, clock)
    predicted = predict(case.X_test)
    return {
        "seconds": float(np.median([fit.seconds for fit in fits])) if complete else None,
        "peak": peak,
        "accuracy": float(accuracy_score(case.y_test, predicted)),
        "balanced": float(balanced_accuracy_score(case.y_test, predicted)),
        "proven": fits[0].fitted.proven,
        "steps": clock.steps,
        "iterations": clock.iterations,
    }


def _row(case: Case, method: Method, run: dict[str, Any], best: float, base: float) -> dict[str, Any]:
    """What is kept of a run; `best` is its model's lowest objective, `base` what no supervision changes."""
    steps, change = run.get("steps"), best - base
    row = {
        "case": case.name,
        "method": method.name,
        "model": method.model,
        "fit s": run.get("seconds"),
        "to 1e-6 of F": time_to(steps, best + CLOSE * abs(best)) if steps else None,
        "to 1e-6 s": time_to(steps, best + CLOSE * change) if steps else None,
        "excess": (min(value for _, value in steps) - best) / change if steps else None,
        "peak MB": run.get("peak"),
        "accuracy": run.get("accuracy"),
        "balanced": run.get("balanced"),
        "proven": run.get("proven"),
        "note": run.get("note"),
    }
    if steps and row["to 1e-6 s"] is None:
        row["note"] = f"not reached in {steps[-1][0]:.2g} s, {run['iterations']:,} iterations"
    elif steps and row["fit s"] is None:
        row["note"] = f"stopped at {steps[-1][0]:.2g} s, {run['iterations']:,} iterations"
    return row
