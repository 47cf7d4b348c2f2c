"""Which search is for which kind of y."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from superfactor.selection.search.classifier import SMFClassifierCV
from superfactor.selection.search.regressor import SMFRegressorCV
from superfactor.selection.search.survival import SMFSurvivalCV

_SEARCHES: dict[str, Callable[..., Any]] = {
    "classes": SMFClassifierCV,
    "numbers": SMFRegressorCV,
    "times": SMFSurvivalCV,
    "counts": partial(SMFRegressorCV, loss="poisson"),
    "flags": SMFClassifierCV,
}


def search_for(kind: str) -> Callable[..., Any]:
    """The search for a kind of y.

    Parameters
    ----------
    kind : str
        Its name: "classes", "numbers", "times", "counts" or "flags", as `superfactor.tables.Study.outcome`
        has it.

    Returns
    -------
    search : callable
        Makes the search of its parameters.

    Examples
    --------
    >>> from superfactor.selection import search_for
    >>> search_for("times")(2, xi=0.1)
    SMFSurvivalCV(n_components=2, xi=0.1)
    """
    return _SEARCHES[kind]
