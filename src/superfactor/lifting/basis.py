"""A growing orthonormal basis of the search side, with the images the solvers need.

The search side is the features for the filter model and the samples for the feature model. Its vectors are
plain arrays (p, j) for the former; for the latter they are tall, live with the samples and are known here by
name. Both kinds of basis grow by the same Gram–Schmidt, which sees vectors through their products only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, eigh_descending, eye_like, indices, namespace
from superfactor.lifting.sampled import SampledProblem
from superfactor.lifting.unlifting import Turned, turn_features, turn_filters

# Vectors of the search side: an array (N, j), or the name of a tall matrix and its number of columns.
Vectors = Any


@dataclass(frozen=True)
class Tall:
    """A matrix (n, columns) that lives with the samples."""

    name: str
    columns: int


class GrowingBasis(ABC):
    """S (N, k) with orthonormal columns and D = SᵀGS (k, k), G = X̃ᵀX̃ or X̃X̃ᵀ on the search side."""

    def __init__(self, problem: SampledProblem):
        self.problem = problem
        self.D = problem.zeros(0, 0)

    @staticmethod
    def of(problem: SampledProblem) -> GrowingBasis:
        """An empty basis for this problem."""
        return (FeatureSide if problem.name == "filter" else SampleSide)(problem)

    @property
    def size(self) -> int:
        return int(self.D.shape[0])

    # --- what the two search sides do differently ------------------------------------------------------

    @abstractmethod
    def columns(self, T: Vectors) -> int:
        """How many vectors these are."""

    @abstractmethod
    def products(self, T: Vectors) -> tuple[Array, Array]:
        """SᵀT (k, j) and TᵀT (j, j)."""

    @abstractmethod
    def refined(self, T: Vectors, B: Array, C: Array) -> tuple[Vectors, Array, Array]:
        """TB − SC for B (j, j'), C (k, j'), and its `products`."""

    @abstractmethod
    def triangle(self, T: Vectors) -> Array:
        """R (j, j) of T = QR."""

    @abstractmethod
    def append(
        self, T: Vectors, theta: Array | None = None, directions: Array | None = None
    ) -> None:
        """Add orthonormal vectors T outside S, and their images.

        With directions b_j (j, κ) also notes the loss's curvature along them at θ, for `chain`.
        """

    @abstractmethod
    def chain(self, values: Array, pick: np.ndarray) -> Vectors:
        """[2ξ(θ_i − G) + loss curvature]·t_i for the vectors t_i added last, those in `pick` only."""

    @abstractmethod
    def latest_powers(self, added: int) -> Vectors:
        """G·t for the `added` vectors that came last."""

    @abstractmethod
    def powers(self, V: Array) -> Vectors:
        """GSV (N, j)."""

    @abstractmethod
    def turn(self, V: Array) -> None:
        """S ← SV, images included."""

    @abstractmethod
    def pull(self, theta: Array | None) -> Vectors:
        """ΦᵀE (N, κ), the gradient of the loss in Ã at θ; without θ, ΦᵀG of the dual points."""

    @abstractmethod
    def residual(self, W: Array, beta: Array, theta: Array | None) -> Vectors:
        """ξGSW − ½ΦᵀEβᵀ (N, r) for W (k, r), β (r, κ), with ΦᵀE as in `pull`."""

    @abstractmethod
    def vectors(self, W: Array) -> Array:
        """SW (N, r) as an array."""

    @abstractmethod
    def hold(self, W: Array) -> Vectors:
        """SW (N, r), to outlive changes of the basis."""

    @abstractmethod
    def release(self, T: Vectors) -> None:
        """What `hold` gave is no longer wanted."""

    @abstractmethod
    def image_of_random(self, rng: np.random.Generator, width: int) -> Vectors:
        """Random vectors in the range of X̃, with its large directions favoured."""

    @abstractmethod
    def random(self, rng: np.random.Generator, width: int) -> Vectors:
        """Random vectors anywhere."""

    @abstractmethod
    def everything(self, limit: int) -> Vectors:
        """The whole search side where its dimension is at most `limit`; otherwise what X̃ reaches of it."""

    @abstractmethod
    def take(self, T: Vectors, chosen: np.ndarray) -> Vectors:
        """Some of the vectors."""

    @abstractmethod
    def begin(self, vectors: Array, tall: Array | None) -> Vectors:
        """Grow from an array (p, j) of `feature_vectors`; what spans the first r of them, to be held.

        Where the search side is the samples, `tall` (n, r) is what these were of; without it, what X̃ makes of
        all of them is a good subspace, and nothing is held.
        """

    @abstractmethod
    def feature_vectors(self, V: Array) -> Array:
        """SV (p, j) where the search side is the features, X̃ᵀSV where it is the samples."""

    @abstractmethod
    def unlifted(self, W: Array, beta: Array) -> Turned:
        """Factors in the user's units for the subspace SW, β (r, κ); the samples' columns are main·W."""

    # --- growth ------------------------------------------------------------------------------------------

    def outside(self, T: Vectors) -> tuple[Vectors, Array]:
        """(I − SSᵀ)T, up to rounding relative to T, and TᵀT (j, j) of the result."""
        cross, _ = self.products(T)
        T, _, gram = self.refined(T, eye_like(self.D, self.columns(T)), cross)
        return T, gram

    def new_directions(self, T: Vectors) -> tuple[Vectors, np.ndarray]:
        """An orthonormal basis of what T adds to S, and which of T's columns it comes from."""
        noise = 1e3 * self.problem.epsilon  # what rounding leaves of a column inside S
        cross, gram = self.products(T)
        source = np.arange(self.columns(T))
        # What was mostly inside S has lost digits against it: clean twice before the triangle, once after.
        for least in (0.0, max(1e-10, noise)):
            T, cross, gram, kept = self._normalised(T, cross, gram, least)
            source = source[kept]
        if source.size == 0:
            return T, source
        R = self.triangle(T)
        xp = namespace(R)
        size = xp.abs(xp.linalg.diagonal(R))
        kept = np.flatnonzero(np.asarray([float(x) for x in size]) > max(1e-8, noise))
        pick = _selector(R, kept, R.shape[1])
        T, cross, gram = self.refined(
            T, pick @ _inverse(xp.linalg.qr(R @ pick)[1]), cross @ pick * 0
        )
        if kept.size:
            lower = xp.linalg.cholesky((gram + gram.T) / 2)
            B = _inverse(lower).T
            T, _, _ = self.refined(T, B, cross @ B)
        return T, source[kept]

    def _normalised(
        self, T: Vectors, cross: Array, gram: Array, least: float
    ) -> tuple[Vectors, Array, Array, np.ndarray]:
        """Columns longer than `least`, cleaned of S and divided by their length."""
        xp = namespace(gram)
        norms = xp.sqrt(xp.clip(xp.linalg.diagonal(gram), 0.0, None))
        kept = np.flatnonzero(np.asarray([float(x) for x in norms]) > least)
        B = _selector(gram, kept, gram.shape[0])
        B = B / xp.take(norms, indices(norms, kept))[None, :]
        return *self.refined(T, B, cross @ B), kept

    def leading(self, T: Vectors, most: int) -> Vectors:
        """The leading directions of T, at most so many; T itself where it has no more."""
        if self.columns(T) <= most:
            return T
        V = eigh_descending(self.products(T)[1])[1][:, :most]
        return self.refined(T, V, self.problem.zeros(self.size, most))[0]

    def extend(self, T: Vectors) -> int:
        """Add the span of T to S; the number of directions that were new."""
        new, source = self.new_directions(T)
        if source.size:
            self.append(new)
        return int(source.size)

    def rotate(self, V: Array) -> None:
        """S ← SV for V (k, k') with orthonormal columns."""
        D = V.T @ self.D @ V
        self.D = (D + D.T) / 2
        self.turn(V)

    def fill_leading(self, size: int, keep: int, rng: np.random.Generator, width: int) -> None:
        """Fill an empty basis with about `size` block-Krylov directions and keep the best `keep`.

        Blocks of moderate width, each used for several powers of G, find the top of the spectrum with
        fewer products than a wide block; a random block starts anew where an invariant subspace ends them.
        """
        block = self.image_of_random(rng, width)
        while self.size < size:
            added = self.extend(block)
            if added == 0:
                added = self.extend(self.image_of_random(rng, width))
            if added == 0:
                break  # the whole range of X
            block = self.latest_powers(added)
        if self.size:
            self.rotate(eigh_descending(self.D)[1][:, : min(keep, self.size)])

    def _border(self, cross: Array, corner: Array) -> None:
        """D with a further row and column of blocks."""
        xp = namespace(self.D)
        top, low = xp.concat([self.D, cross], axis=1), xp.concat([cross.T, corner], axis=1)
        self.D = xp.concat([top, low])


