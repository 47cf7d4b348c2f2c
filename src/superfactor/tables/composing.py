"""What X passes before it is factorized, only as much as is needed: filled in, adjusted, scaled."""

from __future__ import annotations

from typing import Any

from superfactor.tables.columns.dense import is_sparse
from superfactor.tables.prepare import PreparedTable


def preprocessing(samples: PreparedTable, standardize: bool) -> dict[str, Any]:
    """The parameters `impute` and `preprocess` of a search: words it knows where they are enough."""
    gaps, sparse = samples.gaps, is_sparse(samples.X)
    if not samples.confounders and not samples.blocks:
        scaling = "standardize" if standardize else None if sparse else "center"
        return {"impute": "lowrank" if gaps is None else gaps.impute, "preprocess": scaling}
    impute = gaps.impute if gaps is not None and gaps.share else None
    p, seen, width = samples.n_features, len(samples.names), samples.X.shape[1]
    steps: list[tuple[str, Any]] = []
    if impute is not None:
        steps.append(("imputer", _imputer(impute, list(range(p, width)))))
    if samples.confounders:
        from superfactor.preprocessing import Adjuster

        steps.append(("adjuster", Adjuster(list(range(seen, width)), keep=list(range(p, seen)))))
    if standardize or not sparse:
        from sklearn.preprocessing import StandardScaler

        # Means of sparse columns stay: without them zeros would be written out.
        steps.append(("scaler", StandardScaler(with_mean=not sparse, with_std=standardize)))
    if samples.blocks:
        from superfactor.preprocessing import BlockScaler

        slices = {name: slice(*ends) for name, ends in samples.blocks.items()}
        steps.append(("blocks", BlockScaler(slices)))
    from sklearn.pipeline import Pipeline

    return {"impute": None, "preprocess": Pipeline(steps) if steps else None}


def _imputer(impute: str, others: list[int]) -> Any:
    """A transformer that fills in all columns but `others`, which are covariates and confounders.

    A column may have no value in one fold; it stays, so that the others are where they are.
    """
    if impute == "mean":
        from sklearn.impute import SimpleImputer

        # Covariates have no gaps, and confounders at their means take nothing out.
        return SimpleImputer(keep_empty_features=True)
    from superfactor.preprocessing import LowRankImputer

    return LowRankImputer(passthrough_columns=others or None, keep_empty_features=True)


def completed(model: Any, X: Any, n_features: int) -> Any:
    """X (n, …) for a model whose training samples had no gaps: its means in place of what is missing."""
    import numpy as np

    if "imputer" in model.named_steps or is_sparse(X):
        return X
    gaps = np.isnan(X[:, :n_features])
    if not gaps.any():
        return X
    X = X.copy()
    # Also those of the features before they were adjusted: what is taken off has mean zero.
    X[:, :n_features][gaps] = np.broadcast_to(model.named_steps["scaler"].mean_[:n_features], gaps.shape)[
        gaps
    ]
    return X
