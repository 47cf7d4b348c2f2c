"""`Metric`: name, function and number format of a metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from superfactor._words import percent


@dataclass(frozen=True)
class Metric:
    """A measure of the quality of predictions.

    Attributes
    ----------
    name : str
        Key in dicts.
    words : str
        Name in sentences.
    function : callable
        Maps the truth (n, …) and the predicted rows (n, m) to a float, NaN if it is not defined.
    unit : str
        "%" for shares, which are written in percent; "" for plain numbers.
    higher_is_better : bool
    low, high : float
        Range of values; intervals end within it.
    """

    name: str
    words: str
    function: Callable[[Any, Any], float]
    unit: str = ""
    higher_is_better: bool = True
    low: float = 0.0
    high: float = float("inf")

    def text(self, value: float) -> str:
        """Return the value as text: 91.3 %, or 0.913."""
        return percent(value) if self.unit == "%" else f"{value:z.3f}".replace("-", "−")

    def gain(self, value: float) -> str:
        """Return a difference of two values as text without unit: +1.5, or +0.015."""
        digits = 1 if self.unit == "%" else 3
        scaled = 100 * value if self.unit == "%" else value
        return f"{scaled:+z.{digits}f}".replace("-", "−")

    @property
    def gain_unit(self) -> str:
        """Return the unit of a difference."""
        return " points" if self.unit == "%" else ""
