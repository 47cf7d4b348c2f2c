"""What is known of samples besides X."""

from __future__ import annotations

from dataclasses import dataclass, fields

from superfactor._arrays import Array, namespace


@dataclass(frozen=True)
class Facts:
    """What is known of some samples besides X.

    Attributes
    ----------
    targets : (n_b, κ)
    covariates : X' (n_b, q); the intercept is a column of ones
    loss_weight : ω (n_b, 1), sample weight times class weight
    root_weight : √w (n_b, 1), or None for weights of one
    """

    targets: Array
    covariates: Array
    loss_weight: Array
    root_weight: Array | None

    def over_root(self, x: Array) -> Array:
        """x/√w for x (n_b, k)."""
        return x if self.root_weight is None else x / self.root_weight

    def take(self, index: Array) -> Facts:
        """The facts of some of the samples."""
        xp = namespace(self.targets)
        values = (getattr(self, field.name) for field in fields(self))
        return Facts(*(None if x is None else xp.take(x, index, axis=0) for x in values))

    def between(self, start: int, stop: int) -> Facts:
        """The facts of consecutive samples, as views."""
        values = (getattr(self, field.name) for field in fields(self))
        return Facts(*(None if x is None else x[start:stop, :] for x in values))
