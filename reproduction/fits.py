"""The problems of the paper stated, solved and certified: all that is used below the estimators.

An experiment wants what no estimator shows: the history of a solver from a given start, the constants of the
theorem, a certificate after more ascent. It gets them here and nowhere else.
"""

from __future__ import annotations

from typing import Any

from superfactor.lifting import Factors, restate, state_problem
from superfactor.lifting import LiftedProblem as Problem
from superfactor.losses import resolve_link
from superfactor.solvers import bcd, lifted_newton, lpgd
from superfactor.solvers.solution import Solution
from superfactor.theory import Certificate, TheoremConstants, theorem_constants
from superfactor.theory import certify as _certify

__all__ = [
    "Certificate",
    "Factors",
    "Problem",
    "Solution",
    "TheoremConstants",
    "certify",
    "restate",
    "solve",
    "state",
    "theorem_constants",
]

_SOLVERS: dict[str, Any] = {"default": lifted_newton, "lpgd": lpgd, "bcd": bcd}


def state(
    model: str,
    X: Any,
    Y: Any,
    *,
    xi: float,
    lam: float,
    covariates: Any = None,
    intercept: bool = False,
) -> Problem:
    """The logistic problem; the paper has no intercept but among the covariates, where it bears a penalty.

    Parameters
    ----------
    X : (n, p), dense or sparse
    Y : (n, κ), one-hot without class 0
    covariates : (n, q) or None
    intercept : whether to add one without a penalty
    """
    link = resolve_link("logistic", Y.shape[1])
    return state_problem(
        model, X, Y, link, xi=xi, lam=lam, covariates=covariates, fit_intercept=intercept
    )


def solve(problem: Problem, rank: int, solver: str = "default", **options: Any) -> Solution:
    """What a solver finds: "default", "lpgd" or "bcd", with options of its own such as ``start``."""
    found: Solution = _SOLVERS[solver].solve(problem, rank, **options)
    return found


def certify(
    problem: Problem, rank: int, found: Solution, *, method: str = "residual", max_iter: int = 300
) -> Certificate:
    """What is proven about it; `method` "ascent" takes up to `max_iter` steps for a better bound."""
    point = (found.activations, found.factors.gamma, found.objective)
    return _certify(problem, rank, *point, basis=found.basis, method=method, max_iter=max_iter)
