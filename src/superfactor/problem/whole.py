"""Arrays of a problem in memory, also compressed to fewer features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from superfactor._arrays import Array
from superfactor.losses import Loss
from superfactor.options import Options
from superfactor.samples import Annotations, LocalSamples, SampleTable, in_memory
from superfactor.spectrum import DataMatrix, compress


@dataclass(frozen=True)
class Whole:
    """All samples in memory: X̃ (n, p) and other data, also as the user passed it (`table`)."""

    data: DataMatrix
    known: Annotations
    loss: Loss
    options: Options
    table: SampleTable | None = None

    @cached_property
    def threaded(self) -> DataMatrix:
        """X̃; products of a large sparse X use all cores."""
        return self.data.threaded(self.options.values_worth_threads)

    @cached_property
    def short(self) -> Short | None:
        """Wide data in the coordinates of its right singular vectors; None if X is not wide.

        Computed once, for restated problems, the solver, the certificate and the theory.
        """
        found = compress(self.data, self.options)
        if found is None:
            return None
        like = found.data.empty()
        # In float64, from the user's data: data in the type of X may be rounded.
        known = self.known.like(like) if self.table is None else self.table.annotations(slice(None), like)
        samples = in_memory(found.data, known, self.loss, self.options)
        return Short(replace(self, data=found.data, known=known), samples, found.expand)


@dataclass(frozen=True)
class Short:
    """The same samples with fewer features, and the map to vectors of all features."""

    whole: Whole
    samples: LocalSamples
    expand: Callable[[Array], Array]
