"""The smaller Gram matrix G = X·Xᵀ, and the leading eigenvectors of c²·G plus low rank.

`Gram` multiplies by G with products with X, in the coordinates of the short side. `DiagonalGram` uses the
coordinates of G's eigenvectors, after one decomposition. Both find eigenvectors by block Davidson iteration:
Rayleigh–Ritz in a basis that grows by the residuals of its Ritz pairs, which `DiagonalGram` divides by λ −
c²·d. The matrices of LPGD change little from step to step, so two or three rounds suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from superfactor._arrays import Array, column_norms, eigh_descending, eps, eye_like, namespace, zeros_like_of
from superfactor.models import LiftedArrays
from superfactor.options import Options

_ROUNDS = 100


@dataclass
class Gram:
    """G (m, m) as an operator, for sizes too large for a decomposition."""

    times: Callable[[Array], Array]  # F ↦ G·F (m, k)
    size: int
    trace: float  # ‖X‖²
    tol: float  # relative, for the residuals of eigenvectors

    def enter(self, x: Array) -> Array:
        """Return coordinates (m, k) of vectors on the short side."""
        return x

    def leave(self, x: Array) -> Array:
        """Return vectors on the short side from their coordinates."""
        return x

    def principal(self, guess: Array) -> Array:
        """Return the leading eigenvectors of G, as many as `guess` (m, r) has columns."""
        none = zeros_like_of(guess, guess.shape[0], 0)
        return self.leading(1.0, none, none[:0, :], guess.shape[1], guess)[0]

    def leading(self, c: float, extra: Array, core: Array, rank: int, guess: Array) -> tuple[Array, Array]:
        """Return S (m', r), the leading eigenvectors of M = c²·G + extra·core·extraᵀ, and G·S (m, r).

        `extra` (m', k) may have more rows than G, which counts as zero there. `guess` (m', j) spans most of
        S. Outside it and its image, M is c²·G.
        """
        xp, m = namespace(guess), self.size
        fresh = xp.concat([self._head(guess, rank), guess], axis=1)
        basis, GB = zeros_like_of(guess, guess.shape[0], 0), zeros_like_of(guess, m, 0)
        for _ in range(_ROUNDS):
            fresh = _orthonormal_outside(basis, fresh)
            basis = xp.concat([basis, fresh], axis=1)
            GB = xp.concat([GB, self.times(fresh[:m, :])], axis=1)
            low = extra.T @ basis
            values, turn = eigh_descending(c**2 * (basis[:m, :].T @ GB) + low.T @ (core @ low))
            values, V = values[:rank], turn[:, :rank]
            S, GS = basis @ V, GB @ V
            R = extra @ (core @ (low @ V)) - S * values[None, :]
            R = xp.concat([R[:m, :] + c**2 * GS, R[m:, :]])
            bad = column_norms(R) > self.tol * float(xp.max(xp.abs(values)))
            if not bool(xp.any(bad)) or fresh.shape[1] == 0:
                break
            fresh = xp.take(self._corrections(R, values, c), xp.nonzero(bad)[0], axis=1)
            if basis.shape[1] > 10 * rank + 3 * extra.shape[1]:  # continue with its best part
                keep = turn[:, : 3 * rank]
                basis, GB = basis @ keep, GB @ keep
        return S, GS

    def _head(self, guess: Array, rank: int) -> Array:
        """Return columns (m', j) that a basis begins with, next to the guess."""
        return guess[:, :0]

    def _corrections(self, R: Array, values: Array, c: float) -> Array:
        """Return corrections of Ritz vectors from their residuals (m', r)."""
        return R


class DiagonalGram(Gram):
    """G in its eigenbasis U (m, m), G = U·diag(d)·Uᵀ, d descending."""

    def __init__(self, matrix: Array, dense: int = Options.dense_eigen) -> None:
        self._dense = dense
        values, U = eigh_descending(matrix)
        xp = namespace(values)
        self.d = xp.where(values > 0, values, xp.zeros_like(values))
        self.U = xp.asarray(U, copy=True)  # every product would copy a flipped view
        super().__init__(lambda F: self.d[:, None] * F, int(values.shape[0]), float(xp.sum(self.d)), 1e-13)

    def enter(self, x: Array) -> Array:
        return self.U.T @ x

    def leave(self, x: Array) -> Array:
        return self.U @ x

    def principal(self, guess: Array) -> Array:
        return eye_like(guess, self.size, guess.shape[1])

    def leading(self, c: float, extra: Array, core: Array, rank: int, guess: Array) -> tuple[Array, Array]:
        # Starts from the last step's vectors, unlike `spectrum.top_eigenpairs`: a tenth of its time.
        if extra.shape[0] > self._dense:
            return super().leading(c, extra, core, rank, guess)
        d = self._padded(extra, c)
        M = extra @ core @ extra.T + eye_like(extra, d.shape[0]) * d[None, :]
        S = eigh_descending(M)[1][:, :rank]
        return S, self.times(S[: self.size, :])

    def _padded(self, like: Array, c: float) -> Array:
        missing = zeros_like_of(like, like.shape[0] - self.size)
        return namespace(like).concat([c**2 * self.d, missing])

    def _head(self, guess: Array, rank: int) -> Array:
        # The leading coordinates and the guess together miss no eigenvector.
        return eye_like(guess, guess.shape[0], min(rank + 5, self.size))

    def _corrections(self, R: Array, values: Array, c: float) -> Array:
        xp = namespace(R)
        distance = values[None, :] - self._padded(R, c)[:, None]
        floor = 1e-3 * float(xp.max(xp.abs(values)))
        return R / xp.where(xp.abs(distance) > floor, distance, xp.zeros_like(distance) + floor)


def gram_of(arrays: LiftedArrays, options: Options, times: Callable[[Array], Array]) -> Gram:
    """Return G of a problem, decomposed unless that takes too long; `times` is F ↦ G·F in float64."""
    data = arrays.data
    size = min(data.shape)
    if size <= (options.lpgd_sparse_gram if data.is_sparse else options.lpgd_gram):
        return DiagonalGram(data.gram(), options.dense_eigen)
    tol = max(1e-10, 50 * eps(arrays.targets))
    return Gram(times, size, data.sum_of_squares(), tol)


def _orthonormal_outside(basis: Array, fresh: Array) -> Array:
    """Return an orthonormal basis of the part of `fresh` outside the orthonormal columns of `basis`."""
    xp = namespace(fresh)
    for _ in range(2):
        norms = column_norms(fresh)
        fresh = xp.take(fresh, xp.nonzero(norms > 0)[0], axis=1)
        fresh = fresh / column_norms(fresh)[None, :]
        fresh = fresh - basis @ (basis.T @ fresh)
        fresh, R = xp.linalg.qr(fresh)
        fresh = xp.take(fresh, xp.nonzero(xp.abs(xp.linalg.diagonal(R)) > 1e-10)[0], axis=1)
    return fresh
