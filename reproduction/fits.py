"""The problems of the paper stated, solved and certified: all that is used below the estimators.

Experiments use results that estimators do not show: the history of a solver from a given start, the constants
of the theorem, and a certificate after more ascent. Only this module provides them.
"""

from __future__ import annotations

from typing import Any

from superfactor.losses import resolve_link
from superfactor.models import Factors
from superfactor.problem import Problem
from superfactor.problem import state as state_problem
from superfactor.solution import Solution
from superfactor.solvers import bcd, lpgd, newton
from superfactor.theory import Certificate, TheoremConstants, certify, theorem_constants

__all__ = [
    "Certificate",
    "Factors",
    "Problem",
    "Solution",
    "TheoremConstants",
    "activations",
    "certify",
    "solve",
    "state",
    "theorem_constants",
]

_SOLVERS: dict[str, Any] = {"default": newton, "lpgd": lpgd, "bcd": bcd}


def state(
    model: str, X: Any, Y: Any, *, xi: float, lam: float, covariates: Any = None, intercept: bool = False
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
    return state_problem(model, X, Y, link, xi=xi, lam=lam, covariates=covariates, fit_intercept=intercept)


def activations(found: Solution, covariates: Any = None) -> Any:
    """a (n, κ) at a solution; covariates (n, q) as they were given to `state`."""
    a = found.signal.array()
    return a if covariates is None else a + covariates @ found.factors.gamma[: covariates.shape[1], :]


def solve(problem: Problem, rank: int, solver: str = "default", **options: Any) -> Solution:
    """What a solver finds: "default", "lpgd" or "bcd", with options of its own such as ``start``."""
    found: Solution = _SOLVERS[solver].solve(problem, rank, **options)
    return found
