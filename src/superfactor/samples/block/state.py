"""The data of a block and how to change it; places of tall matrices, and results that store some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from superfactor._arrays import Array, indices, namespace, zeros_like_of
from superfactor.losses import Loss
from superfactor.samples.annotations import Annotations
from superfactor.samples.block.store import InMemory, TallStore
from superfactor.spectrum import DataMatrix

# Number of subsamples that a block stores: those of the current basis and subspace, and earlier ones.
_MOST_DRAWS = 4

A = TypeVar("A")
Q = TypeVar("Q", bound=Callable[..., Any])

#: The methods that read X: each is a pass over it.
READS: set[Callable[..., Any]] = set()


def reads_rows(method: Q) -> Q:
    """Declare that a method needs the rows of X."""
    READS.add(method)
    return method


@dataclass(frozen=True)
class Place:
    """The place of a tall matrix in the blocks: its key, and the number of columns to use."""

    key: int
    columns: int


@dataclass(frozen=True)
class Made(Generic[A]):
    """A result: tall matrices (n_b, j) to store, and sums over the samples."""

    rows: tuple[Array, ...]
    sums: A


class BlockState:
    """The samples of a block. The classes derived from this one have the methods.

    Parameters
    ----------
    n_samples : n_b
    rows : returns the rows of X̃ for a scale s, of X itself for None, and may read them at that moment
    annotations : returns targets, covariates and weights
    loss : ℓ
    store : storage of the tall matrices; None is memory
    start : the position of its first sample among all
    """

    loss: Loss
    n_samples: int

    def __init__(
        self,
        n_samples: int,
        rows: Callable[[float | None], DataMatrix],
        annotations: Callable[[], Annotations],
        loss: Loss,
        store: TallStore | None = None,
        start: int = 0,
    ):
        self.n_samples, self.loss = n_samples, loss
        self._read, self._annotations, self._start = rows, annotations, start
        self._store: TallStore = InMemory() if store is None else store
        self._scale: float | None = None
        self._draws: dict[tuple[int, bool], tuple[Annotations, np.ndarray]] = {}

    # --- changes of a block: not called alone, but sent with other calls ------------------------------

    def rescale(self, scale: float) -> None:
        """Set the scale: X̃ = diag(√w)X/scale."""
        self._scale = scale

    def put(self, key: int, rows: Array) -> None:
        """Store a tall matrix."""
        self._store.set(key, rows)

    def append(self, key: int, more: Place) -> None:
        """Add columns to the right of a tall matrix."""
        self._store.append(key, self._tall(more))

    def drop(self, key: int) -> None:
        """Delete a tall matrix."""
        self._store.drop(key)

    def _tall(self, place: Place) -> Array:
        if place.columns == 0:
            return zeros_like_of(self._annotations().targets, self.n_samples, 0)
        return self._store.get(place.key, place.columns)

    def _rows(self) -> DataMatrix:
        return self._read(self._scale)

    def _chosen(self, share: float, coarse: bool = False) -> tuple[Annotations, np.ndarray]:
        """Return annotations and positions of a share of the samples, always the same ones."""
        count = min(self.n_samples, int(np.ceil(share * self.n_samples)))
        if count == self.n_samples and not coarse:
            return self._annotations(), np.arange(count)
        if (count, coarse) not in self._draws:
            known = self._annotations()
            index = np.arange(count)
            if count < self.n_samples:
                rng = np.random.default_rng((self._start, count))
                index = np.sort(rng.choice(self.n_samples, count, replace=False))
                known = known.take(indices(known.targets, index))
            if coarse:
                xp = namespace(known.targets)
                known = known.like(xp.empty(0, dtype=xp.float32))
            if len(self._draws) == _MOST_DRAWS:
                self._draws.pop(next(iter(self._draws)))
            self._draws[count, coarse] = known, index
        return self._draws[count, coarse]
