"""After a fit: how far from the global optimum can it be?"""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._arrays import Array, blas_threads, eigh_descending
from superfactor.lifting import (
    ArrayDesign,
    GrowingBasis,
    LiftedProblem,
    SampledProblem,
    fit_ridge,
)
from superfactor.theory.ascent import ascend
from superfactor.theory.constants import (
    TheoremConstants,
    sampled_constants,
    theorem_constants,
)
from superfactor.theory.dual import Dual, leading_basis

# A gap this small, relative to what supervision can change, counts as none.
GLOBAL_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Certificate:
    """What is proven about a fit.

    Attributes
    ----------
    lower_bound : no factorization of this rank has a smaller objective
    gap : objective − lower_bound
    relative_gap : gap/(objective − D(0)), D(0) = ξΣ_{i>r}σ_i² being the part no supervision can
        change, so that a large reconstruction error cannot make the gap look small
    is_global : whether relative_gap ≤ 1e-6
    method : "residual" (bound at the residuals of the fit) or "ascent" (dual maximised)
    exact : False where the largest singular value outside a subspace was estimated, not bounded
    constants : μ, L, … of the convergence theorem, for Algorithm 1 as printed
    profiled : the same for the profiled and rescaled iteration
    statement : one sentence that says what is proven
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
    problem: LiftedProblem,
    rank: int,
    activations: Array,
    gamma: Array,
    objective: float,
    *,
    method: str = "residual",
    basis: GrowingBasis | None = None,
    max_iter: int = 300,
) -> Certificate:
    """A certificate for any point of rank ≤ `rank`, whichever solver found it.

    activations (n, κ) and γ (q, κ) are those of the point, objective its F. `method` "residual" evaluates
    the dual at the point's own residuals; "ascent" maximises it from there. A convex set Θ only
    raises the optimum, so the bound stays valid with one.
    """
    small, _ = problem.compact
    xp = small.data.xp
    a, gamma = (xp.astype(x, small.data.dtype) for x in (activations, gamma))
    if basis is not None and (basis.problem.xi, basis.problem.lam) != (small.xi, small.lam):
        basis = None  # a path has taken it on to other weights
    sampled = small.sampled() if basis is None else basis.problem
    exact = True if method == "ascent" and _affordable(small) else None
    dual = Dual(sampled, rank, basis, exact=exact)
    unsupervised = dual.unsupervised()
    bound, usable = unsupervised, problem.lam > 0 and problem.loss.convex
    if usable and problem.loss.has_conjugate:
        # γ as the dual wants it: free of Θ, and exact.
        design = ArrayDesign(small, small.covariates, offset=a - small.covariates @ gamma)
        fit_ridge(design, small.covariate_ridge, gamma, tol=1e-12)
        dual.take(design.E / small.loss_weight)
        bound = max(bound, dual.value())
        known = _relative(objective, bound, unsupervised, dual.problem.epsilon)
        if method == "ascent" and known > GLOBAL_TOLERANCE:
            bound = max(bound, _ascended(small, dual, basis, objective, max_iter))
    constants = theorem_constants(problem), theorem_constants(problem, profiled=True)
    return _certificate(problem, rank, objective, bound, dual, method, *constants)


def certify_sampled(
    problem: SampledProblem,
    rank: int,
    theta: Array,
    objective: float,
    basis: GrowingBasis,
    *,
    method: str = "residual",
) -> Certificate:
    """A certificate for the point with coefficients θ (k + q, κ) in the solver's basis, from sums alone.

    Dual points are not moved: "ascent" is for data in memory, and says so.
    """
    if method != "residual":
        raise ValueError(
            f"certify={method!r}: 'residual' or None is required for data read in passes or kept on a cluster"
        )
    with blas_threads(1):  # blocks are asked by as many threads as there are cores
        dual = Dual(problem, rank, basis)
        bound = dual.unsupervised()
        if problem.lam > 0 and problem.loss.convex and problem.loss.has_conjugate:
            dual.take_residuals(theta)
            bound = max(bound, dual.value())
        constants = sampled_constants(problem, dual.largest())
    return _certificate(problem, rank, objective, bound, dual, method, *constants)


def _certificate(
    problem: LiftedProblem | SampledProblem,
    rank: int,
    objective: float,
    bound: float,
    dual: Dual,
    method: str,
    constants: TheoremConstants,
    profiled: TheoremConstants,
) -> Certificate:
    digit = dual.problem.epsilon
    gap, noise = max(objective - bound, 0.0), 16 * digit * abs(objective)
    relative = _relative(objective, bound, dual.unsupervised(), digit)
    is_global = relative <= GLOBAL_TOLERANCE and problem.loss.convex
    return Certificate(
        objective=objective,
        lower_bound=bound,
        gap=gap,
        relative_gap=relative,
        is_global=is_global,
        method=method,
        exact=dual.exact,
        constants=constants,
        profiled=profiled,
        statement=_statement(problem, rank, relative, is_global, dual.exact, gap <= noise),
    )


def _ascended(
    problem: LiftedProblem,
    dual: Dual,
    basis: GrowingBasis | None,
    objective: float,
    max_iter: int,
) -> float:
    """The bound after ascent from the dual points taken up, in the solver's basis or one of its own."""
    basis = leading_basis(dual.problem, dual.rank) if basis is None else basis
    basis.extend(basis.pull(None))
    root = basis.products(basis.pull(None))[0] / (2 * problem.xi**0.5 * problem.lam**0.5)
    W = eigh_descending(basis.D + root @ root.T)[1][:, : min(dual.rank, basis.size)]
    tol = 0.1 * GLOBAL_TOLERANCE * max(objective - dual.unsupervised(), 0.0)
    return ascend(problem, dual, basis, W, objective, tol=tol, max_iter=max_iter)


def _affordable(problem: LiftedProblem) -> bool:
    return min(problem.data.shape) <= 3000


def _relative(objective: float, bound: float, unsupervised: float, digit: float) -> float:
    """The gap against the supervised part, and never finer than the last digit of the objective."""
    gap = max(objective - bound, digit * abs(objective))
    supervised = objective - unsupervised
    if gap == 0:
        return 0.0
    return gap / supervised if supervised > 0 else float("inf")


def _statement(
    problem: LiftedProblem | SampledProblem,
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
            f"This is a global optimum: no rank-{rank} {problem.name} model has an objective lower "
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
        hint = "; certify='ascent' may tighten it" if isinstance(problem, LiftedProblem) else ""
        return (
            "The optimum is not proven: the bound is not better than that of reconstruction alone"
            f"{caveat}{hint}."
        )
    return (
        f"At most {100 * relative:.3g} % of the objective's supervised part can still be gained by any "
        f"rank-{rank} {problem.name} model{caveat}."
    )
