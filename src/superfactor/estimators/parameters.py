"""Constructor arguments: each message names the parameter, its value and what is allowed."""

from __future__ import annotations

import math
import os
from numbers import Integral, Real
from typing import Any

import numpy as np

from superfactor.constraints import ConvexSet, NonNegative, WholeSpace, resolve_constraint

CHOICES: dict[str, tuple[str | None, ...]] = {
    "model": ("filter", "feature"),
    "solver": ("auto", "lifted-newton", "lpgd", "bcd"),
    "prediction": ("exact", "fast"),
    "certify": ("residual", "ascent", None),
}


def check_parameters(parameters: dict[str, Any]) -> None:
    """Raise a TypeError or ValueError for the first parameter that is not allowed.

    What depends on the data (n_components against its shape, link against the number of classes)
    is checked where the data is.
    """
    _integer("n_components", parameters["n_components"], least=1)
    for name, allowed in CHOICES.items():
        _choice(name, parameters[name], allowed)
    _number("xi", parameters["xi"], "a finite number > 0", lambda x: x > 0)
    _number("lam", parameters["lam"], "a finite number >= 0", lambda x: x >= 0)
    _number("tol", parameters["tol"], "a finite number >= 0", lambda x: x >= 0)
    if not isinstance(parameters["fit_intercept"], bool | np.bool_):
        raise TypeError(
            f"fit_intercept={shown(parameters['fit_intercept'])}: True or False is required"
        )
    if parameters["max_iter"] is not None:
        _integer("max_iter", parameters["max_iter"], least=1, other="None or ")
    _verbose(parameters["verbose"])
    _device(parameters["device"])
    _step_size(parameters["step_size"], parameters["solver"], parameters["constraint"])
    _checkpoint(parameters["checkpoint"], parameters["solver"], parameters["constraint"])


def choose_solver(solver: str, constraint: ConvexSet | None) -> str:
    """The solver that runs: Θ needs one that projects, and "auto" takes it."""
    theta = resolve_constraint(constraint)
    free = isinstance(theta, WholeSpace)
    if solver == "auto":
        return "lifted-newton" if free else "lpgd"
    if solver == "lifted-newton" and not free:
        raise ValueError(
            f"constraint={constraint!r}: solver='lifted-newton' takes None only; "
            "solver='auto' or 'lpgd' projects onto any convex set"
        )
    if solver == "bcd" and not free and not isinstance(theta, NonNegative):
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


def _choice(name: str, value: Any, allowed: tuple[str | None, ...]) -> None:
    if not (value is None or isinstance(value, str)) or value not in allowed:
        names = ", ".join(repr(choice) for choice in allowed)
        kind = ValueError if value is None or isinstance(value, str) else TypeError
        raise kind(f"{name}={shown(value)}: one of {names} is required")


def _integer(name: str, value: Any, *, least: int, other: str = "") -> None:
    message = f"{name}={shown(value)}: {other}an integer >= {least} is required"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(message)
    if value < least:
        raise ValueError(message)


def _number(name: str, value: Any, required: str, holds: Any) -> None:
    message = f"{name}={shown(value)}: {required} is required"
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(message)
    # Written so that NaN fails as well.
    if not (holds(float(value)) and math.isfinite(float(value))):
        raise ValueError(message)


def _verbose(value: Any) -> None:
    if not isinstance(value, Integral | bool) or value < 0:
        kind = ValueError if isinstance(value, Integral) else TypeError
        raise kind(f"verbose={shown(value)}: 0 (silent), 1 (a summary) or 2 (every iteration)")


def _step_size(value: Any, solver: str, constraint: ConvexSet | None) -> None:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"step_size={shown(value)}: 'auto' or a finite number > 0 is required")
        return
    _number("step_size", value, "'auto' or a finite number > 0", lambda x: x > 0)
    if choose_solver(solver, constraint) != "lpgd":
        raise ValueError(
            f"step_size={shown(value)}: solver={solver!r} chooses its own steps and takes 'auto' only; "
            "solver='lpgd' takes a number"
        )


def _device(value: Any) -> None:
    """Whether there is such a device is asked where X is moved to it."""
    if value is not None and not isinstance(value, str) and type(value).__module__ != "torch":
        raise TypeError(f"device={shown(value)}: None, 'cpu', 'cuda', 'cuda:1', ... is required")


def _checkpoint(value: Any, solver: str, constraint: ConvexSet | None) -> None:
    chosen = choose_solver(solver, constraint)
    if value is None:
        return
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        kind = ValueError if value == "" else TypeError
        raise kind(f"checkpoint={shown(value)}: None or the path of a file is required")
    if chosen != "lifted-newton":
        raise ValueError(
            f"checkpoint={shown(value)}: solver={chosen!r} keeps none and takes None only; "
            "solver='lifted-newton' does"
        )
