"""The solvers of SupervisedMF, the paper authors' release, on the same problem and the same scale as ours.

    F(A, B, γ) = Σ_i ℓ(y_i, a_i) + ξ‖X − B‖² + λ(‖A‖² + ‖γ‖²),      y_i in {0, 1}

Their algorithms run as they are; their module is only given what it lacks and the problem is translated:

=============== ======================================= =============================================
                `ReleasedLPGD` (its ``step_SVP``)       `ReleasedBCD` (one round of its ``fit``)
=============== ======================================= =============================================
λ               its ν is 2λ; its ``fit`` ignores ν, so  a ridge on β and γ alone: C = 1/(2·ridge) of
                single steps are called                 its logistic regressions, 1 as it stands
ξ               the same                                its gradients lack a factor two (`xi_factor`)
intercept       held at zero (a column of ones in       left out of its logistic regressions
                `covariates` is a penalised one)
missing import  ``TruncatedSVD``                        none
=============== ======================================= =============================================

Its progress bars and prints are silenced, which only saves it time. Seconds are those of its iterations; F is
evaluated outside the clock.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reproduction.convergence.curves import Curve
from reproduction.fits import Factors

__all__ = ["ReleasedBCD", "ReleasedLPGD", "random_start", "release_installed"]

Floats = NDArray[np.float64]

# A run whose objective has grown this much will not come back.
_DIVERGED = 1e30


def release_installed() -> bool:
    """Whether SupervisedMF can be imported."""
    try:
        _module()
    except ImportError:
        return False
    return True


def random_start(n: int, p: int, rank: int, q: int = 0, *, seed: int = 0) -> Factors:
    """Factors as the release draws them: entries of W and H in [0, 1], of β and γ in [−1, 1]."""
    rng = np.random.default_rng(seed)
    return Factors(
        components=rng.random((p, rank)),
        codes=rng.random((n, rank)),
        beta=1 - 2 * rng.random((rank, 1)),
        gamma=1 - 2 * rng.random((q, 1)),
    )


class Released(ABC):
    """What both solvers share: the data in the release's orientation, the clock, and F.

    Parameters
    ----------
    X : (n, p), dense
    y : (n,), 0 or 1
    rank : r
    model : "filter" or "feature"
    xi, lam : ξ and λ of F
    covariates : (n, q) or None
    start : factors to start from; None for `random_start` with `seed`
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        rank: int,
        model: str,
        xi: float,
        lam: float,
        covariates: ArrayLike | None = None,
        *,
        start: Factors | None = None,
        seed: int = 0,
    ) -> None:
        self.smf = _module()
        self.X = np.ascontiguousarray(np.asarray(X, dtype=float).T)  # features × samples
        p, n = self.X.shape
        self.y = np.asarray(y, dtype=float)
        if self.y.shape != (n,) or not np.isin(self.y, (0.0, 1.0)).all():
            raise ValueError(f"y: {n} labels 0 or 1 are required; the release knows two classes only")
        if model not in ("filter", "feature"):
            raise ValueError(f"model={model!r}: 'filter' or 'feature' is required")
        self.rank, self.model, self.xi, self.lam = rank, model, float(xi), float(lam)
        self.Z = np.zeros((n, 0)) if covariates is None else np.asarray(covariates, dtype=float)
        q = self.Z.shape[1]
        self.start = random_start(n, p, rank, q, seed=seed) if start is None else start

    def step(self) -> float:
        """One iteration; returns its seconds."""
        # Overflows of a step that is too large, and regressions of theirs that stop early.
        quiet = np.errstate(all="ignore"), warnings.catch_warnings(action="ignore")
        with self._given_what_it_lacks(), quiet[0], quiet[1]:
            begin = time.perf_counter()
            self._iterate()
            return time.perf_counter() - begin

    def run(self, iterations: int, looks: Container[int] | None = None) -> Curve:
        """F against the seconds so far, at the start and after the iterations in `looks` and the last.

        None looks after each of them; the clock stands still meanwhile. A run that diverges ends there.
        """
        t, clock, seconds, values = 0, 0.0, [0.0], [self.objective()]
        for t in range(1, iterations + 1):
            clock += self.step()
            if looks is None or t in looks or t == iterations:
                seconds.append(clock)
                values.append(self.objective())
                if not values[-1] <= _DIVERGED * values[0]:
                    break
        return Curve(np.array(seconds), np.array(values), t)

    @abstractmethod
    def _iterate(self) -> None:
        """One iteration of theirs."""

    @abstractmethod
    def factors(self) -> Factors:
        """W, H, β and γ of the current point."""

    @abstractmethod
    def objective(self) -> float:
        """F at the current point."""

    def _model(self, name: str, xi: float, **options: Any) -> Any:
        """Theirs, at our start."""
        with contextlib.redirect_stdout(io.StringIO()):
            return getattr(self.smf, name)(
                [self.X, self.y[None, :]],
                X_auxiliary=self.Z.T if self.Z.shape[1] else None,
                n_components=self.rank,
                xi=xi,
                ini_loading=_loading(self.start),
                ini_code=self.start.codes.T.copy(),
                **options,
            )

    def _value(self, A: Floats, B: Floats, gamma: Floats) -> float:
        """F at A (p, 1) or (n, 1), B (p, n), γ (q, 1)."""
        own = self.X.T @ A if self.model == "filter" else A
        a = (own + self.Z @ gamma)[:, 0]
        with np.errstate(over="ignore"):  # a run that diverges is shown as such
            loss = np.sum(np.logaddexp(0, a)) - self.y @ a
            ridge = np.sum(A**2) + np.sum(gamma**2)
            return float(loss + self.xi * np.sum((self.X - B) ** 2) + self.lam * ridge)

    @contextlib.contextmanager
    def _given_what_it_lacks(self) -> Iterator[None]:
        """Their module with the names of `_names` for the time of an iteration, and as it was after."""
        names = self._names()
        missing = object()
        before = {name: getattr(self.smf, name, missing) for name in names}
        for name, value in names.items():
            setattr(self.smf, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is missing:
                    delattr(self.smf, name)
                else:
                    setattr(self.smf, name, value)

    def _names(self) -> dict[str, Any]:
        from sklearn.decomposition import TruncatedSVD

        return {"TruncatedSVD": TruncatedSVD, "trange": range}


class ReleasedLPGD(Released):
    """Algorithm 1 with the constant step τ = `step_size`."""

    def __init__(self, *data: Any, step_size: float, **options: Any) -> None:
        super().__init__(*data, **options)
        self.step_size = float(step_size)
        self.solver = self._model("SMF_LPGD", self.xi)
        W, H, beta = self.start.components, self.start.codes, self.start.beta
        self.A = W @ beta if self.model == "filter" else (H @ beta).T
        self.B = W @ H.T
        self.gamma = np.concatenate([np.zeros((1, 1)), self.start.gamma.T], axis=1)

    def _iterate(self) -> None:
        self.A, self.B, self.gamma = self.solver.step_SVP(
            self.A, self.B, self.gamma, tau=self.step_size, nu=2 * self.lam, option=self.model
        )
        self.gamma[:, 0] = 0.0

    def objective(self) -> float:
        """F at the current A, B and γ."""
        A = self.A if self.model == "filter" else self.A.T
        return self._value(A, self.B, self.gamma[:, 1:].T)

    def factors(self) -> Factors:
        """As their own `unfactored2factored` makes them."""
        with self._given_what_it_lacks():
            loading, H = self.solver.unfactored2factored(
                self.A, self.B, self.gamma, rank=self.rank, option=self.model
            )
        return _factors(loading, H, self.rank)


class ReleasedBCD(Released):
    """Block coordinate descent; signs are free unless `nonnegative`.

    Parameters
    ----------
    xi_factor : its ξ as a multiple of ours. Its gradients lack the two of ∇‖X − WH‖², so 2 is the same F;
        but its step sizes do not know ξ, and large values make it diverge.
    ridge : on β and γ, in place of λ‖A‖²; 1/2 is what its C = 1 means
    shrinkage : its L2 penalty of W and H
    radius : its search radius is radius/(t·log(t+1)) at iteration t; None for none
    nonnegative : W ≥ 0 and H ≥ 0, its default
    """

    def __init__(
        self,
        *data: Any,
        xi_factor: float = 1.0,
        ridge: float = 0.5,
        shrinkage: float = 0.0,
        radius: float | None = 1000.0,
        nonnegative: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*data, **options)
        self.ridge, self.radius, self.iteration = float(ridge), radius, 0
        self.solver = self._model(
            "SMF_BCD",
            xi_factor * self.xi,
            L2_reg=[shrinkage, shrinkage, 0],
            nonnegativity=[nonnegative, nonnegative, False],
        )
        # Leaving its fit after one iteration: what follows there is prediction of test samples.
        self.solver.__class__ = _one_iteration(type(self.solver))
        self._random = np.random.RandomState(options.get("seed", 0)).get_state()

    def _iterate(self) -> None:
        t = self.iteration = self.iteration + 1
        schedule: dict[str, Any] = {"beta": None}
        if self.radius is not None:
            # Each call is its first iteration, where it divides by log 2.
            schedule = {"beta": 1, "search_radius_const": self.radius / t * np.log(2) / np.log(t + 1)}
        with contextlib.suppress(_IterationDone):
            self.solver.fit(option=self.model, iter=1, **schedule)
        self.solver.ini_code = self.solver.code

    def step(self) -> float:
        """One iteration; returns its seconds."""
        # It draws samples from NumPy's global generator, which is left as it was.
        outside = np.random.get_state()  # noqa: NPY002
        np.random.set_state(self._random)  # noqa: NPY002
        try:
            return super().step()
        finally:
            self._random = np.random.get_state()  # noqa: NPY002
            np.random.set_state(outside)  # noqa: NPY002

    def _names(self) -> dict[str, Any]:
        from sklearn.linear_model import LogisticRegression

        regression = partial(LogisticRegression, C=1 / (2 * self.ridge), fit_intercept=False)
        return super()._names() | {"LogisticRegression": regression}

    def factors(self) -> Factors:
        """W, H, β and γ as they are."""
        return _factors(self.solver.loading, self.solver.ini_code, self.rank)

    def objective(self, *, refit: bool = True) -> float:
        """F at its W and H; with `refit` the smaller of F at its β and γ and at the best ones.

        Its ridge is not that of F, for which it shall not be blamed.
        """
        now = self.factors()
        W, H = now.components, now.codes
        side = W if self.model == "filter" else H
        value = self._value(side @ now.beta, W @ H.T, now.gamma)
        if not refit or not np.isfinite(value):
            return value
        return min(value, self._value(*self._best(side, W @ H.T)))

    def _best(self, side: Floats, B: Floats) -> tuple[Floats, Floats, Floats]:
        """A in the range of `side` and γ that minimise F at B: a ridge regression."""
        from sklearn.linear_model import LogisticRegression

        Q = np.linalg.qr(side)[0]
        features = self.X.T @ Q if self.model == "filter" else Q
        regression = LogisticRegression(
            C=1 / (2 * self.lam), fit_intercept=False, solver="newton-cholesky", tol=1e-10
        )
        found = regression.fit(np.concatenate([features, self.Z], axis=1), self.y).coef_.T
        k = Q.shape[1]
        return Q @ found[:k], B, found[k:]


class _IterationDone(Exception):
    """Raised where the release keeps the codes of an iteration, its last act in it."""


def _one_iteration(kind: type) -> type:
    """Its class, whose `fit` ends after the first iteration."""

    def keep(self: Any, codes: Floats) -> None:
        self.__dict__["code"] = codes
        raise _IterationDone

    return type(kind.__name__, (kind,), {"code": property(lambda self: self.__dict__["code"], keep)})


def _loading(start: Factors) -> list[Floats]:
    """W (p, r) and the row [intercept, β, γ] (1, 1 + r + q)."""
    row = np.concatenate([np.zeros((1, 1)), start.beta.T, start.gamma.T], axis=1)
    return [np.array(start.components, dtype=float), row]


def _factors(loading: list[Floats], H: Floats, rank: int) -> Factors:
    W, row = loading
    return Factors(W, H.T, row[:, 1 : 1 + rank].T, row[:, 1 + rank :].T)


def _module() -> ModuleType:
    try:
        return import_module("SMF")
    except ImportError as error:
        raise ImportError(
            'the paper\'s release, SupervisedMF, is not installed: pip install "superfactor[bench]"'
        ) from error
