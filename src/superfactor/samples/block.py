"""Some samples of a problem, and the questions they answer.

A block holds n_b samples: their rows of X̃, their annotations, and their rows of tall matrices. Its
public methods are the questions that samples can be asked (`Samples`). None of them changes the block.
Answers are

- sums over the samples: numbers and arrays without an n_b among their dimensions, alone or in a tuple;
- rows (n_b, j), to be kept with the samples, or gathered;
- `Made`: rows to be kept together with sums;
- what is to be gathered block by block, and says so.

Coefficients c (m, κ) act on the rows of a `Design` J (n, m): a = Jc, plus an offset where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from superfactor._arrays import (
    Array,
    cast,
    device,
    eye_like,
    indices,
    namespace,
    wide,
    zeros_like_of,
)
from superfactor.losses import Loss
from superfactor.samples.annotations import Annotations
from superfactor.samples.curvature import curvature_gram, directional_curvature
from superfactor.samples.store import InMemory, TallStore
from superfactor.spectrum import DataMatrix

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


@dataclass(frozen=True)
class Design:
    """The rows j_i of J that coefficients act on.

    Attributes
    ----------
    tall : a tall matrix T; None where there are only covariates
    ready : J = T itself; otherwise J = [T/√w, X']
    offset : (n, κ), added to the activations; None for none
    """

    tall: Place | None
    ready: bool = False
    offset: Place | None = None


@dataclass(frozen=True)
class Along:
    """Directions b_j (j, κ) in which the loss bends, at coefficients of a design."""

    design: Design
    coef: Array
    directions: Array


class Block:
    """Answers questions about its samples.

    Parameters
    ----------
    n_samples : n_b
    rows : gives the rows of X̃ for a scale s, of X itself for None; they may be read only when they are needed
    annotations : gives targets, covariates and weights
    loss : ℓ
    store : where the tall matrices are kept; None is memory
    start : the position of its first sample among all
    """

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
        self._drawn: np.ndarray | None = None

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

    # --- what must be known before a problem can be stated ---------------------------------------------

    @reads_rows
    def squared_norm(self) -> float:
        """‖X̃‖² of these rows."""
        return self._rows().sum_of_squares()

    def weight_range(self) -> tuple[float, float]:
        """The smallest and the largest ω_i/w_i: to gather."""
        ratio = self._annotations().weight_ratio
        xp = namespace(ratio)
        return float(xp.min(ratio)), float(xp.max(ratio))

    @reads_rows
    def digest(self) -> tuple[Array, Array, float]:
        """Σ_i √i·ω_i·y_i (κ,), Σ_i √i·ω_i·x'_i (q,) and Σ_i √i·‖x̃_i‖²: other samples, or orders of them,
        give other sums.
        """
        known, squares = self._annotations(), self._rows().row_squares()
        place = np.sqrt(np.arange(self._start + 1, self._start + self.n_samples + 1))
        xp, Y = namespace(known.targets), wide(known.targets)
        place = xp.asarray(place, dtype=Y.dtype, device=device(Y))
        weighted = place * wide(known.loss_weight)[:, 0]
        return weighted @ Y, weighted @ wide(known.covariates), float(place @ squares)

    def covariate_gram(self) -> Array:
        """X'ᵀΩX' (q, q)."""
        known = self._annotations()
        return known.covariates.T @ (known.loss_weight * known.covariates)

    @reads_rows
    def some_rows(self, share: float) -> tuple[Any, Annotations]:
        """A share of the rows of X̃, weights left out, and their annotations: to gather."""
        index = self._chosen(share)
        known = self._annotations()
        return self._rows().take(index), known.take(indices(known.targets, index))

    def _chosen(self, share: float) -> np.ndarray:
        """Positions of a share of the samples, always the same ones; the last are remembered."""
        count = min(self.n_samples, int(np.ceil(share * self.n_samples)))
        if self._drawn is None or self._drawn.size != count:
            rng = np.random.default_rng((self._start, count))
            self._drawn = np.sort(rng.choice(self.n_samples, count, replace=False))
        return self._drawn

    # --- the design ------------------------------------------------------------------------------------

    def _matrix(self, design: Design, known: Annotations) -> Array:
        """J (n_b, m)."""
        if design.tall is None:
            return known.covariates
        tall = self._tall(design.tall)
        if design.ready:
            return tall
        if known.covariates.shape[1] == 0:
            return known.over_root(tall)
        return namespace(tall).concat([known.over_root(tall), known.covariates], axis=1)

    def _times(self, design: Design, known: Annotations, coef: Array) -> Array:
        """J·coef (n_b, κ) without forming J, and without the offset."""
        coef = cast(coef, known.targets)
        if design.tall is None:
            return known.covariates @ coef
        tall = self._tall(design.tall)
        if design.ready:
            return tall @ coef
        k = design.tall.columns
        return known.over_root(tall @ coef[:k, :]) + known.covariates @ coef[k:, :]

    def _transposed(self, design: Design, known: Annotations, E: Array) -> Array:
        """JᵀE (m, κ)."""
        if design.tall is None:
            return known.covariates.T @ E
        tall = self._tall(design.tall)
        if design.ready:
            return tall.T @ E
        return namespace(E).concat([tall.T @ known.over_root(E), known.covariates.T @ E])

    def _activations(self, design: Design, known: Annotations, coef: Array) -> Array:
        a = self._times(design, known, coef)
        return a if design.offset is None else a + self._tall(design.offset)

    def _some(
        self, design: Design, share: float, turn: Array | None
    ) -> tuple[Array, Annotations, float]:
        """Rows of J·turn for a share of the samples, their annotations, and what their sums count for."""
        known = self._annotations()
        if share >= 1:
            J, factor = self._matrix(design, known), 1.0
        else:
            chosen = self._chosen(share)
            index = indices(known.targets, chosen)
            known, factor = known.take(index), self.n_samples / chosen.size
            J, xp = known.covariates, namespace(known.targets)
            if design.tall is not None:
                J = xp.take(self._tall(design.tall), index, axis=0)
                if not design.ready:
                    J = xp.concat([known.over_root(J), known.covariates], axis=1)
        return (J if turn is None else J @ cast(turn, J)), known, factor

    # --- the loss --------------------------------------------------------------------------------------

    def evaluate(self, design: Design, coef: Array) -> tuple[float, Array]:
        """Σ_i ω_i ℓ(y_i, a_i) and its gradient JᵀE (m, κ), E = ω∘∇ℓ."""
        known = self._annotations()
        value, residual = self.loss.value_and_residual(
            self._activations(design, known, coef), known.targets
        )
        xp = namespace(value)
        total = xp.sum(value * known.loss_weight[:, 0], dtype=xp.float64)
        return total, self._transposed(design, known, residual * known.loss_weight)

    def curvature(self, design: Design, coef: Array, share: float) -> Array:
        """Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major, from a share of the samples."""
        J, known, factor = self._some(design, share, None)
        gram = curvature_gram(J, self._hessians(J, known, coef, design, share), self.loss.convex)
        return _scaled(gram, factor)

    def _hessians(
        self, J: Array, known: Annotations, coef: Array, design: Design, share: float
    ) -> Array:
        """ω_i∇²ℓ_i (n, κ, κ) at a = J·coef and the design's offset."""
        a = self._shifted(J @ cast(coef, J), design, share)
        return self.loss.hessian(a, known.targets) * known.loss_weight[:, :, None]

    def _shifted(self, a: Array, design: Design, share: float) -> Array:
        """Activations of a share of the samples with their offset."""
        if design.offset is None:
            return a
        offset = self._tall(design.offset)
        if share < 1:
            offset = namespace(a).take(offset, indices(a, self._chosen(share)), axis=0)
        return a + offset

    def kept_curvature(
        self, design: Design, coef: Array, turn: Array, beta: Array, share: float
    ) -> tuple[Array, Array, Array]:
        """The curvature in (T, v, g), T kept and ordered factor by factor: TT, T×(v, g), (v, g)×(v, g).

        turn (k + q, k + q) = [W⊥, W, I]; coef in turned coordinates; β (r, κ).
        """
        J, known, factor = self._some(design, share, turn)
        H, beta = self._hessians(J, known, coef, design, share), cast(beta, J)
        xp, (r, kappa) = namespace(J), beta.shape
        rest = int(J.shape[1]) - r - int(known.covariates.shape[1])
        outside, own = J[:, :rest], J[:, rest:]  # ΦW⊥ and [ΦW, X']
        half = xp.matmul(beta[None, :, :], H)  # β·h (n, r, κ)
        TT = curvature_gram(outside, xp.matmul(half, beta.T[None, :, :]), self.loss.convex)
        cross = xp.concat(
            [
                xp.concat(
                    [outside.T @ (own * half[:, i, c][:, None]) for c in range(kappa)], axis=1
                )
                for i in range(r)
            ]
        )
        both = curvature_gram(own, H, self.loss.convex)
        return _scaled(TT, factor), _scaled(cross, factor), _scaled(both, factor)

    def curvature_product(self, design: Design, coef: Array, direction: Array) -> Array:
        """Jᵀ(ω∇²ℓ·(J·direction)) (m, κ) for a direction (m, κ)."""
        known = self._annotations()
        a = self._activations(design, known, coef)
        moved = self._times(design, known, direction)
        action = self.loss.hessian_action(a, known.targets, moved) * known.loss_weight
        return self._transposed(design, known, action)

    def curvature_diagonal(
        self, design: Design, coef: Array, share: float, turn: Array | None = None
    ) -> Array:
        """Σ_i ω_i(∇²ℓ_i)_cc j_ij² (m, κ), j_i the rows of J·turn: the diagonal of `curvature`."""
        J, known, factor = self._some(design, share, turn)
        a = self._shifted(J @ cast(coef, J), design, share)
        bent = self._directional(a, known, eye_like(J, int(coef.shape[1])))
        return _scaled((J**2).T @ bent, factor)

    def rotation_curvature(self, design: Design, coef: Array, turn: Array, beta: Array) -> Array:
        """Σ_i (ΦW⊥)_ij² β_cᵀ(ω_i∇²ℓ_i)β_c (k − r, r): what the loss adds to the curvature of T."""
        J, known, _ = self._some(design, 1.0, turn)
        rest = int(J.shape[1]) - int(beta.shape[0]) - int(known.covariates.shape[1])
        a = self._shifted(J @ cast(coef, J), design, 1.0)
        return (J[:, :rest] ** 2).T @ self._directional(a, known, beta)

    def _directional(self, a: Array, known: Annotations, directions: Array) -> Array:
        """b_jᵀ(ω_i∇²ℓ_i)b_j (n, r) for rows b_j of directions (r, κ)."""
        curved = directional_curvature(self.loss, a, known.targets, cast(directions, a))
        return curved * known.loss_weight

    def mass(self, design: Design) -> float:
        """Σ_i ω_i‖j_i‖² over the rows of the design: the scale of its curvature."""
        known = self._annotations()
        J = self._matrix(design, known)
        xp = namespace(J)
        total = xp.sum(xp.vecdot(J, J) * known.loss_weight[:, 0], dtype=xp.float64)
        return float(total)

    # --- rows ------------------------------------------------------------------------------------------

    def rows_of(self, place: Place) -> Array:
        """A tall matrix itself (n_b, j)."""
        return self._tall(place)

    def combination(self, terms: Sequence[tuple[Place, Array]]) -> Array:
        """Σ T·M (n_b, m)."""
        total: Any = None
        for place, M in terms:
            tall = self._tall(place)
            part = tall @ cast(M, tall)
            total = part if total is None else total + part
        return total

    def view(self, design: Design, V: Array) -> Array:
        """J·V (n_b, m)."""
        return self._times(design, self._annotations(), V)

    def activations(self, design: Design, coef: Array) -> Array:
        """a = J·coef (n_b, κ), with the offset."""
        return self._activations(design, self._annotations(), coef)

    def residuals(self, design: Design, coef: Array) -> Array:
        """E = ω∘∇ℓ (n_b, κ)."""
        known = self._annotations()
        a = self._activations(design, known, coef)
        return self.loss.residual(a, known.targets) * known.loss_weight

    def pulled(self, design: Design, coef: Array) -> Array:
        """E/√w (n_b, κ): the gradient of the loss in Ã where the search side is the samples."""
        return self._annotations().over_root(self.residuals(design, coef))

    def codes(self, place: Place, M: Array) -> Array:
        """T·M/√w (n_b, r)."""
        return self._annotations().over_root(self.combination([(place, M)]))

    def given(self, matrix: Array) -> Array:
        """This block's rows of a matrix (n, j) of all samples."""
        return matrix[self._start : self._start + self.n_samples, :]

    def noise(self, seed: int, columns: int) -> Array:
        """Standard normal numbers (n_b, columns)."""
        rng = np.random.default_rng((seed, self._start))
        return self._array(rng.standard_normal((self.n_samples, columns)))

    def identity(self, size: int) -> Array:
        """This block's rows of the identity of all `size` samples."""
        return self._array(np.eye(self.n_samples, size, self._start))

    def _array(self, values: Any) -> Array:
        like = self._annotations().targets
        return namespace(like).asarray(values, dtype=like.dtype, device=device(like))

    # --- linear algebra of tall matrices -----------------------------------------------------------------

    def inner(self, left: Place, right: Place) -> Array:
        """leftᵀ·right, in float64."""
        return wide(self._tall(left)).T @ wide(self._tall(right))

    def refined(
        self, place: Place, B: Array, basis: Place, C: Array | None
    ) -> Made[tuple[Array, Array]]:
        """R = T·B − S·C, with SᵀR and RᵀR in float64."""
        terms = [(place, B)]
        if C is not None and basis.columns:
            terms.append((basis, -C))
        out = self.combination(terms)
        fine = wide(out)
        return Made((out,), (wide(self._tall(basis)).T @ fine, fine.T @ fine))

    def triangle(self, place: Place) -> Array:
        """The triangular factor R of T = QR, with n_b rows or as many as it has columns: to gather."""
        tall = self._tall(place)
        return namespace(tall).linalg.qr(tall)[1]

    # --- products with X -----------------------------------------------------------------------------------

    @reads_rows
    def images(self, T: Array) -> Array:
        """X̃T (n_b, j) for T (p, j): rows."""
        return self._rows().times(T)

    @reads_rows
    def image(self, place: Place) -> Array:
        """X̃ᵀ·T (p, j) for a tall T."""
        return self._rows().transpose_times(self._tall(place))

    @reads_rows
    def power(self, T: Array) -> Array:
        """X̃ᵀX̃T (p, j)."""
        X = self._rows()
        return X.transpose_times(X.times(T))

    @reads_rows
    def gram_and_image(self, place: Place) -> tuple[Array, Array]:
        """X̃ᵀX̃ (p, p) and X̃ᵀ·T (p, j), in one pass."""
        X = self._rows()
        return X.feature_gram(), X.transpose_times(self._tall(place))

    @reads_rows
    def pull(self, design: Design, coef: Array) -> Array:
        """X̃ᵀ(E/√w) (p, κ): the gradient of the loss in Ã where the search side is the features."""
        return self._rows().transpose_times(self.pulled(design, coef))

    @reads_rows
    def grown(self, T: Array, basis: Place, along: Along | None) -> Made[tuple[Array, ...]]:
        """Z = X̃T for T (p, j), in one pass with all that a basis of features wants to know of it.

        Sums: X̃ᵀZ (p, j), the products of the basis' images with Z (k, j), ZᵀZ (j, j); and along
        directions X̃ᵀ(h∘Z) (p, j), h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j.
        """
        X = self._rows()
        Z = X.times(T)
        xp, both, j = namespace(Z), Z, int(Z.shape[1])
        if along is not None:
            both = xp.concat([Z, Z * self._bent(along)], axis=1)
        G = X.transpose_times(both)
        # In float64: ξ‖X̃‖² less the trace of these products may be a small difference of large numbers.
        fine = wide(Z)
        sums = (G[:, :j], wide(self._tall(basis)).T @ fine, fine.T @ fine)
        return Made((Z,), sums if along is None else (*sums, G[:, j:]))

    @reads_rows
    def images_and_bent(self, Z: Array, place: Place, along: Along) -> Made[tuple[()]]:
        """X̃Z, and h∘T with h as in `grown`, for a tall T and Z = X̃ᵀT."""
        bent = self._tall(place) * self._bent(along)
        return Made((self._rows().times(Z), bent), ())

    def _bent(self, along: Along) -> Array:
        """h (n_b, j), h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j: the loss's curvature along directions b_j."""
        known = self._annotations()
        a = self._activations(along.design, known, along.coef)
        h = directional_curvature(self.loss, a, known.targets, cast(along.directions, a))
        return namespace(a).clip(h, 0.0, None) * known.weight_ratio

    # --- dual points g (n_b, κ), kept in float64: a bound must hold to the last digit of a sum ----------

    def dual_points(self, design: Design, coef: Array) -> Array:
        """g = ∇ℓ (n_b, κ)."""
        known = self._annotations()
        a = wide(self._activations(design, known, coef))
        return self.loss.residual(a, wide(known.targets))

    def imbalance(self, dual: Place, steps: Sequence[Any]) -> tuple[Any, ...]:
        """What the next balancing step must know of the dual points of all samples."""
        known = self._annotations()
        targets = wide(known.targets)
        g = self.loss.rebalanced(self._tall(dual), targets, steps)
        return self.loss.imbalance(g, targets, wide(known.loss_weight)[:, 0])

    def rebalanced(self, dual: Place, steps: Sequence[Any]) -> Array:
        """The dual points moved by these steps (n_b, κ)."""
        return self.loss.rebalanced(self._tall(dual), wide(self._annotations().targets), steps)

    def dual_terms(self, dual: Place) -> tuple[float, Array]:
        """Σ_i ω_i ℓ*(y_i, g_i) and X'ᵀ(ω∘g) (q, κ)."""
        known = self._annotations()
        weight, g = wide(known.loss_weight), self._tall(dual)
        total = namespace(g).sum(self.loss.conjugate(g, wide(known.targets)) * weight[:, 0])
        return float(total), wide(known.covariates).T @ (g * weight)

    def weighted_dual(self, dual: Place) -> Array:
        """ω∘g/√w (n_b, κ), in the type of the block: what `pulled` is at residuals."""
        known = self._annotations()
        return known.over_root(cast(self._tall(dual), known.targets) * known.loss_weight)


def _scaled(x: Array, factor: float) -> Array:
    return x if factor == 1.0 else x * factor
