"""Missing values of a table: their share, where they are, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from superfactor.preprocessing import MissingValues, describe_missing
from superfactor.tables.notes import Note, note, shortened

# Samples with a larger share of missing features are named.
MANY = 0.5
IMPUTE = ("lowrank", "mean", "none")
HOW = {
    "lowrank": "filled in by a low-rank fit",
    "mean": "filled in by means of the features",
    "factors": "filled in from the factors of the model",
}


@dataclass(frozen=True)
class Missing:
    """The missing values of a table.

    Attributes
    ----------
    share : share of missing entries of X, without the features that are left out or absent
    impute : "lowrank" or "mean"; "factors" for a model whose training samples had no missing values
    empty : names of features without any value, which are left out
    poor : names of samples that miss more than half of the features
    absent : names of features of a model that new samples do not have
    absent_weight : share of the weight of a prediction of features without any value; None if it is not known
    """

    share: float
    impute: str
    empty: tuple[str, ...] = ()
    poor: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    absent_weight: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "share": self.share,
            "impute": self.impute,
            "features_without_values": list(self.empty),
            "samples_missing_half": list(self.poor),
            "features_absent": list(self.absent),
            "absent_weight": self.absent_weight,
        }


def gaps_in(X: Any, names: Sequence[str], ids: Any) -> MissingValues | None:
    """Describe the missing values of X (n, p); None, after one pass, if there are none."""
    with np.errstate(invalid="ignore", over="ignore"):
        if not np.isnan(X.sum()):
            return None
    return describe_missing(X, names, ids) or None


def shares_missing(X: Any, n_features: int) -> Any:
    """The share (n,) of missing values of each sample in the first `n_features` columns of X."""
    if sp.issparse(X):
        return np.zeros(X.shape[0])
    return np.isnan(X[:, :n_features]).mean(axis=1)


def missing_in_new(
    shares: Any, ids: Any, about: Mapping[str, Any], absent: Sequence[str] = ()
) -> Missing | None:
    """Describe the missing values of new samples, from the share (n,) of each and the record of the model.

    `absent` are features of the model that are in no file.
    """
    if not shares.any():
        return None
    own = about.get("gaps") or {}
    impute = own["impute"] if own.get("share") else "factors"
    poor = tuple(str(ids[i]) for i in np.flatnonzero(shares > MANY))
    n, p = len(shares), len(about["features"])
    elsewhere = round(float(shares.sum()) * p) - n * len(absent)
    return Missing(elsewhere / (n * (p - len(absent))), impute, (), poor, tuple(absent))


def notes(gaps: Missing | None, n_samples: int, n_features: int = 0) -> list[Note]:
    """Notes on missing values; `n_features` is the number of features of a model."""
    result: list[Note] = []
    if gaps is None:
        return result
    if gaps.empty:
        s = "s" * (len(gaps.empty) > 1)
        line = f"{len(gaps.empty)} feature{s} without any value left out: {shortened(gaps.empty)}"
        result.append(note("empty", line, features=gaps.empty))
    if gaps.absent:
        are = "is" if len(gaps.absent) == 1 else "are"
        line = (
            f"{len(gaps.absent)} of the model's {n_features} features {are} absent and {HOW[gaps.impute]}: "
        )
        result.append(note("absent", line + shortened(gaps.absent), features=gaps.absent))
    if gaps.share:
        line = f"{percent(gaps.share)} of the values are missing and {HOW[gaps.impute]}"
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
