"""Missing values of a table: how many, where, and what is left out for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.preprocessing import Gaps, describe_gaps
from superfactor.tables.notes import Note, note, shortened

# Samples that miss more than this share of the features are named.
MANY = 0.5
WAYS = ("lowrank", "mean", "none")
_HOW = {
    "lowrank": "filled in by a low-rank fit",
    "mean": "filled in by means of the features",
    "training means": "filled in by means of the training samples, which had no gaps",
}


@dataclass(frozen=True)
class Missing:
    """What is missing.

    Attributes
    ----------
    share : of the entries of X, without the features that are left out
    impute : "lowrank" or "mean", how they are filled in; or "training means", of a model that was fitted
        to samples without gaps
    empty : names of features without any value, left out
    poor : names of samples that miss more than half of the features
    """

    share: float
    impute: str
    empty: tuple[str, ...] = ()
    poor: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For scripts."""
        return {
            "share": self.share,
            "impute": self.impute,
            "features_without_values": list(self.empty),
            "samples_missing_half": list(self.poor),
        }


def gaps_in(X: Any, names: Sequence[str], ids: Any) -> Gaps | None:
    """What `superfactor.preprocessing.describe_gaps` says of X (n, p); None, after one pass, for no gaps."""
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.isnan(X.sum()):
            return None
    return describe_gaps(X, names, ids) or None


def shares_missing(X: Any, n_features: int) -> Any:
    """The share (n,) of the features at the beginning of X (n, …) that each sample misses."""
    if sp.issparse(X):
        return np.zeros(X.shape[0])
    return np.isnan(X[:, :n_features]).mean(axis=1)


def missing_in_new(shares: Any, ids: Any, about: Mapping[str, Any]) -> Missing | None:
    """What is missing in new samples, a share (n,) of each, and how a model with this record fills it in."""
    if not shares.any():
        return None
    own = about.get("gaps") or {}
    impute = own["impute"] if own.get("share") else "training means"
    poor = tuple(str(ids[i]) for i in np.flatnonzero(shares > MANY))
    return Missing(float(shares.mean()), impute, (), poor)


def notes(gaps: Missing | None, n_samples: int) -> list[Note]:
    """For people."""
    said: list[Note] = []
    if gaps is None:
        return said
    if gaps.empty:
        s = "s" * (len(gaps.empty) > 1)
        line = f"{len(gaps.empty)} feature{s} without any value left out: {shortened(gaps.empty)}"
        said.append(note("empty", line, features=gaps.empty))
    if gaps.share:
        line = f"{percent(gaps.share)} of the values are missing and {_HOW[gaps.impute]}"
        said.append(note("filled", line, share=gaps.share, impute=gaps.impute))
    if gaps.poor:
        line = (
            f"{len(gaps.poor)} of {n_samples} samples miss more than half of the features: "
            f"{shortened(gaps.poor)}; what is said of them is mostly a guess"
        )
        said.append(note("poor", line, samples=gaps.poor))
    return said


def percent(share: float) -> str:
    """``2.1 %``, and ``<0.1 %`` for what is there and small."""
    return "<0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"
