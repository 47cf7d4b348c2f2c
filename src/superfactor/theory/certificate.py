"""Certificates: a bound on the distance of a fit from the global optimum."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

from superfactor._arrays import Array, eigh_descending, one_blas_thread, to_numpy, wide
from superfactor.problem import Problem
from superfactor.samples import Block, Design, Tall
from superfactor.solution import Solution
from superfactor.spectrum import DataMatrix
from superfactor.subspace import LossOn, fit_ridge
from superfactor.theory.ascent import ascend
from superfactor.theory.constants import TheoremConstants, theorem_constants
from superfactor.theory.dual import SHORTENINGS, Bound, Dual, Evaluated
from superfactor.theory.top_sums import spectrum_of

#: Methods for a bound, and whether each works for rows that are read in passes or stored on a cluster.
METHOD_IN_PASSES = {"residual": True, "ascent": False}
# A gap this small, relative to what supervision can change, counts as zero.
GLOBAL_TOLERANCE = 1e-6
# For a relative gap this large, a better bound is tried if it costs less than this share of the fit.
_LARGE_GAP, _SMALL_COST = 1e-2, 0.03
# Ratio of column sizes, or of row sizes, above which scaling is recommended.
_WIDE_SPREAD = 1e3


@dataclass(frozen=True)
class Certificate:
    """A proven lower bound of the objective of a fit.

    Attributes
    ----------
    objective : float
        F of the fit.
    lower_bound : float
        No factorization of this rank has a smaller objective. `rounding` is already subtracted.
    gap : float
        ``objective − lower_bound``.
    rounding : float
        Bound of the rounding errors of objective and bound together (docs/method.md §19).
    relative_gap : float
        ``gap/(objective − bound(0))``. bound(0) = ξΣ_{i>r}σ_i² is the part that supervision cannot change, so
        a large reconstruction error does not make the gap look small.
    is_global : bool
        Whether ``relative_gap ≤ 1e-6``.
    method : {"residual", "ascent"}
        Whether the bound is that at the residuals of the fit, or the maximised dual.
    exact : bool
        False if the largest singular value outside a subspace was estimated, not bounded.
    constants : TheoremConstants
        μ, L, … of the convergence theorem, for Algorithm 1 as printed.
    profiled : TheoremConstants
        The same with γ minimised over and blocks rescaled.
    statement : str
        What is proven, in one sentence. If that is not a global optimum, a second sentence reports the number
        of other starts, if any.
    lost_to_rounding : bool
        Whether rounding alone is too large for a proof. `statement` then states what helps.

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
    rounding: float
    relative_gap: float
    is_global: bool
    method: str
    exact: bool
    constants: TheoremConstants
    profiled: TheoremConstants
    statement: str
    lost_to_rounding: bool = False

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
        """L/μ; the theorem requires less than 3."""
        return self.constants.condition_number

    @property
    def step_window(self) -> tuple[float, float] | None:
        """Step sizes that the theorem allows; None if there are none."""
        return self.constants.step_window

    @property
    def rate(self) -> float:
        """ρ at the best step; below 1 the theorem guarantees exponential convergence."""
        return self.constants.best_rate

    def __str__(self) -> str:
        return self.statement


