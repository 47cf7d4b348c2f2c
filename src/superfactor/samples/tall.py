"""Handles of tall matrices: (n, j), one row a sample, kept by whoever holds the samples."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from superfactor._arrays import Array, namespace, to_numpy, wide
from superfactor.samples.block import Block, Place
from superfactor.samples.vectors import Vectors

if TYPE_CHECKING:
    from superfactor.samples.samples import Samples


class _Kept:
    """A matrix that the samples keep: it only ever gains columns, and is forgotten with its last handle."""

    def __init__(self, owner: Samples, place: Place):
        self.owner, self.place = owner, place
        weakref.finalize(self, owner.later, Block.drop, place.key).atexit = False

    def appended(self, more: Place) -> None:
        self.owner.later(Block.append, self.place.key, more)
        self.place = replace(self.place, columns=self.place.columns + more.columns)


@dataclass(frozen=True, eq=False)
class Tall(Vectors):
    """The first columns of a matrix (n, …) that `owner`, some samples, keep.

    Attributes
    ----------
    place : where blocks find it: its key there, and how many columns count
    """

    _kept: _Kept
    place: Place

    @classmethod
    def of(cls, owner: Samples, place: Place) -> Tall:
        """The handle of a matrix that has just been made."""
        return cls(_Kept(owner, place), place)

    @property
    def owner(self) -> Samples:
        """Who keeps it."""
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

    def beside(self, more: Tall) -> Tall:
        """[T, more]; without a copy where T is the whole of what is kept, and its handle stays good."""
        kept = self._kept
        if kept.place.columns != self.columns:  # somebody else has added to it
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
        """The same numbers, kept by other blocks of the same samples."""
        if samples is self.owner:
            return self
        return samples.keep(Block.given, self.array())

    def __reduce__(self) -> Any:
        raise TypeError("a handle stays with its owner; blocks are told its place")
