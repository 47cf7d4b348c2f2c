"""What is said of each kind of y, on a screen, in tables of predictions and to scripts: one object each."""

from superfactor.outcomes.telling.base import Predicted, Telling
from superfactor.outcomes.telling.classes import ClassTelling
from superfactor.outcomes.telling.flags import FlagTelling
from superfactor.outcomes.telling.numbers import CountTelling, NumberTelling
from superfactor.outcomes.telling.times import TimeTelling

__all__ = ["Predicted", "Telling", "telling_of"]

_OF_KIND: dict[str, Telling] = {
    "classes": ClassTelling(),
    "numbers": NumberTelling(),
    "counts": CountTelling(),
    "flags": FlagTelling(),
    "times": TimeTelling(),
}


def telling_of(kind: str) -> Telling:
    """What is said of the kind of this name."""
    return _OF_KIND[kind]
