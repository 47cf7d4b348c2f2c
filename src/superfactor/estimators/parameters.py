"""Checks of constructor arguments."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from superfactor.constraints import ConvexSet, resolve_constraint
from superfactor.solvers import SOLVERS, Solver
from superfactor.theory.certificate import METHOD_IN_PASSES

# Constraints for scikit-learn; those that depend on the data are checked with the data.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "model": [StrOptions({"filter", "feature"})],
    "xi": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "lam": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
    "lam_covariates": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left"), None],
    "fit_intercept": ["boolean"],
    "solver": [StrOptions({"auto", *SOLVERS})],
    "search": [StrOptions({"auto", "off", "thorough"})],
    "step_size": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "tol": [Interval(Real, 0, None, closed="left")],
    "prediction": [StrOptions({"exact", "fast"})],
    "ties": [StrOptions({"breslow", "efron"})],
    "certify": [StrOptions(set(METHOD_IN_PASSES)), None],
    "impute": [StrOptions({"factors"}), None],
    "checkpoint": [str, os.PathLike, None],
    "verbose": ["verbose"],
}


def check_parameters(estimator: Any) -> None:
    """Raise a TypeError or ValueError for the first parameter that is not allowed.

    scikit-learn checks single parameters; this function checks their combinations.
    """
    estimator._validate_params()
    chosen = choose_solver(estimator.solver, estimator.constraint)
    step, checkpoint = estimator.step_size, estimator.checkpoint
    if not isinstance(step, str) and "step_size" not in chosen.takes:
        raise ValueError(
            f"step_size={shown(step)}: solver={estimator.solver!r} chooses its own steps and requires "
            f"'auto'; solver={_first_that_takes('step_size')!r} accepts a number"
        )
    if checkpoint is not None and not os.fspath(checkpoint):
        raise ValueError(f"checkpoint={shown(checkpoint)}: None or the path of a file is required")
    if checkpoint is not None and "checkpoint" not in chosen.takes:
        raise ValueError(
            f"checkpoint={shown(checkpoint)}: solver={chosen.name!r} writes none and requires None; "
            f"solver={_first_that_takes('checkpoint')!r} supports checkpoints"
        )


def choose_solver(solver: str, constraint: ConvexSet | None) -> Solver:
    """Return the solver to run; "auto" is the first one that supports the constraint."""
    allowed = resolve_constraint(constraint)
    first = next(each for each in SOLVERS.values() if each.allows(allowed))
    chosen = first if solver == "auto" else SOLVERS[solver]
    if not chosen.allows(allowed):
        sets = "".join(f" or {kind.__name__}()" for kind in chosen.constraints) or " only"
        raise ValueError(
            f"constraint={constraint!r}: solver={solver!r} allows None{sets}; "
            f"solver='auto' or {first.name!r} supports any convex set"
        )
    return chosen


def _first_that_takes(option: str) -> str:
    return next(solver.name for solver in SOLVERS.values() if option in solver.takes)


def check_rank(n_components: int, n_samples: int, n_features: int) -> None:
    """Raise a ValueError unless r is in 1..min(n, p)."""
    if n_components > min(n_samples, n_features):
        raise ValueError(
            f"n_components={n_components}: an integer from 1 to min(n_samples, n_features) = "
            f"{min(n_samples, n_features)} is required (n_samples={n_samples}, "
            f"n_features={n_features} to factorize)"
        )


def seed_of(random_state: Any) -> int | np.random.Generator:
    """Return the seed or generator of the random starts; None is a fixed seed, for repeatable fits."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state={shown(random_state)}: an integer >= 0 is required")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise TypeError(
        f"random_state={shown(random_state)}: None, an integer >= 0, a numpy Generator or a "
        "RandomState is required"
    )


def shown(value: Any) -> str:
    """Return the value as text for messages, with NumPy scalars as plain numbers: 0, not np.int64(0)."""
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, np.number | np.bool_ | np.str_):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value
