"""An independent reference: the lowest F that many descents find, all of them side by side.

Nothing of superfactor is used, not even the statement of the problem: L-BFGS, and Newton steps for the best,
over U (N, r), β (r, κ) and γ (q, κ) in

    F = Σ_i ω_i ℓ(y_i, (ΦUβ)_i + γᵀx'_i) + λ‖Uβ‖² + Σ_j ρ_j‖γ_j‖² + ξ(‖X̃‖² − tr (UᵀU)⁻¹UᵀDU).

The search side is turned so that D, the Gram matrix of X̃ = diag(√w)X, is diagonal: with X̃ = LΣVᵀ, Φ is
diag(1/√w)LΣ (filter) or diag(1/√w)L with all n columns (feature). Every value that is returned belongs to a
point of rank r, evaluated with orthonormal columns, so that a lower one refutes an optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MEMORY = 20
#: Iterations, and how many of the best go on after them.
ROUNDS = ((120, 16), (100, 8))
#: Newton steps, and how many of the best go on after them.
NEWTON = ((10, 4), (100, 1))


@dataclass(frozen=True)
class Given:
    """A problem in the user's units.

    Attributes
    ----------
    X, y : (n, p) and class numbers 0 … κ (n,)
    covariates : (n, q) or None, with ridge λ; an intercept without one is always there
    sample_weight : (n,) or None, multiplies every term of a sample
    class_weight : (κ + 1,) or None, multiplies the loss of a class
    """

    model: str
    X: Floats
    y: NDArray[np.int64]
    rank: int
    xi: float
    lam: float
    covariates: Floats | None = None
    sample_weight: Floats | None = None
    class_weight: Floats | None = None


class Objective:
    """F and its gradient at many points at once, each a row of numbers: U, β in units of its own, γ."""

    def __init__(self, given: Given):
        n = len(given.y)
        weight = np.ones(n) if given.sample_weight is None else given.sample_weight
        root = np.sqrt(weight)[:, None]
        by_filter = given.model == "filter"
        left, sigma, _ = np.linalg.svd(root * given.X, full_matrices=not by_filter)
        reached = int((sigma > 1e-13 * sigma[0]).sum())
        if by_filter:
            left, sigma = left[:, :reached] * sigma[:reached], sigma[:reached]
        self.Phi: Floats = left / root
        self.d: Floats = np.zeros(left.shape[1])
        self.d[: len(sigma)] = sigma**2
        self.floor = given.xi * float((sigma[given.rank :] ** 2).sum())
        self.rank = min(given.rank, len(self.d))
        self.kappa = int(given.y.max())
        self.Y = np.eye(self.kappa + 1)[given.y][:, 1:]
        factor = 1.0 if given.class_weight is None else given.class_weight[given.y]
        self.omega = (weight * factor)[:, None]
        columns = np.zeros((n, 0)) if given.covariates is None else given.covariates
        self.Z = np.hstack([columns, np.ones((n, 1))])
        self.ridge = np.append(np.full(columns.shape[1], given.lam), 0.0)[:, None]
        self.xi, self.lam = given.xi, given.lam
        # Coefficients of size one are to give activations of size one.
        self.unit = 1 / np.sqrt(np.mean(self.Phi**2) * len(self.d) / self.rank)
        # … and turns of size one are to change reconstruction as much as those change the loss.
        self.turn = 1 / np.sqrt(1 + 8 * self.xi * self.d[0] / self.omega.sum())

    def split(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """U (b, N, r), β (b, r, κ) and γ (b, q, κ) of points x (b, ·)."""
        N, r, kappa = len(self.d), self.rank, self.kappa
        a, b = N * r, N * r + r * kappa
        beta = x[:, a:b].reshape(-1, r, kappa) * self.unit
        return x[:, :a].reshape(-1, N, r) * self.turn, beta, x[:, b:].reshape(len(x), -1, kappa)

    def join(self, U: Floats, beta: Floats, gamma: Floats) -> Floats:
        """The points x (b, ·)."""
        parts = (U / self.turn, beta / self.unit, gamma)
        return np.concatenate([part.reshape(len(U), -1) for part in parts], axis=1)

    def orthonormal(self, x: Floats) -> Floats:
        """The same points with orthonormal U."""
        U, beta, gamma = self.split(x)
        Q, R = np.linalg.qr(U)
        return self.join(Q, R @ beta, gamma)

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        """F − ξΣ_{i>r}σ_i² (b,) and its gradient (b, ·); infinite where columns of U are dependent."""
        U, beta, gamma = self.split(x)
        gram = U.mT @ U
        with np.errstate(all="ignore"):
            scale = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
            turned = gram / (scale[:, :, None] * scale[:, None, :])
            lost = ~np.isfinite(x).all(axis=1) | ~(np.linalg.det(turned) > 1e-12)
        gram[lost] = np.eye(self.rank)
        inverse = np.linalg.inv(gram)
        DU = self.d[:, None] * U
        inside = inverse @ (U.mT @ DU)
        A = U @ beta
        losses, E = self.loss(self.Phi @ A + self.Z @ gamma)
        kept = self.d[: self.rank].sum() - np.trace(inside, axis1=1, axis2=2)
        value = losses + self.xi * kept + self.lam * np.sum(A * A, axis=(1, 2))
        value += np.sum(self.ridge * gamma**2, axis=(1, 2))
        in_A = self.Phi.T @ E + 2 * self.lam * A
        in_U = in_A @ beta.mT - 2 * self.xi * (DU - U @ inside) @ inverse
        in_gamma = self.Z.T @ E + 2 * self.ridge * gamma
        parts = (in_U * self.turn, U.mT @ in_A * self.unit, in_gamma)
        slope = np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)
        lost |= ~np.isfinite(value) | ~np.isfinite(slope).all(axis=1)
        value[lost], slope[lost] = np.inf, 0.0
        return value, slope

    def loss(self, a: Floats) -> tuple[Floats, Floats]:
        """Σ_i ω_i ℓ_i (b,) and ω∘∇ℓ (b, n, κ) at activations a (b, n, κ)."""
        top = np.maximum(a.max(axis=2, keepdims=True), 0)
        with np.errstate(all="ignore"):
            e = np.exp(a - top)
            base = np.exp(-top)
            total = base + e.sum(axis=2, keepdims=True)
            # log Σ − a_y without cancellation: log(1 + Σ_{c≠y} exp(a_c − a_y)).
            own = np.where(self.Y.sum(axis=1) > 0, (self.Y * a).sum(axis=2), 0.0)[:, :, None]
            others = np.where(self.Y > 0, 0.0, np.exp(np.minimum(a - own, 700))).sum(axis=2)
            others += np.where(self.Y.sum(axis=1) > 0, np.exp(np.minimum(-own[:, :, 0], 700)), 0)
        return (self.omega[:, 0] * np.log1p(others)).sum(axis=1), self.omega * (e / total - self.Y)

    def hessian(self, x: Floats) -> Floats:
        """The second derivatives (d, d) at one point x (d,) with orthonormal U."""
        U, beta, gamma = (part[0] for part in self.split(x[None]))
        dU, dbeta, dgamma = self.split(np.eye(len(x)))  # along every coordinate
        DU, A = self.d[:, None] * U, U @ beta
        inside = U.T @ DU
        E = self.loss((self.Phi @ A + self.Z @ gamma)[None])[1][0]
        P = E / self.omega + self.Y
        in_A = self.Phi.T @ E + 2 * self.lam * A
        dA = dU @ beta + U @ dbeta
        da = self.Phi @ dA + self.Z @ dgamma
        dE = self.omega * P * (da - (P * da).sum(axis=2, keepdims=True))
        din_A = self.Phi.T @ dE + 2 * self.lam * dA
        K = dU.mT @ U
        K = K + K.mT  # of UᵀU
        M = dU.mT @ DU
        dinside = M + M.mT - K @ inside
        outside = DU - U @ inside
        bent = self.d[:, None] * dU - dU @ inside - U @ dinside - outside @ K
        in_U = din_A @ beta.T + in_A @ dbeta.mT - 2 * self.xi * bent
        in_beta = dU.mT @ in_A + U.T @ din_A
        in_gamma = self.Z.T @ dE + 2 * self.ridge * dgamma
        parts = (in_U * self.turn, in_beta * self.unit, in_gamma)
        return np.concatenate([part.reshape(len(x), -1) for part in parts], axis=1)

    def starts(self, count: int, seed: int) -> Floats:
        """PCA, ridge regressions of several weights filled up with PCA, and random ones of three kinds."""
        rng = np.random.default_rng(seed)
        N, r, kappa, q = len(self.d), self.rank, self.kappa, self.Z.shape[1]
        order = np.eye(N)
        points = [(order[:, :r], np.zeros((r, kappa)))]
        for t in (1.0, 10.0, 1e3):
            A = self.full_rank(self.lam * t)
            Q = np.linalg.svd(A, full_matrices=False)[0]
            for j in {min(r, kappa, N), 1}:
                W = np.linalg.qr(np.hstack([Q[:, :j], order]))[0][:, :r]
                points.append((W, W.T @ A))
        size = np.sqrt(self.d / self.d[0])
        while len(points) < count:
            kind = len(points) % 3
            noise = rng.standard_normal((N, r))
            if kind == 0:
                W = noise
            elif kind == 1:  # the range of X, its large directions favoured
                W = (size[:, None] + 1e-6) ** rng.uniform(0, 2) * noise
            else:  # some of the leading singular vectors left out
                chosen = rng.permutation(min(N, 2 * r + 2))[:r]
                W = order[:, chosen] + 10 ** rng.uniform(-4, -0.5) * noise
            beta = 10 ** rng.uniform(-2, 1.5) * self.unit * rng.standard_normal((r, kappa))
            points.append((np.linalg.qr(W)[0], beta))
        U, beta = (np.array(part) for part in zip(*points, strict=True))
        return self.join(U, beta, 0.1 * rng.standard_normal((len(points), q, kappa)))

    def full_rank(self, lam: float) -> Floats:
        """A (N, κ) of ridge regression with this λ, nothing asked of its rank."""
        N, kappa = len(self.d), self.kappa
        # Coordinates in which the curvature is about one.
        t = 1 / np.sqrt(0.1 * (self.omega * self.Phi**2).sum(axis=0) + 2 * lam)[:, None]

        def ridge(x: Floats) -> tuple[Floats, Floats]:
            A = t * x[:, : N * kappa].reshape(-1, N, kappa)
            gamma = x[:, N * kappa :].reshape(len(x), -1, kappa)
            value, E = self.loss(self.Phi @ A + self.Z @ gamma)
            value = value + lam * np.sum(A * A, axis=(1, 2))
            value += np.sum(self.ridge * gamma**2, axis=(1, 2))
            in_A = t * (self.Phi.T @ E + 2 * lam * A)
            in_gamma = self.Z.T @ E + 2 * self.ridge * gamma
            parts = [part.reshape(len(x), -1) for part in (in_A, in_gamma)]
            return value, np.concatenate(parts, axis=1)

        x, _ = descend(ridge, np.zeros((1, (N + self.Z.shape[1]) * kappa)), 100)
        A: Floats = t * x[0, : N * kappa].reshape(N, kappa)
        return A


def lowest(given: Given, count: int = 52, seed: int = 0) -> float:
    """The lowest F that descents from so many starts end at."""
    objective = Objective(given)
    x = objective.starts(count, seed)
    for iterations, best in ROUNDS:
        x, value = descend(objective, objective.orthonormal(x), iterations)
        x = x[_apart(value, best)]
    for steps, best in NEWTON:
        found = [newton(objective, start, steps) for start in x]
        x, value = (np.array(part) for part in zip(*found, strict=True))
        x = x[_apart(value, best)]
    return objective.floor + float(objective(objective.orthonormal(x))[0].min())


def _apart(value: Floats, count: int) -> list[int]:
    """The places of the lowest values that differ from each other by more than 1e-7 of them."""
    chosen: list[int] = []
    for i in np.argsort(value):
        if not chosen or value[i] - value[chosen[-1]] > 1e-7 * abs(value[i]):
            chosen.append(int(i))
    return chosen[:count]


def descend(objective: Any, x: Floats, iterations: int) -> tuple[Floats, Floats]:
    """The ends (b, d) of descents by L-BFGS from the rows of x, and their values (b,)."""
    ends, values = x.copy(), objective(x)[0]
    going = np.flatnonzero(np.isfinite(values))
    x = ends[going]
    value, slope = objective(x)
    pairs, calm = _Pairs(*x.shape), np.zeros(len(x), dtype=int)
    for _ in range(iterations):
        if not len(going):
            break
        step = -pairs.inverse_hessian(slope)
        uphill = (step * slope).sum(axis=1) >= 0
        step[uphill] = -slope[uphill]
        new, new_value, new_slope = _line_search(objective, x, value, slope, step)
        pairs.keep(new - x, new_slope - slope, forget=uphill)
        calm = np.where(value - new_value <= 1e-10 * np.abs(value), calm + 1, 0)
        x, value, slope = new, new_value, new_slope
        ends[going], values[going] = x, value
        if (on := calm < 5).sum() < len(on):
            going, calm = going[on], calm[on]
            x, value, slope = x[on], value[on], slope[on]
            pairs.only(on)
    return ends, values


def newton(objective: Objective, x: Floats, steps: int) -> tuple[Floats, float]:
    """The end of so many Newton steps from x (d,), damped where they do not fall, and its value.

    If classes are separable and λ is small, coefficients have to grow a hundredfold: too far for
    L-BFGS.
    """
    damping, calm = 1e-3, 0
    x = objective.orthonormal(x[None])[0]
    values, slopes = objective(x[None])
    value, slope = float(values[0]), slopes[0]
    for _ in range(steps):
        bends, directions = np.linalg.eigh(objective.hessian(x))
        along, bends = directions.T @ slope, np.abs(bends)
        # Several dampings at once: the lowest is taken.
        tried = np.maximum(damping * 10.0 ** np.arange(-3, 4), 1e-14)[:, None] * bends.max()
        trials = x - (along / (bends + tried)) @ directions.T
        values, slopes = objective(trials)
        best = int(np.argmin(values))
        if not values[best] < value:
            damping *= 1e3
            calm += 1
        else:
            calm = 0 if value - values[best] > 1e-10 * abs(value) else calm + 1
            damping = max(damping * 10.0 ** (best - 3), 1e-14)
            x = objective.orthonormal(trials[best : best + 1])[0]
            values, slopes = objective(x[None])
            value, slope = float(values[0]), slopes[0]
        if calm > 2 or damping > 1e6:
            break
    return x, value


class _Pairs:
    """The last moves S and changes of slope Y (b, m, d) of descents side by side, zeros where there is none.

    They lie in a ring; SYᵀ and YYᵀ (b, m, m) are kept, since most of them is the same a step later.
    """

    def __init__(self, b: int, d: int):
        self.S, self.Y = np.zeros((b, MEMORY, d)), np.zeros((b, MEMORY, d))
        self.SY, self.YY = np.zeros((b, MEMORY, MEMORY)), np.zeros((b, MEMORY, MEMORY))
        self.next = 0

    def only(self, on: Any) -> None:
        """Forget the descents that have ended."""
        self.S, self.Y, self.SY, self.YY = (part[on] for part in (self.S, self.Y, self.SY, self.YY))

    def keep(self, s: Floats, y: Floats, forget: Any) -> None:
        """Put new pairs (b, d) in the place of the oldest; all of those that went uphill are forgotten."""
        for part in (self.S, self.Y, self.SY, self.YY):
            part[forget] = 0
        curved = (s * y).sum(axis=1) > 1e-14 * (y * y).sum(axis=1)
        i = self.next
        self.S[:, i], self.Y[:, i] = s * curved[:, None], y * curved[:, None]
        new_s, new_y = self.S[:, i, :, None], self.Y[:, i, :, None]
        self.SY[:, :, i] = (self.S @ new_y)[:, :, 0]
        self.SY[:, i, :] = (self.Y @ new_s)[:, :, 0]
        self.YY[:, :, i] = self.YY[:, i, :] = (self.Y @ new_y)[:, :, 0]
        self.next = (i + 1) % MEMORY

    def inverse_hessian(self, g: Floats) -> Floats:
        """H·g (b, d) by the compact form of L-BFGS."""
        order = np.roll(np.arange(MEMORY), -self.next)  # from old to new
        SY, YY = (part[:, order][:, :, order] for part in (self.SY, self.YY))
        diagonal = np.diagonal(SY, axis1=1, axis2=2)
        empty = diagonal <= 0
        with np.errstate(all="ignore"):
            size = 1 / np.sqrt((g * g).sum(axis=1))
            size = np.where(empty[:, -1], size, diagonal[:, -1] / YY[:, -1, -1])[:, None]
        R = np.triu(SY) + empty[:, :, None] * np.eye(MEMORY)
        inverse = np.linalg.inv(R)
        Sg = (self.S @ g[:, :, None])[:, order]
        Yg = size[:, :, None] * (self.Y @ g[:, :, None])[:, order]
        p = inverse @ Sg
        middle = np.where(empty, 0, diagonal)[:, :, None] * p + size[:, :, None] * (YY @ p)
        u = inverse.mT @ (middle - Yg)
        back = np.argsort(order)
        out = size * g + (self.S.mT @ u[:, back])[:, :, 0]
        slopes: Floats = out - size * (self.Y.mT @ p[:, back])[:, :, 0]
        return slopes


def _line_search(
    objective: Any, x: Floats, value: Floats, slope: Floats, step: Floats
) -> tuple[Floats, Floats, Floats]:
    """Points that satisfy the weak Wolfe conditions, by bisection; the old one where none is found."""
    b = len(x)
    low, high, t = np.zeros(b), np.full(b, np.inf), np.ones(b)
    along = (step * slope).sum(axis=1)
    best, best_value, best_slope = x.copy(), value.copy(), slope.copy()
    open_ = np.ones(b, dtype=bool)
    for _ in range(25):
        at = np.flatnonzero(open_)
        if not len(at):
            break
        trial = x[at] + t[at, None] * step[at]
        trial_value, trial_slope = objective(trial)
        falls = trial_value <= value[at] + 1e-4 * t[at] * along[at]
        flat = (trial_slope * step[at]).sum(axis=1) >= 0.9 * along[at]
        better = falls & (trial_value <= best_value[at])
        best[at[better]] = trial[better]
        best_value[at[better]], best_slope[at[better]] = trial_value[better], trial_slope[better]
        high[at[~falls]] = t[at[~falls]]
        short = falls & ~flat
        low[at[short]] = t[at[short]]
        open_[at[falls & flat]] = False
        t[at] = np.where(np.isinf(high[at]), 2 * t[at], (low[at] + high[at]) / 2)
    return best, best_value, best_slope
