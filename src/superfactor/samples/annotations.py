"""Data of samples other than X: targets, covariates, weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, device, moved, namespace


@dataclass(frozen=True)
class Annotations:
    """Data of some samples other than X, in the form that a block computes with."""

    # (n_b, κ), one-hot without class 0, or real values; stored by columns, as activations are: sums over the
    # κ numbers of a sample take ten times as long if stored by rows
    targets: Array
    covariates: Array  # X' (n_b, q); the intercept is a column of ones
    loss_weight: Array  # ω (n_b, 1), sample weight times class weight
    root_weight: Array | None  # √w (n_b, 1), or None for weights of one

    def over_root(self, x: Array) -> Array:
        """Return x/√w for x (n_b, k)."""
        return x if self.root_weight is None else x / self.root_weight

    @property
    def weight_ratio(self) -> Array:
        """Return ω/w (n_b, 1), the class weights alone."""
        return self.over_root(self.over_root(self.loss_weight))

    def take(self, index: Array) -> Annotations:
        """Return the annotations of some of the samples."""
        xp = namespace(self.targets)
        return self._each(lambda x: xp.take(x.T, index, axis=1).T)

    def between(self, start: int, stop: int) -> Annotations:
        """Return the annotations of consecutive samples, as views."""
        return self._each(lambda x: x[start:stop, :])

    def like(self, x: Array) -> Annotations:
        """Return the same in the floating type of `x`."""
        return self._each(lambda own: cast(own, x))

    @staticmethod
    def joined(parts: Sequence[Annotations]) -> Annotations:
        """Return the annotations of several blocks as one."""
        xp = namespace(parts[0].targets)
        roots = [part.root_weight for part in parts]
        return Annotations(
            xp.concat([part.targets.T for part in parts], axis=1).T,
            xp.concat([part.covariates for part in parts]),
            xp.concat([part.loss_weight for part in parts]),
            None if roots[0] is None else xp.concat(roots),
        )

    def _each(self, change: Callable[[Array], Array]) -> Annotations:
        root = self.root_weight
        return Annotations(
            change(self.targets),
            change(self.covariates),
            change(self.loss_weight),
            None if root is None else change(root),
        )


@dataclass(frozen=True)
class SampleTable:
    """Data of all samples other than X, as passed by the user, in NumPy."""

    targets: Any  # class numbers 0 … κ (n,), integers; or (n, κ), one-hot without class 0 or real
    n_outputs: int  # κ
    covariates: Any = None  # (n, q) or None
    fit_intercept: bool = True  # whether a column of ones follows them
    sample_weight: Any = None  # (n,), not negative, or None; samples of weight 0 are left out
    class_weight: Any = None  # (n,), or None; multiplies the loss alone

    @property
    def n_covariates(self) -> int:
        """q without the intercept."""
        return 0 if self.covariates is None else int(self.covariates.shape[1])

    def annotations(self, chosen: Any, like: Array) -> Annotations:
        """Return the annotations of the samples in `chosen`, with the type and device of `like`.

        This combines the weights and adds the intercept as a covariate.
        """
        xp = namespace(like)

        def array(x: Any) -> Array:
            return xp.asarray(x, dtype=like.dtype, device=device(like))

        # Transfer as little as possible: class numbers instead of one-hot rows, and no columns of ones.
        columns = moved(np.ascontiguousarray(self.targets[chosen].T), like)
        n = int(columns.shape[-1])
        if columns.ndim == 1:
            classes = xp.arange(1, self.n_outputs + 1, dtype=columns.dtype, device=device(like))
            columns = classes[:, None] == columns[None, :]
        ones = xp.ones((n, 1), dtype=like.dtype, device=device(like))
        covariates = ones[:, : int(self.fit_intercept)]
        if self.covariates is not None:
            covariates = xp.concat([array(self.covariates[chosen]), covariates], axis=1)
        weight, root = None, None
        if self.sample_weight is not None:
            weight = np.asarray(self.sample_weight[chosen], dtype=float)[:, None]
            root = array(np.sqrt(weight))
        if self.class_weight is not None:
            factor = self.class_weight[chosen][:, None]
            weight = factor if weight is None else weight * factor
        targets = xp.astype(columns, like.dtype, copy=False).T
        return Annotations(targets, covariates, ones if weight is None else array(weight), root)

    def weighing(self, start: int, stop: int) -> Any:
        """Return positions between start and stop of samples with positive weight; None if all have."""
        weight = self.sample_weight
        if weight is None or np.all(weight[start:stop] > 0):
            return None
        return start + np.flatnonzero(weight[start:stop] > 0)
