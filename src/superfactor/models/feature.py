"""SMF-H, the feature model: a_i = A[:, i] + γᵀx'_i, and [A ‖ B] = [βᵀ ‖ W]H has rank at most r."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from superfactor._arrays import Array, eye_like, random_like
from superfactor.models.base import Grown, Model, Side
from superfactor.models.coding import Coding, FeatureCoding
from superfactor.models.factors import Factors, Turned, turn_features
from superfactor.samples import Along, Block, Design, Tall, Vectors


class Feature(Model):
    """The search side is the sample space R^n: the rank-r subspace is that of the rows of H·diag(√w)."""

    name = "feature"
    searches_samples = True
    label_steps = 1
    labels_leave_range = True
    codes_see_labels = True
    usual_xi: ClassVar[float] = 10.0
    usual_lam: ClassVar[float] = 1e-3

    # --- the search side ----------------------------------------------------------------------------------

    def no_vectors(self, side: Side) -> Vectors:
        return side.samples.nothing()

    def random(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        return side.samples.keep(Block.noise, int(rng.integers(2**32)), width)

    def random_in_range(self, side: Side, rng: np.random.Generator, width: int) -> Vectors:
        return self.from_loadings(side, random_like(side.like, rng, side.shape[1], width))

    def everything(self, side: Side, limit: int) -> Vectors:
        n, p = side.shape
        if n <= limit:
            return side.samples.keep(Block.identity, n)
        return self.from_loadings(side, eye_like(side.like, p))

    def from_loadings(self, side: Side, loadings: Array) -> Vectors:
        return side.samples.keep(Block.images, loadings)

    def resumed(
        self, side: Side, loadings: Array, tall: Array | None
    ) -> tuple[list[Vectors], Vectors | None]:
        images = self.from_loadings(side, loadings)  # a good subspace, though not exactly the same one
        if tall is None:
            return [images], None
        held = side.samples.keep(Block.given, tall)
        return [held, images], held

    def grown(self, side: Side, features: Tall, loadings: Array, T: Vectors, along: Along | None) -> Grown:
        assert isinstance(T, Tall)
        Z = side.samples.sum(Block.image, T.place)
        bent: Tall | None = None
        if along is None:
            powers = side.samples.keep(Block.images, Z)
        else:
            (powers, bent), _ = side.samples.make(Block.images_and_bent, Z, T.place, along)
        return Grown(T, Z, powers, loadings.T @ Z, Z.T @ Z, bent)

    def pulled(self, side: Side, design: Design, coef: Array) -> Vectors:
        return side.samples.keep(Block.pulled, design, coef)

    def pulled_dual(self, side: Side, weighted: Tall) -> Vectors:
        return weighted

    # --- results ----------------------------------------------------------------------------------------

    def turned(self, atoms: Array, beta: Array, gram: Array, scale: float) -> Turned:
        return turn_features(atoms, beta, scale)

    def coding(self, factors: Factors, code_sizes: Array, xi: float, lam: float) -> Coding:
        return FeatureCoding.of(factors.components, code_sizes, factors.beta, xi=xi, lam=lam)
