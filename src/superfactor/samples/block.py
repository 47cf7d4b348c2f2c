"""Some samples of a problem, and the questions they answer.

A block holds n_b samples: their rows of X̃, their annotations, and their rows of tall matrices. Its
public methods are the questions that samples can be asked (`Samples`). None of them changes the block.
Answers are

- sums over the samples: numbers and arrays without an n_b among their dimensions, alone or in a tuple;
- rows (n_b, j), to be kept with the samples, or gathered;
- `Made`: rows to be kept together with sums;
- what is to be gathered block by block, and says so.

Coefficients c (m, κ) act on the rows of a `Design` J (n, m): a = Jc, plus an offset where it has one. With
leading dimensions (…, m, κ) they are several points side by side, which share their products with J; answers
have the same leading dimensions.
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
    eigh_descending,
    eps,
    indices,
    moved,
    namespace,
    to_numpy,
    wide,
    zeros_like_of,
)
from superfactor.losses import AnyCurvature, Loss
from superfactor.samples.annotations import Annotations
from superfactor.samples.moments import score_sums
from superfactor.samples.side_by_side import as_columns, as_points, times, transpose_times
from superfactor.samples.store import InMemory, TallStore
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


@dataclass(frozen=True)
class Design:
    """The rows j_i of J that coefficients act on.

    Attributes
    ----------
    tall : a tall matrix T; None where there are only covariates
    ready : J = T itself; otherwise J = [T/√w, X']
    offset : (n, κ), added to the activations; None for none
    share : below 1, T and the offset have rows of a share of the samples only (`Block.some_of`), and their
        sums are multiplied to count for all
    coarse : T and the offset, and all that is computed with them, are in float32
    """

    tall: Place | None
    ready: bool = False
    offset: Place | None = None
    share: float = 1.0
    coarse: bool = False


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

    def total_weights(self) -> tuple[float, float, float]:
        """Σ_i ω_i, that of what tells something of y (`Loss.informative`), and Σ_i w_i."""
        known = self._annotations()
        xp, root, weight = namespace(known.targets), known.root_weight, wide(known.loss_weight)
        of_samples = self.n_samples if root is None else float(xp.sum(wide(root) ** 2))
        telling = xp.sum(weight * self.loss.informative(wide(known.targets)))
        return float(xp.sum(weight)), float(telling), float(of_samples)

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

    def covariate_moments(self, mean: Array | None) -> tuple[float, Array]:
        """Σ_i ω_i and Σ_i ω_i·x'_i (q,), or about a mean (q,) the squares: Σ_i ω_i·(x'_i − mean)²."""
        known = self._annotations()
        x, weight = wide(known.covariates), wide(known.loss_weight)
        if mean is not None:
            x = (x - cast(mean, x)[None, :]) ** 2
        xp = namespace(x)
        return float(xp.sum(weight)), xp.sum(weight * x, axis=0)

    def covariate_gram(self) -> Array:
        """X'ᵀΩX' (q, q)."""
        known = self._annotations()
        return known.covariates.T @ (known.loss_weight * known.covariates)

    @reads_rows
    def some_rows(self, share: float) -> tuple[Any, Annotations]:
        """A share of the rows of X̃, weights left out, and their annotations: to gather."""
        known, index = self._chosen(share)
        return self._rows().take(index), known

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

    # --- the design ------------------------------------------------------------------------------------

    def some_of(self, design: Design, share: float, coarse: bool) -> Made[tuple[()]]:
        """Rows of J, and of the offset, for a share of the samples: for a design that is ready."""
        known, index = self._chosen(share)
        xp = namespace(known.targets)
        dtype = xp.float32 if coarse else known.targets.dtype

        def taken(rows: Array) -> Array:
            return xp.take(rows, indices(rows, index), axis=0) if share < 1 else rows

        J = known.covariates
        if design.tall is not None:
            J = taken(self._tall(design.tall))
            if not design.ready:
                J = xp.concat([known.over_root(J), known.covariates], axis=1)
        parts = (J,) if design.offset is None else (J, taken(self._tall(design.offset)))
        return Made(tuple(xp.astype(part, dtype) for part in parts), ())

    def _known(self, design: Design) -> Annotations:
        """Annotations of the samples that have a row in the design, as it computes."""
        if design.share >= 1 and not design.coarse:
            return self._annotations()
        return self._chosen(design.share, design.coarse)[0]

    def _counts_for(self, design: Design) -> float:
        """By what sums over the rows of a design are multiplied."""
        return 1.0 if design.share >= 1 else self.n_samples / self._chosen(design.share)[1].size

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
        """J·coef (…, n_b, κ) without forming J, and without the offset."""
        coef = cast(coef, known.targets)
        if design.tall is None:
            return times(known.covariates, coef)
        tall = self._tall(design.tall)
        if design.ready:
            return times(tall, coef)
        k = design.tall.columns
        own = known.over_root(times(tall, coef[..., :k, :]))
        if known.covariates.shape[1] == 0:
            return own
        return own + times(known.covariates, coef[..., k:, :])

    def _transposed(self, design: Design, known: Annotations, E: Array) -> Array:
        """JᵀE (…, m, κ)."""
        if design.tall is None:
            return transpose_times(known.covariates, E)
        tall = self._tall(design.tall)
        if design.ready:
            return transpose_times(tall, E)
        own = transpose_times(tall, known.over_root(E))
        if known.covariates.shape[1] == 0:
            return own
        return namespace(E).concat([own, transpose_times(known.covariates, E)], axis=-2)

    def _activations(self, design: Design, known: Annotations, coef: Array) -> Array:
        a = self._times(design, known, coef)
        return a if design.offset is None else a + self._tall(design.offset)

    # --- the loss --------------------------------------------------------------------------------------

    def evaluate(self, design: Design, coef: Array) -> tuple[Array, Array]:
        """Σ_i ω_i ℓ(y_i, a_i) (…) and its gradient JᵀE (…, m, κ), E = ω∘∇ℓ."""
        known = self._known(design)
        value, residual = self.loss.value_and_residual(self._activations(design, known, coef), known.targets)
        xp = namespace(value)
        total = xp.sum(value * known.loss_weight[:, 0], axis=-1, dtype=xp.float64)
        gradient = self._transposed(design, known, residual * known.loss_weight)
        factor = self._counts_for(design)
        return _scaled(total, factor), _scaled(gradient, factor)

    def design_gram(self, design: Design) -> Array:
        """Σ_i ω_i j_i j_iᵀ (m, m)."""
        known = self._known(design)
        J = self._matrix(design, known)
        return _scaled(J.T @ (J * known.loss_weight), self._counts_for(design))

    def curvature(self, design: Design, coef: Array) -> Array:
        """Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major, for coef (m, κ)."""
        known = self._known(design)
        bend = self._curvature(known, self._activations(design, known, coef))
        gram = bend.gram(self._matrix(design, known), self.loss.convex)
        return _scaled(gram, self._counts_for(design))

    def bent(self, design: Design, coef: Array) -> Made[tuple[Array, Array]]:
        """ω_i∇²ℓ_i by 2κ numbers a sample and point, for `curvature_product`; their sum (…, κ, κ) and Σω."""
        known = self._known(design)
        bend = self._curvature(known, self._activations(design, known, coef))
        xp = namespace(known.targets)
        rows = xp.concat([as_columns(part).T for part in bend.numbers]).T
        factor = self._counts_for(design)
        total = _scaled(bend.total(), factor)
        return Made((rows,), (total, factor * xp.sum(known.loss_weight, dtype=xp.float64)))

    def curvature_product(self, design: Design, bent: Place, direction: Array) -> Array:
        """Jᵀ(ω∇²ℓ·(J·direction)) (…, m, κ) for directions (…, m, κ), as many as points were bent."""
        known = self._known(design)
        moved = self._times(design, known, direction)
        rows, half = self._tall(bent), bent.columns // 2
        numbers = as_points(rows[:, :half], moved), as_points(rows[:, half:], moved)
        bend = self.loss.curvature_of(numbers)
        product = self._transposed(design, known, bend.times(moved))
        return _scaled(product, self._counts_for(design))

    def rotation_curvature(self, design: Design, coef: Array, turn: Array, beta: Array) -> Array:
        """Σ_i (ΦW⊥)_ij² β_cᵀ(ω_i∇²ℓ_i)β_c (k − r, r): what the loss adds to the curvature of T.

        turn (k + q, k + q) = [W⊥, W, I]; coef (k + q, κ) in turned coordinates; β (r, κ).
        """
        known = self._known(design)
        J = self._matrix(design, known)
        J = J @ cast(turn, J)
        rest = int(J.shape[1]) - int(beta.shape[0]) - int(known.covariates.shape[1])
        a = J @ cast(coef, J)
        a = a if design.offset is None else a + self._tall(design.offset)
        forms = self._curvature(known, a).forms(J[:, :rest], cast(beta, a))
        return _scaled(forms, self._counts_for(design))

    def _curvature(self, known: Annotations, a: Array) -> AnyCurvature:
        """That of Σ_i ω_i ℓ(y_i, a_i)."""
        return self.loss.curvature(a, known.targets).weighted(known.loss_weight)

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

    def refined(self, place: Place, B: Array, basis: Place, C: Array | None) -> Made[tuple[Array, Array]]:
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
        xp = namespace(tall)
        if eps(tall) < 1e-10:
            return xp.linalg.qr(tall)[1]
        # Products in float64 have all the digits of float32, for a fraction of what reflections cost.
        fine = wide(tall)
        values, V = eigh_descending(to_numpy(fine.T @ fine))
        R = np.linalg.qr(np.sqrt(np.clip(values, 0, None))[:, None] * V.T)[1]
        return cast(moved(R * np.where(np.diagonal(R) < 0, -1, 1)[:, None], tall), tall)

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
    def power_and_sum(self, T: Array) -> tuple[Array, Array]:
        """X̃ᵀX̃T (p, j) and X̃ᵀ√w (p, 1), the sum of the rows of X weighted, in the units of X̃."""
        X, root = self._rows(), self._annotations().root_weight
        image = X.times(T)
        ones = root if root is not None else namespace(image).ones_like(image[:, :1])
        return X.transpose_times(image), X.transpose_times(cast(ones, image))

    @reads_rows
    def scored(self, V: Array) -> Made[tuple[Any, ...]]:
        """Scores X̃V (n_b, r) and √w/s, kept side by side; the sums are those of `moments.score_sums`."""
        X = self._rows()
        scores, sums = score_sums(X, V)
        xp = namespace(scores)
        ones = xp.ones_like(scores[:, :1]) if X.root_weight is None else X.root_weight
        return Made((xp.concat([scores, ones / X.scale], axis=1),), sums)

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
            both = xp.concat([Z, self._bent(along, Z)], axis=1)
        G = X.transpose_times(both)
        # In float64: ξ‖X̃‖² less the trace of these products may be a small difference of large numbers.
        fine = wide(Z)
        sums = (G[:, :j], wide(self._tall(basis)).T @ fine, fine.T @ fine)
        return Made((Z,), sums if along is None else (*sums, G[:, j:]))

    @reads_rows
    def images_and_bent(self, Z: Array, place: Place, along: Along) -> Made[tuple[()]]:
        """X̃Z, and h∘T with h as in `grown`, for a tall T and Z = X̃ᵀT."""
        bent = self._bent(along, self._tall(place))
        return Made((self._rows().times(Z), bent), ())

    def _bent(self, along: Along, Z: Array) -> Array:
        """h∘Z (n_b, j), h_ij = b_jᵀ(ω_i∇²ℓ_i/w_i)b_j: the loss's curvature along directions b_j."""
        known = self._annotations()
        a = self._activations(along.design, known, along.coef)
        bend = self._curvature(known, a)
        return known.over_root(bend.along(known.over_root(Z), cast(along.directions, a)))

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

    def dual_sizes(self, dual: Place) -> tuple[float, Array]:
        """Of the terms that `dual_terms` adds up the sizes: Σ_i ω_i(|ℓ*(y_i, g_i)| + |g_i||y_i|) and
        |X'|ᵀ(ω∘|g|) (q, κ).
        """
        known = self._annotations()
        weight, g, Y = wide(known.loss_weight), self._tall(dual), wide(known.targets)
        xp = namespace(g)
        terms = xp.abs(self.loss.conjugate(g, Y)) + xp.sum(xp.abs(g * Y), axis=1)
        return float(xp.sum(terms * weight[:, 0])), xp.abs(wide(known.covariates)).T @ (xp.abs(g) * weight)

    def weighted_dual(self, dual: Place) -> Array:
        """ω∘g/√w (n_b, κ), in the type of the block: what `pulled` is at residuals."""
        known = self._annotations()
        return known.over_root(cast(self._tall(dual), known.targets) * known.loss_weight)


def _scaled(x: Array, factor: float) -> Array:
    return x if factor == 1.0 else x * factor