class FeatureSide(GrowingBasis):
    """S (p, k) and GS (p, k) are arrays; the samples hold X̃S."""

    def __init__(self, problem: SampledProblem):
        super().__init__(problem)
        self.S = self.GS = problem.zeros(problem.shape[1], 0)
        self._curved: Array | None = None

    def columns(self, T: Vectors) -> int:
        return int(T.shape[1])

    def products(self, T: Vectors) -> tuple[Array, Array]:
        return self.S.T @ T, T.T @ T

    def refined(self, T: Vectors, B: Array, C: Array) -> tuple[Vectors, Array, Array]:
        T = T @ B - self.S @ C
        return T, *self.products(T)

    def triangle(self, T: Vectors) -> Array:
        return namespace(T).linalg.qr(T)[1]

    def append(
        self, T: Vectors, theta: Array | None = None, directions: Array | None = None
    ) -> None:
        xp = namespace(T)
        answer = self.problem.samples.sum("grow", T, theta, directions)
        G, cross, corner = answer[:3]
        self._curved = answer[3] if directions is not None else None
        self._border(cross, corner)
        self.S = xp.concat([self.S, T], axis=1)
        self.GS = xp.concat([self.GS, G], axis=1)

    def take(self, T: Vectors, chosen: np.ndarray) -> Vectors:
        return namespace(T).take(T, indices(T, chosen), axis=1)

    def chain(self, values: Array, pick: np.ndarray) -> Vectors:
        j = int(values.shape[0])
        new, G = self.S[:, -j:], self.GS[:, -j:]
        return self.take(2 * self.problem.xi * (values[None, :] * new - G) + self._curved, pick)

    def latest_powers(self, added: int) -> Vectors:
        return self.GS[:, -added:]

    def powers(self, V: Array) -> Vectors:
        return self.GS @ V

    def turn(self, V: Array) -> None:
        self.S, self.GS = self.S @ V, self.GS @ V
        self.problem.samples.tell("combine", "main", [("main", V)])

    def pull(self, theta: Array | None) -> Vectors:
        return self.problem.samples.sum("pull", theta)[0]

    def residual(self, W: Array, beta: Array, theta: Array | None) -> Vectors:
        return self.problem.xi * (self.GS @ W) - 0.5 * (self.pull(theta) @ beta.T)

    def hold(self, W: Array) -> Vectors:
        return self.S @ W

    def vectors(self, W: Array) -> Array:
        return self.S @ W

    def release(self, T: Vectors) -> None:
        pass

    def begin(self, vectors: Array, tall: Array | None) -> Vectors:
        self.extend(vectors)
        return vectors

    def feature_vectors(self, V: Array) -> Array:
        return self.S @ V

    def unlifted(self, W: Array, beta: Array) -> Turned:
        return turn_filters(self.S @ W, beta, W.T @ self.D @ W, self.problem.scale)

    def image_of_random(self, rng: np.random.Generator, width: int) -> Vectors:
        return self.problem.samples.sum("power", self.random(rng, width))[0]

    def random(self, rng: np.random.Generator, width: int) -> Vectors:
        return self.problem.random(rng, self.problem.shape[1], width)

    def everything(self, limit: int) -> Vectors:
        n, p = self.problem.shape
        if p <= limit:
            return eye_like(self.D, p)
        self.problem.samples.tell("identity", "staged", n)
        return self.problem.samples.sum("image", "staged")[0]


