"""Measurements and counts: their range and mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor.outcomes.descriptions.base import Description, Predicted, spread, spread_words


class NumberDescription(Description):
    """Description of measurements: one number per sample, or several."""

    score = ("R²", "R²", "r2")
    alone_of_nothing = "0.00 means no association"

    def samples(self, y: Any, names: Sequence[str]) -> list[str]:
        return ["; ".join(f"{name}: {spread_words(values)}" for name, values in _named(y, names))]

    def sample_facts(self, y: Any, names: Sequence[str]) -> dict[str, Any]:
        return {"values": {name: spread(values) for name, values in _named(y, names)}}

    def predictions(self, outcome: Any, model: Any, X: Any, names: Sequence[str]) -> Predicted:
        found = _named(np.asarray(model.predict(X), dtype=float), names)
        heads = ["predicted"] if len(found) == 1 else [f"predicted[{name}]" for name, _ in found]
        every = [values for _, values in found]
        return Predicted(
            {head: values.tolist() for head, values in zip(heads, every, strict=True)},
            {head: [f"{v:.4g}" for v in values] for head, values in zip(heads, every, strict=True)},
            "; ".join(f"{name}: {spread_words(values)}" for name, values in found),
            {name: spread(values) for name, values in found},
        )

    def coefficient(self, outputs: Sequence[str]) -> str:
        return f"change of {outputs[0]}"


class CountDescription(NumberDescription):
    """Description of counts."""

    lacking = "count"
    score = ("explained share of the deviance", "explained", "explained_deviance")

    def coefficient(self, outputs: Sequence[str]) -> str:
        return f"change of the logarithm of the expected {outputs[0]}"


def _named(y: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    return list(zip(names, y.reshape(len(y), -1).T, strict=True))
