"""Searches of small problems step by step, for tests of the phases of a search."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from superfactor.losses import resolve_link
from superfactor.options import Options
from superfactor.problem import state
from superfactor.solution import Monitor
from superfactor.solvers.newton.beginning import begin
from superfactor.solvers.newton.state import Run

GROWING = Options(whole_range=1, few_features=0)  # the subspace must grow even for small data
# Newton systems by elimination, as on all small problems, and by products, as for many outputs and data so
# large that the overhead of calls is small.
WAYS = {"dense": Options(), "by products": Options(largest_system=0, call_overhead=1e5)}


def new_run(tol=1e-8, seed=0, **options):
    return Run(tol, np.random.default_rng(seed), Monitor(**options))


def begun(problem, rank, run=None):
    """The first state of a search."""
    return begin(problem.compact, rank, new_run() if run is None else run)


def two_features():
    """X, y of 20 samples: 3u with u ⊥ labels and ⊥ 1, and the labels themselves (docs/method.md §6)."""
    y = np.repeat([0, 1], 10)
    return np.column_stack([3 * np.tile([1.0, -1.0], 10), 2.0 * y - 1]), y


def of_two_features(xi):
    """The problem at λ = .001; W depends on one angle."""
    X, y = two_features()
    return state("filter", X, y, resolve_link("logistic", 1), xi=xi, lam=0.001)


def value_at_angle(xi, angle, lam=0.001):
    """F at w = (cos, sin), by minimisation over the two other numbers."""
    X, y = two_features()
    z = X @ np.array([np.cos(angle), np.sin(angle)])

    def f(t):
        a = t[0] * z + t[1]
        residual = 1 / (1 + np.exp(-a)) - y
        slope = np.array([z @ residual + 2 * lam * t[0], residual.sum()])
        return np.sum(np.logaddexp(0, a) - y * a) + lam * t[0] ** 2, slope

    fit = minimize(f, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-10})
    return fit.fun + xi * (np.sum(X**2) - np.sum(z**2))


def lowest_angle(xi):
    """The lowest value of F over all angles."""
    angles = np.linspace(0, np.pi, 181)
    near = angles[int(np.argmin([value_at_angle(xi, t) for t in angles]))]
    found = minimize_scalar(
        lambda t: value_at_angle(xi, t),
        bounds=(near - 0.02, near + 0.02),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return found.fun


def planted(n, p, seed=0):
    """X with a slowly decaying spectrum, classes in the middle of it, and class numbers."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (1 + np.arange(p)) ** -0.5
    signal = X[:, 10:20].sum(axis=1)
    noisy = signal + 0.5 * signal.std() * rng.standard_normal(n)
    return X, (noisy > np.median(noisy)).astype(int)


def growing(model, n=150, p=100, xi=2.0, lam=0.3, options=GROWING):
    """A problem whose subspace has to grow."""
    X, y = planted(n, p)
    return state(model, X, y, resolve_link("logistic", 1), xi=xi, lam=lam, options=options)
