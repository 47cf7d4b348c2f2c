"""What a block holds, and what changes it; where tall matrices are, and answers that make some."""

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

# Choices of samples that a block remembers: that of a basis, of a subspace, and those before.
_MOST_DRAWS = 4

A = TypeVar("A")
Q = TypeVar("Q", bound=Callable[..., Any])

#: The questions for which X is read: each is a pass over it.
READS: set[Callable[..., Any]] = set()


def reads_rows(question: Q) -> Q:
    """Declare that a question needs the rows of X."""
    READS.add(question)
    return question


@dataclass(frozen=True)
class Place:
    """Where blocks find a tall matrix: its key, and how many of its columns count."""

    key: int
    columns: int


@dataclass(frozen=True)
class Made(Generic[A]):
    """An answer of tall matrices (n_b, j) to be kept, and sums over the samples."""

    rows: tuple[Array, ...]
    sums: A


class BlockState:
    """The samples of a block. What asks them is in the classes derived from this one.

    Parameters
    ----------
    n_samples : n_b
    rows : gives the rows of X̃ for a scale s, of X itself for None; they may be read only when they are needed
    annotations : gives targets, covariates and weights
    loss : ℓ
    store : where the tall matrices are kept; None is memory
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

    # --- what changes a block: no questions, but errands that travel with them ------------------------

    def rescale(self, scale: float) -> None:
        """From now on X̃ = diag(√w)X/scale."""
        self._scale = scale

    def put(self, key: int, rows: Array) -> None:
        """Keep a tall matrix."""
        self._store.set(key, rows)

    def append(self, key: int, more: Place) -> None:
        """Add columns to the right of a tall matrix."""
        self._store.append(key, self._tall(more))

    def drop(self, key: int) -> None:
        """Forget a tall matrix."""
        self._store.drop(key)

    def _tall(self, place: Place) -> Array:
        if place.columns == 0:
            return zeros_like_of(self._annotations().targets, self.n_samples, 0)
        return self._store.get(place.key, place.columns)

    def _rows(self) -> DataMatrix:
        return self._read(self._scale)

    def _chosen(self, share: float, coarse: bool = False) -> tuple[Annotations, np.ndarray]:
        """Annotations and positions of a share of the samples, always the same ones."""
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
