"""Vectors of the search side: a few columns in R^N, with the same operations wherever they are stored.

For the filter model the search side is the features, and vectors are plain arrays (p, j). For the feature
model it is the samples, and vectors are tall (n, j): they are stored with the samples and accessed by a
handle (`Tall`).
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from superfactor._arrays import Array, namespace, to_numpy, wide
from superfactor.samples.block import Block, Place

if TYPE_CHECKING:
    from superfactor.samples.samples import Samples


class Vectors(ABC):
    """Vectors T (N, j). They are immutable: every operation returns new ones."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """Number of columns, j."""

    @abstractmethod
    def inner(self, other: Self) -> Array:
        """Return Tᵀ·other, in float64 if T is tall: orthonormalization needs more digits than T has."""

    @abstractmethod
    def combined(self, M: Array, *more: tuple[Self, Array]) -> Self:
        """Return T·M + Σ other·M' for matrices M (j, m), M' (j', m)."""

    @abstractmethod
    def refined(self, B: Array, S: Self, C: Array | None) -> tuple[Self, Array, Array]:
        """Return R = T·B − S·C (C = 0 if None), SᵀR and RᵀR."""

    @abstractmethod
    def with_columns(self, more: Self) -> Self:
        """Return [T, more]."""

    @abstractmethod
    def triangle(self) -> Array:
        """Return R (j, j) of T = QR."""

    @abstractmethod
    def array(self) -> Array:
        """Return the vectors as an array (N, j)."""


@dataclass(frozen=True)
class Plain(Vectors):
    """Vectors that are an array (p, j)."""

    values: Array

    @property
    def columns(self) -> int:
        return int(self.values.shape[1])

    def inner(self, other: Self) -> Array:
        return self.values.T @ other.values

    def combined(self, M: Array, *more: tuple[Self, Array]) -> Self:
        total = self.values @ M
        for other, part in more:
            total = total + other.values @ part
        return type(self)(total)

    def refined(self, B: Array, S: Self, C: Array | None) -> tuple[Self, Array, Array]:
        values = self.values @ B
        out = type(self)(values if C is None else values - S.values @ C)
        return out, S.inner(out), out.inner(out)

    def with_columns(self, more: Self) -> Self:
        return type(self)(namespace(self.values).concat([self.values, more.values], axis=1))

    def triangle(self) -> Array:
        return namespace(self.values).linalg.qr(self.values)[1]

    def array(self) -> Array:
        return self.values


class _Kept:
    """A matrix stored with the samples. It only gains columns, and is deleted with its last handle."""

    def __init__(self, owner: Samples, place: Place):
        self.owner, self.place = owner, place
        weakref.finalize(self, owner.later, Block.drop, place.key).atexit = False

    def appended(self, more: Place) -> None:
        self.owner.later(Block.append, self.place.key, more)
        self.place = replace(self.place, columns=self.place.columns + more.columns)


@dataclass(frozen=True, eq=False)
class Tall(Vectors):
    """The first columns of a matrix (n, …) stored with the samples `owner`."""

    _kept: _Kept
    place: Place  # its key in the blocks, and the number of its columns

    @classmethod
    def of(cls, owner: Samples, place: Place) -> Tall:
        """Return the handle of a new matrix."""
        return cls(_Kept(owner, place), place)

    @property
    def owner(self) -> Samples:
        """The samples that store it."""
        return self._kept.owner

    @property
    def columns(self) -> int:
        return self.place.columns

    def inner(self, other: Tall) -> Array:
        return self.owner.sum(Block.inner, self.place, other.place)

    def combined(self, M: Array, *more: tuple[Tall, Array]) -> Tall:
        terms = [(self.place, M), *((other.place, part) for other, part in more)]
        return self.owner.keep(Block.combination, terms)

    def refined(self, B: Array, S: Tall, C: Array | None) -> tuple[Tall, Array, Array]:
        (out,), (cross, gram) = self.owner.make(Block.refined, self.place, B, S.place, C)
        return out, cross, gram

    def with_columns(self, more: Tall) -> Tall:
        """Return [T, more], without a copy if T is the whole stored matrix; the handle of T stays valid."""
        kept = self._kept
        if kept.place.columns != self.columns:  # another handle has added columns
            kept = self.owner.keep(Block.rows_of, self.place)._kept
        kept.appended(more.place)
        return Tall(kept, kept.place)

    def triangle(self) -> Array:
        parts = [wide(to_numpy(R)) for R in self.owner.gather(Block.triangle, self.place)]
        xp = namespace(*parts)
        return xp.linalg.qr(xp.concat(parts))[1]

    def array(self) -> Array:
        return self.owner.stack(Block.rows_of, self.place)

    def moved_to(self, samples: Samples) -> Tall:
        """Return the same numbers, stored with other blocks of the same samples."""
        if samples is self.owner:
            return self
        return samples.keep(Block.given, self.array())

    def __reduce__(self) -> Any:
        raise TypeError("a handle of a tall matrix cannot be pickled; pass its place")
