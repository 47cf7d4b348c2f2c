"""A metric is a value: what it is called, how it is computed, and how its figures are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from superfactor._words import percent


@dataclass(frozen=True)
class Metric:
    """One figure of how good predictions are, on samples that a model has not seen.

    Attributes
    ----------
    name : str
        As in dicts of figures.
    words : str
        As in sentences.
    function : callable
        Of the truth (n, …) and the predicted rows (n, m): a float, NaN where it is not defined.
    unit : str
        "%" for shares, which are written in percent; "" for plain numbers.
    higher_is_better : bool
    low, high : float
        What the figure can be; intervals end there.
    """

    name: str
    words: str
    function: Callable[[Any, Any], float]
    unit: str = ""
    higher_is_better: bool = True
    low: float = 0.0
    high: float = float("inf")

    def text(self, value: float) -> str:
        """91.3 %, or 0.913."""
        return percent(value) if self.unit == "%" else f"{value:z.3f}".replace("-", "−")

    def gain(self, value: float) -> str:
        """A difference of two figures without its unit: +1.5, or +0.015."""
        digits = 1 if self.unit == "%" else 3
        scaled = 100 * value if self.unit == "%" else value
        return f"{scaled:+z.{digits}f}".replace("-", "−")

    @property
    def gain_unit(self) -> str:
        """What follows a difference."""
        return " points" if self.unit == "%" else ""
