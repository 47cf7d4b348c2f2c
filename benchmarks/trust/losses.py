"""The losses of ../../docs/method.md §1 and §16, written plainly, in whatever precision they are given.

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
class Flags:
    """Several yes/no labels: log(1 + exp a_c) − y_c a_c of those that are known, added up.

    Attributes
    ----------
    answers : (n, κ) of 0 and 1; anything where it is not known
    known : (n, κ), bool
    omega : (n,)
    """

    answers: Array
    known: Array
    omega: Array
    bend = 0.2

    @property
    def n_outputs(self) -> int:
        """κ."""
        return int(self.answers.shape[1])

    @property
    def counted(self) -> Array:
        """ω of every entry (n, κ)."""
        return self.omega[:, None] * self.known

    def null(self) -> Array:
        """The log-odds (κ,) of each label."""
        yes, no = ((self.counted * (self.answers == answer)).sum(axis=0) for answer in (1, 0))
        return np.log(yes / no)

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, κ)."""
        against = np.where(self.answers == 1, -a, a)  # the other answer against one's own
        lost = np.logaddexp(0, against)
        share = np.exp(against - lost) * np.where(self.answers == 1, -1, 1)
        return (self.counted * lost).sum(axis=(-2, -1)), self.counted * share

    def bends(self, a: Array) -> Array:
        """About the curvature along the activations of each sample (…, n)."""
        share = np.exp(-np.logaddexp(0, a))
        return (self.counted * share * (1 - share)).max(axis=-1)


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
class Counts:
    """Half the Poisson deviance: exp(a) − y·a + y·log y − y.

    Attributes
    ----------
    targets : (n, κ), 0 or larger
    omega : (n,)
    """

    targets: Array
    omega: Array

    @property
    def bend(self) -> float:
        """That of the mean count."""
        return float(np.mean(self.omega @ self.targets) / self.omega.sum())

    @property
    def n_outputs(self) -> int:
        """κ."""
        return int(self.targets.shape[1])

    def null(self) -> Array:
        """The logarithm of the mean count (κ,)."""
        return np.log(self.omega @ self.targets / self.omega.sum())

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, κ)."""
        y, omega = self.targets, self.omega[:, None]
        some = np.where(y > 0, y, 1)
        expected = np.exp(np.minimum(a, 500))  # descents may try anything
        lost = expected - y * a + np.where(y > 0, y * np.log(some) - y, 0)
        return (omega * lost).sum(axis=(-2, -1)), omega * (expected - y)

    def bends(self, a: Array) -> Array:
        """The curvature along the activations of each sample (…, n), the largest."""
        return (self.omega[:, None] * np.exp(np.minimum(a, 500))).max(axis=-1)


@dataclass(frozen=True)
class Times:
    """Cox's partial likelihood: Σ_i d_i (log Σ_j f_ij ω_j e^{a_j} − log Σ_j f_ij d_j 1{t_j=t_i} − a_i).

    j are those of the stratum of i with t_j ≥ t_i. f is 1; with Efron's ties the event that is number l of q
    at one time, l from 0, has f = 1 − l/q for all of these q. d = ωδ, and events of one time share it evenly.

    Attributes
    ----------
    event, time : (n,); anything where ω is 0
    omega : (n,)
    stratum : (n,), or None where there is one
    efron : whether ties are Efron's and not Breslow's
    """

    event: Array
    time: Array
    omega: Array
    stratum: Array = None
    efron: bool = False
    bend = 0.2
    n_outputs = 1

    def null(self) -> Array:
        """Zero: a constant changes nothing."""
        return np.zeros(1)

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, 1)."""
        d, known = self.omega * self.event, self.omega > 0
        who = np.flatnonzero(d > 0)
        among = known if self.stratum is None else known & (self.stratum == self.stratum[who, None])
        at_risk = among & (self.time >= self.time[who, None])
        tied = among & (self.time == self.time[who, None]) & (d > 0)
        q = tied.sum(axis=1, keepdims=True)
        before = (tied & (np.arange(len(d)) < who[:, None])).sum(axis=1, keepdims=True)
        f = np.where(tied, 1 - before / q, 1.0) if self.efron else np.ones_like(tied, dtype=float)
        events, own = (tied * d).sum(axis=1), (f * tied * d).sum(axis=1)
        share = events / q[:, 0]
        weight = np.log(np.where(known, self.omega, 1))
        z = np.where(at_risk, (a[..., 0] + weight)[..., None, :] + np.log(f), -np.inf)
        top = z.max(axis=-1, keepdims=True)
        e = np.exp(z - top)
        total = e.sum(axis=-1, keepdims=True)
        log_sum = (top + np.log(total))[..., 0]
        value = (share * (log_sum - np.log(own))).sum(axis=-1) - (d * a[..., 0]).sum(axis=-1)
        slope = ((share[:, None] * (e / total)).sum(axis=-2) - d)[..., None]
        return value, slope

    def bends(self, a: Array) -> Array:
        """About the curvature along the activations of each sample (…, n)."""
        return self(a)[1][..., 0] + self.omega * self.event


@dataclass(frozen=True)
class Several:
    """Losses of several outcomes, each of activations of its own, added up.

    Attributes
    ----------
    parts : losses, whose ω is 0 where their outcome is not known
    weights : v of each
    """

    parts: tuple[Any, ...]
    weights: tuple[float, ...]
    bend = 1.0

    @property
    def n_outputs(self) -> int:
        """κ."""
        return sum(part.n_outputs for part in self.parts)

    @property
    def omega(self) -> Array:
        """Of all parts (n,), by how much they bend."""
        return sum(v * part.bend * part.omega for part, v in zip(self.parts, self.weights, strict=True))

    def null(self) -> Array:
        """The best constant activations (κ,)."""
        return np.concatenate([part.null() for part in self.parts])

    def _own(self, a: Array) -> list[Array]:
        """The activations of each part."""
        return np.split(a, np.cumsum([part.n_outputs for part in self.parts])[:-1], axis=-1)

    def __call__(self, a: Array) -> tuple[Array, Array]:
        """The loss and its slope at a (…, n, κ)."""
        found = [part(own) for part, own in zip(self.parts, self._own(a), strict=True)]
        value = sum(v * value for v, (value, _) in zip(self.weights, found, strict=True))
        slopes = [v * slope for v, (_, slope) in zip(self.weights, found, strict=True)]
        return value, np.concatenate(slopes, axis=-1)

    def bends(self, a: Array) -> Array:
        """About the curvature along the activations of each sample (…, n)."""
        parts = zip(self.parts, self.weights, self._own(a), strict=True)
        return sum(v * part.bends(own) for part, v, own in parts)
