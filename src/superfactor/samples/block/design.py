"""The design J that coefficients act on, and products with it.

There may be several points at once: coefficients (…, m, κ) and activations (…, n, κ). Activations are stored
by columns, (…, κ, n): sums over the few outputs of a sample are then sums of long columns. The columns of all
points are one matrix, so one product with J serves all points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from superfactor._arrays import Array, cast, indices, namespace
from superfactor.samples.annotations import Annotations
from superfactor.samples.block.state import BlockState, Made, Place


@dataclass(frozen=True)
class Design:
    """The rows j_i of J that coefficients act on."""

    tall: Place | None  # a tall matrix T; None if there are only covariates
    ready: bool = False  # J = T itself; otherwise J = [T/√w, X']
    offset: Place | None = None  # (n, κ), added to the activations; None for none
    # below 1, T and the offset have rows of a share of the samples only (`Block.some_of`), and sums over them
    # are scaled up to all samples
    share: float = 1.0
    coarse: bool = False  # T, the offset and all results are in float32


@dataclass(frozen=True)
class Along:
    """Directions b_j (j, κ) along which the curvature of the loss is taken, at coefficients of a design."""

    design: Design
    coef: Array
    directions: Array


class DesignMethods(BlockState):
    """Products with a design, and its rows."""

    def some_of(self, design: Design, share: float, coarse: bool) -> Made[tuple[()]]:
        """Return rows of J and of the offset for a share of the samples, for a design with `ready`."""
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
        """Return annotations of the samples that have a row in the design, in its floating type."""
        if design.share >= 1 and not design.coarse:
            return self._annotations()
        return self._chosen(design.share, design.coarse)[0]

    def _counts_for(self, design: Design) -> float:
        """Return the factor of sums over the rows of a design."""
        return 1.0 if design.share >= 1 else self.n_samples / self._chosen(design.share)[1].size

    def _matrix(self, design: Design, known: Annotations) -> Array:
        """Return J (n_b, m)."""
        if design.tall is None:
            return known.covariates
        tall = self._tall(design.tall)
        if design.ready:
            return tall
        if known.covariates.shape[1] == 0:
            return known.over_root(tall)
        return namespace(tall).concat([known.over_root(tall), known.covariates], axis=1)

    def _times(self, design: Design, known: Annotations, coef: Array) -> Array:
        """Return J·coef (…, n_b, κ) without the offset; J is not formed."""
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
        """Return JᵀE (…, m, κ)."""
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

    def view(self, design: Design, V: Array) -> Array:
        """Return J·V (n_b, m)."""
        return self._times(design, self._annotations(), V)

    def activations(self, design: Design, coef: Array) -> Array:
        """Return a = J·coef (n_b, κ), with the offset."""
        return self._activations(design, self._annotations(), coef)


def times(J: Array, coef: Array) -> Array:
    """Return J·coef (…, n, κ) for J (n, m) and coef (…, m, κ)."""
    xp, (*points, m, kappa) = namespace(J), coef.shape
    flat = xp.reshape(xp.matrix_transpose(coef), (math.prod(points) * kappa, m)) @ J.T
    return xp.matrix_transpose(xp.reshape(flat, (*points, kappa, J.shape[0])))


def transpose_times(J: Array, E: Array) -> Array:
    """Return JᵀE (…, m, κ) for J (n, m) and E (…, n, κ)."""
    xp, (*points, n, kappa) = namespace(J), E.shape
    flat = xp.reshape(xp.matrix_transpose(E), (math.prod(points) * kappa, n)) @ J
    return xp.matrix_transpose(xp.reshape(flat, (*points, kappa, J.shape[1])))


def as_columns(a: Array) -> Array:
    """Return (…, n, κ) as a tall matrix (n, …κ)."""
    xp, (*points, n, kappa) = namespace(a), a.shape
    return xp.reshape(xp.matrix_transpose(a), (math.prod(points) * kappa, n)).T


def as_points(rows: Array, like: Array) -> Array:
    """Return a tall matrix (n, …κ) as (…, n, κ), the shape of `like`."""
    xp, (*points, n, kappa) = namespace(rows), like.shape
    return xp.matrix_transpose(xp.reshape(rows.T, (*points, kappa, n)))
