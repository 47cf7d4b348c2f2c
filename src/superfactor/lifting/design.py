"""What ridge regression asks of the rows it is fitted to."""

from __future__ import annotations

from typing import Protocol

from superfactor._arrays import Array, eps, eye_like, frobenius2, namespace
from superfactor.lifting.curvature import curvature_gram, directional_curvature
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.sampled import SampledProblem

# Curvature is summed over so many samples for each column of the design, where there are many more …
_ROWS_A_COLUMN = 64
_FEWEST_ROWS = 8192
# … or over so many that it costs about as much as a few gradients, if that is more.
_GRADIENTS = 16


class Design(Protocol):
    """The loss as a function of coefficients θ (m, κ) on the rows of a design J (n, m)."""

    epsilon: float

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Σ_i ω_i ℓ(y_i, θᵀj_i) and its gradient JᵀE (m, κ)."""

    def curvature(self, theta: Array) -> Array:
        """Σ_i ω_i∇²ℓ_i ⊗ j_i j_iᵀ (κm, κm), class-major."""

    def curvature_product(self, theta: Array, direction: Array) -> Array:
        """The same times a direction, (m, κ), by products only."""

    def curvature_diagonal(self, theta: Array) -> Array:
        """The diagonal of the same, (m, κ)."""

    def floor(self) -> float:
        """A curvature too small to matter, but not zero: where classes are separable and λ is zero the
        Hessian vanishes with the gradient, and steps must go to zero with them, not to infinity.
        """


def curvature_share(n_samples: int, columns: int, n_outputs: int) -> float:
    """The share of the samples whose curvature is summed up: a sample of them says enough.

    The curvature of all of them costs n(mκ)² operations, which at large n is many times the gradient's; from
    64 rows a column its error is about an eighth, and gradients, which are exact, repair it. This
    keeps a step linear in n and in κ.
    """
    unknowns = max(columns * n_outputs, 1)
    fewest = _FEWEST_ROWS / min(n_outputs, 4)  # every row counts once for each output
    rows = max(_ROWS_A_COLUMN * columns, _GRADIENTS * n_samples / unknowns, fewest)
    return rows / n_samples if 2 * rows < n_samples else 1.0


class SampledDesign:
    """The design [ΦS, X']V of a problem's samples; V None is [ΦS, X'] itself, `columns` wide."""

    def __init__(self, problem: SampledProblem, mass: float, columns: int, V: Array | None = None):
        self._samples, self._V, self._mass = problem.samples, V, mass
        self._alpha = problem.loss.curvature_bounds(problem.n_outputs)[1]
        info = problem.xp.finfo(problem.covariate_ridge.dtype)  # float64: sums and systems are
        self._rounding, self._smallest = float(info.eps), float(info.smallest_normal)
        self.epsilon = problem.epsilon
        self.share = curvature_share(problem.n_samples, columns, problem.n_outputs)

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        value, gradient = self._samples.sum("evaluate", theta, self._V)
        return float(value), gradient

    def curvature(self, theta: Array) -> Array:
        return self._samples.sum("curvature", theta, self._V, self.share)[0]

    def curvature_product(self, theta: Array, direction: Array) -> Array:
        return self._samples.sum("curvature_product", theta, direction, self._V)[0]

    def curvature_diagonal(self, theta: Array) -> Array:
        return self._samples.sum("curvature_diagonal", theta, self._V, self.share)[0]

    def floor(self) -> float:
        return self._rounding * self._mass * min(self._alpha, 1e3) + self._smallest


class ArrayDesign:
    """A design J (n, m) in memory, with an offset (n, κ) added to the activations.

    Keeps the activations `a` and residuals `E` = ω∘∇ℓ (n, κ) of the last evaluation.
    """

    def __init__(self, problem: LiftedProblem, J: Array, offset: Array | None = None):
        self._problem, self._J, self._offset = problem, J, offset
        self.epsilon = eps(J)
        self.a: Array = None
        self.E: Array = None

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        a = self._J @ theta
        self.a = a if self._offset is None else self._offset + a
        value, self.E = self._problem.loss_terms(self.a)
        return value, self._J.T @ self.E

    def _activations(self, theta: Array) -> Array:
        a = self._J @ theta
        return a if self._offset is None else self._offset + a

    def curvature(self, theta: Array) -> Array:
        H = self._problem.loss_hessian(self._activations(theta))
        return curvature_gram(self._J, H, self._problem.loss.convex)

    def curvature_product(self, theta: Array, direction: Array) -> Array:
        problem, a = self._problem, self._activations(theta)
        action = problem.loss.hessian_action(a, problem.targets, self._J @ direction)
        return self._J.T @ (action * problem.loss_weight)

    def curvature_diagonal(self, theta: Array) -> Array:
        problem, a = self._problem, self._activations(theta)
        axes = eye_like(a, a.shape[1])
        diagonal = directional_curvature(problem.loss, a, problem.targets, axes)
        return (self._J**2).T @ (diagonal * problem.loss_weight)

    def floor(self) -> float:
        problem, xp = self._problem, namespace(self._J)
        alpha = problem.loss.curvature_bounds(problem.n_outputs)[1]
        size = frobenius2(self._J) * float(xp.max(problem.loss_weight))
        tiny = float(xp.finfo(self._J.dtype).smallest_normal)
        return self.epsilon * size * min(alpha, 1e3) + tiny