class SampleSide(GrowingBasis):
    """S and GS are tall and live with the samples; Z = X̃ᵀS (p, k) is an array."""

    def __init__(self, problem: SampledProblem):
        super().__init__(problem)
        self.Z = problem.zeros(problem.shape[1], 0)
        self._names = count()

    def columns(self, T: Vectors) -> int:
        return int(T.columns)

    def _staged(self, columns: int, *steps: tuple[Any, ...]) -> Tall:
        """What some steps leave under the name of a matrix in the making."""
        self.problem.samples.tell("several", steps)
        return Tall("staged", columns)

    def products(self, T: Vectors) -> tuple[Array, Array]:
        cross, gram = self.problem.samples.sum("inner", [("main", T.name), (T.name, T.name)])
        return cross, gram

    def refined(self, T: Vectors, B: Array, C: Array) -> tuple[Vectors, Array, Array]:
        terms = [(T.name, B), ("main", -C)] if self.size else [(T.name, B)]
        steps = [
            ("combine", "staged", terms),
            ("inner", [("main", "staged"), ("staged", "staged")]),
        ]
        cross, gram = self.problem.samples.sum("several", steps)
        return Tall("staged", int(B.shape[1])), cross, gram

    def triangle(self, T: Vectors) -> Array:
        xp = self.problem.xp
        parts = self.problem.samples.gather("triangle", T.name)
        return xp.linalg.qr(xp.concat([xp.astype(part, self.D.dtype) for part in parts]))[1]

    def append(
        self, T: Vectors, theta: Array | None = None, directions: Array | None = None
    ) -> None:
        xp, samples = self.problem.xp, self.problem.samples
        (Z,) = samples.sum("image", T.name)
        steps: list[tuple[Any, ...]] = [("combine", "latest", [(T.name, None)])]
        if directions is not None:
            steps.append(("curve", "curved", "latest", theta, directions))
        steps += [("back", "powers", Z), ("append", "main", "latest"), ("append", "gram", "powers")]
        samples.tell("several", steps)
        self._border(self.Z.T @ Z, Z.T @ Z)
        self.Z = xp.concat([self.Z, Z], axis=1)

    def take(self, T: Vectors, chosen: np.ndarray) -> Vectors:
        pick = _selector(self.D, chosen, T.columns)
        return self._staged(len(chosen), ("combine", "staged", [(T.name, pick)]))

    def chain(self, values: Array, pick: np.ndarray) -> Vectors:
        twice = 2 * self.problem.xi
        one = _selector(values, pick, values.shape[0])
        terms = [
            ("latest", twice * values[:, None] * one),
            ("powers", -twice * one),
            ("curved", one),
        ]
        return self._staged(pick.size, ("combine", "staged", terms))

    def latest_powers(self, added: int) -> Vectors:
        return Tall("powers", added)

    def powers(self, V: Array) -> Vectors:
        return self._staged(int(V.shape[1]), ("combine", "staged", [("gram", V)]))

    def turn(self, V: Array) -> None:
        self.Z = self.Z @ V
        steps = [("combine", name, [(name, V)]) for name in ("main", "gram")]
        self.problem.samples.tell("several", steps)

    def pull(self, theta: Array | None) -> Vectors:
        step = ("combine", "staged", [("E", None)], theta)
        return self._staged(self.problem.n_outputs, step)

    def residual(self, W: Array, beta: Array, theta: Array | None) -> Vectors:
        terms = [("gram", self.problem.xi * W), ("E", -0.5 * beta.T)]
        return self._staged(int(W.shape[1]), ("combine", "staged", terms, theta))

    def hold(self, W: Array) -> Vectors:
        held = Tall(f"held-{next(self._names)}", int(W.shape[1]))
        self.problem.samples.tell("combine", held.name, [("main", W)])
        return held

    def vectors(self, W: Array) -> Array:
        return self.problem.samples.stack("rows", [("main", W)])

    def release(self, T: Vectors) -> None:
        self.problem.samples.tell("drop", T.name)

    def begin(self, vectors: Array, tall: Array | None) -> Vectors:
        held = None
        if tall is not None:
            held = Tall(f"held-{next(self._names)}", int(tall.shape[1]))
            self.problem.samples.tell("given", held.name, cast(tall, self.problem.like))
            self.extend(held)
        self.extend(self._staged(int(vectors.shape[1]), ("back", "staged", vectors)))
        return held

    def feature_vectors(self, V: Array) -> Array:
        return self.Z @ V

    def unlifted(self, W: Array, beta: Array) -> Turned:
        return turn_features(self.Z @ W, beta, self.problem.scale)

    def image_of_random(self, rng: np.random.Generator, width: int) -> Vectors:
        block = self.problem.random(rng, self.problem.shape[1], width)
        return self._staged(width, ("back", "staged", block))

    def random(self, rng: np.random.Generator, width: int) -> Vectors:
        seed = int(rng.integers(2**32))
        return self._staged(width, ("noise", "staged", seed, width))

    def everything(self, limit: int) -> Vectors:
        n, p = self.problem.shape
        if n <= limit:
            return self._staged(n, ("identity", "staged", n))
        return self._staged(p, ("back", "staged", eye_like(self.D, p)))


def _selector(like: Array, chosen: Sequence[int] | np.ndarray, size: int) -> Array:
    """The columns `chosen` of the identity of this size."""
    identity = eye_like(like, size)
    return namespace(like).take(identity, indices(like, np.asarray(chosen, dtype=int)), axis=1)


def _inverse(triangle: Array) -> Array:
    return namespace(triangle).linalg.inv(triangle)
