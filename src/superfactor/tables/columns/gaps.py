"""Missing values of a table: how many, where, and what is left out for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from superfactor.tables.columns.dense import is_sparse
from superfactor.tables.columns.numbers import shortened

# Samples that miss more than this share of the features are named.
MANY = 0.5
WAYS = ("lowrank", "mean", "none")


@dataclass(frozen=True)
class Gaps:
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


def gaps_in(X: Any, names: Sequence[str], ids: Any) -> Any:
    """What `superfactor.preprocessing.describe_gaps` says of X (n, p); None, after one pass, for no gaps."""
    import numpy as np

    with np.errstate(invalid="ignore", over="ignore"):
        if not np.isnan(X.sum()):
            return None
    from superfactor.preprocessing import describe_gaps

    return describe_gaps(X, names, ids) or None


def shares_missing(X: Any, n_features: int) -> Any:
    """The share (n,) of the features at the beginning of X (n, …) that each sample misses."""
    import numpy as np

    if is_sparse(X):
        return np.zeros(X.shape[0])
    return np.isnan(X[:, :n_features]).mean(axis=1)


def notes(gaps: Gaps, n_samples: int) -> list[str]:
    """For people."""
    said = []
    if gaps.empty:
        s = "s" * (len(gaps.empty) > 1)
        said.append(f"{len(gaps.empty)} feature{s} without any value left out: {shortened(gaps.empty)}")
    if gaps.share:
        said.append(filling(gaps.share, gaps.impute))
    if gaps.poor:
        said.append(
            f"{len(gaps.poor)} of {n_samples} samples miss more than half of the features: "
            f"{shortened(gaps.poor)}; what is said of them is mostly a guess"
        )
    return said


def filling(share: float, impute: str) -> str:
    """How much is missing, and what stands there now."""
    how = {
        "lowrank": "filled in by a low-rank fit",
        "mean": "filled in by means of the features",
        "training means": "filled in by means of the training samples, which had no gaps",
    }[impute]
    return f"{percent(share)} of the values are missing and {how}"


def percent(share: float) -> str:
    """``2.1 %``, and ``<0.1 %`` for what is there and small."""
    return "<0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"
