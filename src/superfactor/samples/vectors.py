"""Vectors of the search side: a few columns in R^N, added up and multiplied without asking where they live.

The search side is the features for the filter model, whose vectors are plain arrays (p, j), and the
samples for the feature model, whose vectors are tall (n, j), live with the samples and are known by a
handle (`Tall`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

from superfactor._arrays import Array, namespace


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
