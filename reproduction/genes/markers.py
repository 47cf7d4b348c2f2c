"""Genes known to matter, and how many of them a set of factors has at its ends.

The lists that come with the package (``lists/``) are the genes circled in the paper's Figure 3e, by
symbol, and for some also by the names of Affymetrix HG-U133 probes, the symbol being the note. Those of
DDB2 and BRCA1 and some of CA12 and TM4SF1 stand in public annotations we have seen; the others we know only
from use and from their correlation with these. An annotation file of the chip is the better source, for a
list of the user's own.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from scipy.stats import hypergeom, rankdata

from superfactor.interpretation import FactorView, read_markers, top_features

__all__ = ["Hits", "best_ranks", "in_data", "known_markers", "places", "top_hits"]


def known_markers(tissue: str, given: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Notes (symbols of genes) by feature: the user's list, or the paper's for this tissue."""
    if given is not None:
        return read_markers(given)
    with as_file(files("reproduction.genes") / "lists" / f"{tissue}.csv") as path:
        return read_markers(path)


def in_data(listed: dict[str, str], features: Any) -> dict[str, str]:
    """The notes of the features (p,) that are markers.

    Where several columns have one name, loaders number them: BRCA1, BRCA1.1, all of them markers.
    """
    found = {}
    for name in map(str, features):
        plain = name if name in listed else re.sub(r"\.\d+$", "", name)
        if plain in listed:
            found[name] = listed[plain]
    return found


@dataclass(frozen=True)
class Hits:
    """Markers at the ends of factors, beside what a blind draw of as many features would have.

    Attributes
    ----------
    features : p, how many there are
    present : how many of them are markers
    genes : different notes among those, so that several probes of one gene count once
    top : features at the ends of any factor
    found : how many of those are markers
    expected : top · present / p, the mean of a draw without replacement
    p_value : chance that such a draw has `found` markers or more
    farther : share of all features that never come as near to an end as a marker, mean over the
        markers: 1/2 for markers picked blindly
    """

    features: int
    present: int
    genes: int
    top: int
    found: int
    expected: float
    p_value: float
    farther: float


def top_hits(view: FactorView, notes: dict[str, str], n: int) -> Hits:
    """Markers among the `n` most extreme features at either end of any factor."""
    top = set(top_features(view, n, by="weight")["feature"])
    present = _present(view, notes)
    ranks, _ = best_ranks(view)
    farther = [np.mean(ranks > ranks[i]) + np.mean(ranks == ranks[i]) / 2 for i in present]
    p, found = len(view.features), sum(view.features[i] in top for i in present)
    return Hits(
        features=p,
        present=len(present),
        genes=len({notes[view.features[i]] for i in present}),
        top=len(top),
        found=found,
        expected=len(top) * len(present) / p,
        p_value=float(hypergeom.sf(found - 1, p, len(present), len(top))),
        farther=float(np.mean(farther)) if present else math.nan,
    )


def best_ranks(view: FactorView) -> tuple[Any, Any]:
    """How near each feature comes to an end of any factor.

    Returns
    -------
    ranks : (p,), from the nearer end, 1 being the most extreme; the smallest over all factors
    factors : (p,), positions of the factors that have it
    """
    weights = view.shown("weight")
    high, low = (rankdata(sign * weights, method="min", axis=1) for sign in (-1, 1))
    ranks = np.where(weights >= 0, high, low).astype(int)
    return ranks.min(axis=0), ranks.argmin(axis=0)


def places(view: FactorView, notes: dict[str, str]) -> list[dict[str, Any]]:
    """For each marker in the data the factor in which it is nearest to an end.

    Returns
    -------
    rows : dicts with the feature, the marker it is, the group (factor, from 1), the end, its rank from
        that end and its weight there
    """
    ranks, factors = best_ranks(view)
    weights = view.shown("weight")
    return [
        {
            "feature": view.features[i],
            "marker": notes[view.features[i]],
            "group": int(factors[i]) + 1,
            "end": "high" if weights[factors[i], i] >= 0 else "low",
            "rank": int(ranks[i]),
            "weight": float(weights[factors[i], i]),
        }
        for i in _present(view, notes)
    ]


def _present(view: FactorView, notes: dict[str, str]) -> list[int]:
    return [i for i, name in enumerate(view.features) if name in notes]
