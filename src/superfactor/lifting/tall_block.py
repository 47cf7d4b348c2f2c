"""The rows of X̃ and of tall matrices that a block of samples holds: linear algebra for a search, by name.

Answers are sums over the rows, tuples of arrays without an n_b among their dimensions; those that are rows,
or no sums, are to be gathered, and say so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, device, namespace, wide
from superfactor.lifting.tall import InMemory, TallStore
from superfactor.spectrum import DataMatrix

# The name of a tall matrix, and what it is multiplied by.
Term = tuple[str, Array | None]


class TallBlock(ABC):
    """Some rows of X̃ and of tall matrices; what a loss makes of them is `SampleBlock`'s.

    Parameters
    ----------
    n_samples : n_b
    rows : gives the rows of X̃ for a scale s; they may be read only when they are needed
    store : where the tall matrices are kept; None is memory
    start : the position of its first sample among all
    """

    def __init__(
        self,
        n_samples: int,
        rows: Callable[[float], DataMatrix],
        store: TallStore | None = None,
        start: int = 0,
    ):
        self.n_samples, self._start = n_samples, start
        self._read, self._scale = rows, 1.0
        self._tall: TallStore = InMemory() if store is None else store

    @abstractmethod
    def _pulled(self, theta: Array | None) -> Array:
        """What the name "E" stands for (n_b, κ), at coefficients θ."""

    @abstractmethod
    def _like(self) -> Array:
        """An array in the type and place of the tall matrices."""

    @abstractmethod
    def _changed(self, name: str) -> None:
        """Take notice of a matrix that is another now."""

    # --- X̃ ------------------------------------------------------------------------------------------

    def _rows(self) -> DataMatrix:
        return self._read(self._scale)

    def squared_norm(self) -> tuple[float]:
        """‖X̃‖² of these rows."""
        return (self._rows().sum_of_squares(),)

    def rescale(self, scale: float) -> tuple[()]:
        """From now on X̃ = diag(√w)X/scale."""
        self._scale = scale
        return ()

    def power(self, T: Array) -> tuple[Array]:
        """X̃ᵀX̃T (p, j)."""
        X = self._rows()
        return (X.transpose_times(X.times(T)),)

    def gram(self) -> tuple[Array]:
        """X̃ᵀX̃ (p, p)."""
        return (self._rows().feature_gram(),)

    # --- tall matrices -------------------------------------------------------------------------------

    def given(self, out: str, matrix: Array) -> tuple[()]:
        """out ← this block's rows of a matrix (n, j) of all samples."""
        self._tall.set(out, matrix[self._start : self._start + self.n_samples, :])
        self._changed(out)
        return ()

    def _combination(self, terms: Sequence[Term], theta: Array | None) -> Array:
        """Σ name·M (n_b, j); the name "E" stands for `_pulled` at θ, M None for the identity."""
        total: Any = None
        for name, M in terms:
            matrix = self._pulled(theta) if name == "E" else self._tall.get(name)
            part = matrix if M is None else matrix @ cast(M, matrix)
            total = part if total is None else total + part
        return total

    def combine(self, out: str, terms: Sequence[Term], theta: Array | None = None) -> tuple[()]:
        """out ← Σ name·M."""
        self._tall.set(out, self._combination(terms, theta))
        self._changed(out)
        return ()

    def append(self, out: str, name: str) -> tuple[()]:
        """out ← [out, name]."""
        self._tall.append(out, self._tall.get(name))
        self._changed(out)
        return ()

    def drop(self, name: str) -> tuple[()]:
        """Forget a matrix."""
        self._tall.drop(name)
        return ()

    def rows(self, terms: Sequence[Term]) -> Array:
        """The rows of Σ name·M (n_b, j) themselves: an answer to gather, not to sum."""
        return self._combination(terms, None)

    def inner(self, pairs: Sequence[tuple[str, str]]) -> tuple[Array, ...]:
        """aᵀb for each pair of names, in float64: what makes vectors orthonormal must be finer than they."""
        empty = self._tall.get(pairs[0][1])[:, :0]
        got = {n: self._tall.get(n) if n in self._tall else empty for pair in pairs for n in pair}
        fine = {name: wide(matrix) for name, matrix in got.items()}
        return tuple(fine[a].T @ fine[b] for a, b in pairs)

    def images(self, T: Array) -> Array:
        """X̃T (n_b, j): to gather."""
        return self._rows().times(T)

    def triangle(self, name: str) -> Array:
        """The triangular factor R of name = QR, with n_b rows or as many as it has columns: to gather."""
        return namespace(self._tall.get(name)).linalg.qr(self._tall.get(name))[1]

    def image(self, name: str) -> tuple[Array]:
        """X̃ᵀ·name (p, j)."""
        return (self._rows().transpose_times(self._tall.get(name)),)

    def back(self, out: str, Z: Array) -> tuple[()]:
        """out ← X̃Z for Z (p, j)."""
        self._tall.set(out, self._rows().times(Z))
        return ()

    def noise(self, out: str, seed: int, columns: int) -> tuple[()]:
        """out ← standard normal numbers (n_b, columns)."""
        rng = np.random.default_rng((seed, self._start))
        self._put(out, rng.standard_normal((self.n_samples, columns)))
        return ()

    def identity(self, out: str, size: int) -> tuple[()]:
        """out ← this block's rows of the identity of all `size` samples."""
        self._put(out, np.eye(self.n_samples, size, self._start))
        return ()

    def _put(self, out: str, values: Any) -> None:
        like = self._like()
        xp = namespace(like)
        self._tall.set(out, xp.asarray(values, dtype=like.dtype, device=device(like)))

    def several(self, steps: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Several questions (name, arguments …) in one: the answers of all, one after the other."""
        answer: tuple[Any, ...] = ()
        for question, *arguments in steps:
            answer += getattr(self, question)(*arguments)
        return answer
