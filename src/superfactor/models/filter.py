"""SMF-W, the filter model: a_i = Aᵀx_i + γᵀx'_i, and [A, B] = W[β, H] has rank at most r."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from superfactor._arrays import Array, eye_like, random_like, zeros_like_of
from superfactor.models.base import Grown, Model, Side
from superfactor.models.coding import Coding, FilterCoding
from superfactor.models.factors import Factors, Turned, turn_filters
from superfactor.samples import Along, Block, Design, Plain, Tall, Vectors


class Filter(Model):
    """The search side is the feature space R^p: W (p, r) are filters, Ã = s·A."""

    name = "filter"
    searches_samples = False
    label_steps = 4
    labels_leave_range = False
    codes_see_labels = False
    usual_xi: ClassVar[float] = 0.1
    usual_lam: ClassVar[float] = 1e-3

    # --- the search side ----------------------------------------------------------------------------------

    def no_vectors(self, side: Side) -> Vectors:
        return Plain(zeros_like_of(side.like, side.shape[1], 0))

    def random(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        return Plain(random_like(side.like, rng, side.shape[1], width))

    def random_in_range(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        return Plain(side.samples.sum(Block.power, random_like(side.like, rng, side.shape[1], width)))

    def everything(self, side: Side, limit: int) -> Vectors:
        n, p = side.shape
        if p <= limit:
            return Plain(eye_like(side.like, p))
        identity = side.samples.keep(Block.identity, n)
        return Plain(side.samples.sum(Block.image, identity.place))

    def from_loadings(self, side: Side, loadings: Array) -> Vectors:
        return Plain(loadings)

    def resumed(
        self, side: Side, loadings: Array, tall: Array | None
    ) -> tuple[list[Vectors], Vectors | None]:
        return [Plain(loadings)], Plain(loadings)

    def grown(self, side: Side, features: Tall, loadings: Array, T: Vectors, along: Along | None) -> Grown:
        new = T.array()
        (images,), sums = side.samples.make(Block.grown, new, features.place, along)
        powers, cross, corner = sums[:3]
        bent = None if along is None else Plain(sums[3])
        return Grown(images, new, Plain(powers), cross, corner, bent)

    def pulled(self, side: Side, design: Design, coef: Array) -> Vectors:
        return Plain(side.samples.sum(Block.pull, design, coef))

    def pulled_dual(self, side: Side, weighted: Tall) -> Vectors:
        return Plain(side.samples.sum(Block.image, weighted.place))

    # --- results ----------------------------------------------------------------------------------------

    def turned(self, atoms: Array, beta: Array, gram: Array, scale: float) -> Turned:
        return turn_filters(atoms, beta, gram, scale)

    def coding(self, factors: Factors, code_sizes: Array, xi: float, lam: float) -> Coding:
        return FilterCoding(factors.components)
