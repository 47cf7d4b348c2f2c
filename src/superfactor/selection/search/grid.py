"""Which models to try: the user's lists, or grids in the units of the data (`superfactor.units`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from superfactor.estimators.parameters import CONSTRAINTS
from superfactor.models import model_named
from superfactor.outcomes import Steps
from superfactor.units import WeightUnits


def candidates(
    n_components: Any,
    model: Any,
    xi: Any,
    lam: Any,
    *,
    steps: Steps,
    units: WeightUnits,
    n_outputs: int,
    largest: int,
) -> list[dict[str, Any]]:
    """Every combination as a dict of parameters, in the order of scikit-learn's ParameterGrid.

    Parameters
    ----------
    n_components, model, xi, lam : one value, a list, or (not `model`) "auto"
    steps : t of "auto"
    units : of ξ and λ, where t is 1
    n_outputs : κ
    largest : rank that X allows in every fold
    """
    ranks = _listed("n_components", n_components)
    if is_auto(n_components):
        ranks = usual_ranks(n_outputs, largest)
    grids = []
    for name in _listed("model", model):
        unit = model_named(name).natural_ridge(lambda: units.lam)
        weights = [t * units.xi for t in steps.xi[name]] if is_auto(xi) else xi
        ridges = [t * unit for t in steps.lam[name]] if is_auto(lam) else lam
        grids.append(
            {
                "model": [name],
                "n_components": ranks,
                "xi": _listed("xi", weights),
                "lam": _listed("lam", ridges),
            }
        )
    return list(ParameterGrid(grids))


def usual_ranks(n_outputs: int, largest: int) -> list[int]:
    """One component more than outputs, as many as classes, and half as many again: what people can read."""
    few = min(n_outputs + 1, largest)
    more = min(few + (few + 1) // 2, largest)
    return [few, more] if more > few else [few]


def check_choices(n_components: Any, model: Any, xi: Any, lam: Any, search: str) -> None:
    """Each value, alone or in a list, must be one that an estimator takes, or (not `model`) "auto".

    `search` is the name of the caller, for messages.
    """
    given = {"n_components": n_components, "model": model, "xi": xi, "lam": lam}
    for name, values in given.items():
        auto = [] if name == "model" else [StrOptions({"auto"})]
        for value in _listed(name, values):
            allowed = {name: [*auto, *CONSTRAINTS[name]]}
            validate_parameter_constraints(allowed, {name: value}, caller_name=search)


def is_auto(value: Any) -> bool:
    """Whether a choice is left to the data."""
    return isinstance(value, str) and value == "auto"


def _listed(name: str, value: Any) -> list[Any]:
    """One value or several as a list without repetitions, in their order."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return [value]
    values = [v.item() if isinstance(v, np.generic) else v for v in value]
    if not values:
        raise ValueError(f"{name}=[]: at least one value is required")
    return list(dict.fromkeys(values))
