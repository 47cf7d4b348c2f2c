"""SMF-W and SMF-H: one class per model, with everything in which the two differ."""

from superfactor.models.arrays import LiftedArrays
from superfactor.models.base import Grown, Model, Side
from superfactor.models.coding import Coding
from superfactor.models.factors import Factors, Turned
from superfactor.models.feature import Feature
from superfactor.models.filter import Filter

__all__ = [
    "MODELS",
    "Coding",
    "Factors",
    "Feature",
    "Filter",
    "Grown",
    "LiftedArrays",
    "Model",
    "Side",
    "Turned",
    "model_named",
]

MODELS: dict[str, Model] = {model.name: model for model in (Filter(), Feature())}


def model_named(name: str) -> Model:
    """Return the model of this public name."""
    if name not in MODELS:
        raise ValueError(f"model={name!r}: allowed are {' and '.join(map(repr, MODELS))}")
    return MODELS[name]
