"""The arrays of a problem that is in memory, and those of wide data in fewer features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from superfactor._arrays import Array, to_numpy
from superfactor.losses import Loss
from superfactor.options import Options
from superfactor.samples import Annotations, LocalSamples, SampleTable, in_memory
from superfactor.spectrum import DataMatrix, compress


@dataclass(frozen=True)
class Whole:
    """All samples at hand: X̃ (n, p), and what is known besides, as the user gave it too (`table`)."""

    data: DataMatrix
    known: Annotations
    loss: Loss
    options: Options
    table: SampleTable | None = None

    @cached_property
    def threaded(self) -> DataMatrix:
        """X̃ with the products of a large sparse X shared among the cores."""
        return self.data.threaded(self.options.values_worth_threads)

    @cached_property
    def feature_gram(self) -> Array | None:
        """X̃ᵀX̃ (p, p) of few features, NumPy; None where products with X cost less.

        Computed once: weights in units of the data, the solver's first subspace, the certificate and the
        theory share it.
        """
        n, p = self.data.shape
        few = p <= min(n, self.options.few_features) and not self.data.is_sparse
        return to_numpy(self.data.feature_gram()) if few else None

    @cached_property
    def short(self) -> Short | None:
        """Wide data in the coordinates of its right singular vectors; None where that does not apply.

        Computed once: restated problems, the solver, the certificate and the theory share it.
        """
        found = compress(self.data, self.options)
        if found is None:
            return None
        like = found.data.empty()
        # In float64, of what the user gave: in the type of X it may have been rounded.
        known = self.known.like(like) if self.table is None else self.table.annotations(slice(None), like)
        samples = in_memory(found.data, known, self.loss, self.options)
        return Short(replace(self, data=found.data, known=known), samples, found.expand)


@dataclass(frozen=True)
class Short:
    """The same samples with fewer features, and the way back to vectors of all features."""

    whole: Whole
    samples: LocalSamples
    expand: Callable[[Array], Array]
