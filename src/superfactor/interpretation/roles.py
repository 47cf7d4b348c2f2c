"""The role of each factor, in the same words on the page, in the terminal and in plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from superfactor.interpretation.view import FactorView

PREDICTIVE, NOT_SHOWN, BACKGROUND = ROLES = "predictive", "not shown", "background"
#: The text after the name of a factor.
AFTER_NAME = {PREDICTIVE: "", NOT_SHOWN: "not shown to predict", BACKGROUND: "background"}


def roles(view: FactorView, shown: Any = None, predicts: bool | None = None) -> list[str]:
    """Return one of `ROLES` for each factor.

    A factor is "predictive" if it improves the prediction of held-out samples, or, without held-out results,
    if it contributes to the prediction of the training samples. It is "not shown" if it contributes for
    training samples, but no improvement is shown for others. All others are "background".

    Parameters
    ----------
    view : the factors
    shown : ``predictive`` (r,) of a HeldOut, if any
    predicts : the verdict on the whole model, if any; False makes no factor predictive
    """
    found = []
    for j, contributes in enumerate(view.predictive):
        useful = bool(contributes if shown is None else shown[j])
        if useful and predicts is not False:
            found.append(PREDICTIVE)
        else:
            found.append(NOT_SHOWN if contributes or useful else BACKGROUND)
    return found


def beyond(found: Sequence[str]) -> str:
    """Return `` beyond factor 1``, naming the factors that are not background; empty if all are."""
    numbers = [str(j) for j, role in enumerate(found, start=1) if role != BACKGROUND]
    if not numbers:
        return ""
    *others, last = numbers
    return f" beyond factors {', '.join(others)} and {last}" if others else f" beyond factor {last}"
