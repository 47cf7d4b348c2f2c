"""Constructor arguments: each message names the parameter, its value and what is allowed."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from superfactor.constraints import ConvexSet, NonNegative, WholeSpace, resolve_constraint

# In scikit-learn's terms; what depends on the data is checked where the data is.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "model": [StrOptions({"filter", "feature"})],
    "xi": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "lam": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
    "lam_covariates": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left"), None],
    "fit_intercept": ["boolean"],
    "solver": [StrOptions({"auto", "lifted-newton", "lpgd", "bcd"})],
    "search": [StrOptions({"auto", "off", "thorough"})],
    "step_size": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "tol": [Interval(Real, 0, None, closed="left")],
    "prediction": [StrOptions({"exact", "fast"})],
    "certify": [StrOptions({"residual", "ascent"}), None],
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
    if not isinstance(step, str) and chosen != "lpgd":
        raise ValueError(
            f"step_size={shown(step)}: solver={estimator.solver!r} chooses its own steps and takes 'auto' "
            "only; solver='lpgd' takes a number"
        )
    if checkpoint is not None and not os.fspath(checkpoint):
        raise ValueError(f"checkpoint={shown(checkpoint)}: None or the path of a file is required")
    if checkpoint is not None and chosen != "lifted-newton":
        raise ValueError(
            f"checkpoint={shown(checkpoint)}: solver={chosen!r} keeps none and takes None only; "
            "solver='lifted-newton' does"
        )


def choose_solver(solver: str, constraint: ConvexSet | None) -> str:
    """The solver that runs: Θ needs one that projects, and "auto" takes it."""
    allowed = resolve_constraint(constraint)
    free = isinstance(allowed, WholeSpace)
    if solver == "auto":
        return "lifted-newton" if free else "lpgd"
    if solver == "lifted-newton" and not free:
        raise ValueError(
            f"constraint={constraint!r}: solver='lifted-newton' takes None only; "
            "solver='auto' or 'lpgd' projects onto any convex set"
        )
    if solver == "bcd" and not free and not isinstance(allowed, NonNegative):
        raise ValueError(
            f"constraint={constraint!r}: solver='bcd' takes None or NonNegative(); "
            "solver='auto' or 'lpgd' projects onto any convex set"
        )
    return solver


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
