"""What each factor is good for, in a word that is the same on the page, in the terminal and in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from superfactor.interpretation.view import FactorView

PREDICTIVE, NOT_SHOWN, BACKGROUND = ROLES = "predictive", "not shown", "background"
#: What stands beside the number of a factor where its name says more than that.
BESIDE_NAME = {PREDICTIVE: "", NOT_SHOWN: "not shown to predict", BACKGROUND: "background"}


def roles(view: FactorView, shown: Any = None, predicts: bool | None = None) -> list[str]:
    """One of `ROLES` for each factor, given ``predictive`` of a HeldOut and what the verdict is, if any.

    Predictive is a factor that samples not seen show to be of use, or, where nobody looked, one that carries
    the prediction of the samples fitted. One that carries that, and is not shown to be of use for others, is
    "not shown". All others are background.
    """
    found = []
    for j, carries in enumerate(view.predictive):
        use = bool(carries if shown is None else shown[j])
        if use and predicts is not False:
            found.append(PREDICTIVE)
        else:
            found.append(NOT_SHOWN if carries or use else BACKGROUND)
    return found


def beside(found: Sequence[str]) -> str:
    """`` beside factor 1``: what background factors add nothing to; empty where all are background."""
    numbers = [str(j) for j, role in enumerate(found, start=1) if role != BACKGROUND]
    if not numbers:
        return ""
    *others, last = numbers
    return f" beside factors {', '.join(others)} and {last}" if others else f" beside factor {last}"
