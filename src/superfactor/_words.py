"""Numbers and lists as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Patterns of the warnings about samples that are copies, and about columns that give the outcome away.
COPIES = r"[\d,]+ (pairs of )?samples .*(identical|the same name)"
GIVEN_AWAY = r".* alone (separates?|orders?|is as good|are as good)"


def percent(share: float) -> str:
    """Format a share: 91.3 %."""
    return f"{100 * share:z.1f} %"


def listed(words: Sequence[Any]) -> str:
    """Join words: a, b and c."""
    words = [str(word) for word in words]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(count: int, units: str) -> str:
    """Format a count with its unit: 1 sample, 2 samples."""
    return f"{count} {units[:-1] if count == 1 else units}"
