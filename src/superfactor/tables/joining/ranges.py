"""Where blocks lie among the features."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

# name of a block → its first feature, and the one behind its last
Ranges = dict[str, tuple[int, int]]


def ranges_of_kept(blocks: Mapping[str, tuple[int, int]], positions: Sequence[int]) -> Ranges:
    """Where blocks begin and end when only the features at these positions are kept."""
    ranges = {
        name: (bisect_left(positions, start), bisect_left(positions, stop))
        for name, (start, stop) in blocks.items()
    }
    return {name: (start, stop) for name, (start, stop) in ranges.items() if stop > start}
