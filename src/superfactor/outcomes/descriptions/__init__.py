"""Descriptions of each kind of y for the terminal, tables of predictions and JSON: one object per kind."""

from superfactor.outcomes.descriptions.base import Description, Predicted
from superfactor.outcomes.descriptions.classes import ClassDescription
from superfactor.outcomes.descriptions.flags import FlagDescription
from superfactor.outcomes.descriptions.numbers import CountDescription, NumberDescription
from superfactor.outcomes.descriptions.times import TimeDescription

__all__ = ["Description", "Predicted", "description_of"]

_OF_KIND: dict[str, Description] = {
    "classes": ClassDescription(),
    "numbers": NumberDescription(),
    "counts": CountDescription(),
    "flags": FlagDescription(),
    "times": TimeDescription(),
}


def description_of(kind: str) -> Description:
    """Return the description object of the kind of this name."""
    return _OF_KIND[kind]
