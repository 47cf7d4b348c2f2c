"""What a fit asks of its samples: every question with its seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from superfactor.samples import LocalSamples, Samples


@dataclass
class Ledger:
    """Questions to all samples of a problem; those to the share a search may begin with are left out.

    Attributes
    ----------
    seconds : of every question, by its name
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many questions were asked."""
        return sum(map(len, self.seconds.values()))

    @property
    def total(self) -> float:
        """Seconds until they were answered."""
        return sum(map(sum, self.seconds.values()))

    def median(self, question: str) -> float:
        """Seconds of one question of this name."""
        return float(np.median(self.seconds[question]))

    @property
    def curvature(self) -> float:
        """Seconds that the curvature of one step takes: a matrix, or products with it."""
        if "curvature" in self.seconds:
            return self.median("curvature")
        steps = self.seconds["bent"]
        return (sum(steps) + sum(self.seconds["curvature_product"])) / len(steps)


@contextmanager
def kept(n_samples: int, kind: type[Samples] = LocalSamples) -> Iterator[Ledger]:
    """Keep the questions asked meanwhile of samples of this kind, where these are n_samples."""
    ledger = Ledger()

    def timed(method: Any) -> Any:
        def ask(self: Any, call: Any, *arguments: Any) -> Any:
            start = time.perf_counter()
            answer = method(self, call, *arguments)
            if getattr(self, "n_samples", n_samples) == n_samples:
                spent = time.perf_counter() - start
                ledger.seconds.setdefault(call.name, []).append(spent)
            return answer

        return ask

    methods = {
        name: timed(vars(kind)[name])
        for name in ("summed", "gathered", "made", "stacked")
        if name in vars(kind)
    }
    with mock.patch.multiple(kind, **methods):
        yield ledger
