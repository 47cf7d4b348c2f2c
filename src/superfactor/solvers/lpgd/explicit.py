"""The two models as an f(θ, γ) on an explicit θ, for constraints that no compression can carry.

θ is N × (κ + other), seen from the search side (see `LiftedArrays`), in the user's units with
the samples in units of √w.
"""

from __future__ import annotations

from superfactor._arrays import Array, eye_like, frobenius2, namespace
from superfactor.constraints import ConvexSet, Product
from superfactor.models import LiftedArrays


class ExplicitProblem:
    """F as a function of θ = [A, B] and γ, and Π_Θ for a set on (A, B, γ).

    What a set receives, with X n × p as everywhere in this package: A of shape (p, κ) for the
    filter model and (n, κ) for the feature model, B (n, p), γ (q, κ), all in the user's units. With
    sample weights the distance that Algorithm 1 projects by counts sample i w_i times. For
    entrywise sets that makes no difference; rotation invariant ones are applied to samples in units
    of √w; for others the set's own projection is taken as it is.
    """

    arrays: LiftedArrays
    constraint: ConvexSet
    kappa: int
    xi: float
    lam: float

    def __init__(self, arrays: LiftedArrays, constraint: ConvexSet) -> None:
        self.arrays, self.constraint = arrays, constraint
        self.kappa = arrays.n_outputs
        self.xi, self.lam = arrays.users_weights
        scale = arrays.data.scale
        like = arrays.targets
        if arrays.side <= arrays.other_side:
            self.X = arrays.image(eye_like(like, arrays.side)).T * scale
        else:
            self.X = arrays.back(eye_like(like, arrays.other_side)) * scale

    def objective(self, theta: Array, gamma: Array | None) -> tuple[float, Array, Array | None]:
        arrays, xp = self.arrays, namespace(theta)
        A, B = theta[:, : self.kappa], theta[:, self.kappa :]
        loss, E = arrays.loss_terms(arrays.activations(A * arrays.unit, gamma))
        distance = B - self.X
        value = loss + self.xi * frobenius2(distance) + self.lam * frobenius2(A)
        value += arrays.covariate_penalty(gamma)
        slope_A = arrays.pull(E) * arrays.unit + 2 * self.lam * A
        slope = xp.concat([slope_A, 2 * self.xi * distance], axis=1)
        ridge = 2 * arrays.covariate_ridge[:, None]
        return value, slope, arrays.covariates.T @ E + ridge * gamma

    def project(self, theta: Array, gamma: Array | None) -> tuple[Array, Array | None]:
        xp, by_samples = namespace(theta), self.arrays.model.by_samples
        A, B = theta[:, : self.kappa], theta[:, self.kappa :]
        A, B, gamma = self._project((A, by_samples(B), gamma), self.constraint)
        return xp.concat([A, by_samples(B)], axis=1), gamma

    def _project(
        self, point: tuple[Array, Array, Array], constraint: ConvexSet
    ) -> tuple[Array, Array, Array]:
        """Π_Θ of (A, B, γ) with the samples in units of √w."""
        root = self.arrays.root_weight
        if root is None:
            return tuple(constraint.project(point))
        if isinstance(constraint, Product):
            weighted = (self.arrays.model.searches_samples, True, False)
            return tuple(
                _unweighted(factor, part, root if by_sample else None)
                for factor, part, by_sample in zip(constraint.factors, point, weighted, strict=True)
            )
        if constraint.rotation_invariant:
            return tuple(constraint.project(point))
        A, B, gamma = point
        by_A = root if self.arrays.model.searches_samples else 1.0
        A, B, gamma = constraint.project((A / by_A, B / root, gamma))
        return A * by_A, B * root, gamma


def _unweighted(constraint: ConvexSet, part: Array, root: Array | None) -> Array:
    if root is None or constraint.rotation_invariant:
        return constraint.project(part)
    return constraint.project(part / root) * root
