"""Vectors of the search side: a few columns in R^N, added up and multiplied without asking where they live.

The search side is the features for the filter model, whose vectors are plain arrays (p, j), and the
samples for the feature model, whose vectors are tall (n, j), live with the samples and are known by a
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
    """T (N, j). Nothing changes one: every operation gives another."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """j."""

    @abstractmethod
    def inner(self, other: Self) -> Array:
        """Tᵀ·other, in float64 where T is tall: what makes vectors orthonormal must be finer than they."""

    @abstractmethod
    def combined(self, M: Array, *more: tuple[Self, Array]) -> Self:
        """T·M + Σ other·M' for matrices M (j, m), M' (j', m)."""

    @abstractmethod
    def refined(self, B: Array, S: Self, C: Array | None) -> tuple[Self, Array, Array]:
        """R = T·B − S·C (no C: nothing is taken off), with SᵀR and RᵀR."""

    @abstractmethod
    def beside(self, more: Self) -> Self:
        """[T, more]."""

    @abstractmethod
    def triangle(self) -> Array:
        """R (j, j) of T = QR."""

    @abstractmethod
    def array(self) -> Array:
        """The numbers themselves (N, j)."""


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

    def beside(self, more: Self) -> Self:
        return type(self)(namespace(self.values).concat([self.values, more.values], axis=1))

    def triangle(self) -> Array:
        return namespace(self.values).linalg.qr(self.values)[1]

    def array(self) -> Array:
        return self.values


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
    """The first columns of a matrix (n, …) that `owner`, some samples, keep."""

    _kept: _Kept
    place: Place  # where blocks find it: its key there, and how many columns count

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
