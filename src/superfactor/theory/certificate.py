"""After a fit: how far from the global optimum can it be?"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from superfactor._arrays import eigh_descending, one_blas_thread, to_numpy, wide
from superfactor.problem import Problem
from superfactor.samples import Block, Design, Tall
from superfactor.solution import Solution
from superfactor.subspace import LossOn, fit_ridge
from superfactor.theory.ascent import ascend
from superfactor.theory.constants import TheoremConstants, theorem_constants
from superfactor.theory.dual import Dual
from superfactor.theory.top_sums import spectrum_of

# A gap this small, relative to what supervision can change, counts as none.
GLOBAL_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Certificate:
    """What is proven about a fit.

    Attributes
    ----------
    objective : float
        F of the fit.
    lower_bound : float
        No factorization of this rank has a smaller objective.
    gap : float
        ``objective − lower_bound``.
    relative_gap : float
        ``gap/(objective − bound(0))``, bound(0) = ξΣ_{i>r}σ_i² being the part no supervision can change, so
        that a large reconstruction error cannot make the gap look small.
    is_global : bool
        Whether ``relative_gap ≤ 1e-6``.
    method : {"residual", "ascent"}
        Bound at the residuals of the fit, or dual maximised.
    exact : bool
        False where the largest singular value outside a subspace was estimated, not bounded.
    constants : TheoremConstants
        μ, L, … of the convergence theorem, for Algorithm 1 as printed.
    profiled : TheoremConstants
        The same for the profiled and rescaled iteration.
    statement : str
        One sentence that says what is proven; where that is not a global optimum, a second one that says
        how many other starts it was compared with, if there were any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> certificate = SMFClassifier(n_components=2).fit(X - X.mean(axis=0), y).certificate_
    >>> certificate.is_global
    True
    """

    objective: float
    lower_bound: float
    gap: float
    relative_gap: float
    is_global: bool
    method: str
    exact: bool
    constants: TheoremConstants
    profiled: TheoremConstants
    statement: str

    @property
    def mu(self) -> float:
        """Strong convexity μ of the convergence theorem."""
        return self.constants.mu

    @property
    def L(self) -> float:
        """Smoothness L of the convergence theorem."""
        return self.constants.L

    @property
    def condition_number(self) -> float:
        """L/μ; the theorem asks for less than 3."""
        return self.constants.condition_number

    @property
    def step_window(self) -> tuple[float, float] | None:
        """Step sizes the theorem allows, None where there are none."""
        return self.constants.step_window

    @property
    def rate(self) -> float:
        """ρ at the best step; below 1 the theorem promises exponential convergence."""
        return self.constants.best_rate

    def __str__(self) -> str:
        return self.statement


def certify(
    problem: Problem,
    rank: int,
    solution: Solution,
    *,
    method: str = "residual",
    max_iter: int = 300,
) -> Certificate:
    """A certificate for any point of low rank, whichever solver found it; nothing of it is changed.

    A convex set Θ only raises the optimum, so the bound stays valid with one.

    Parameters
    ----------
    problem : Problem
        What was solved.
    rank : int
        Largest rank of the points that the bound is for.
    solution : Solution
        The answer of a solver.
    method : {"residual", "ascent"}, default="residual"
        "residual" evaluates the dual at the point's own residuals; "ascent" maximises it from there.
    max_iter : int, default=300
        Steps of the ascent at most.

    Returns
    -------
    certificate : Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import resolve_link
    >>> from superfactor.problem import state
    >>> from superfactor.solvers import newton
    >>> from superfactor.theory import certify
    >>> X, y = np.random.default_rng(0).standard_normal((20, 5)), np.arange(20) % 2
    >>> problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    >>> certify(problem, 2, newton.solve(problem, 2)).is_global
    True
    """
    if method == "ascent" and problem.whole is None:
        raise ValueError(
            f"certify={method!r}: 'residual' or None is required for data read in passes or kept on a cluster"
        )
    small = problem.compact
    # Where blocks are asked by as many threads as there are cores, those of BLAS would come on top.
    with one_blas_thread if small.samples.threads > 1 else nullcontext():
        thorough = method == "ascent" and min(small.shape) <= small.options.ascent_side
        spectrum = spectrum_of(small, rank, solution.basis, exact=True if thorough else None)
        dual, bound = Dual(small, spectrum), 0.0
        points = _residuals(small, solution) if small.can_be_bounded else None
        if points is not None:
            bound = dual.value(points)
        bound = max(bound, dual.unsupervised)
        objective = solution.objective
        relative = _relative(objective, bound, dual.unsupervised, small.epsilon)
        if points is not None and method == "ascent" and relative > GLOBAL_TOLERANCE:
            bound = max(bound, _ascended(dual, rank, points, solution, max_iter))
            relative = _relative(objective, bound, dual.unsupervised, small.epsilon)
        largest = None if problem.whole is not None else spectrum.largest()
        is_global = relative <= GLOBAL_TOLERANCE and problem.loss.convex
        gap = max(objective - bound, 0.0)
        in_noise = gap <= 16 * small.epsilon * abs(objective)
        return Certificate(
            objective=objective,
            lower_bound=bound,
            gap=gap,
            relative_gap=relative,
            is_global=is_global,
            method=method,
            exact=spectrum.exact,
            constants=theorem_constants(problem, largest=largest),
            profiled=theorem_constants(problem, profiled=True, largest=largest),
            statement=_statement(problem, rank, relative, is_global, spectrum.exact, in_noise)
            + _compared(solution, is_global),
        )


def _residuals(problem: Problem, solution: Solution) -> Tall:
    """Dual points (n, κ): ∇ℓ at the point, with γ as the dual wants it: free of Θ, and exact."""
    signal = solution.signal.moved_to(problem.samples)
    design = Design(None, offset=signal.place)
    loss = LossOn(problem, design, problem.n_covariates)
    gamma = wide(to_numpy(solution.factors.gamma))
    gamma, *_ = fit_ridge(loss, problem.covariate_ridge, gamma, tol=1e-12)
    return problem.samples.keep(Block.dual_points, design, gamma)


def _ascended(dual: Dual, rank: int, points: Tall, solution: Solution, max_iter: int) -> float:
    """The bound after ascent from these dual points, in the coordinates of a basis that holds where they
    pull.
    """
    problem = dual.problem
    weighted = problem.samples.keep(Block.weighted_dual, points.place)
    pulled = problem.model.pulled_dual(problem.side, weighted)
    basis, _ = solution.basis().extended(pulled)
    root = basis.coordinates(pulled) * problem.dual_scale()
    W = eigh_descending(basis.D + root @ root.T)[1][:, : min(rank, basis.size)]
    tol = 0.1 * GLOBAL_TOLERANCE * max(solution.objective - dual.unsupervised, 0.0)
    return ascend(dual, basis, W, solution.objective, tol=tol, max_iter=max_iter)


def _relative(objective: float, bound: float, unsupervised: float, digit: float) -> float:
    """The gap against the supervised part, and never finer than the last digit of the objective."""
    gap = max(objective - bound, digit * abs(objective))
    supervised = objective - unsupervised
    if gap == 0:
        return 0.0
    return gap / supervised if supervised > 0 else float("inf")


def _compared(solution: Solution, is_global: bool) -> str:
    """What is known besides bounds: other starts."""
    searched = solution.searched
    if is_global or searched is None or searched.starts == 0:
        return ""
    starts = "1 other start" if searched.starts == 1 else f"{searched.starts} other starts"
    same = f", {searched.agreed} at the same value" if searched.agreed else ""
    return f" {starts} ended no lower{same}."


def _statement(
    problem: Problem,
    rank: int,
    relative: float,
    is_global: bool,
    exact: bool,
    in_noise: bool,
) -> str:
    if not problem.loss.convex:
        return "Nothing is proven: the loss of this link is not convex."
    caveat = "" if exact else " (one singular value was estimated, not bounded)"
    if is_global:
        return (
            f"This is a global optimum: no rank-{rank} {problem.model.name} model has an objective lower "
            f"by more than {relative:.1e} of its supervised part{caveat}."
        )
    if in_noise:
        return (
            "The objective meets its lower bound to the last digit, but reconstruction outweighs the "
            "supervised part so far that nothing more can be told; a smaller xi or scaled X helps."
        )
    if problem.lam == 0:
        return (
            "Only the reconstruction part is bounded: with lam=0 nothing is proven about the rest; "
            "any lam > 0 gives a bound."
        )
    if relative >= 1:
        # Samples that are read in passes, or kept on a cluster, have no ascent.
        hint = "; certify='ascent' may tighten it" if problem.whole is not None else ""
        return (
            "The optimum is not proven: the bound is not better than that of reconstruction alone"
            f"{caveat}{hint}."
        )
    return (
        f"At most {100 * relative:.3g} % of the objective's supervised part can still be gained by any "
        f"rank-{rank} {problem.model.name} model{caveat}."
    )
