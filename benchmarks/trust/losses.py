"""The three losses of ../../docs/method.md §1 and §16, written plainly, in whatever precision they are given.

Activations a have the shape (…, n, κ). Each loss gives Σ_i ω_i ℓ_i, shape (…,), and its slope ω∘∇ℓ, shape
(…, n, κ). Nothing of superfactor is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True)
class Labels:
    """Multinomial logistic loss against class 0: log(1 + Σ_c exp a_c) − a_y.

    Attributes
    ----------
    codes : class numbers 0 … κ (n,); any of them where ω is 0
    omega : (n,)
    """

    codes: Array
    omega: Array
    #: About the curvature in a where nothing is decided yet.
    bend = 0.2

    @property
    def n_outputs(self) -> int:
        """κ."""
        return int(self.codes[self.omega > 0].max())

    def null(self) -> Array:
        """The best constant activations (κ,): log shares of the classes against class 0."""
        shares = np.bincount(self.codes, weights=self.omega, minlength=self.n_outputs + 1)
        return np.log(shares[1:] / shares[0])

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, κ)."""
        every = np.concatenate([np.zeros_like(a[..., :1]), a], axis=-1)
        own = np.eye(every.shape[-1], dtype=bool)[self.codes]
        against = every - every[..., own].reshape(*a.shape[:-1], 1)
        lost = np.logaddexp.reduce(against, axis=-1)
        share = np.exp(against - lost[..., None])
        slope = self.omega[:, None] * np.where(own, share - 1, share)
        return (self.omega * lost).sum(axis=-1), slope[..., 1:]

    def bends(self, a: Array) -> Array:
        """About the curvature along the activations of each sample (…, n)."""
        slope = self(a)[1]
        share = slope + self.omega[:, None] * np.eye(self.n_outputs + 1)[self.codes][:, 1:]
        omega = np.where(self.omega > 0, self.omega, 1)[:, None]
        return (share * np.clip(1 - share / omega, 0, 1)).max(axis=-1)


@dataclass(frozen=True)
class Numbers:
    """Squared error ‖y − a‖².

    Attributes
    ----------
    targets : (n, κ); anything finite where ω is 0
    omega : (n,)
    """

    targets: Array
    omega: Array
    bend = 2.0

    @property
    def n_outputs(self) -> int:
        """κ."""
        return int(self.targets.shape[1])

    def null(self) -> Array:
        """The mean target (κ,)."""
        return self.omega @ self.targets / self.omega.sum()

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, κ)."""
        far = a - self.targets
        return (self.omega[:, None] * far * far).sum(axis=(-2, -1)), 2 * self.omega[:, None] * far

    def bends(self, a: Array) -> Array:
        """The curvature along the activations of each sample (…, n)."""
        return np.broadcast_to(2 * self.omega, a.shape[:-1])


@dataclass(frozen=True)
class Times:
    """Cox's partial likelihood with Breslow's ties: Σ_i d_i (log Σ_{t_j≥t_i} ω_j e^{a_j} − log D_i − a_i).

    d = ωδ are the events, D_i = Σ_{t_j=t_i} d_j those of one time.

    Attributes
    ----------
    event, time : (n,); anything where ω is 0
    omega : (n,)
    """

    event: Array
    time: Array
    omega: Array
    bend = 0.2
    n_outputs = 1

    def null(self) -> Array:
        """Zero: a constant changes nothing."""
        return np.zeros(1)

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, 1)."""
        d = self.omega * self.event
        who = np.flatnonzero(d > 0)
        known = self.omega > 0
        at_risk = known & (self.time >= self.time[who, None])
        tied = ((self.time == self.time[who, None]) * d).sum(axis=1)
        weight = np.log(np.where(known, self.omega, 1))
        z = np.where(at_risk, (a[..., 0] + weight)[..., None, :], -np.inf)
        top = z.max(axis=-1, keepdims=True)
        e = np.exp(z - top)
        total = e.sum(axis=-1, keepdims=True)
        log_sum = (top + np.log(total))[..., 0]
        value = (d[who] * (log_sum - np.log(tied) - a[..., who, 0])).sum(axis=-1)
        slope = ((d[who, None] * (e / total)).sum(axis=-2) - d)[..., None]
        return value, slope

    def bends(self, a: Array) -> Array:
        """About the curvature along the activations of each sample (…, n)."""
        return self(a)[1][..., 0] + self.omega * self.event
