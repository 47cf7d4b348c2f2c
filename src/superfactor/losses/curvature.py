"""The second derivative of a loss in the activations, and the sums of it that solvers need.

For most losses each sample has its own κ × κ matrix: `Curvature`. A loss that couples samples has one matrix
for all of them (`superfactor.losses.survival.cox`). Both have the same interface.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from superfactor._arrays import Array, eye_like, namespace

# The outer products of all rows are formed if they have at most this many entries.
_OUTER = 1_000_000


class AnyCurvature(Protocol):
    """The interface of a curvature ``∇²ℓ``: one matrix per sample, or one for all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import SquaredError
    >>> curvature = SquaredError().curvature(np.zeros((3, 1)), np.ones((3, 1)))
    >>> weights, J = np.array([[1.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [3.0]])
    >>> curvature.weighted(weights).gram(J, convex=True)
    array([[46.]])
    """

    @property
    def numbers(self) -> tuple[Array, Array]:
        """Two arrays ``(…, n, κ)`` from which `Loss.curvature_of` restores the curvature."""

    def weighted(self, weights: Array) -> AnyCurvature:
        """Return the curvature of ``Σ_i ω_i ℓ_i`` for ``ω`` of shape ``(n, 1)``."""

    def times(self, v: Array) -> Array:
        """Return the product with ``v`` of shape ``(…, n, κ)``."""

    def matrices(self) -> Array:
        """Return ``∇²ℓ_i`` of every sample, shape ``(…, n, κ, κ)``; a TypeError if samples share one."""

    def total(self) -> Array:
        """Return about its sum over the samples, shape ``(…, κ, κ)``, as a preconditioner."""

    def take(self, index: Array) -> AnyCurvature:
        """Return the curvature of some samples."""

    def by_row(self, directions: Array) -> Array:
        """Return ``b_jᵀ∇²ℓ_i b_j`` for the columns of directions ``(κ, m)``: shape ``(…, n, m)``."""

    def row_matrices(self, directions: Array) -> Array:
        """Return ``Bᵀ∇²ℓ_i B`` for directions ``B`` of shape ``(κ, m)``: shape ``(n, m, m)``."""

    def row_solve(self, v: Array) -> Array:
        """Return ``(∇²ℓ_i)⁻¹v_i``, shape ``(n, κ)``; curvatures next to zero are raised."""

    def gram(self, J: Array, convex: bool) -> Array:
        """Return the second derivative in ``c`` of the loss at ``a = Jc``, for ``J`` of shape ``(n, k)``.

        Shape ``(κk, κk)``, class-major. `convex` states that it has no negative eigenvalue.
        """

    def forms(self, J: Array, directions: Array) -> Array:
        """Return the second derivatives along ``j_l b_cᵀ`` for columns of ``J``, rows ``b_c``: ``(k, r)``."""

    def along(self, Z: Array, directions: Array) -> Array:
        """Return the change of the residuals along ``b_j`` for a step ``z_j b_jᵀ``: ``(n, j)``, as ``Z``.

        Negative curvature of a sample counts as 0.
        """


class Curvature(NamedTuple):
    """``∇²ℓ`` of every sample: ``diagonal`` on its diagonal, ``−outer_c·outer_d`` off it.

    Attributes
    ----------
    diagonal : array of shape (n, κ)
        The diagonals.
    outer : array of shape (n, κ)
        The factors of the other entries.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.losses import Curvature
    >>> curvature = Curvature(diagonal=np.array([[2.0, 2.0]]), outer=np.array([[0.5, 1.0]]))
    >>> curvature.matrices()
    array([[[ 2. , -0.5],
            [-0.5,  2. ]]])
    >>> curvature.times(np.array([[1.0, 0.0]]))
    array([[ 2. , -0.5]])
    """

    diagonal: Array
    outer: Array

    @property
    def numbers(self) -> tuple[Array, Array]:
        """``diagonal`` and ``outer``."""
        return self.diagonal, self.outer

    def weighted(self, weights: Array) -> Curvature:
        """``ω_i∇²ℓ_i`` for ``ω`` of shape ``(n, 1)``."""
        # Other entries are −ω·outer·outerᵀ, so each factor is multiplied by √ω.
        return Curvature(self.diagonal * weights, self.outer * namespace(weights).sqrt(weights))

    def times(self, v: Array) -> Array:
        """``∇²ℓ_i · v_i``, shape ``(n, κ)``."""
        diagonal, outer = self
        if diagonal.shape[-1] == 1:
            return diagonal * v
        inner = outer * v
        total = namespace(v).sum(inner, axis=-1, keepdims=True)
        return diagonal * v - outer * (total - inner)

    def matrices(self) -> Array:
        """``∇²ℓ_i``, shape ``(n, κ, κ)``."""
        diagonal, outer = self
        identity = eye_like(diagonal, diagonal.shape[-1])
        crossed = outer[..., :, None] * outer[..., None, :]
        return diagonal[..., :, None] * identity - crossed * (1.0 - identity)

    def total(self) -> Array:
        """``Σ_i ∇²ℓ_i``, shape ``(κ, κ)``."""
        diagonal, outer = self
        xp = namespace(diagonal)
        total = -xp.matmul(xp.matrix_transpose(outer), outer)
        main = xp.sum(diagonal, axis=-2)[..., None, :]
        return xp.where(eye_like(total, int(total.shape[-1])) > 0, main, total)

    def take(self, index: Array) -> Curvature:
        """``∇²ℓ_i`` of some samples."""
        return Curvature(self.diagonal[..., index, :], self.outer[..., index, :])

    def by_row(self, directions: Array) -> Array:
        """``b_jᵀ∇²ℓ_i b_j`` for columns of directions ``(κ, m)``: ``(…, n, m)``, in time linear in κ."""
        diagonal, outer = self
        if diagonal.shape[-1] == 1:
            return diagonal * directions**2
        return (diagonal + outer**2) @ directions**2 - (outer @ directions) ** 2

    def row_matrices(self, directions: Array) -> Array:
        """``Bᵀ∇²ℓ_i B``, shape ``(n, m, m)``."""
        xp, m = namespace(directions), directions.shape[1]
        squares = xp.reshape(directions[:, :, None] * directions[:, None, :], (-1, m * m))
        found = xp.reshape((self.diagonal + self.outer**2) @ squares, (-1, m, m))
        across = self.outer @ directions
        return found - across[:, :, None] * across[:, None, :]

    def row_solve(self, v: Array) -> Array:
        """``(∇²ℓ_i)⁻¹v_i`` by the formula of Sherman and Morrison, shape ``(n, κ)``."""
        diagonal, outer = self
        xp = namespace(v)
        h = diagonal if diagonal.shape[-1] == 1 else diagonal + outer**2
        h = xp.clip(h, min=1e-8 * float(xp.max(h)) + 1e-300)
        if diagonal.shape[-1] == 1:
            return v / h
        y = outer / h
        left = xp.clip(1 - xp.sum(outer * y, axis=-1, keepdims=True), min=1e-8)
        return v / h + y * xp.sum(y * v, axis=-1, keepdims=True) / left

    def gram(self, J: Array, convex: bool) -> Array:
        """``Σ_i ∇²ℓ_i ⊗ j_i j_iᵀ`` for the rows ``j_i`` of ``J``, shape ``(κk, κk)``, class-major."""
        return kronecker_sum(J, self.matrices(), convex)

    def forms(self, J: Array, directions: Array) -> Array:
        """``Σ_i J_il² b_cᵀ∇²ℓ_i b_c``, shape ``(k, r)``."""
        return (J**2).T @ self._directional(directions)

    def along(self, Z: Array, directions: Array) -> Array:
        """``h∘Z`` with ``h_ij = b_jᵀ∇²ℓ_i b_j``, or 0 where that is negative."""
        return Z * namespace(Z).clip(self._directional(directions), 0.0, None)

    def _directional(self, directions: Array) -> Array:
        """``b_jᵀ∇²ℓ_i b_j`` for rows ``b_j`` of directions: ``(n, r)``, in time linear in κ."""
        diagonal, outer = self
        squares = (directions**2).T
        if directions.shape[1] == 1:
            return diagonal @ squares
        return (diagonal + outer**2) @ squares - (outer @ directions.T) ** 2


def kronecker_sum(J: Array, H: Array, convex: bool) -> Array:
    """``Σ_i H_i ⊗ j_i j_iᵀ`` for rows of ``J`` and ``H`` ``(n, κ, κ)``: ``(κk, κk)``, class-major."""
    xp = namespace(J)
    (n, k), kappa = J.shape, H.shape[1]
    if kappa > 1 and n * k * k <= _OUTER:  # all blocks in one product: Σ_i vec(H_i)·vec(j_i j_iᵀ)ᵀ
        outer = xp.reshape(J[:, :, None] * J[:, None, :], (n, k * k))
        gram = xp.reshape(xp.reshape(H, (n, kappa * kappa)).T @ outer, (kappa, kappa, k, k))
        return xp.reshape(xp.permute_dims(gram, (0, 2, 1, 3)), (kappa * k, kappa * k))
    blocks: list[list[Array]] = [[None] * kappa for _ in range(kappa)]
    chunk = max(512, 2**18 // max(k, 1))  # blocks of rows that fit into the cache
    for start in range(0, n, chunk):
        stop = min(start + chunk, n)
        j, h = J[start:stop, :], H[start:stop, :, :]
        for c in range(kappa):
            for d in range(c, kappa):
                if c == d and convex:  # one triangle only: t.T @ t is a symmetric product
                    t = j * xp.sqrt(xp.clip(h[:, c, c], 0.0, None))[:, None]
                    part = t.T @ t
                else:
                    part = j.T @ (j * h[:, c, d][:, None])
                blocks[c][d] = part if blocks[c][d] is None else blocks[c][d] + part
    for c in range(kappa):
        for d in range(c):
            blocks[c][d] = blocks[d][c]  # symmetric blocks: h_cd = h_dc
    return xp.concat([xp.concat(row, axis=1) for row in blocks])
