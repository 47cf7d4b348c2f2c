"""The leading subspace of X by block Krylov iteration, for data too large to decompose."""

from __future__ import annotations

from collections.abc import Callable

from superfactor._arrays import Array, eigh_descending
from superfactor.spectrum.basis import GrowingBasis


def fill_leading(basis: GrowingBasis, size: int, keep: int, fresh: Callable[[], Array]) -> None:
    """Fill an empty basis with about `size` Krylov directions and keep the best `keep` of them.

    `fresh()` gives a random block (N, b) in the range of X; it starts the iteration, and starts it anew
    where an invariant subspace ends it early. Blocks of moderate width, each used for several
    powers of G, find the top of the spectrum with fewer products than a wide block.
    """
    block = fresh()
    while basis.size < size:
        before = basis.size
        if basis.extend(block) == 0 and basis.extend(fresh()) == 0:
            break  # the whole range of X
        block = basis.GS[:, before:]
    if basis.size:
        basis.rotate(eigh_descending(basis.D)[1][:, : min(keep, basis.size)])
