"""Constructor arguments: each message names the parameter, its value and what is allowed."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from superfactor.constraints import ConvexSet, resolve_constraint
from superfactor.solvers import SOLVERS, Solver
from superfactor.theory.certificate import METHOD_IN_PASSES

# In scikit-learn's terms; what depends on the data is checked where the data is.
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
    "checkpoint": [str, os.PathLike, None],
    "verbose": ["verbose"],
}


def check_parameters(estimator: Any) -> None:
    """Raise a TypeError or ValueError for the first parameter that is not allowed.

    Each by itself is scikit-learn's to check; here is how they go together.
    """
    estimator._validate_params()
    chosen = choose_solver(estimator.solver, estimator.constraint)
    step, checkpoint = estimator.step_size, estimator.checkpoint
    if not isinstance(step, str) and "step_size" not in chosen.takes:
        raise ValueError(
            f"step_size={shown(step)}: solver={estimator.solver!r} chooses its own steps and takes 'auto' "
            f"only; solver={_first_that_takes('step_size')!r} takes a number"
        )
    if checkpoint is not None and not os.fspath(checkpoint):
        raise ValueError(f"checkpoint={shown(checkpoint)}: None or the path of a file is required")
    if checkpoint is not None and "checkpoint" not in chosen.takes:
        raise ValueError(
            f"checkpoint={shown(checkpoint)}: solver={chosen.name!r} keeps none and takes None only; "
            f"solver={_first_that_takes('checkpoint')!r} does"
        )


def choose_solver(solver: str, constraint: ConvexSet | None) -> Solver:
    """The solver that runs: "auto" is the first that allows the constraint."""
    allowed = resolve_constraint(constraint)
    first = next(each for each in SOLVERS.values() if each.allows(allowed))
    chosen = first if solver == "auto" else SOLVERS[solver]
    if not chosen.allows(allowed):
        sets = "".join(f" or {kind.__name__}()" for kind in chosen.constraints) or " only"
        raise ValueError(
            f"constraint={constraint!r}: solver={solver!r} takes None{sets}; "
            f"solver='auto' or {first.name!r} projects onto any convex set"
        )
    return chosen


def _first_that_takes(option: str) -> str:
    return next(solver.name for solver in SOLVERS.values() if option in solver.takes)


def check_rank(n_components: int, n_samples: int, n_features: int) -> None:
    """r has to lie in 1..min(n, p)."""
    if n_components > min(n_samples, n_features):
        raise ValueError(
            f"n_components={n_components}: an integer from 1 to min(n_samples, n_features) = "
            f"{min(n_samples, n_features)} is required (n_samples={n_samples}, "
            f"n_features={n_features} to factorize)"
        )


def seed_of(random_state: Any) -> int | np.random.Generator:
    """What the solvers draw their starts from; None is a fixed seed: equal fits, equal answers."""
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
    """The value as a message shows it: NumPy's numbers as plain ones, 0 and not np.int64(0)."""
    return repr(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, np.number | np.bool_ | np.str_):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value