def certify(
    problem: Problem, rank: int, solution: Solution, *, method: str = "residual", max_iter: int = 300
) -> Certificate:
    """Return a certificate for a point of low rank from any solver.

    A constraint set Θ only raises the optimum, so the bound stays valid with one.

    Parameters
    ----------
    problem : Problem
        The problem that was solved.
    rank : int
        Largest rank of the points that the bound is for.
    solution : Solution
        The result of a solver.
    method : {"residual", "ascent"}, default="residual"
        "residual" evaluates the dual at the point's own residuals; "ascent" maximises it from there.
    max_iter : int, default=300
        Most steps of the ascent.

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
    if not METHOD_IN_PASSES[method] and problem.whole is None:
        raise ValueError(
            f"certify={method!r}: 'residual' or None is required for data read in passes or kept on a cluster"
        )
    small = problem.compact
    # If blocks already use one thread per core, BLAS must not add threads.
    with one_blas_thread if small.samples.threads > 1 else nullcontext():
        thorough = method == "ascent" and min(small.shape) <= small.options.ascent_side
        spectrum = spectrum_of(small, rank, solution.basis, exact=True if thorough else None)
        usual = (small.null_loss / max(small.total_weight, 1e-300)) ** 0.5
        reach = usual + float(abs(to_numpy(solution.factors.gamma)).max(initial=0.0))
        dual = Dual(small, spectrum, reach)
        points = _residuals(small, solution) if small.can_be_bounded else None
        # First, since the same pass over X gives what bound(0) needs.
        bound = None if points is None else dual.value(points)
        sizes = None if bound is None else bound.sizes
        evaluated = Evaluated.of(small, solution, sizes, dual.unsupervised, problem.epsilon)
        found = _Gap(evaluated, dual.unsupervised, bound)
        if points is not None and _shorter_pays(dual, found):
            found = found.closed_by(dual.shortened(points))
        if points is not None and method == "ascent" and found.relative > GLOBAL_TOLERANCE:
            found = found.closed_by(_ascended(dual, rank, points, solution, max_iter))
        # Weights that differ would make this a loose bound of the design's curvature.
        alike = problem.smallest_weight == problem.largest_weight
        largest = spectrum.largest() if alike or problem.whole is None else None
        is_global = found.relative <= GLOBAL_TOLERANCE and problem.loss.convex
        statement, lost = _statement(problem, rank, found, is_global, spectrum.exact)
        return Certificate(
            objective=solution.objective,
            lower_bound=found.bound,
            gap=found.gap,
            rounding=found.rounding,
            relative_gap=found.relative,
            is_global=is_global,
            method=method,
            exact=spectrum.exact,
            constants=theorem_constants(problem, largest=largest),
            profiled=theorem_constants(problem, profiled=True, largest=largest),
            statement=statement + _compared(solution, is_global),
            lost_to_rounding=lost,
        )


@dataclass(frozen=True)
class _Gap:
    """The gap between F and the best bound so far."""

    evaluated: Evaluated  # F
    unsupervised: float  # bound(0), for reconstruction alone
    best: Bound | None = None  # the best bound at dual points; None if there are none

    def closed_by(self, bound: Bound) -> _Gap:
        """Return the gap with this bound, if it is higher than the one before."""
        better = self.best is None or bound.value > self.best.value
        return replace(self, best=bound) if better else self

    @property
    def rounding(self) -> float:
        """Rounding of F and of the bound, if the bound would be useful without its rounding."""
        best = self.best
        useful = best is not None and best.value + best.rounding > self.unsupervised
        return self.evaluated.rounding + (best.rounding if best is not None and useful else 0.0)

    @property
    def bound(self) -> float:
        """The best bound minus the rounding error of F."""
        best = self.unsupervised if self.best is None else self.best.value
        return max(max(best, self.unsupervised) - self.evaluated.rounding, 0.0)

    @property
    def gap(self) -> float:
        return max(self.evaluated.objective - self.bound, 0.0)

    @property
    def relative(self) -> float:
        """The gap relative to the supervised part."""
        return self._of_supervised(self.gap)

    def hides_in(self, rounding: float) -> bool:
        """Return whether this rounding alone is too large for a proof."""
        return self._of_supervised(rounding) > GLOBAL_TOLERANCE

    def _of_supervised(self, gap: float) -> float:
        supervised = self.evaluated.objective - self.unsupervised
        if gap == 0:
            return 0.0
        return gap / supervised if supervised > 0 else float("inf")


def _shorter_pays(dual: Dual, found: _Gap) -> bool:
    """Return whether to try shorter dual points: the bound at the residuals is weak, and they cost little."""
    problem = dual.problem
    if found.relative < _LARGE_GAP or problem.whole is None:
        return False
    cost = (1 + 2 * SHORTENINGS) * dual.spectrum.operations()
    return cost <= _SMALL_COST * problem.samples.operations


def _residuals(problem: Problem, solution: Solution) -> Tall:
    """Return dual points (n, κ), ∇ℓ at the point with exact γ, which the dual requires, without Θ."""
    signal = solution.signal.moved_to(problem.samples)
    design = Design(None, offset=signal.place)
    loss = LossOn(problem, design, problem.n_covariates)
    gamma = wide(to_numpy(solution.factors.gamma))
    gamma, *_ = fit_ridge(loss, problem.covariate_ridge, gamma, tol=1e-12)
    return problem.samples.keep(Block.dual_points, design, gamma)


def _ascended(dual: Dual, rank: int, points: Tall, solution: Solution, max_iter: int) -> Bound:
    """Return the bound after ascent from these dual points, in a basis that contains their gradient."""
    problem = dual.problem
    weighted = problem.samples.keep(Block.weighted_dual, points.place)
    pulled = problem.model.pulled_dual(problem.side, weighted)
    basis, _ = solution.basis().extended(pulled)
    root = basis.coordinates(pulled) * problem.dual_scale()
    W = eigh_descending(basis.D + root @ root.T)[1][:, : min(rank, basis.size)]
    tol = 0.1 * GLOBAL_TOLERANCE * max(solution.objective - dual.unsupervised, 0.0)
    return ascend(dual, basis, W, solution.objective, tol=tol, max_iter=max_iter)


def _compared(solution: Solution, is_global: bool) -> str:
    """Return the sentence about other starts."""
    searched = solution.searched
    if is_global or searched is None or searched.starts == 0:
        return ""
    starts = "1 other start" if searched.starts == 1 else f"{searched.starts} other starts"
    same = f", {searched.agreed} at the same value" if searched.agreed else ""
    return f" {starts} ended no lower{same}."


def _too_few_digits(problem: Problem, found: _Gap) -> str:
    """Return why rounding is too large for a proof, and what helps; empty if float32 is not the reason."""
    if problem.epsilon > 1e-10:
        few = "Not proven: float32 has too few digits; use float64."
        return few if found.gap <= 10 * found.rounding else ""
    if problem.whole is None:
        return "Not proven: rounding hides the optimum; scale the columns of X, or take a larger lam."
    data = problem.whole.data
    if _spread(data.column_sums()[1]) > _WIDE_SPREAD:
        return "Not proven: X spans too many orders of magnitude; scale its columns."
    if _spread(data.row_squares()) > _WIDE_SPREAD:
        return "Not proven: some samples of X are orders of magnitude larger than others; check them."
    if _varying(data) < 1 / _WIDE_SPREAD**2:
        return "Not proven: the columns of X have means far larger than their spread; centre them."
    # The rounding error of ξ‖X‖² alone, which more digits of X cannot reduce.
    if found.hides_in(problem.xi * problem.squared_norm * problem.epsilon):
        return (
            "Not proven: reconstruction outweighs the supervised part so far that rounding hides it; "
            "a smaller xi helps."
        )
    return "Not proven: lam is so small that rounding hides the optimum; a larger lam helps."


def _spread(squares: Array) -> float:
    """Return the ratio of the largest to the smallest size, from their squares; zeros are ignored."""
    sizes = to_numpy(squares)
    some = sizes[sizes > 0]
    return float(some.max() / some.min()) ** 0.5 if some.size else 1.0


def _varying(data: DataMatrix) -> float:
    """Return the share of ‖X‖² that remains after centring the columns."""
    sums, squares = (to_numpy(x) for x in data.column_sums())
    root = data.root_weight
    total = data.shape[0] if root is None else float((to_numpy(root) ** 2).sum())
    return float(1 - (sums**2).sum() / total / squares.sum())


def _statement(problem: Problem, rank: int, found: _Gap, is_global: bool, exact: bool) -> tuple[str, bool]:
    """Return one or two sentences on what is proven and what prevents more, and whether that is rounding."""
    relative = found.relative
    if not problem.loss.convex:
        return "Nothing is proven: the loss of this link is not convex.", False
    caveat = "" if exact else " (one singular value was estimated, not bounded)"
    if is_global:
        proven = (
            f"This is a global optimum: no rank-{rank} {problem.model.name} model has an objective lower "
            f"by more than {relative:.1e} of its supervised part{caveat}."
        )
        return proven, False
    if problem.lam == 0:
        bounded = "Only the reconstruction part is bounded: with lam=0 nothing is proven about the rest; "
        return bounded + "any lam > 0 gives a bound.", False
    at_most = (
        f"At most {100 * relative:.3g} % of the objective's supervised part can still be gained by any "
        f"rank-{rank} {problem.model.name} model{caveat}."
    )
    if found.hides_in(found.rounding):
        reason = _too_few_digits(problem, found)
        if reason:
            return reason + (f" {at_most}" if relative < 1 else ""), True
    if relative >= 1:
        # For samples that are read in passes or stored on a cluster, there is no ascent.
        hint = "; the bound by ascent may be tighter" if problem.whole is not None else ""
        weak = "The optimum is not proven: the bound is not better than that of reconstruction alone"
        return f"{weak}{caveat}{hint}.", False
    return at_most, False
