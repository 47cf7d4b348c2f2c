"""Missing values of a table: their share, where they are, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.preprocessing import Gaps, describe_gaps
from superfactor.tables.notes import Note, note, shortened

# Samples with a larger share of missing features are named.
MANY = 0.5
IMPUTE = ("lowrank", "mean", "none")
_HOW = {
    "lowrank": "filled in by a low-rank fit",
    "mean": "filled in by means of the features",
    "training means": "filled in by means of the training samples, which had no missing values",
}


@dataclass(frozen=True)
class Missing:
    """The missing values of a table.

    Attributes
    ----------
    share : share of missing entries of X, without the features that are left out
    impute : "lowrank" or "mean"; "training means" for a model whose training samples had no missing values
    empty : names of features without any value, which are left out
    poor : names of samples that miss more than half of the features
    """

    share: float
    impute: str
    empty: tuple[str, ...] = ()
    poor: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "share": self.share,
            "impute": self.impute,
            "features_without_values": list(self.empty),
            "samples_missing_half": list(self.poor),
        }


def gaps_in(X: Any, names: Sequence[str], ids: Any) -> Gaps | None:
    """Describe the missing values of X (n, p); None, after one pass, if there are none."""
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.isnan(X.sum()):
            return None
    return describe_gaps(X, names, ids) or None


def shares_missing(X: Any, n_features: int) -> Any:
    """The share (n,) of missing values of each sample in the first `n_features` columns of X."""
    if sp.issparse(X):
        return np.zeros(X.shape[0])
    return np.isnan(X[:, :n_features]).mean(axis=1)


def missing_in_new(shares: Any, ids: Any, about: Mapping[str, Any]) -> Missing | None:
    """Describe the missing values of new samples, from the share (n,) of each and the record of the model."""
    if not shares.any():
        return None
    own = about.get("gaps") or {}
    impute = own["impute"] if own.get("share") else "training means"
    poor = tuple(str(ids[i]) for i in np.flatnonzero(shares > MANY))
    return Missing(float(shares.mean()), impute, (), poor)


def notes(gaps: Missing | None, n_samples: int) -> list[Note]:
    """Notes on missing values."""
    result: list[Note] = []
    if gaps is None:
        return result
    if gaps.empty:
        s = "s" * (len(gaps.empty) > 1)
        line = f"{len(gaps.empty)} feature{s} without any value left out: {shortened(gaps.empty)}"
        result.append(note("empty", line, features=gaps.empty))
    if gaps.share:
        line = f"{percent(gaps.share)} of the values are missing and {_HOW[gaps.impute]}"
        result.append(note("filled", line, share=gaps.share, impute=gaps.impute))
    if gaps.poor:
        line = (
            f"{len(gaps.poor)} of {n_samples} samples miss more than half of the features: "
            f"{shortened(gaps.poor)}; results for them are uncertain"
        )
        result.append(note("poor", line, samples=gaps.poor))
    return result


def percent(share: float) -> str:
    """``2.1 %``, and ``<0.1 %`` for small shares."""
    return "<0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"
